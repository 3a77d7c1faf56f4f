"""Who plays in what is shown: a run's policies, or other players in their place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from godojo.errors import GodojoError, known
from godojo.evaluation.evaluation import plays_itself
from godojo.evaluation.held_out import game_settings
from godojo.evaluation.matches import RIVAL
from godojo.evaluation.players import player_from
from godojo.evaluation.shared_role import SharedSeats
from godojo.games.base import game_named
from godojo.opponents import Opponent
from godojo.runs.external import refuse_external
from godojo.runs.folder import CONFIG, RunFolder
from godojo.runs.names import split_reference
from godojo.show.recording import Progress, record_rounds
from godojo.show.replay import Replay, can_replay

AGAINST = " against "


def can_be_shown(run: RunFolder) -> bool:
    """Whether its rounds can be drawn: the game says how, and its policies are not trained on several tasks."""
    return can_replay(run.config.game) and "tasks" not in run.config.more


def run_to_show(text: str | Path | None, verb: str = "watch") -> RunFolder:
    """A run whose rounds can be drawn; GodojoError says why they cannot."""
    run = RunFolder.open(text)
    refuse_external(verb, run)
    if "tasks" in run.config.more:
        raise GodojoError(f"run {run.run_id} plays {run.config.game} in several tasks, which `{verb}` cannot show")
    game_named(run.config.game).require("replay", verb)
    return run


def settings_of(run: RunFolder) -> Any:
    """The game's settings as the run played it."""
    return game_settings(run.config.game, run.config.game_settings, run.path / CONFIG)


def _called(text: str) -> str:
    """A player's name in a replay."""
    return text if not text.startswith("@") else text[1:] or "newest"


@dataclass(frozen=True)
class PoliciesToShow:
    """A player for every role."""

    run: RunFolder
    settings: Any
    players: Mapping[str, Opponent]
    names: Mapping[str, str]
    """By role: a snapshot's name or a scripted opponent's."""
    snapshot: str | None

    @classmethod
    def of(
        cls,
        reference: str,
        others: Mapping[str, str | None] | None = None,
        *,
        seed: int = 0,
        deterministic: bool = True,
        verb: str = "replay",
    ) -> "PoliciesToShow":
        """The policies of `RUN` or `RUN@SNAPSHOT`, except for the roles in `others`.

        `others` names players by role, as in `player_from`; `@SNAPSHOT` alone is one of the same run. Where agents of
        one role play against each other, `opponent` plays half of them.
        """
        name, snapshot = split_reference(reference)
        run = run_to_show(name, verb)
        where = str(run.path.absolute())
        asked = {role: text for role, text in (others or {}).items() if text}
        trained_against = run.config.opponents
        roles = (*run.config.roles, *trained_against)
        known_roles = (*roles, RIVAL) if plays_itself(run.config) else roles
        for role in asked:
            if role not in known_roles:
                raise GodojoError(f"there is no role {role!r} in run {run.run_id}; {known(role, known_roles)}")
        usual = f"@{snapshot}" if snapshot else "@"

        def player(text: str, role: str, place: int) -> Opponent:
            text = text if not text.startswith("@") else where if text == "@" else f"{where}{text}"
            return player_from(text, role, game=run.config.game, seed=seed + place, deterministic=deterministic)

        players, names = {}, {}
        for place, role in enumerate(roles):
            text = asked.get(role, trained_against.get(role, usual))
            players[role] = player(text, role, place)
            names[role] = _called(text)
            if RIVAL in asked:
                rival = player(asked[RIVAL], role, place + 1)
                players[role] = SharedSeats(role, players[role], rival, in_turn=False)
                names[role] += f"{AGAINST}{_called(asked[RIVAL])}"
        return cls(run, settings_of(run), players, names, snapshot)

    @property
    def game(self) -> str:
        return self.run.config.game

    @property
    def label(self) -> str:
        """Every player's name, once."""
        return AGAINST.join(dict.fromkeys(self.names.values()))

    @property
    def stem(self) -> str:
        """The same for a file's name."""
        letters = "-".join(dict.fromkeys(Path(name).name.removeprefix("scripted:") for name in self.names.values()))
        return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in letters)[:60]

    def arenas(self, text: str | None) -> Sequence[Any]:
        """One by its name, its file or as `generated:SEED`; all hand-made ones for None (`Places.find`)."""
        game = game_named(self.game)
        if game.places is None and text is None:
            return [None]  # the one arena of a game without places
        found: Sequence[Any] = game.require("places", "--arena")(self.settings).find(text)
        return found

    def record(
        self,
        episodes: int = 1,
        *,
        arenas: Sequence[Any] | None = None,
        seed: int = 0,
        engine: str = "sim",
        label: str | None = None,
        progress: Progress = lambda _: None,
    ) -> list[Replay]:
        """Rounds of these players; see `record_rounds`."""
        return record_rounds(
            self.game,
            self.players,
            settings=self.settings,
            arenas=arenas,
            episodes=episodes,
            seed=seed,
            engine=engine,
            names=self.names,
            label=self.label if label is None else label,
            progress=progress,
        )
