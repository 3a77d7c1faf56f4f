"""`godojo.Run`: a training's folder, and everything that can be done with it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from godojo.errors import GodojoError
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder

if TYPE_CHECKING:
    from godojo.api.exports import Exported
    from godojo.api.league import League
    from godojo.api.policies import TrainedPolicy
    from godojo.evaluation.evaluation import Evaluation
    from godojo.evaluation.sim_vs_godot import Comparison
    from godojo.evaluation.solo import SoloEvaluation
    from godojo.learn.training import TrainingStatus

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
    ) -> "Evaluation | SoloEvaluation | Comparison":
        """Measure how good the policies are, as `godojo.evaluate` does.

        Args:
            opponents: `scripted:NAME`, `RUN`, `RUN@SNAPSHOT`, policy files, `file.py:Class`, or `"itself"`. By default
                all scripted opponents and itself.
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

        return evaluate(
            self._reference(snapshot),
            opponents,
            role=role,
            episodes=episodes,
            arenas=arenas,
            engine=engine,
            seed=seed,
            deterministic=deterministic,
            progress=progress,
        )

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
            exploit_minutes: Also train a best response to each policy of the last snapshot, for this long each.
            seed: The same seed plays the same episodes.
            deterministic: Take the most likely actions; otherwise sample as in training.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.api.league import league

        return league(
            self._folder,
            snapshots,
            episodes=episodes,
            arenas=arenas,
            exploit_minutes=exploit_minutes,
            seed=seed,
            deterministic=deterministic,
            progress=progress,
        )

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
            format: `"godot"` (`.dojo`, played in pure GDScript) or `"onnx"`.
            out: The folder to write to; `export` in the run's folder by default.
            levels: Snapshots by level, such as `{"easy": "10s", "hard": "final"}`.
            int8: Also write an ONNX model with 8-bit weights, and measure what it costs in win rate.
            card: Also write a model card, `CARD.md`.
            episodes: Episodes of each match, for `int8` and `card`.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.api.exports import export

        return export(
            self._reference(snapshot),
            role=role,
            format=format,
            out=out,
            levels=levels,
            int8=int8,
            card=card,
            episodes=episodes,
            progress=progress,
        )

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
        fine: bool = False,
        progress: Callable[..., None] = _ignore,
    ) -> Path:
        """Make the film of the training, from untrained to trained. Needs Godot.

        Args:
            path: An `.mp4`; `learn_progress-DATE.mp4` in the run's folder by default.
            preset: `"720p30"`, `"1080p60"`, `"portrait"`, `"small"`, …
            stages: The snapshots to show; by default start, 10s, 1m and the last.
            arena: Play in this arena only.
            seed: Other episodes to choose from.
            fine: Smoother edges, for twice the time without a GPU.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.engines.godot.display import check_screen
        from godojo.engines.godot.find import find
        from godojo.show import film
        from godojo.show.policies_to_show import run_to_show
        from godojo.show.record import film_path
        from godojo.show.shots import preset as format_of

        size, folder = format_of(preset), run_to_show(self._reference())
        default = self.path / f"learn_progress-{date.today()}.mp4"
        target = film_path(self.path, "learn_progress", default if path is None else Path(path))
        film.filmed_stages(folder, stages)
        check_screen()
        find()
        story = film.story_of(folder, size, stages=stages, arena=arena, seed=seed, progress=progress)
        film.make_film(story, target, fine=fine, progress=progress)
        return target

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
    ) -> Path:
        """Film some episodes of the policies, played in Godot.

        Args:
            path: An `.mp4`; `recording-DATE.mp4` in the run's folder by default.
            snapshot: A moment of the training; the newest policies by default.
            episodes: How many to film.
            preset: `"720p30"`, `"1080p60"`, `"portrait"`, `"small"`, …
            camera: `"overview"`, `"follow"` or `"side"`; by default the first in which agents are large enough.
            hero: The role that the follow camera follows; the first one by default.
            players: Other players by role: `RUN@SNAPSHOT`, `scripted:NAME` or a policy file.
            arena: Play in this arena only.
            role_labels: Write the role above each agent.
            seed: The same seed starts episodes at the same places.
            fine: Smoother edges, for twice the time without a GPU.
            progress: Called with the step in progress and the fraction of it that is done.
        """
        from godojo.engines.godot.display import check_screen
        from godojo.engines.godot.find import find
        from godojo.show import record
        from godojo.show.policies_to_show import PoliciesToShow
        from godojo.show.shots import check_camera
        from godojo.show.shots import preset as format_of

        size = format_of(preset)
        if episodes < 1:
            raise GodojoError(f"episodes must be 1 or more, not {episodes}")
        check_camera(camera)
        hero = hero or self.config.roles[0]
        if hero not in self.config.roles:
            raise GodojoError(f"there is no role {hero!r} to follow; there is: {', '.join(self.config.roles)}")
        lineup = PoliciesToShow.of(self._reference(snapshot), dict(players or {}), seed=seed)
        target = record.film_path(self.path, "recording", None if path is None else Path(path))
        arenas = lineup.arenas(arena)
        check_screen()
        find()
        replays = record.played_in_godot(lineup, arenas, episodes, seed=seed, progress=progress)
        shots = record.shots_of(replays, size, camera, hero, names=role_labels)
        record.film_shots(shots, target, size, fine=fine, progress=progress)
        return target

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
