"""`godojo.hunt_bugs`: agents that play a game to find out what breaks."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from godojo.errors import GodojoError

if TYPE_CHECKING:
    from godojo.hunt.hunter import Hunt
    from godojo.hunt.outcome import HuntOutcome

HUNTS = "hunts"
"""The folder of hunts, in the current directory."""
_PROCESSES = 2
PARTS = "parts"
"""The folder of a hunt's parts while it runs on a Ray cluster."""


def hunt_bugs(
    game: str | None = None,
    *,
    ray: str | None = None,
    workers: int = 2,
    progress: Callable[..., None] | None = None,
    **how: Any,
) -> "HuntOutcome":
    """Play a game with a team of explorers; prove, shrink and report what goes wrong.

    Args:
        game: A game of Godojo, such as `"menu"`; or name a project or a binary.
        ray: Hunt on a Ray cluster: `"auto"`, `"local"` or `"HOST:PORT"`, as `godojo.train` takes it. Each worker is a
            hunt with a seed of its own; findings are merged by signature. Nodes must see the same files.
        workers: With `ray`: hunts that run at once.
        progress: Called with the part in progress, the fraction of it that is done, and a count.
        how: See `prepare_hunt`.

    Returns:
        The findings and the folder that holds them, with `report.html`, `report.md` and `junit.xml`.
    """
    said = progress or (lambda *_: None)
    if ray is not None:
        return hunt_on_ray(ray, workers, progress=said, game=game, **how)
    prepared = prepare_hunt(game, **how)
    prepared.run(said)
    return finish_hunt(prepared, said)


def prepare_hunt(
    game: str | None = None,
    *,
    project: str | Path | None = None,
    binary: str | Path | None = None,
    http: str | None = None,
    scene: str | None = None,
    input_map: bool = False,
    options: Mapping[str, str] | None = None,
    invariants: Sequence[str] = (),
    minutes: float | None = None,
    processes: int | None = None,
    explorers: Sequence[str] = (),
    policies: Sequence[str] = (),
    seed: int = 0,
    folder: str | Path | None = None,
    resume: str | Path | None = None,
    against: str | Path | None = None,
    detectors: Mapping[str, Any] | None = None,
    proofs: int = 5,
    shrink_seconds: float | None = None,
    freeze_s: float = 10.0,
    reload_every: int | None = None,
    clips: bool = True,
) -> "Hunt":
    """A hunt that is ready to `run`.

    Args:
        game: A game of Godojo.
        project: A Godot project's folder, instead.
        binary: An exported game, instead.
        http: The address of a game that runs already (see `godojo serve-game`), instead; its token is in
            `$GODOJO_HTTP_TOKEN`.
        scene: A scene of the project; its main scene by default. Over HTTP, a scene of the game's list.
        input_map: Play the project's own input actions; it needs no agents then.
        options: Exported variables of the scene's agents, by name.
        invariants: `file.py:function` each: functions that get the state and return whether it is right.
        minutes: How long to hunt, proofs included; 10 by default.
        processes: Games that are played at once; by default two, or one on a single core and over HTTP.
        explorers: `random`, `sticky`, `archive`, `novelty`, `seeker`, `ui`, `starts` or
            `policy`; by default all that fit.
        policies: Trained policies that explore, too: runs or policy files.
        seed: Seeds explorers and games.
        folder: Where findings and reports go; `hunts/NAME-DATE` by default.
        resume: The folder of a hunt to continue; nothing but `minutes` and `against` may be given beside it.
        against: The folder of an earlier hunt, to compare with: new, still there, fixed.
        detectors: Settings of detectors, by name.
        proofs: Replays of each finding; the rate is part of it.
        shrink_seconds: The most time for shrinking one finding; by default a tenth of the hunt, 10 to 60 seconds.
        freeze_s: A game that does not answer for so long is frozen.
        reload_every: Start afresh after so many decisions, as a test of stability.
        clips: Film findings where there is a display.
    """
    from godojo.hunt.findings import HuntSettings
    from godojo.hunt.game import DetectorSettings, Target
    from godojo.hunt.hunter import Hunt
    from godojo.hunt.target import check
    from godojo.validation import converted

    earlier = None if against is None else Path(against).expanduser()
    if earlier is not None and not earlier.is_dir():
        raise GodojoError(f"there is no hunt at {earlier} to compare with")
    if resume is not None:
        if game or project or binary or http:
            raise GodojoError("a resumed hunt knows its game; give only its folder")
        resumed = Hunt.resumed(Path(resume).expanduser(), minutes=minutes, against=earlier)
        check(resumed.target)
        return resumed
    target = Target(
        game=game,
        project=_path(project),
        binary=_path(binary),
        http=http,
        scene=scene,
        input_map=input_map,
        options=dict(options or {}),
        invariants=tuple(_rule(text) for text in invariants),
    )
    check(target)
    if processes is None:
        processes = 1 if http is not None else min(_PROCESSES, os.cpu_count() or 1)
    settings = HuntSettings(
        minutes=10.0 if minutes is None else minutes,
        processes=processes,
        explorers=tuple(explorers),
        policies=tuple(policies),
        seed=seed,
        proofs=proofs,
        shrink_seconds=shrink_seconds,
        timeout_s=freeze_s,
        reload_every=reload_every,
        clips=clips,
    )
    place = Path(folder).expanduser() if folder else _new_folder(target.name)
    if (place / "hunt.json").exists():
        raise GodojoError(f"{place} holds a hunt already; continue it with resume, or name another folder")
    return Hunt(place, target, settings, converted(dict(detectors or {}), DetectorSettings), against=earlier)


