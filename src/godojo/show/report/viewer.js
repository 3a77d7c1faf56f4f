// Rounds in 3D on a canvas: everything is a box. Waits for `rounds`, as replay_data.py writes them.
"use strict";

const SHADERS = {
  vertex: `
    attribute vec3 corner, normal;
    uniform mat4 camera;
    uniform vec3 place, size;
    uniform vec2 turn;
    varying vec3 where, facing;
    vec3 rotated(vec3 v) { return vec3(v.x * turn.x + v.z * turn.y, v.y, v.z * turn.x - v.x * turn.y); }
    void main() {
      where = rotated(corner * size) + place;
      facing = rotated(normal);
      gl_Position = camera * vec4(where, 1.0);
    }`,
  fragment: `
    precision mediump float;
    uniform vec4 colour;
    uniform float mats, shine;
    varying vec3 where, facing;
    void main() {
      float light = 0.7 + 0.34 * max(dot(facing, normalize(vec3(0.45, 0.8, 0.55))), 0.0);
      float shade = mod(floor(where.x / 2.0) + floor(where.z / 2.0), 2.0) * mats * 0.045;
      gl_FragColor = vec4(colour.rgb * mix(light, 1.0, shine) * (1.0 - shade), colour.a);
    }`,
};

function box() {
  const corners = [];
  for (let axis = 0; axis < 3; axis++) for (const sign of [-0.5, 0.5]) {
    const face = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]];
    for (const [u, v] of face) {
      const point = [0, 0, 0], normal = [0, 0, 0];
      point[axis] = sign; point[(axis + 1) % 3] = u; point[(axis + 2) % 3] = v;
      normal[axis] = sign * 2;
      corners.push(...point, ...normal);
    }
  }
  return new Float32Array(corners);
}

function rgb(text, alpha = 1) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255).concat(alpha);
}

function numbers(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Int16Array(bytes.buffer);
}

function looking(eye, target, aspect, fov) {
  const back = unit([0, 1, 2].map((axis) => eye[axis] - target[axis]));
  const right = unit([back[2], 0, -back[0]]);
  const up = [back[1] * right[2] - back[2] * right[1], back[2] * right[0] - back[0] * right[2],
    back[0] * right[1] - back[1] * right[0]];
  const f = 1 / Math.tan(fov / 2), near = 0.5, far = 200;
  const rows = [right, up, back].map((row) => [...row, -(row[0] * eye[0] + row[1] * eye[1] + row[2] * eye[2])]);
  const a = (far + near) / (near - far), b = (2 * far * near) / (near - far);
  const found = [];
  for (let column = 0; column < 4; column++) {
    const last = column === 3 ? 1 : 0;
    found.push(rows[0][column] * f / aspect, rows[1][column] * f, rows[2][column] * a + b * last, -rows[2][column]);
  }
  return new Float32Array(found);
}

function unit(v) {
  const length = Math.hypot(...v) || 1;
  return v.map((part) => part / length);
}

