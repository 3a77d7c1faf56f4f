"""A million steps through the bridge: eight games at once, every frame numbered and every number checked.

    python3 dojo.py run benchmarks/bridge_soak.py                     eight pretend games, a million steps
    python3 dojo.py run benchmarks/bridge_soak.py --steps 20000       the short form
    python3 dojo.py run benchmarks/bridge_soak.py --godot --games 2   real Godot, tag (frames are numbered there too)

A step is one answer of one game. The pretend games (`tests/dojo_client.py`) are processes of their own that speak the
real wire; each observation tells its game's seed, the decision, the world and the agent, so that a frame that is lost,
doubled, late or mixed up with another cannot be overlooked. Exits with 1 if anything is, or if memory grows by 5 %.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from godojo.engines.godot.launch import own_scene
from godojo.engines.godot.open import launch_games, spread
from godojo.engines.godot.worlds import GodotWorlds
from godojo.games.tag.godot import TagInGodot
from tests.watched_games import Marked, pid_of, pretend

MOST_GROWTH = 0.05
SETTLED_AT = 0.1
"""Share of the run after which memory is first looked at: caches are warm then."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--worlds", type=int, default=8, help="in each game")
    parser.add_argument("--godot", action="store_true", help="real Godot instead of pretend games")
    wanted = parser.parse_args()
    tag = TagInGodot()
    marked = Marked(own_scene(tag.scene) if wanted.godot else pretend())
    with launch_games(
        marked.recipe,
        num_worlds=wanted.games * wanted.worlds,
        num_processes=wanted.games,
        seed=1,
        ticks_per_decision=tag.ticks_per_decision,
        options=tag.configure_options,
        settings=tag.settings,
    ) as worlds:
        decisions = max(wanted.steps // wanted.games, 20)
        is_good = soak(worlds, decisions, is_numbered=not wanted.godot)
    is_clean = marked.all_gone()
    say(f"processes left behind: {len(marked.running())}")
    return 0 if is_good and is_clean else 1


def soak(worlds: GodotWorlds, decisions: int, *, is_numbered: bool) -> bool:
    games = len(worlds.seats)
    chance = np.random.default_rng(0)
    seeds = [role.observation[:, 0, 3].copy() for role in worlds.roles.values()]
    took_us = np.empty(decisions)
    settled: dict[str, int] = {}
    wrong = 0
    begun = time.monotonic()
    for decision in range(1, decisions + 1):
        for role in worlds.roles.values():
            role.action[:] = chance.uniform(-1, 1, role.action.shape)
        before = time.perf_counter()
        worlds.step()
        took_us[decision - 1] = (time.perf_counter() - before) * 1e6
        if is_numbered:
            wrong += sum(not is_in_place(worlds, decision, *each) for each in zip(worlds.roles, seeds, strict=True))
        if decision == max(int(decisions * SETTLED_AT), 1):
            settled = memory_kib(worlds)
        if decision % max(decisions // 10, 1) == 0:
            say(f"{decision * games} steps, {time.monotonic() - begun:.0f} s")
    grown = {name: memory_kib(worlds)[name] / settled[name] - 1 for name in settled}
    worst = max(grown, key=lambda name: grown[name])
    middle, high = np.percentile(took_us, (50, 99))
    say(f"{decisions * games} steps of {games} games ({worlds.num_worlds} worlds) in {time.monotonic() - begun:.0f} s")
    say(f"frames lost, doubled, out of order or mixed up: {wrong}; games lost: {len(worlds.incidents)}")
    say(f"a decision of all games: p50 {middle:.0f} us, p99 {high:.0f} us; a game's share: p50 {middle / games:.0f} us")
    since = f"memory from {SETTLED_AT:.0%} of the run to its end"
    say(f"{since}: trainer {grown['trainer']:+.1%}, most {worst} {grown[worst]:+.1%}")
    return wrong == 0 and not worlds.incidents and grown[worst] < MOST_GROWTH


def is_in_place(worlds: GodotWorlds, decision: int, name: str, seeds: np.ndarray) -> bool:
    """Whether every number of a pretend game is the one that belongs there; the sums of actions too."""
    role = worlds.roles[name]
    told = role.observation
    sizes = spread(worlds.num_worlds, len(worlds.seats))
    inside = np.concatenate([np.arange(size) for size in sizes])
    return bool(
        (told[..., 0] == decision).all()
        and (told[..., 1] == inside[:, None]).all()
        and (told[..., 2] == np.arange(told.shape[1])).all()
        and (told[..., 3] == seeds[:, None]).all()
        and role.acted.all()
        and np.allclose(role.terms[..., 0], role.action.sum(axis=2), atol=1e-5)
    )


def memory_kib(worlds: GodotWorlds) -> dict[str, int]:
    """Resident memory of ourselves and of every game."""
    found = {"trainer": resident_kib("self")}
    for game in range(len(worlds.seats)):
        found[f"game {game}"] = resident_kib(str(pid_of(worlds, game)))
    return found


def resident_kib(pid: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise SystemExit(f"/proc/{pid}/status does not tell how much memory is used")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