def finish_hunt(played: "Hunt", progress: Callable[..., None]) -> "HuntOutcome":
    """Films the findings and writes the reports."""
    return _finished(played, played.archive.sampled, progress)


def _finished(played: "Hunt", sampled: Any, progress: Callable[..., None]) -> "HuntOutcome":
    from godojo.hunt.clips import MOST_CLIPS, add_clip
    from godojo.hunt.outcome import HuntOutcome
    from godojo.hunt.report import write_page
    from godojo.hunt.texts import write_texts

    outcome = HuntOutcome.read(played.folder)
    if played.settings.clips:
        shown = outcome.findings[:MOST_CLIPS]
        for number, finding in enumerate(shown):
            progress("filming findings", number / len(shown), f"{number} of {len(shown)}")
            if not played.is_stopped:
                add_clip(played.folder, finding, lambda: played.is_stopped)
    progress("writing the report", None, "")
    write_page(played.folder, outcome.record, outcome.findings, sampled)
    write_texts(played.folder, outcome.record, outcome.findings)
    return outcome


def hunt_on_ray(
    address: str, workers: int = 2, *, progress: Callable[..., None] = lambda *_: None, **how: Any
) -> "HuntOutcome":
    """Hunts as tasks of a Ray cluster; `hunt_bugs` has its arguments. They cannot be resumed this way."""
    from godojo.api.parallel import run_on_ray
    from godojo.hunt.merge import merge_hunts

    if how.get("resume") is not None:
        raise GodojoError("a hunt on a Ray cluster cannot be resumed; resume it on this machine")
    how["processes"] = how.get("processes") or 1
    if how.get("http") is not None:
        raise GodojoError("a game over HTTP is one process: start a hunt for each address")
    if workers < 1:
        raise GodojoError(f"a hunt on a Ray cluster needs 1 worker or more, not {workers}")
    prepared = prepare_hunt(**how)
    folder = prepared.folder.absolute()
    parts = [folder / PARTS / f"{number:03d}" for number in range(workers)]
    seed, given = int(how.pop("seed", 0)), {**how, "clips": False}
    calls = [partial(_part, {**given, "folder": part, "seed": seed + number}) for number, part in enumerate(parts)]
    trouble: GodojoError | None = None
    progress(f"hunting with {workers} workers of a Ray cluster", None, "")
    try:
        run_on_ray(calls, address, "hunts", lambda what, share: progress("hunting", share, what))
    except KeyboardInterrupt:
        prepared.stop()
    except GodojoError as error:
        trouble = error
    sampled = merge_hunts(prepared.folder, parts, trouble="" if trouble is None else str(trouble))
    if not (prepared.folder / "hunt.json").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        raise trouble or GodojoError("no hunt of the Ray cluster has begun")
    shutil.rmtree(folder / PARTS, ignore_errors=True)
    return _finished(prepared, sampled, progress)


def _part(how: dict[str, Any]) -> None:
    """Runs in a task."""
    prepare_hunt(**how).run()


def find_finding(text: str) -> Path:
    """The folder of a finding: a path, or `findings/003` of the newest hunt."""
    path = Path(text).expanduser()
    if path.is_dir():
        return path
    newest = sorted(Path(HUNTS).glob("*/hunt.json"), key=lambda file: file.stat().st_mtime)
    if newest and (newest[-1].parent / path).is_dir():
        return newest[-1].parent / path
    raise GodojoError(f"there is no finding at {path}; name its folder, such as {HUNTS}/NAME/findings/001")


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given).expanduser().absolute()


def _rule(text: str) -> str:
    """`file.py:function` with the file's whole path, so that a finding can be reproduced from anywhere."""
    file, colon, name = text.rpartition(":")
    return f"{Path(file).expanduser().absolute()}{colon}{name}" if file else text


def _new_folder(name: str) -> Path:
    return Path(HUNTS) / f"{name}-{datetime.now():%Y%m%d-%H%M%S}"
