"""Control messages of dojo/1 (JSON), their limits, and the errors of a connection."""

from collections.abc import Iterable
from typing import Any

import msgspec

from godojo.errors import GodojoError
from godojo.games.parts import ActionPart, Heading, Measure, ObservationPart, action_size, observation_size

PROTOCOL = "dojo/1"
MIB = 1024 * 1024

MAX_NAME = 64
MAX_ROLES = 64
MAX_WORLDS = 4096
MAX_AGENTS = 1024
MAX_NUMBERS = 1_000_000
MAX_TERMS = 256
MAX_MEASURES = 64
MAX_WINNERS = 127  # the contract keeps a winner in an int8
MAX_ARENAS = 65_536
MAX_PARTS = 256
MAX_DIMENSIONS = 8


class WireError(GodojoError):
    """The game violated the protocol."""


class ConnectionLost(GodojoError):
    """The game is gone."""


class GameRefused(ConnectionLost):
    """The game said why it cannot continue; it would refuse the same request again."""

    def __init__(self, message: str, worlds: int | None = None) -> None:
        super().__init__(message)
        self.worlds = worlds
        """How many worlds the game has, if another number was the reason."""


class PeerTimeout(GodojoError):
    """Nothing came before the deadline."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on what a peer may send."""

    message_bytes: int = 64 * MIB
    """A step of all worlds of one game."""
    control_bytes: int = 4 * MIB
    """A control message, once the game has said hello."""
    hello_bytes: int = 16 * 1024
    """Everything a peer sends before its hello is accepted."""
    handshake_s: float = 5.0
    """Connections without a hello are dropped after this time."""
    crowded_s: float = 1.0
    """The same when others are waiting."""
    pending: int = 16
    """Connections without a hello at once."""
    frames_per_message: int = 1024
    """Pieces of a message, and pings, before a message is whole."""


class Hello(msgspec.Struct, frozen=True, tag_field="type", tag="hello"):
    """The game introduces itself."""

    protocol: str
    token: str = ""
    game: str = ""
    godot: str = ""
    addon: str = ""
    training: bool = True
    """Whether a trainer may learn from it."""
    settings: dict[str, float] = {}
    """Settings of the game, by name, that the scene has changed."""


class Configure(msgspec.Struct, frozen=True, tag_field="type", tag="configure"):
    """The requested configuration."""

    worlds: int
    ticks_per_decision: int | None = None
    """None: the scene's own."""
    options: dict[str, Any] = {}
    """The game's own."""
    truth: bool = False
    """Whether the game should send its privileged state, for oracles and evaluation."""


class RoleDescription(msgspec.Struct, frozen=True):
    """Agents that share a policy: their observation and action spaces."""

    name: str
    agents: int
    """In each world."""
    observation: tuple[ObservationPart, ...]
    action: tuple[ActionPart, ...]
    heading: Heading | None = None
    """The direction an agent faces, if the game declares it."""
    model: dict[str, Any] | None = None
    """The model that its agents declare, in place of the scene's."""
    measures: tuple[Measure, ...] = ()
    """What its agents report of a finished episode."""
    nodes: tuple[str, ...] = ()
    """The nodes of its agents in a world, for messages about them."""

    @property
    def observation_size(self) -> int:
        return observation_size(self.observation)

    @property
    def action_size(self) -> int:
        return action_size(self.action)


class Loop(msgspec.Struct, frozen=True):
    """A scene that drives its training (`DojoTrainingLoop`)."""

    agents: tuple[str, ...]
    """Roles that it trains; the others play without learning."""
    steps_in_round: int = 0
    """Decisions in every world between two updates; 0: the trainer's choice."""
    train_steps: dict[str, int] = {}
    """By role: gradient steps per update, where it is not the trainer's choice."""
    checkpoint_every: int = 1000
    """Epochs between two numbered copies of each policy; 0: none."""


class Ready(msgspec.Struct, frozen=True, tag_field="type", tag="ready"):
    """The game's description, which fixes the shape of every step."""

    worlds: int
    ticks_per_decision: int
    roles: tuple[RoleDescription, ...]
    reward_terms: tuple[str, ...] = ("reward",)
    winners: tuple[str, ...] = ("nobody",)
    arenas: tuple[str, ...] = ()
    model: dict[str, Any] | None = None
    """The model that the scene declares."""
    truth: tuple[ObservationPart, ...] = ()
    """Parts of the privileged state of each world, if the game sends it."""
    independent_agents: bool = False
    """Agents that share a world start and end their episodes on their own, as if each were alone."""
    agent_episodes: bool = False
    """An agent's episode may end without those of the others in its world: episodes are counted by agent."""
    reconfigures: bool = False
    """It may be configured again, for the same worlds with other options."""
    ticks_per_second: int = 60
    loop: Loop | None = None
    """If the scene drives the training: each epoch begins with its plan."""


