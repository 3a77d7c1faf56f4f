"""`godojo serve --train`: trains on the twin while the connected scene shows it, or from the scene itself."""

import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

from godojo.bridge.connection import Connection
from godojo.bridge.listener import Listener
from godojo.bridge.messages import ConnectionLost, Hello, PeerTimeout, Status, WireError
from godojo.cli.console import note, say
from godojo.cli.hosting import Host
from godojo.cli.players import NewestPlayers, Players, Seat, scene_settings, shown_game
from godojo.cli.signals import stopping
from godojo.engines.godot.game_slots import GameSlot
from godojo.engines.godot.worlds import GodotWorlds
from godojo.errors import GodojoError, command
from godojo.games.base import GAMES
from godojo.runs.folder import RunFolder, open_run
from godojo.training.args import ListenAddress, TrainArgs
from godojo.training.notices import StatusBoard
from godojo.training.setup import prepared

if TYPE_CHECKING:
    import torch

    from godojo.learn.training import Training, TrainingStatus

_WAIT_S = 0.25
_SWITCH_S = 0.001
"""How soon threads take turns: a scene that waits for its next action should not have to wait long."""
PATIENCE_S = 600.0
"""How long a training waits for the next game when the one it learns from has left."""


class Board:
    """What connected games may know of a training: its status and its newest weights.

    The training writes and any number of games read, each in its own thread; what is read is never changed afterwards.
    """

    def __init__(self) -> None:
        self.status = Status("preparing", "the training starts soon")
        self.weights: Mapping[str, Mapping[str, torch.Tensor]] = {}
        self.is_open = threading.Event()
        """Set when there are weights."""

    def open(self, training: "Training") -> None:
        """Shows a training that is about to start."""
        self.training, self.run = training, training.run
        self._board = StatusBoard(training)
        self._publish()
        self.is_open.set()

    def report(self, status: "TrainingStatus") -> None:
        """Shows an update of the training."""
        self._board.report(status)
        self._publish()

    def close(self, phase: str) -> None:
        """Says that the training is over; its last policies play on."""
        self._board.turn_to(phase)
        self.status = self._board.status

    def _publish(self) -> None:
        self.status = self._board.status
        self.weights = {
            role: {name: tensor.clone() for name, tensor in policy.state_dict().items()}
            for role, policy in self.training.learner.policies.items()
        }


class LearningPlayers(Players):
    """The policies of a training as they are when a round begins."""

    def __init__(self, board: Board, seed: int) -> None:
        self._board, self._seed = board, seed

    def request(self, hello: Hello) -> dict[str, Any]:  # noqa: ARG002 - every game shows the same training
        config = self._board.run.config
        return shown_game(config.game, config.game_settings) if config.game in GAMES else {}

    def seat(self, worlds: GodotWorlds) -> Seat:
        return LearningSeat(worlds, self._board, self._seed)


class LearningSeat(Seat):
    """Plays one game by the newest weights of a training."""

    def __init__(self, worlds: GodotWorlds, board: Board, seed: int) -> None:
        from godojo.evaluation.players import PolicyPlayer  # these load torch
        from godojo.learn.networks import Policy
        from godojo.learn.policy_file import PolicyCard, check_layout

        super().__init__(f"the policy that run {board.run.name} learns", self._act)
        self._worlds, self._board = worlds, board
        self._weights: Mapping[str, Any] = {}
        self._players = []
        learner = board.training.learner
        for role, arrays in worlds.roles.items():
            if role not in learner.policies:
                raise GodojoError(f"run {board.run.name} does not learn the {role} of this game")
            shape = learner.policies[role].shape
            parts = board.training.worlds.roles[role].observation_parts
            card = PolicyCard(board.run.config.game, role, parts, shape, 0)
            check_layout(card, arrays, self.title)
            # As in training: it tries things out.
            self._players.append(PolicyPlayer(Policy(shape).eval(), card, seed=seed, deterministic=False))
            self._players[-1].begin(worlds)

    def status(self) -> Status:
        return self._board.status

    def _act(self) -> None:
        if not self._weights or self._worlds.ended.any():
            weights = self._board.weights
            if weights is not self._weights:
                self._weights = weights
                for player in self._players:
                    player.policy.load_state_dict(weights[player.role])
        for player in self._players:
            player.act(self._worlds, self._worlds.roles[player.role].action)


