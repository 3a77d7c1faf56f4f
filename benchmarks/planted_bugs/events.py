"""What detectors see in so many decisions, however busy the machine is: events of one explorer, before any proof.

    python3 dojo.py run benchmarks/planted_bugs/events.py menu first_agent --decisions 3000
    python3 dojo.py run benchmarks/planted_bugs/events.py menu-foveation --explorers sticky ui

A game's name plays its clean build, a bug's name one with that bug. `run.py` measures whole hunts, by the clock.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from benchmarks.planted_bugs.bugs import Bug, clean_edits, patched_copy, read_bugs
from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive
from godojo.hunt.game import Target, open_game
from godojo.hunt.team import EXPLORERS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", help="games or planted bugs")
    parser.add_argument("--decisions", type=int, default=3000)
    parser.add_argument("--length", type=int, default=500, help="decisions from reset to reset")
    parser.add_argument("--explorers", nargs="*", default=["sticky", "ui", "random"])
    wanted = parser.parse_args()
    bugs = read_bugs()
    for name in wanted.names:
        found = [bug for bug in bugs if name in (bug.name, bug.game)]
        if not found:
            parser.error(f"there is no game and no planted bug {name!r}")
        for explorer in wanted.explorers:
            events = played(found[0], name, explorer, wanted.decisions, wanted.length)
            sys.stdout.write(f"{name}, {explorer}, {wanted.decisions} decisions: {', '.join(events) or 'no event'}\n")
            sys.stdout.flush()
    return 0


def played(bug: Bug, name: str, explorer: str, decisions: int, length: int) -> list[str]:
    """Signatures of all events."""
    with tempfile.TemporaryDirectory(prefix="planted-") as made:
        edits = [*clean_edits(bug.game), *(bug.edits if name == bug.name else ())]
        project = patched_copy(Path(made, "project"), bug.source, edits, imported=True)
        target = Target(project=project, input_map=True) if bug.project else Target(game=bug.game, project=project)
        with open_game(target) as game:
            player = EXPLORERS[explorer](ActionSpace(game.action_parts), Archive(), np.random.default_rng(0))
            events: dict[str, None] = {}
            for start in range(0, decisions, length):
                player.begin(game)
                seen = game.reset(start // length)
                for _ in range(min(length, decisions - start)):
                    events |= dict.fromkeys(one.signature for one in seen.events)
                    if game.is_lost:
                        break
                    seen = game.step(player.choose(seen))
                events |= dict.fromkeys(one.signature for one in seen.events)
            return list(events)


if __name__ == "__main__":
    sys.exit(main())
