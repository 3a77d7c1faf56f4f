"""Rounds of a training's moments, kept as replays in its folder: `trajectories/ep_*.jsonl`."""

from collections.abc import Sequence
from pathlib import Path

from godojo.runs.folder import RunFolder
from godojo.show.policies_to_show import PoliciesToShow
from godojo.show.recording import record_rounds
from godojo.show.replay import Replay
from godojo.show.replay_file import SUFFIX, write_replay

FOLDER = "trajectories"


def write_trajectories(run: RunFolder, rounds: int, seed: int = 0) -> list[Path]:
    """So many rounds of every snapshot, all from the same starts, played on the twin."""
    written = []
    for entry in run.snapshots().entries():
        lineup = PoliciesToShow.of(f"{run.path.absolute()}@{entry.name}", seed=seed)
        replays = record_rounds(
            lineup.players,
            settings=lineup.settings,
            episodes=rounds,
            seed=seed,
            names=lineup.names,
            label=lineup.label,
        )
        written += write_episodes(run.path / FOLDER, lineup.stem, replays)
    return written


def write_episodes(folder: Path, stem: str, replays: Sequence[Replay]) -> list[Path]:
    """One file a round."""
    paths = [folder / f"ep_{stem}_{one.header.episode:04}{SUFFIX}" for one in replays]
    for path, one in zip(paths, replays, strict=True):
        write_replay(path, one)
    return paths