class GuestSlot(GameSlot):
    """A training's place for one of the games that a `Host` accepts."""

    remedy = "waited for"
    is_started_by_hand = True

    def __init__(self) -> None:
        self.is_free = True
        self._arrived: queue.Queue[Connection] = queue.Queue()
        self._lock = threading.Lock()

    def take(self, guest: Connection) -> bool:
        """Takes the game, unless there is one already."""
        with self._lock:
            is_taken, self.is_free = self.is_free, False
            if is_taken:
                self._arrived.put(guest)
        return is_taken

    def call(self) -> None:
        """The user starts it."""

    def has_arrived(self, timeout_s: float) -> bool:
        with self._lock:
            if not self._arrived.empty():
                return True
            self.is_free = True
        time.sleep(timeout_s)
        return not self._arrived.empty()

    def receive(self, timeout_s: float) -> Connection:  # noqa: ARG002 - a person may be slower
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            with suppress(queue.Empty):
                guest = self._arrived.get(timeout=_WAIT_S)
                if guest.is_alive():
                    return guest
                self.is_free = True
        raise GodojoError(f"no game to learn from connected within {PATIENCE_S:g} s; the run is saved")

    def clear(self, error: GodojoError) -> str:
        say(f"the game that is learned from left ({error}); waiting for the next")
        self.is_free = True
        return str(error)

    def end(self, grace_s: float) -> None:  # noqa: ARG002 - the user ends it
        self.is_free = False
        while not self._arrived.empty():
            self._arrived.get().close()


class LiveTraining:
    """A training that starts when the first scene connects, and that every scene shows."""

    def __init__(self, listener: Listener, args: TrainArgs, *, seed: int = 0) -> None:
        args.check_times()
        if args.run_id is not None:
            RunFolder.check_id(args.run_id)
        self._args, self._seed = args, seed
        self._is_direct = args.engine == "godot"
        """Whether it learns from the connected game itself."""
        if args.resume is not None:
            self._is_direct = "connect" in open_run(args.resume, note).config.more
        self._slot = GuestSlot()
        self._board = Board()
        self._newest = NewestPlayers(seed)
        self._first: queue.Queue[Hello] = queue.Queue()
        self._game = ""
        self.host = Host(listener, self, seed=seed)

    def admit(self, guest: Connection, is_over: Callable[[], bool]) -> Players | None:
        """The training's policies, once it has begun; the newest ones for a scene that is not to be trained."""
        hello = guest.hello
        if not hello.training:
            return self._newest
        if self._game and hello.game != self._game:
            say(f"{hello.game or 'a game'} is not what is trained; it is played, not learned from")
            return self._newest
        if self._is_learned_from(hello):
            is_taken = self._slot.take(guest)
            self._first.put(hello)
            if is_taken:
                return None
        else:
            scene_settings(hello)  # refuses wrong ones
            self._first.put(hello)
        told_at = 0.0
        while not self._board.is_open.wait(_WAIT_S):
            if is_over() or not guest.is_alive():
                guest.close("the server was stopped")
                return None
            if time.monotonic() - told_at > 1.0:
                told_at = time.monotonic()
                with suppress(ConnectionLost, PeerTimeout, WireError):
                    guest.notice(self._board.status.text, self._board.status)
        if self._is_learned_from(hello) and self._board.status.phase == "training":
            say("learning goes on in another game; this one is played by what it has learned so far")
        return LearningPlayers(self._board, self._seed)

    def run(self, show: "Callable[[Training], Any]") -> None:
        """Waits for the first scene, trains, and plays on with what was learned until Ctrl-C.

        `show` is a context manager that gives the function to which the status of every update goes.
        """
        sys.setswitchinterval(_SWITCH_S)
        self.host.start()
        try:
            self._train(show)
        finally:
            self.host.stop()

    def _train(self, show: "Callable[[Training], Any]") -> None:
        with prepared(self._settled(), note) as training:
            from godojo.training.outcome import run_training  # loads torch

            run = training.run
            self._board.open(training)
            is_direct = isinstance(training.worlds, GodotWorlds)
            where = "from the connected game" if is_direct else "on the twin; the connected game shows it"
            say(f"learning {run.config.game} {where}, run {run.name}")
            with stopping(training, note), show(training) as report:

                def tell(status: "TrainingStatus") -> None:
                    self._board.report(status)
                    report(status)

                outcome = run_training(training, tell)
            self._board.close("done training")
        if not outcome.is_spent:
            note(f"stopped and saved; continue with: {command(f'serve --train --resume {run.name}')}")
            raise typer.Exit(130)
        say(f"training is done, run {run.name}: its policies play on; Ctrl-C ends this")
        while True:
            time.sleep(_WAIT_S)

    def _is_learned_from(self, hello: Hello) -> bool:
        """Whether the training learns from the game itself: on request, or because it has no twin."""
        return self._is_direct or hello.game not in GAMES

    def _settled(self) -> TrainArgs:
        """The arguments of the training, with the game and the settings of the first scene."""
        hello = None
        while hello is None:
            with suppress(queue.Empty):
                hello = self._first.get(timeout=_WAIT_S)
        self._game = hello.game
        args, listener = self._args, self.host.listener
        if self._is_learned_from(hello):
            args = args._replace(listen=ListenAddress(listener.host, listener.port, None, self._slot))
        else:
            args = args._replace(num_envs=None)
        if args.resume is not None:
            return args
        changed = scene_settings(hello)
        if changed:
            note(f"the scene sets {', '.join(changed)}")
        return args._replace(game=hello.game if hello.game in GAMES else None, values=changed + args.values)
