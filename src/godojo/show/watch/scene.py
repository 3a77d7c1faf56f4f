"""The arena in 3D: boxes, marks, agents with eyes, their rays and trails."""

import math
from typing import Any

import numpy as np
import viser

from godojo.show import colours
from godojo.show.colours import rgb
from godojo.show.maps import rating_colours
from godojo.show.replay import Layout, Moment, Replay, opponents_met
from godojo.show.shots import is_alone

MAT_M = 2.0
WALL_M = 0.4
TRAIL_S = 2.5
TRAIL_STEPS = 40
PATH_STEPS = 160
"""Of the whole way, which an agent that is alone has in place of a trail."""
FOV_RAD = math.radians(45.0)
VIEW_FROM = np.array([0.0, 0.83, 0.56])
"""The direction the camera looks from, about 56 degrees above the floor."""
MARGIN = 1.06
"""How much larger than the arena the picture is."""
USUAL_ASPECT = 1.1
"""Of the picture beside the panel on most screens."""
SPOTTED = (214, 16, 62)
"""A ray that meets an opponent."""

Colour = tuple[int, int, int]


def mixed(one: Colour, other: Colour, share: float) -> Colour:
    r, g, b = (round(a + (z - a) * share) for a, z in zip(one, other, strict=True))
    return r, g, b


def as_lines(shades: np.ndarray) -> np.ndarray:
    """Colours of lines, which the page takes for amounts of light and would show too pale."""
    return np.asarray(255 * (np.asarray(shades) / 255.0) ** 2.2).astype(np.uint8)


FLOOR, PAPER, INK = (rgb(colour) for colour in (colours.FLOOR, colours.EYES, colours.INK))
FLAT = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
"""A cylinder that lies along z, rotated to stand."""


def quaternion(heading_rad: float) -> np.ndarray:
    """w, x, y, z."""
    return np.array([math.cos(heading_rad / 2), 0.0, math.sin(heading_rad / 2), 0.0])


