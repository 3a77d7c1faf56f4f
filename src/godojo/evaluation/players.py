"""Players of a match, each named by a text: trained policies, scripted opponents, a user's own class."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np
import torch
from torch import Tensor

from godojo.engines.base import Worlds
from godojo.engines.make import GAMES
from godojo.errors import GodojoError
from godojo.evaluation.reference_set import PREFIX as REFERENCE_PREFIX
from godojo.evaluation.reference_set import reference_file
from godojo.learn.networks import Policy
from godojo.learn.policy_file import PolicyCard, check_layout, load_policy
from godojo.opponents import Opponent, is_scripted, make_opponent, scripted_opponents
from godojo.opponents.base import check_role
from godojo.runs.folder import RunFolder
from godojo.runs.names import split_reference

SCRIPTED = "scripted:"
POLICY_SUFFIX = ".pt"


class TrainedPlayer(Opponent):
    """A trained player, with the card of its policy."""

    card: PolicyCard
    name: str
    deterministic = True
    _memory: Tensor | np.ndarray | None = None

    def begin(self, worlds: Worlds) -> None:
        check_role(worlds, self.role)
        check_layout(self.card, worlds.roles[self.role], self.name)
        count, agents, _ = worlds.roles[self.role].observation.shape
        self.start(count * agents)

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        arrays = worlds.roles[self.role]
        rows = arrays.observation.shape[0] * arrays.observation.shape[1]
        if self._memory is None or len(self._memory) != rows:
            raise GodojoError("a player must be told of the worlds first: call begin(worlds) after each reset")
        not_done = ~(arrays.terminated | arrays.truncated | worlds.ended[:, None])
        action = self.decide(arrays.observation.reshape(rows, -1), not_done, deterministic=self.deterministic)
        if action.size != out.size:
            raise GodojoError(f"{self.name} gives {action.shape} actions where {out.shape} are wanted")
        out[...] = action.reshape(out.shape)

    def start(self, rows: int) -> None:
        """Forgets everything; from now on it acts for `rows` agents."""
        raise NotImplementedError

    def decide(self, observation: np.ndarray, not_done: np.ndarray, *, deterministic: bool) -> np.ndarray:
        """The actions for rows of observations; agents that are done forget what they remember first."""
        raise NotImplementedError


class PlayerFile(Protocol):
    """How a player is read from a file of some kind."""

    def __call__(self, path: Path, *, seed: int, deterministic: bool, name: str) -> TrainedPlayer: ...


class PolicyPlayer(TrainedPlayer):
    """A trained policy: takes its most likely action (`deterministic`), or samples as in training.

    Samples are drawn for all worlds at once, so they depend on the number of worlds.
    """

    _memory: Tensor | None = None

    def __init__(
        self, policy: Policy, card: PolicyCard, *, seed: int = 0, deterministic: bool = True, name: str = ""
    ) -> None:
        super().__init__(card.role, seed)
        self.policy, self.card, self.deterministic = policy, card, deterministic
        self.name = name or f"policy of {card.role}"

    def start(self, rows: int) -> None:
        self._memory = self.policy.initial_memory(rows)
        self._generator = torch.Generator().manual_seed(self.seed)

    @torch.no_grad()
    def decide(self, observation: np.ndarray, not_done: np.ndarray, *, deterministic: bool) -> np.ndarray:
        assert self._memory is not None
        memory = self._memory * torch.from_numpy(not_done).view(-1, 1)
        raw = torch.from_numpy(observation)
        features, self._memory = self.policy.features(self.policy.preprocess(raw), memory, self.policy.heading_of(raw))
        choice = self.policy.head.sample(features, deterministic=deterministic, generator=self._generator)
        return self.policy.to_env_action(choice.action, raw).numpy()


def known_settings(card: PolicyCard, path: Path) -> PolicyCard:
    """The card with settings of today: those that its file does not name have their defaults."""
    if card.game not in GAMES:
        return card
    settings = GAMES[card.game].settings.from_values(card.settings, path)
    return msgspec.structs.replace(card, settings=msgspec.to_builtins(settings))


def policies_of(text: str) -> dict[str, tuple[Policy, PolicyCard]]:
    """The policies of `RUN` (the newest), of `RUN@SNAPSHOT`, or the one in `policy.pt`, by role."""
    if text.endswith(POLICY_SUFFIX):
        path = Path(text).expanduser()
        policy, card = load_policy(path)
        return {card.role: (policy, known_settings(card, path))}
    name, snapshot = split_reference(text)
    run = RunFolder.open(name)
    found = {}
    for role in run.config.roles:
        path = run.policy(role, snapshot)
        policy, card = load_policy(path)
        if (card.game, card.role) != (run.config.game, role):
            raise GodojoError(f"{path} plays {card.game} as the {card.role}, and not {run.config.game} as the {role}")
        found[role] = policy, known_settings(card, path)
    return found


def players_of(
    text: str, *, seed: int = 0, deterministic: bool = True, files: Mapping[str, PlayerFile] | None = None
) -> dict[str, TrainedPlayer]:
    """Players of all roles that `text` names: see `policies_of`; `files` are further kinds of files, by suffix.

    Several policy files, of a role each, are separated by commas: `seeker.dojo,hider.dojo`.
    """
    how: dict[str, Any] = {"seed": seed, "deterministic": deterministic, "files": files}
    found: dict[str, TrainedPlayer] = {}
    is_list = Path(text).suffix in (POLICY_SUFFIX, *(files or ())) and not Path(text).expanduser().is_file()
    for name in text.split(",") if is_list else [text]:
        for role, player in _players_of_one(name, **how).items():
            if role in found:
                raise GodojoError(f"{text} has two policies of the {role}")
            found[role] = player
    if len({player.card.game for player in found.values()}) > 1:
        raise GodojoError(f"{text} are policies of several games")
    return found


def _players_of_one(
    text: str, *, seed: int, deterministic: bool, files: Mapping[str, PlayerFile] | None
) -> dict[str, TrainedPlayer]:
    path = Path(text).expanduser()
    if files is not None and path.suffix in files:
        player = files[path.suffix](path, seed=seed, deterministic=deterministic, name=text)
        return {player.role: player}
    return {
        role: PolicyPlayer(*loaded, seed=seed, deterministic=deterministic, name=text)
        for role, loaded in policies_of(text).items()
    }


def player_from(
    text: str,
    role: str,
    *,
    game: str,
    seed: int = 0,
    deterministic: bool = True,
    files: Mapping[str, PlayerFile] | None = None,
) -> Opponent:
    """A player by its name.

    `scripted:NAME` or just NAME (a scripted opponent), `reference:STYLE` (one of the game's reference set),
    `file.py:Class` (a user's own), `RUN` (a run's newest policies), `RUN@SNAPSHOT` (those of a moment of its training),
    `policy.pt`, or a file of another kind (`files`, by suffix).
    """
    if text.startswith(REFERENCE_PREFIX):
        path = reference_file(text, role, game)
        return _players_of_one(str(path), seed=seed, deterministic=deterministic, files=files)[role]
    scripted, there = text.removeprefix(SCRIPTED), scripted_opponents(game)
    if text.startswith(SCRIPTED) or is_scripted(scripted, game) or scripted.endswith(".py") or ".py:" in scripted:
        return make_opponent(scripted, role, seed, game=game)
    try:
        found = players_of(text, seed=seed, deterministic=deterministic, files=files)
    except GodojoError as error:
        if not there or Path(text).suffix or "/" in text or "@" in text:
            raise
        raise GodojoError(f"{error} (or a scripted opponent: {', '.join(there)})") from None
    first = next(iter(found.values())).card
    if first.game != game:
        raise GodojoError(f"{text} plays {first.game}, not {game}")
    if role not in found:
        raise GodojoError(f"{text} plays the {' and the '.join(found)}, not the {role}")
    return found[role]
