"""Who plays in what is shown: a run's policies, or whom a user puts in their place; and in which arenas."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from godojo.errors import GodojoError, known
from godojo.evaluation.held_out import game_settings
from godojo.evaluation.players import player_from
from godojo.games.tag.arenas import Arena, generate_arena, hand_made_arenas, read_arena
from godojo.games.tag.settings import TagSettings
from godojo.opponents import Opponent
from godojo.runs.folder import CONFIG, RunFolder
from godojo.runs.names import split_reference

GENERATED = "generated:"


def can_be_shown(run: RunFolder) -> bool:
    """Whether its rounds can be shown in 3D: those of tag, by policies that are not told a task."""
    return run.config.game == "tag" and "tasks" not in run.config.more


def run_to_show(text: str | Path | None) -> RunFolder:
    """A run that can be shown: one of tag."""
    run = RunFolder.open(text)
    if not can_be_shown(run):
        tasks = " in several tasks" if "tasks" in run.config.more else ""
        raise GodojoError(f"run {run.run_id} plays {run.config.game}{tasks}; only plain runs of tag can be shown in 3D")
    return run


def settings_of(run: RunFolder) -> TagSettings:
    """The game as the run played it."""
    settings: TagSettings = game_settings(run.config.game, run.config.game_settings, run.path / CONFIG)
    return settings


@dataclass(frozen=True)
class PoliciesToShow:
    """Somebody for every role."""

    run: RunFolder
    settings: TagSettings
    players: Mapping[str, Opponent]
    names: Mapping[str, str]
    """What they are called: a snapshot's name or a scripted opponent's."""
    snapshot: str | None

    @classmethod
    def of(
        cls,
        reference: str,
        others: Mapping[str, str | None] | None = None,
        *,
        seed: int = 0,
        deterministic: bool = True,
    ) -> "PoliciesToShow":
        """The policies of `RUN` or `RUN@SNAPSHOT`, but for the roles that somebody else plays.

        `others` names them by role, as in `player_from`; `@SNAPSHOT` alone is one of the same run.
        """
        name, snapshot = split_reference(reference)
        run = run_to_show(name)
        where = str(run.path.absolute())
        players, names = {}, {}
        for role in others or {}:
            if (others or {})[role] and role not in run.config.roles:
                raise GodojoError(f"there is no role {role!r} in run {run.run_id}; {known(role, run.config.roles)}")
        for place, role in enumerate(run.config.roles):
            asked = (others or {}).get(role) or (f"@{snapshot}" if snapshot else "@")
            text = asked if not asked.startswith("@") else where if asked == "@" else f"{where}{asked}"
            players[role] = player_from(
                text, role, game=run.config.game, seed=seed + place, deterministic=deterministic
            )
            names[role] = asked if not asked.startswith("@") else asked[1:] or "newest"
        return cls(run, settings_of(run), players, names, snapshot)

    @property
    def label(self) -> str:
        """Everybody's name, once."""
        return " against ".join(dict.fromkeys(self.names.values()))

    @property
    def stem(self) -> str:
        """The same for a file's name."""
        letters = "-".join(dict.fromkeys(Path(name).name.removeprefix("scripted:") for name in self.names.values()))
        return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in letters)[:60]


def arenas_from(text: str | None, settings: TagSettings) -> list[Arena]:
    """One arena by its name, its file or as `generated:SEED`; all hand-made ones for None."""
    hand_made = hand_made_arenas(settings)
    if text is None:
        return list(hand_made.values())
    if text in hand_made:
        return [hand_made[text]]
    if text.startswith(GENERATED):
        seed = text.removeprefix(GENERATED)
        if not seed.isdigit() or int(seed) >= 2**63:
            raise GodojoError(f"{text}: a generated arena is named by its seed, as in {GENERATED}7")
        return [generate_arena(int(seed), settings)]
    if text.endswith(".json"):
        return [read_arena(Path(text).expanduser(), settings)]
    raise GodojoError(f"there is no arena {text!r}; {known(text, hand_made)} (or an arena's file, or {GENERATED}SEED)")