class Reset(msgspec.Struct, frozen=True, tag_field="type", tag="reset"):
    """Begin a round in every world."""

    seed: int


class Epoch(msgspec.Struct, frozen=True, tag_field="type", tag="epoch"):
    """Asks a scene that drives the training for its plan; an epoch is a rollout and its update."""

    epoch: int
    """Updates so far."""


class Plan(msgspec.Struct, frozen=True, tag_field="type", tag="plan"):
    """What a scene wants of an epoch."""

    running: bool = True
    """Whether to train it; if not, the run is saved, and the trainer leaves."""
    deterministic: dict[str, bool] = {}
    """By role: whether it plays its most likely actions without learning; roles that are not named learn."""


class Curve(msgspec.Struct, frozen=True, omit_defaults=True):
    """Win rates and rewards over the time of a training."""

    seconds: tuple[float, ...] = ()
    win_rates: dict[str, tuple[float, ...]] = {}
    """By role, one for each of `seconds`."""
    rewards: dict[str, tuple[float, ...]] = {}
    """The same of the mean reward of an episode."""


class Status(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a training goes, for people who watch the game."""

    phase: str
    """`preparing`, then in each epoch `playing`, `submitting` and `training`; at the end `done training`. Where the
    twin learns in the background, always `training`; where nothing is trained, `playing`."""
    title: str = ""
    """Who plays or learns, such as the name of the run."""
    learns: tuple[str, ...] = ()
    """The roles that learn."""
    episode: int = 0
    """Finished rounds of the training."""
    seconds: float = 0.0
    progress: float = 0.0
    """From 0 to 1."""
    steps_per_s: float = 0.0
    """Agent-steps per second."""
    win_rates: dict[str, float] = {}
    """By role, over the latest rounds."""
    curve: Curve = Curve()
    epoch: int = 0
    """Updates so far."""
    rewards: dict[str, float] = {}
    """By role: the mean reward of the latest finished episodes."""

    @property
    def text(self) -> str:
        """One line."""
        rates = ", ".join(f"{role} wins {rate:.0%}" for role, rate in self.win_rates.items())
        rewards = ", ".join(f"{role} reward {mean:.4g}" for role, mean in self.rewards.items())
        epoch = f"epoch {self.epoch:,}" if self.epoch else ""
        rounds = f"{self.episode:,} rounds" if self.episode else ""
        return ", ".join(filter(None, (f"{self.phase}: {self.title}", epoch, rounds, rates or rewards)))


class Notice(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="notice"):
    """A text for people who watch the game."""

    text: str
    status: Status | None = None


class Close(msgspec.Struct, frozen=True, tag_field="type", tag="close"):
    """The trainer is done with the game."""

    reason: str = ""


class HandshakeRejected(msgspec.Struct, frozen=True, tag_field="type", tag="error"):
    """Why one side cannot continue, in a sentence; it then closes the connection."""

    message: str
    worlds: int | None = None
    """How many worlds the game has, if it refused another number."""


Control = Hello | Configure | Ready | Reset | Epoch | Plan | Notice | Close | HandshakeRejected

# Not strict: engines without integers in JSON send 4.0 for 4.
_decoder = msgspec.json.Decoder(Control, strict=False)
_encoder = msgspec.json.Encoder()


def encode_control(message: Control) -> bytes:
    return _encoder.encode(message)


def decode_control(text: bytes | bytearray | str) -> Control:
    """The message in a text frame. Raises WireError, and nothing else, whatever the text is."""
    try:
        message: Control = _decoder.decode(text)
    except RecursionError:
        raise WireError("a control message is nested too deeply") from None
    except UnicodeError:
        raise WireError("a control message is not UTF-8 text") from None
    except msgspec.MsgspecError as error:
        raise WireError(f"a control message cannot be read: {shown(str(error), 200)}") from None
    if isinstance(message, Ready):
        check_ready(message)
    elif isinstance(message, Configure):
        _check_count("worlds", message.worlds, MAX_WORLDS)
    return message


def check_ready(ready: Ready) -> None:
    """Raises WireError unless the game can be played."""
    _check_count("worlds", ready.worlds, MAX_WORLDS)
    _check_count("ticks_per_decision", ready.ticks_per_decision, 10_000)
    _check_count("ticks_per_second", ready.ticks_per_second, 10_000)
    _check_count("roles", len(ready.roles), MAX_ROLES)
    _check_names("role", (role.name for role in ready.roles))
    _check_count("reward_terms", len(ready.reward_terms), MAX_TERMS)
    _check_names("reward term", ready.reward_terms)
    _check_count("winners", len(ready.winners), MAX_WINNERS)
    _check_names("winner", ready.winners)
    if ready.arenas:
        _check_count("arenas", len(ready.arenas), MAX_ARENAS)
        _check_names("arena", ready.arenas)
    for role in ready.roles:
        _check_role(role)
    if ready.truth:
        _check_parts("truth", ready.truth)
        _check_count("numbers of the truth", observation_size(ready.truth), MAX_NUMBERS)
    if ready.loop is not None:
        _check_loop(ready.loop, {role.name for role in ready.roles})


def shown(text: str, length: int = MAX_NAME) -> str:
    """Untrusted text, safe for a line of a log."""
    line = "".join(letter if letter.isprintable() else "?" for letter in text[: length + 1])
    return line if len(line) <= length else line[: length - 1] + "…"


def _check_role(role: RoleDescription) -> None:
    of = f"role {shown(role.name)!r}"
    _check_count(f"{of}: agents", role.agents, MAX_AGENTS)
    _check_parts(f"{of}: observation", role.observation)
    _check_count(f"{of}: action parts", len(role.action), MAX_PARTS)
    _check_names(f"{of}: action part", (part.name for part in role.action))
    for action in role.action:
        _check_count(f"{of}: action part {shown(action.name)!r}: size", action.size, MAX_NUMBERS)
    _check_count(f"{of}: numbers of an observation", role.observation_size, MAX_NUMBERS)
    _check_count(f"{of}: numbers of an action", role.action_size, MAX_NUMBERS)
    if role.measures:
        _check_count(f"{of}: measures", len(role.measures), MAX_MEASURES)
        _check_names(f"{of}: measure", (measure.name for measure in role.measures))
    if role.heading is not None:
        observed = [*role.heading.forward, *(place for pair in role.heading.observed for place in pair)]
        acted = [place for pair in role.heading.acted for place in pair]
        if not all(0 <= place < role.observation_size for place in observed):
            raise WireError(f"{of}: heading names a place that the observation does not have")
        if not all(0 <= place < role.action_size for place in acted):
            raise WireError(f"{of}: heading names a place that the action does not have")
        if role.heading.remembered:
            raise WireError(f"{of}: heading names remembered values, which only a policy has")


def _check_loop(loop: Loop, roles: set[str]) -> None:
    for name in (*loop.agents, *loop.train_steps):
        if name not in roles:
            raise WireError(f"loop: there is no role {shown(name)!r}")
    for what, count in (
        ("steps_in_round", loop.steps_in_round),
        ("checkpoint_every", loop.checkpoint_every),
        *((f"train_steps of {name!r}", steps) for name, steps in loop.train_steps.items()),
    ):
        if not 0 <= count <= MAX_NUMBERS:
            raise WireError(f"loop: {what} must be 0 to {MAX_NUMBERS}, not {shown(str(count), 20)}")


def _check_parts(of: str, parts: tuple[ObservationPart, ...]) -> None:
    _check_count(f"{of} parts", len(parts), MAX_PARTS)
    _check_names(f"{of} part", (part.name for part in parts))
    for part in parts:
        what = f"{of} part {shown(part.name)!r}"
        _check_count(f"{what}: dimensions", len(part.shape), MAX_DIMENSIONS)
        for length in part.shape:
            _check_count(f"{what}: shape", length, MAX_NUMBERS)
        if not part.low <= part.high:
            raise WireError(f"{what}: low ({part.low}) is above high ({part.high})")


def _check_count(what: str, count: int, most: int) -> None:
    if not 1 <= count <= most:
        raise WireError(f"{what}: there must be 1 to {most}, not {shown(str(count), 20)}")


def _check_names(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not (name and len(name) <= MAX_NAME and name.isprintable()):
            raise WireError(f"{what}: a name has 1 to {MAX_NAME} printable characters, {shown(name)!r} has not")
        if name in seen:
            raise WireError(f"{what}: the name {name!r} is used twice")
        seen.add(name)