class Viewer {
  constructor(root, rounds, style) {
    this.root = root; this.rounds = rounds; this.style = style;
    this.canvas = root.querySelector("canvas");
    this.gl = this.canvas.getContext("webgl", { antialias: true, alpha: false });
    this.yaw = 0; this.pitch = 0.87; this.near = 1;
    this.seconds = 0; this.playing = true; this.speed = 1;
    this.controls();
    if (!this.gl) {
      root.querySelector(".line").textContent = "this browser cannot draw in 3D (no WebGL)";
      return;
    }
    this.prepare();
    this.choose(0);
    let before = performance.now();
    const frame = (now) => {
      const passed = Math.min((now - before) / 1000, 0.1);
      before = now;
      this.advance(passed);
      this.draw();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  prepare() {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, SHADERS.vertex], [gl.FRAGMENT_SHADER, SHADERS.fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text); gl.compileShader(shader); gl.attachShader(program, shader);
    }
    gl.linkProgram(program); gl.useProgram(program);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, box(), gl.STATIC_DRAW);
    ["corner", "normal"].forEach((name, place) => {
      const at = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(at); gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 24, place * 12);
    });
    this.at = {};
    for (const name of ["camera", "place", "size", "turn", "colour", "mats", "shine"]) {
      this.at[name] = gl.getUniformLocation(program, name);
    }
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND); gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  controls() {
    const root = this.root, find = (name) => root.querySelector(name);
    this.clock = find(".clock"); this.line = find(".line"); this.scrub = find(".scrub"); this.button = find(".play");
    this.allRays = find(".all-rays");
    this.tabs = this.rounds.map((round, number) => {
      const tab = document.createElement("button");
      tab.textContent = round.title;
      tab.onclick = () => this.choose(number);
      find(".rounds").append(tab);
      return tab;
    });
    this.button.onclick = () => this.play(!this.playing);
    this.scrub.oninput = () => { this.play(false); this.seconds = Number(this.scrub.value); };
    find(".speed").onchange = (event) => { this.speed = Number(event.target.value); };
    const fingers = new Map();
    this.canvas.onpointerdown = (event) => {
      fingers.set(event.pointerId, event); this.canvas.setPointerCapture(event.pointerId);
    };
    this.canvas.onpointermove = (event) => {
      const last = fingers.get(event.pointerId);
      if (!last) return;
      if (fingers.size === 1) {
        this.yaw -= (event.clientX - last.clientX) * 0.006;
        this.pitch = Math.min(Math.max(this.pitch + (event.clientY - last.clientY) * 0.005, 0.12), 1.5);
      } else {
        const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
        const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
        this.zoom(apart(last) / Math.max(apart(event), 1));
      }
      fingers.set(event.pointerId, event);
    };
    this.canvas.onpointerup = this.canvas.onpointercancel = (event) => fingers.delete(event.pointerId);
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault(); this.zoom(Math.exp(event.deltaY * 0.001));
    }, { passive: false });
  }

  zoom(by) { this.near = Math.min(Math.max(this.near * by, 0.25), 2); }

  play(wanted) { this.playing = wanted; this.button.textContent = wanted ? "Pause" : "Play"; }

  choose(number) {
    const round = this.round = this.rounds[number];
    this.frames = numbers(round.frames); this.rays = numbers(round.rays);
    this.count = this.frames.length / (5 * round.agents.length);
    this.seconds = round.begin; this.hold = 0;
    this.scrub.max = round.seconds;
    this.tabs.forEach((tab, place) => tab.classList.toggle("chosen", place === number));
    this.root.querySelector(".who").textContent = round.who;
    this.play(true);
  }

  advance(passed) {
    if (!this.playing) return;
    this.seconds += passed * this.speed;
    if (this.seconds > this.round.seconds) {
      this.hold += passed;
      if (this.hold > 1.2) { this.seconds = this.round.begin; this.hold = 0; }
    }
  }

  agent(frame, number) {
    const at = (Math.min(Math.max(frame, 0), this.count - 1) * this.round.agents.length + number) * 5;
    const [x, y, z, heading, flags] = this.frames.subarray(at, at + 5);
    return { x: x / 100, y: y / 100, z: z / 100, heading: heading / 5000, active: flags & 1, team: flags >> 1 };
  }

  between(seconds, number) {
    const exact = Math.min(Math.max(seconds * this.round.fps, 0), this.count - 1), left = Math.floor(exact);
    const one = this.agent(left, number), two = this.agent(left + 1, number), share = exact - left;
    const turn = ((two.heading - one.heading + 3 * Math.PI) % (2 * Math.PI)) - Math.PI;
    const mix = (a, b) => a + (b - a) * share;
    return { ...one, x: mix(one.x, two.x), y: mix(one.y, two.y), z: mix(one.z, two.z), heading: one.heading + turn * share };
  }

  put(place, size, colour, heading = 0, mats = 0, shine = 0) {
    const gl = this.gl, at = this.at;
    gl.uniform3fv(at.place, place); gl.uniform3fv(at.size, size); gl.uniform4fv(at.colour, colour);
    gl.uniform2f(at.turn, Math.cos(heading), Math.sin(heading));
    gl.uniform1f(at.mats, mats); gl.uniform1f(at.shine, shine);
    gl.drawArrays(gl.TRIANGLES, 0, 36);
  }

  draw() {
    const gl = this.gl, round = this.round, canvas = this.canvas, layout = round.layout;
    const [wide, deep] = layout.size_m, [midX, midZ] = layout.centre_m;
    const scale = Math.min(window.devicePixelRatio || 1, 2);
    const across = Math.round(canvas.clientWidth * scale), down = Math.round(canvas.clientHeight * scale);
    if (canvas.width !== across || canvas.height !== down) { canvas.width = across; canvas.height = down; }
    gl.viewport(0, 0, across, down);
    gl.clearColor(...rgb(this.style.backdrop)); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const aspect = across / down, fov = 0.75, away = this.near * Math.max(deep * 0.53, wide * 0.66 / aspect) / Math.tan(fov / 2);
    const flat = Math.cos(this.pitch) * away;
    const eye = [midX + Math.sin(this.yaw) * flat, Math.sin(this.pitch) * away, midZ + Math.cos(this.yaw) * flat];
    gl.uniformMatrix4fv(this.at.camera, false, looking(eye, [midX, 0, midZ + deep * 0.03], aspect, fov));
    for (const box of round.solids) {
      const colour = this.style.blocks[box.kind] || this.style.blocks.tall;
      this.put(box.position_m, box.size_m, rgb(colour), 0, box.kind === "floor" ? 1 : 0);
    }
    for (const { position_m: [x, y, z], radius_m: radius, kind } of layout.marks) {
      this.put([x, y + 0.03, z], [radius * 1.6, 0.03, radius * 1.6], rgb(this.style.marks[kind] || this.style.marks.waypoint), Math.PI / 4, 0, 1);
    }
    const seen = round.agents.map((_, number) => this.show(number));
    this.tell(seen);
  }

  // An agent: its body, eyes, rays and trail. Returns whether it sees an opponent.
  show(number) {
    const round = this.round, size = round.layout.body_m, now = this.between(this.seconds, number);
    const tint = round.teams[now.team], forward = [Math.sin(now.heading), Math.cos(now.heading)];
    for (let step = 1; step < 36; step++) {
      const then = this.seconds - step * 0.06;
      if (then < 0) break;
      const past = this.between(then, number);
      this.put([past.x, past.y - size / 2 + 0.03, past.z], [0.16, 0.03, 0.16], rgb(tint, 0.75 * (1 - step / 36)), past.heading, 0, 1);
    }
    let sees = false;
    if (now.active && this.seconds < round.seconds) {
      const decision = Math.min(Math.floor(this.seconds * round.rate), this.rays.length / (round.agents.length * Math.max(round.sides.length, 1)) - 1);
      const looked = this.between(decision / round.rate, number).heading;
      round.sides.forEach((side, ray) => {
        const reached = this.rays[(decision * round.agents.length + number) * round.sides.length + ray];
        const reach = Math.abs(reached) / 100, angle = looked + side, spotted = reached < 0;
        sees = sees || spotted;
        if (!spotted && !this.allRays.checked) return;
        const middle = [now.x + Math.sin(angle) * reach / 2, now.y + round.layout.eye_height_m, now.z + Math.cos(angle) * reach / 2];
        const thick = spotted ? 0.04 : 0.02;
        this.put(middle, [thick, thick, reach], spotted ? rgb("#d6103e", 0.8) : rgb(tint, 0.25), angle, 0, 1);
      });
    }
    this.put([now.x, now.y - size / 2 + 0.02, now.z], [size, 0.01, size], [0.1, 0.1, 0.15, 0.25], now.heading, 0, 1);
    this.put([now.x, now.y, now.z], [size * 0.94, size * 0.94, size * 0.94], rgb(tint, now.active ? 1 : 0.45), now.heading);
    for (const side of [-1, 1]) for (const [out, edge, colour] of [[0.47, 0.24, "#fff8ec"], [0.5, 0.13, "#171a26"]]) {
      const x = now.x + forward[0] * size * out + forward[1] * side * size * 0.2;
      const z = now.z + forward[1] * size * out - forward[0] * side * size * 0.2;
      this.put([x, now.y + size * 0.14, z], [size * edge, size * edge, size * 0.06], rgb(colour), now.heading, 0, 0.5);
    }
    return sees;
  }

  tell(seen) {
    const round = this.round, over = this.seconds >= round.seconds;
    const shown = Math.min(this.seconds, round.seconds);
    this.clock.textContent = round.length ? `${Math.max(round.length - shown, 0).toFixed(1)} s left` : `${shown.toFixed(1)} s`;
    const roles = [...new Set(round.agents.filter((_, number) => seen[number]))];
    const spotted = roles.length ? `${roles.join(" and ")} see${roles.length > 1 ? "" : "s"} an opponent` : "";
    this.line.textContent = over ? round.result : spotted;
    if (document.activeElement !== this.scrub || this.playing) this.scrub.value = Math.min(this.seconds, round.seconds);
  }
}

new Viewer(document.querySelector("#viewer"), rounds, look);
