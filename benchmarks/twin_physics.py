"""How far the twin's physics is from the engine's, 3D and 2D, and what a tick of a character costs.

    python3 dojo.py run benchmarks/twin_physics.py
    python3 dojo.py run benchmarks/twin_physics.py --physics GodotPhysics3D
    python3 dojo.py run benchmarks/twin_physics.py --kinds boxes areas mixed_2d --scenes 4
    python3 dojo.py run benchmarks/twin_physics.py --kinds billiard stack vehicle --physics GodotPhysics3D

Records seeded random motion in random scenes of each kind, plays it in the twin and prints a table: errors of single
ticks from the engine's own state, of whole seconds played freely (the worst tick of each), and the share of ticks, rays
and signals of areas that agree. The last column is the time of `move_and_slide`, four rays and the step, compiled.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.any_game import say
from godojo.engines.godot.find import find
from godojo.twin.physics.engines import GODOT, JOLT
from tests.physics_parity import SECOND, Played, measure
from tests.physics_recording import record

LENGTHS = ("one_tick_p99_m", "one_tick_max_m", "one_second_median_m", "one_second_p95_m")
KINDS = ("flat", "yaw", "boxes", "mixed", "crowd", "bodies", "areas", "hulls", "meshes", "rigid")
RIGID_KINDS = ("billiard", "stack", "pushed", "tumble", "woken", "vehicle")
"""Scenes of rigid bodies that meet each other: lengths are theirs, not the character's."""
KINDS_2D = tuple(
    f"{kind}_2d" for kind in ("flat", "mixed", "floating", "bodies", "crowd", "areas", "boundary", "one_way", "rigid")
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=KINDS + RIGID_KINDS + KINDS_2D, default=KINDS + KINDS_2D)
    parser.add_argument("--physics", choices=(JOLT, GODOT), default=JOLT, help="Godot's physics engine")
    parser.add_argument("--scenes", type=int, default=12)
    parser.add_argument("--ticks", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    head = (
        "scenes",
        "ticks",
        "tick p99",
        "tick max",
        "second p50",
        "second p95",
        "flags",
        "rays",
        "signals",
        "rigid 1 s",
        "tick",
    )
    say(" | ".join(head))
    for kind in args.kinds:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "recording.json"
            record(find(), kind, args.seed, args.scenes, args.ticks, path, args.physics)
            scenes = json.loads(path.read_text())
        figures = measure(scenes)
        best_s = min(_seconds(scenes) for _ in range(3))
        row = [kind, f"{figures['ticks']:.0f}"]
        per_unit, unit = (1.0, "px") if kind in KINDS_2D else (1e3, "mm")
        names = [name.replace("one_", "body_") if kind in RIGID_KINDS else name for name in LENGTHS]
        row += [f"{per_unit * figures[name]:.4f} {unit}" for name in names]
        row += [f"{100.0 * figures[name]:.2f} %" for name in ("flags_agree", "rays_agree")]
        row.append(f"{100.0 * figures['events_agree']:.1f} % of {figures['events']:.0f}" if figures["events"] else "-")
        rigid = f"{per_unit * figures['rigid_one_second_max_m']:.3f} {unit}"
        row.append(rigid if kind.startswith("rigid") else "-")
        row.append(f"{1e6 * best_s / figures['ticks']:.2f} µs")
        say(" | ".join(row))


def _seconds(scenes: list[dict[str, object]]) -> float:
    return sum(Played(scene, SECOND).taken_s for scene in scenes)


if __name__ == "__main__":
    main()