class Stage:
    """Floor, walls, boxes and marks of one arena; rebuilt when the arena changes."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._scene = server.scene
        self._parts: list[Any] = []
        self._shown: Layout | None = None

    def put_up(self, layout: Layout) -> bool:
        """Returns whether it is another arena than before."""
        if layout == self._shown:
            return False
        for part in self._parts:
            part.remove()
        self._shown = layout
        self._parts = [self._mats(layout)] if layout.has_floor else []
        for number, box in enumerate(layout.solids()):
            colour = rgb(colours.BLOCKS.get(box.kind, colours.TALL))
            at, size = np.array(box.position_m), np.array(box.size_m)
            self._parts.append(self._scene.add_box(f"/arena/box{number}", color=colour, dimensions=size, position=at))
        for number, mark in enumerate(layout.marks):
            colour = rgb(colours.MARKS.get(mark.kind, colours.MARKS["waypoint"]))
            disc = self._scene.add_cylinder(
                f"/arena/mark{number}",
                mark.radius_m,
                0.04,
                color=colour,
                wxyz=FLAT,
                position=np.add(mark.position_m, (0.0, 0.03, 0.0)),
                cast_shadow=False,
            )
            self._parts.append(disc)
        return True

    def _mats(self, layout: Layout) -> Any:
        """Every other mat of the floor, a shade darker."""
        (wide, deep), (mid_x, mid_z) = layout.size_m, layout.centre_m
        rows, columns = np.indices((math.ceil(deep / MAT_M), math.ceil(wide / MAT_M))).reshape(2, -1)
        low = np.stack([columns, rows], axis=1)[(rows + columns) % 2 == 0] * MAT_M
        x, z = np.stack([low, np.minimum(low + MAT_M, (wide, deep))], axis=2).transpose(1, 0, 2)
        x, z = x + mid_x - wide / 2, z + mid_z - deep / 2
        corners = [[x[:, i], np.full(len(x), 0.01), z[:, j]] for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
        first = 4 * np.arange(len(x))[:, None, None]
        faces = first + np.array([[0, 2, 1], [0, 3, 2]])
        return self._scene.add_mesh_simple(
            "/arena/mats",
            np.array(corners, np.float32).transpose(2, 0, 1).reshape(-1, 3),
            faces.reshape(-1, 3).astype(np.uint32),
            color=rgb(colours.FLOOR_OTHER),
            cast_shadow=False,
        )


class Body:
    """An agent: a cube with eyes, its rays and its trail."""

    def __init__(self, server: viser.ViserServer, number: int, replay: Replay) -> None:
        scene, size = server.scene, replay.layout.body_m
        self.number, self._server = number, server
        name = f"/agents/{number}"
        self._frame = scene.add_frame(name, show_axes=False)
        vertices, faces = rounded_cube(size * 0.94, size * 0.2)
        self._shape = scene.add_mesh_simple(f"{name}/body", vertices, faces, color=FLOOR, flat_shading=False)
        self._parts: list[Any] = [self._shape]
        for side in (-1, 1):
            at = np.array([side * size * 0.2, size * 0.14, size * 0.45])
            white = scene.add_icosphere(f"{name}/white{side}", size * 0.135, color=PAPER, position=at)
            front = at + np.array([0.0, 0.0, size * 0.09])
            pupil = scene.add_icosphere(f"{name}/pupil{side}", size * 0.075, color=INK, position=front)
            self._parts += [white, pupil]
        nothing, dark = np.zeros((1, 2, 3), np.float32), np.zeros((1, 2, 3), np.uint8)
        self._eyes = scene.add_frame(f"/eyes/{number}", show_axes=False)
        self._rays = scene.add_line_segments(f"/eyes/{number}/rays", nothing, dark, thickness=0.012)
        self._spots = scene.add_line_segments(f"/eyes/{number}/spots", nothing, dark, thickness=0.03)
        self._trail = scene.add_line_segments(f"/trails/{number}", nothing, dark, thickness=0.09)
        self._tint: Colour | None = None
        self._looked: tuple[int, bool] | None = None
        self._sees = False
        self._directions = replay.rays
        # Only the most level ones are shown; all of them would hide the agent.
        up = np.abs(self._directions[1])
        self._level = up <= up.min(initial=1.0) + 1e-3
        self._eye_m = replay.layout.eye_height_m
        self._tints = [rgb(team.colour) for team in replay.header.teams]
        self._half_m = size / 2

    def remove(self) -> None:
        for part in (*self._parts, self._rays, self._spots, self._eyes, self._trail, self._frame):
            part.remove()

    def show(self, moment: Moment, trail: np.ndarray, shades: np.ndarray | None, *, rays: bool, trails: bool) -> None:
        """`trail`: where it was, the newest place last, and in which colours, if not in the agent's own."""
        number = self.number
        self._frame.position = moment.position_m[number]
        self._frame.wxyz = quaternion(float(moment.heading_rad[number]))
        active, tint = bool(moment.active[number]), self._tints[int(moment.team[number])]
        shown = tint if active else mixed(tint, PAPER, 0.55)
        if shown != self._tint:
            self._tint = self._shape.color = shown
        if active and (moment.decision, rays) != self._looked:
            self._looked = moment.decision, rays
            self._sees = self._look(moment, tint, rays=rays)
        self._rays.visible, self._spots.visible = rays and active, self._sees and active
        if self._rays.visible or self._spots.visible:
            self._eyes.position = moment.position_m[number]
        self._trail.visible = trails
        if trails:
            self._walk(trail, tint, shades)

    def _look(self, moment: Moment, tint: Colour, *, rays: bool) -> bool:
        """Draws the rays; returns whether one of them meets an opponent."""
        reach = moment.sight_m[self.number]
        aside, up, forward = self._directions * reach
        cos, sin = math.cos(moment.sight_heading_rad[self.number]), math.sin(moment.sight_heading_rad[self.number])
        # Rotated here: the browser may show lines a few frames later than a node's pose.
        ends = np.stack([aside * cos + forward * sin, up + self._eye_m, forward * cos - aside * sin], axis=1)
        start = np.array([0.0, self._eye_m, 0.0], np.float32)
        lines = np.stack([np.broadcast_to(start, ends.shape), ends], axis=1).astype(np.float32)
        spotted = opponents_met(moment.sight_kind, moment.team)[self.number]
        if rays:
            faint = as_lines(np.array([mixed(tint, FLOOR, 0.4), mixed(tint, FLOOR, 0.8)]))
            level = lines[self._level & ~spotted]
            if not len(level):
                level = np.zeros((1, 2, 3), np.float32)
            self._rays.points = level
            self._rays.colors = np.broadcast_to(faint, level.shape).copy()
        if spotted.any():
            self._spots.points = bright = lines[spotted]
            self._spots.colors = np.broadcast_to(as_lines(np.array(SPOTTED)), bright.shape).copy()
        return bool(spotted.any())

    def _walk(self, trail: np.ndarray, tint: Colour, shades: np.ndarray | None) -> None:
        places = trail - np.array([0.0, self._half_m - 0.04, 0.0], np.float32)
        lines = np.stack([places[:-1], places[1:]], axis=1)
        fade = np.linspace(0.95, 0.1, len(places))[:, None]
        shades = as_lines(np.array(tint) * (1 - fade) + np.array(FLOOR) * fade if shades is None else shades)
        self._trail.points = lines.astype(np.float32)
        self._trail.colors = np.stack([shades[:-1], shades[1:]], axis=1)


