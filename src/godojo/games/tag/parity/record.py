"""Has the real Godot play a plan, and reads what it wrote down."""

import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import prepared_project, problem_lines
from godojo.errors import GodojoError
from godojo.evaluation.parity.report import Progress
from godojo.games.tag.parity.plan import Group, Plan
from godojo.games.tag.spec import REWARD_TERMS, observation_size
from godojo.processes import started

SCRIPT = "res://games/tag/parity/record.gd"
FIELDS = (
    *("x", "y", "z", "velocity_x", "velocity_y", "velocity_z", "heading", "heading_rest"),
    *("grounded", "active", "chases", "coyote_ticks", "immune_ticks"),
)
"""What is known of an agent at the end of a tick."""
_POLL_S = 0.1
_START_TIMEOUT_S = 60.0
_EPISODE_TIMEOUT_S = 5.0


class _Ending(msgspec.Struct):
    ticks: int
    decisions: int
    is_over: bool
    winner: str
    winner_index: int
    scores: list[float]


class _Listing(msgspec.Struct):
    fields: tuple[str, ...]
    episodes: list[_Ending]


class Recording(NamedTuple):
    """What happened in a group's episodes. E episodes, T ticks, D decisions, A agents; rows after an episode's end
    repeat its last one."""

    states: np.ndarray
    """float32 [E, T + 1, A, FIELDS]: at the start and after every tick."""
    observations: np.ndarray
    """float32 [E, D + 1, A, O]: at the start and after every decision."""
    terms: np.ndarray
    """float32 [E, D, A, 4]: of the reward; zero after the end."""
    ticks: np.ndarray
    """[E]: length of the episode."""
    decisions: np.ndarray
    """[E]: decisions begun."""
    winner: tuple[str, ...]
    winner_index: np.ndarray
    """[E]: which agent won, or -1."""
    scores: np.ndarray
    """[E, A]: at the end."""


def record(engine: Engine, plan: Plan, folder: Path, progress: Progress) -> list[Recording]:
    """Plays the plan in Godot, a recording for each group; `folder` is for files on the way."""
    write_job(plan, folder)
    data = folder / "recording.bin"
    whole = sum(_size_of(group) for group in plan.groups)
    deadline = time.monotonic() + _START_TIMEOUT_S + _EPISODE_TIMEOUT_S * plan.episodes
    project = prepared_project(engine)
    words: list[str | Path] = [engine.program, "--headless", "--fixed-fps", "60", "--path", project, "--script", SCRIPT]
    output = None
    with started([*words, "--", folder / "job.json", folder]) as process:
        while output is None:
            progress("playing in Godot", data.stat().st_size / 4 / whole if data.exists() else None)
            try:
                output, _ = process.communicate(timeout=_POLL_S)
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    raise GodojoError(f"Godot did not finish {plan.episodes} episodes in time; try fewer") from None
        code = process.returncode
    problems = [*problem_lines(output), *(line for line in output.splitlines() if line.startswith("FAILED"))]
    if code or problems:
        raise GodojoError(f"Godot could not play the episodes: {'; '.join(problems[:3]) or f'exit status {code}'}")
    return read_recording(plan, folder)


def write_job(plan: Plan, folder: Path) -> None:
    """`job.json` and `job.bin`, as `record.gd` wants them."""
    groups = [
        {
            "name": group.name,
            "settings": group.settings,
            "episodes": [
                {
                    "arena": int(group.arena[episode]),
                    "starts": group.starts[episode].tolist(),
                    "it": int(group.it[episode]),
                    "decisions": group.actions.shape[1],
                }
                for episode in range(len(group.number))
            ],
        }
        for group in plan.groups
    ]
    (folder / "job.json").write_bytes(msgspec.json.encode({"arenas": plan.arenas, "groups": groups}))
    with (folder / "job.bin").open("wb") as actions:
        for group in plan.groups:
            actions.write(group.actions.astype("<f4").tobytes())


def read_recording(plan: Plan, folder: Path) -> list[Recording]:
    """What `record.gd` wrote."""
    listing = msgspec.json.decode((folder / "recording.json").read_bytes(), type=_Listing)
    if listing.fields != FIELDS or len(listing.episodes) != plan.episodes:
        raise GodojoError("the recording is not of this plan: Godot's record.gd and this version do not fit together")
    numbers = np.fromfile(folder / "recording.bin", "<f4")
    endings, recordings, at = iter(listing.episodes), [], 0
    for group in plan.groups:
        agents, size = group.settings.agent_count, observation_size(group.settings)
        here = [next(endings) for _ in group.number]
        recording = _empty(group, here)
        for episode, ending in enumerate(here):
            for array, rows, shape in (
                (recording.states, ending.ticks + 1, (agents, len(FIELDS))),
                (recording.observations, ending.decisions + 1, (agents, size)),
                (recording.terms, ending.decisions, (agents, len(REWARD_TERMS))),
            ):
                count = rows * shape[0] * shape[1]
                array[episode, :rows] = numbers[at : at + count].reshape(rows, *shape)
                if array is not recording.terms:
                    array[episode, rows:] = array[episode, rows - 1]
                at += count
        recordings.append(recording)
    if at != len(numbers):
        raise GodojoError(f"the recording holds {len(numbers)} numbers instead of {at}")
    return recordings


def _empty(group: Group, endings: list[_Ending]) -> Recording:
    episodes, decisions, agents = group.actions.shape[:3]
    ticks = group.settings.round_ticks
    return Recording(
        states=np.zeros((episodes, ticks + 1, agents, len(FIELDS)), np.float32),
        observations=np.zeros((episodes, decisions + 1, agents, observation_size(group.settings)), np.float32),
        terms=np.zeros((episodes, decisions, agents, len(REWARD_TERMS)), np.float32),
        ticks=np.array([ending.ticks for ending in endings]),
        decisions=np.array([ending.decisions for ending in endings]),
        winner=tuple(ending.winner for ending in endings),
        winner_index=np.array([ending.winner_index for ending in endings]),
        scores=np.array([ending.scores for ending in endings]),
    )


def _size_of(group: Group) -> int:
    """Numbers in the recording of a group whose rounds all last to the end."""
    episodes, decisions, agents = group.actions.shape[:3]
    per_decision = observation_size(group.settings) + len(REWARD_TERMS)
    return int(episodes * agents * (group.settings.round_ticks * len(FIELDS) + decisions * per_decision))
