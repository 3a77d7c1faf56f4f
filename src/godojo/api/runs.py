"""`godojo.Run`: a training on disk, with a method for each command."""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder

if TYPE_CHECKING:
    from godojo.api.exports import Exported
    from godojo.api.films import Film
    from godojo.api.league import League
    from godojo.api.policies import TrainedPolicy
    from godojo.api.replays import Replays
    from godojo.evaluation.evaluation import Evaluation
    from godojo.evaluation.external import ExternalEvaluation
    from godojo.evaluation.sim_vs_godot import Comparison
    from godojo.evaluation.solo import SoloEvaluation
    from godojo.learn.training import TrainingStatus
    from godojo.runs.role_map import FileMode
    from godojo.show.behaviours import Behaviours

log = logging.getLogger("godojo")

# Torch, the kernels and matplotlib take seconds to load: each method imports what it needs.


def _ignore(_what: str, _fraction: float | None, _detail: str = "") -> None:
    """For callers without a progress callback."""


class Run:
    """One training on disk. `godojo.train` returns it; `Run.open` finds it again."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    @classmethod
    def open(cls, run: str | Path = "latest") -> "Run":
        """Open a run.

        Args:
            run: Its id, its path, or `"latest"`. Ids are looked up in `$GODOJO_RUNS`, by default `runs` in the current
                folder.

        Raises:
            GodojoError: There is no such run.
        """
        return cls(RunFolder.open(run))

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self._folder.path

    @property
    def name(self) -> str:
        """The name that commands and `Run.open` take."""
        return self._folder.name

    @property
    def config(self) -> RunConfig:
        """Everything that decides what the training does."""
        return self._folder.config

    @property
    def snapshots(self) -> list[str]:
        """The moments of the training that were kept, such as `start`, `1m` and `final`."""
        return [entry.name for entry in self._folder.snapshots().entries()]

    @property
    def modes(self) -> "dict[str, FileMode]":
        """The mode of each role: `"train"`, `"frozen"`, `"deterministic"`, or `"scene"`, as its training loop says."""
        return dict(self._folder.role_map().read())

    def set_modes(self, modes: "Mapping[str, FileMode]") -> None:
        """Freeze or unfreeze roles, also while the run is trained, in this or in another process.

        Takes effect at the next update. The modes are in `roles.json` of the run's folder.

        Args:
            modes: By role: `"train"`; `"frozen"`, which plays without learning; `"deterministic"`, which does so by its
                most likely actions; or `"scene"`, what the training loop of the scene says. Roles that are not named
                go back to the default: `"scene"` if the scene drives the training, else `"train"`.
        """
        self._folder.role_map().write(modes)

    @property
    def policies(self) -> "dict[str, TrainedPolicy]":
        """The newest policy of each role."""
        return {role: self.policy(role) for role in self.config.roles}

    def policy(self, role: str | None = None, snapshot: str | None = None) -> "TrainedPolicy":
        """Load one policy.

        Args:
            role: Only needed where the game has several.
            snapshot: A name from `snapshots`; the newest policy by default.
        """
        from godojo.api.policies import load_policy

        return load_policy(self._reference(snapshot), role)

    def evaluate(
        self,
        opponents: Sequence[str] = (),
        *,
        snapshot: str | None = None,
        role: str | None = None,
        episodes: int = 500,
        arenas: str = "held-out",
        engine: str = "sim",
        seed: int = 0,
        deterministic: bool = True,
        progress: Callable[[str, float | None], None] | None = None,
    ) -> "Evaluation | SoloEvaluation | Comparison | ExternalEvaluation":
        """Measure how good the policies are, as `godojo.evaluate` does.

        Args:
            opponents: `scripted:NAME`, `"reference"`, `reference:STYLE`, `RUN`, `RUN@SNAPSHOT`, policy files,
                `file.py:Class`, or `"itself"`. By default the game's basic scripted opponents, its reference set and
                itself.
            snapshot: A moment of the training; the newest policies by default.
            role: Evaluate this role only.
            episodes: Episodes against each opponent.
            arenas: `"held-out"`, `"hand-made"`, `"generated"`, or a folder of arenas.
            engine: `"sim"`, `"godot"`, or `"both"` to compare them.
            seed: The same seed plays the same episodes.
            deterministic: Take the most likely actions; otherwise sample as in training.
            progress: Called with the match in progress and the fraction of it that is done.
        """
        from godojo.api.evaluation import evaluate

        how: dict[str, Any] = {"arenas": arenas, "engine": engine, "seed": seed, "deterministic": deterministic}
        return evaluate(self._reference(snapshot), opponents, role=role, episodes=episodes, progress=progress, **how)

    def league(
        self,
        snapshots: Sequence[str] = (),
        *,
        episodes: int = 200,
        arenas: str = "held-out",
        exploit_minutes: float | None = None,
        seed: int = 0,
        deterministic: bool = True,
        progress: Callable[[str, float | None], None] = _ignore,
    ) -> "League":
        """Play the snapshots against each other and rate them; writes `league.png` and `league.json`.

        Args:
            snapshots: Their names; up to 8, spread over the training, by default.
            episodes: Episodes of each pairing.
            arenas: `"held-out"`, `"hand-made"`, `"generated"`, or a folder of arenas.
            exploit_minutes: Also search for weaknesses of each policy of the last snapshot: with every scripted
                opponent, and with a best response that trains for this long.
            seed: The same seed plays the same episodes.
            deterministic: Take the most likely actions; otherwise sample as in training.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.api.league import league

        how: dict[str, Any] = {"arenas": arenas, "seed": seed, "deterministic": deterministic, "progress": progress}
        return league(self._folder, snapshots, episodes=episodes, exploit_minutes=exploit_minutes, **how)

    def export(
        self,
        *,
        snapshot: str | None = None,
        role: str | None = None,
        format: str = "godot",  # noqa: A002 - as the option of `godojo export`
        out: str | Path | None = None,
        levels: Mapping[str, str] | None = None,
        int8: bool = False,
        card: bool = False,
        episodes: int = 500,
        progress: Callable[[str, float | None], None] | None = None,
    ) -> "Exported":
        """Write the policies as files for games.

        Args:
            snapshot: A moment of the training; the newest policies by default.
            role: Export this role only.
            format: `"godot"` (`.dojo`, played in pure GDScript), `"onnx"`, or `"godot-rl"` (ONNX for its plugin).
            out: The folder to write to; `export` in the run's folder by default.
            levels: Snapshots by level, such as `{"easy": "10s", "hard": "final"}`.
            int8: Also write an ONNX model with 8-bit weights, and measure what it costs in win rate.
            card: Also write a model card, `CARD.md`.
            episodes: Episodes of each match, for `int8` and `card`.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.api.exports import export

        how: dict[str, Any] = {"format": format, "levels": levels, "int8": int8, "card": card, "episodes": episodes}
        return export(self._reference(snapshot), role=role, out=out, progress=progress, **how)

    def plot(self) -> list[Path]:
        """Draw the learning curves as `charts/*.png` in the run's folder, and return their paths."""
        from godojo.show.charts import write_charts

        return write_charts(self._folder)

    def report(
        self,
        path: str | Path | None = None,
        *,
        episodes: int = 300,
        seed: int = 0,
        progress: Callable[..., None] = _ignore,
    ) -> Path:
        """Write the run as one HTML page with charts, results, settings and episodes in 3D.

        Args:
            path: The page's file; `report.html` in the run's folder by default.
            episodes: Episodes against each opponent; 0 for no table of results.
            seed: The same seed plays the same episodes.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.show.report.page import FILE, write_report

        page = self.path / FILE if path is None else Path(path)
        write_report(self._folder, page, rounds=episodes, seed=seed, progress=progress)
        return page

    def film(
        self,
        path: str | Path | None = None,
        *,
        preset: str = "720p30",
        stages: Sequence[str] = (),
        arena: str | None = None,
        seed: int = 0,
        clips: Sequence[str] | None = None,
        fine: bool = False,
        progress: Callable[..., None] = _ignore,
    ) -> "Film":
        """Make the film of the training, from untrained to trained. Needs Godot.

        Args:
            path: An `.mp4`; `learn_progress-DATE.mp4` in the run's folder by default.
            preset: `"720p30"`, `"1080p60"`, `"portrait"`, `"small"`, …
            stages: The snapshots to show; by default start, 10s, 1m and the last.
            arena: Play in this arena only.
            seed: Other episodes to choose from.
            clips: Other runs of the game to show a moment of; by default the latest of every other mode (in tag:
                classic, teams) beside this run.
            fine: Smoother edges, for twice the time without a GPU.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.api import films

        how: dict[str, Any] = {"preset": preset, "stages": stages, "arena": arena, "seed": seed, "fine": fine}
        return films.film(self._reference(), _path(path), clips=clips, progress=progress, **how)

    def record(
        self,
        path: str | Path | None = None,
        *,
        snapshot: str | None = None,
        episodes: int = 3,
        preset: str = "720p30",
        camera: str | None = None,
        hero: str | None = None,
        players: Mapping[str, str] | None = None,
        arena: str | None = None,
        role_labels: bool = True,
        seed: int = 0,
        fine: bool = False,
        progress: Callable[..., None] = _ignore,
    ) -> "Film":
        """Film some episodes of the policies, played in Godot; an external game as it draws itself.

        Args:
            path: An `.mp4`; `recording-DATE.mp4` in the run's folder by default.
            snapshot: A moment of the training; the newest policies by default.
            episodes: How many to film.
            preset: `"720p30"`, `"1080p60"`, `"portrait"`, `"small"`, …
            camera: `"tracking"` (close, all agents in view), `"overview"`, `"follow"` or `"side"`; by default tracking,
                or follow for an agent that is alone.
            hero: The role that the follow camera follows; the first one by default.
            players: Other players by role: `RUN@SNAPSHOT`, `scripted:NAME` or a policy file.
            arena: Play in this arena only.
            role_labels: Write the role above each agent.
            seed: The same seed starts episodes at the same places.
            fine: Smoother edges, for twice the time without a GPU.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.api import films

        how: dict[str, Any] = {"preset": preset, "camera": camera, "hero": hero, "players": players, "arena": arena}
        how |= {"role_labels": role_labels, "seed": seed, "fine": fine, "progress": progress}
        return films.record(self._reference(snapshot), _path(path), episodes=episodes, **how)

    def replay(
        self,
        folder: str | Path | None = None,
        *,
        snapshot: str | None = None,
        episodes: int = 5,
        players: Mapping[str, str] | None = None,
        arena: str | None = None,
        engine: str = "sim",
        seed: int = 0,
        deterministic: bool = True,
        packed: bool = False,
        progress: Callable[..., None] = _ignore,
    ) -> "Replays":
        """Record episodes tick by tick.

        Args:
            folder: Where to write them; `trajectories` in the run's folder by default.
            snapshot: A moment of the training; the newest policies by default.
            episodes: How many to record.
            players: Other players by role: `RUN@SNAPSHOT`, `scripted:NAME` or a policy file.
            arena: Play in this arena only.
            engine: `"sim"` (every tick) or `"godot"` (every decision).
            seed: The same seed plays the same episodes.
            deterministic: Take the most likely actions; otherwise sample as in training.
            packed: Write one file instead of one for each episode.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.api.replays import replay

        how: dict[str, Any] = {"players": players, "arena": arena, "engine": engine, "seed": seed, "packed": packed}
        how |= {"deterministic": deterministic, "progress": progress}
        return replay(self._reference(snapshot), _path(folder), episodes=episodes, **how)

    def behaviours(
        self,
        clips: str | Path | None = None,
        *,
        snapshot: str | None = None,
        episodes: int = 100,
        players: Mapping[str, str] | None = None,
        arena: str | None = None,
        engine: str = "sim",
        seed: int = 0,
        deterministic: bool = True,
        preset: str = "720p30",
        fine: bool = False,
        progress: Callable[..., None] = _ignore,
    ) -> "Behaviours":
        """Count what agents do, such as jukes and cut-offs, and measure how they move.

        Args:
            clips: A folder for a short film of the best example of each behaviour, which needs Godot; none by default.
            snapshot: A moment of the training; the newest policies by default.
            episodes: How many to play.
            players: Other players by role: `RUN@SNAPSHOT`, `scripted:NAME` or a policy file.
            arena: Play in this arena only.
            engine: `"sim"` (every tick) or `"godot"` (every decision).
            seed: The same seed plays the same episodes.
            deterministic: Take the most likely actions; otherwise sample as in training.
            preset: Size and speed of the clips: `"720p30"`, `"1080p60"`, `"portrait"`, `"small"`, …
            fine: Smoother edges, for twice the time without a GPU.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.api.behaviours import behaviours

        how: dict[str, Any] = {"players": players, "arena": arena, "engine": engine, "seed": seed, "preset": preset}
        how |= {"deterministic": deterministic, "fine": fine, "progress": progress}
        return behaviours(self._reference(snapshot), clips=_path(clips), episodes=episodes, **how)

    def watch(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 8090,
        token: str = "",
        seed: int = 0,
        seconds: float | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        """Show the run in 3D in the browser, until Ctrl-C.

        Args:
            host: The address to listen on; anything else than 127.0.0.1 needs a token.
            port: The port; 0 for any free one.
            token: What viewers on other machines must know; random by default.
            seed: Seed of the first episode; each episode adds one.
            seconds: Stop after this time.
            say: Called with the address.
        """
        from godojo.show.watch.serve import serve

        how: dict[str, Any] = {"host": host, "port": port, "token": token, "seed": seed, "seconds": seconds}
        serve(self._reference(), say=say, loaded=lambda: None, **how)

    def distil(
        self,
        net_arch: Sequence[int] = (32, 32),
        *,
        snapshot: str | None = None,
        memory_size: int | None = None,
        minutes: float | None = None,
        steps: int | None = None,
        run_id: str | None = None,
        force: bool = False,
        seed: int = 1,
        progress: Callable[..., None] = _ignore,
    ) -> "Run":
        """Train smaller networks that imitate the policies, as a new run.

        Args:
            net_arch: Widths of the students' hidden layers.
            snapshot: A moment of the training; the newest policies by default.
            memory_size: Size of the students' memory; the teacher's by default, at most the first layer's width.
            minutes: Training time; 1 minute by default.
            steps: Train for this many agent-steps instead.
            run_id: The new run's name; game, date and time by default.
            force: Replace a run of the same name.
            seed: Seed of the weights and the arenas.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.api.distil import distilled_run

        how: dict[str, Any] = {"memory_size": memory_size, "minutes": minutes, "steps": steps, "run_id": run_id}
        distilled = distilled_run(self._reference(snapshot), net_arch, force=force, seed=seed, say=log.info, **how)
        try:
            distilled.teach(progress)
        finally:
            distilled.run.remove_if_unused()
        return Run(distilled.run)

    def resume(
        self,
        *,
        minutes: float | None = None,
        steps: int | None = None,
        progress: "Callable[[TrainingStatus], object] | None" = None,
    ) -> "Run":
        """Continue the training, bit-exactly on `sim`.

        Args:
            minutes: Total training time, what was trained before included; by default the run's own budget.
            steps: Total agent-steps instead.
            progress: Called after each update with a `TrainingStatus`; return False to stop the training.
        """
        from godojo.api.training import train

        return train(resume=self, minutes=minutes, steps=steps, progress=progress)

    def _reference(self, snapshot: str | None = None) -> str:
        """The text that names the run's policies, or those of a snapshot."""
        where = str(self.path.absolute())
        return where if snapshot is None else f"{where}@{snapshot}"

    def __repr__(self) -> str:
        return f"Run({self.name!r})"


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path).expanduser()