class Scene:
    """All of it, for one replay after the other."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._stage = Stage(server)
        self._bodies: list[Body] = []
        self._replay: Replay | None = None
        self._shades: np.ndarray | None = None
        """Of the way: uint8 [F, A, 3], where the game rates it."""
        self._aspects: dict[int, float] = {}
        """Width by height of each viewer's picture, as the camera was last fitted to it."""
        server.on_client_connect(self._greet)
        server.on_client_disconnect(self._part)
        server.scene.set_up_direction("+y")
        server.scene.configure_environment_map(None)  # it would be fetched from far away
        server.scene.configure_default_lights(enabled=False)
        server.scene.add_light_hemisphere(
            "/light/sky", sky_color=(255, 250, 240), ground_color=(150, 146, 160), intensity=2.2
        )
        server.scene.add_light_directional(
            "/light/sun", color=(255, 244, 226), intensity=1.9, position=(7.0, 16.0, 9.0)
        )
        server.scene.set_background_image(np.broadcast_to(np.array(rgb(colours.BACKDROP), np.uint8), (8, 8, 3)).copy())

    def begin(self, replay: Replay) -> None:
        before = self._replay
        self._replay, self._shades = replay, rating_colours(replay)
        with self._server.atomic():
            if self._stage.put_up(replay.layout):
                self._aim(replay.layout)
            if before is None or before.settings != replay.settings:
                for body in self._bodies:
                    body.remove()
                self._bodies = [Body(self._server, number, replay) for number in range(replay.header.agents)]
        if before is None:
            for client in self._server.get_clients().values():  # those who came while the first round was played
                self._fit(client)

    def _aim(self, layout: Layout) -> None:
        """The view that the page begins with, and comes back to."""
        camera = self._server.initial_camera
        camera.fov = FOV_RAD
        camera.position, camera.look_at = view_of(layout, USUAL_ASPECT)

    def _greet(self, client: viser.ClientHandle) -> None:
        client.camera.on_update(lambda _: self._fit(client))
        self._fit(client)

    def _fit(self, client: viser.ClientHandle) -> None:
        """Moves a viewer's camera so that the arena fits, when the viewer comes and when the picture changes shape."""
        if self._replay is None or client.camera.image_height <= 0:
            return
        aspect = client.camera.image_width / client.camera.image_height
        if math.isclose(aspect, self._aspects.get(client.client_id, 0.0), rel_tol=0.02):
            return
        self._aspects[client.client_id] = aspect
        place, look_at = view_of(self._replay.layout, aspect)
        with client.atomic():
            client.camera.position, client.camera.look_at = np.array(place), np.array(look_at)

    def _part(self, client: viser.ClientHandle) -> None:
        self._aspects.pop(client.client_id, None)

    def show(self, seconds: float, *, rays: bool, trails: bool) -> Moment:
        assert self._replay is not None
        replay = self._replay
        moment = replay.at(seconds)
        alone = is_alone(replay)
        begin_s, steps = (0.0, PATH_STEPS) if alone else (max(seconds - TRAIL_S, 0.0), TRAIL_STEPS)
        times = np.linspace(begin_s, max(seconds, 1e-3), steps) * replay.header.ticks_per_second
        with self._server.atomic():
            for body in self._bodies:
                way = replay.position_m[:, body.number]
                trail = np.stack([np.interp(times, replay.tick, way[:, axis]) for axis in range(3)], axis=1)
                shades = None
                if alone and self._shades is not None:
                    shades = self._shades[np.searchsorted(replay.tick, times, side="right") - 1, body.number]
                body.show(moment, trail, shades, rays=rays, trails=trails)
        return moment


