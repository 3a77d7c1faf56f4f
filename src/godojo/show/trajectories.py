"""Rounds of a training's snapshots, kept as replays in its folder: `trajectories/ep_*.jsonl`."""

from collections.abc import Sequence
from pathlib import Path

from godojo.runs.folder import RunFolder
from godojo.show.policies_to_show import PoliciesToShow
from godojo.show.replay import Replay
from godojo.show.replay_file import SUFFIX, write_replay

FOLDER = "trajectories"


def write_trajectories(run: RunFolder, rounds: int, seed: int = 0) -> list[Path]:
    """Plays some rounds of every snapshot on the twin, all from the same starts."""
    written = []
    for entry in run.snapshots().entries():
        lineup = PoliciesToShow.of(f"{run.path.absolute()}@{entry.name}", seed=seed)
        written += write_episodes(run.path / FOLDER, lineup.stem, lineup.record(rounds, seed=seed))
    return written


def write_episodes(folder: Path, stem: str, replays: Sequence[Replay]) -> list[Path]:
    """One file a round."""
    paths = [folder / f"ep_{stem}_{one.header.episode:04}{SUFFIX}" for one in replays]
    for path, one in zip(paths, replays, strict=True):
        write_replay(path, one)
    return paths