def view_of(layout: Layout, aspect: float) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """From where to where to look, so that the whole arena is in a picture of this shape (width by height)."""
    away = VIEW_FROM / np.linalg.norm(VIEW_FROM)
    right = np.array([1.0, 0.0, 0.0])
    up = np.cross(away, right)
    half = np.array([layout.size_m[0] / 2 + WALL_M, 0.0, layout.size_m[1] / 2 + WALL_M])
    middle = np.array([layout.centre_m[0], 0.0, layout.centre_m[1]])
    target = np.array([0.0, 0.0, half[2] * 0.08])  # what is near looks larger, so the middle of the picture is nearer
    distance = 0.0
    for corner in (half * (x, 0, z) - target for x in (-1, 1) for z in (-1, 1)):
        room = max(abs(corner @ right) / aspect, abs(corner @ up)) * MARGIN / math.tan(FOV_RAD / 2)
        distance = max(distance, float(room + corner @ away))
    x, y, z = middle + target + away * distance
    return (float(x), float(y), float(z)), (float(middle[0]), 0.0, float(middle[2] + target[2]))


def rounded_cube(size: float, radius: float, cuts: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a cube whose edges are round."""
    steps = np.linspace(-1.0, 1.0, cuts + 1)
    steps = np.sign(steps) * np.abs(steps) ** 0.5  # finer near the edges, where it bends
    u, v = (grid.ravel() for grid in np.meshgrid(steps, steps, indexing="ij"))
    a = (np.arange(cuts)[:, None] * (cuts + 1) + np.arange(cuts)).ravel()
    b, c, d = a + 1, a + cuts + 1, a + cuts + 2
    quads = np.stack([a, c, b, b, c, d], axis=1).reshape(-1, 3)
    sides = [(axis, sign) for axis in range(3) for sign in (-1.0, 1.0)]
    points = np.concatenate([np.roll(np.stack([0 * u + sign, u, v], axis=1), axis, axis=1) for axis, sign in sides])
    faces = [quads[:, :: int(sign)] + place * len(u) for place, (_, sign) in enumerate(sides)]
    points *= size / 2
    inner = points.clip(radius - size / 2, size / 2 - radius)
    away = points - inner
    vertices = inner + radius * away / np.linalg.norm(away, axis=1, keepdims=True).clip(1e-9)
    return vertices.astype(np.float32), np.concatenate(faces).astype(np.uint32)
