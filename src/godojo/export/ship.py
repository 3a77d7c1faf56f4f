"""Exports the policies of a run, a snapshot or a file to formats that games read."""

import hashlib
import itertools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from godojo.engines.make import make_vec
from godojo.errors import GodojoError, option
from godojo.evaluation.held_out import game_settings, judging_seed, judging_worlds
from godojo.evaluation.intervals import Difference, Proportion
from godojo.evaluation.matches import play_matches
from godojo.evaluation.players import known_settings, player_from, policies_of
from godojo.evaluation.shared_role import SharedSeats, seats
from godojo.export import dojo_file
from godojo.export.dojo_file import dojo_bytes, layers_of, load_dojo
from godojo.export.godot_rl_onnx import godot_rl_bytes
from godojo.export.onnx_file import int8_bytes, onnx_bytes
from godojo.export.players import OnnxPlayer
from godojo.files import atomic_write, make_folder
from godojo.learn.networks import Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard
from godojo.opponents import Opponent, shared_role, yardstick
from godojo.runs.folder import RunFolder
from godojo.runs.names import checked_name, split_reference

Format = Literal["godot", "onnx", "godot-rl"]
FORMATS: tuple[Format, ...] = ("godot", "onnx", "godot-rl")
BLOCK_NS = 22
"""Time of a 4 x 4 block of a matrix product in GDScript."""
CONVOLUTION_BLOCK_NS = 110
"""The same in a convolution, which also collects the pixels below its kernel."""

Progress = Callable[[str, float | None], None]


class Trained(NamedTuple):
    """A policy to export, and the prefix of its file name."""

    prefix: str
    policy: Policy
    card: PolicyCard


class Int8Cost(msgspec.Struct, frozen=True):
    """Win rates of a model before and after its quantisation to int8."""

    opponent: str
    before: Proportion
    after: Proportion
    difference: Difference
    """After less before."""


class Shipped(msgspec.Struct, frozen=True):
    """An exported file."""

    path: str
    game: str
    role: str
    format: str
    """`godot`, `onnx`, `onnx int8` or `onnx for godot_rl`."""
    bytes: int
    sha256: str
    weights: int
    agent_steps: int
    differs: float | None = None
    """Largest difference of its actions from torch's, if compared."""
    int8_cost: Int8Cost | None = None


def trained_in(text: str, role: str | None = None, levels: Mapping[str, str] | None = None) -> list[Trained]:
    """The policies of `RUN`, `RUN@SNAPSHOT`, `policy.pt` or `policy.dojo`; with `levels`, of a snapshot for each."""
    if not levels:
        _, snapshot = ("", None) if _is_file(text) else split_reference(text)
        found = [Trained(f"{snapshot}_" if snapshot else "", *loaded) for loaded in _policies(text).values()]
    else:
        if _is_file(text) or split_reference(text)[1] is not None:
            raise GodojoError("levels are snapshots of a run: name the run alone, such as: latest")
        run = RunFolder.open(text).path.absolute()
        found = [
            Trained(f"{checked_name('level', level)}_", *loaded)
            for level, snapshot in levels.items()
            for loaded in policies_of(f"{run}@{snapshot}").values()
        ]
    chosen = [one for one in found if role in (None, one.card.role)]
    if not chosen:
        roles = dict.fromkeys(one.card.role for one in found)
        raise GodojoError(f"{text} has no role {role!r}; it has: {', '.join(roles)}")
    return chosen


def default_folder(text: str) -> Path:
    """`export` in the run folder, or the folder of the file."""
    if _is_file(text):
        return Path(text).expanduser().parent
    return RunFolder.open(split_reference(text)[0]).path / "export"


def export(
    policies: list[Trained],
    out: Path,
    kind: Format = "godot",
    *,
    int8: bool = False,
    rounds: int = 500,
    progress: Progress | None = None,
) -> list[Shipped]:
    """Write `PREFIX_ROLE.dojo`, `.onnx` or `_godot_rl.onnx` for each policy; with `int8`, also a quantised model."""
    if kind not in FORMATS:
        raise GodojoError(f"there is no format {kind!r}; there is: {', '.join(FORMATS)}")
    if int8 and kind != "onnx":
        raise GodojoError(f"{option('int8')} quantises ONNX models; add {option('format', 'onnx')}")
    make_folder(out)
    written = []
    for prefix, policy, card in policies:
        name = f"{prefix}{checked_name('role', card.role)}"
        if kind == "godot":
            written.append(_write(out / f"{name}{dojo_file.SUFFIX}", dojo_bytes(policy, card), card, "godot"))
            continue
        if kind == "godot-rl":
            content, differs = godot_rl_bytes(policy, card)
            written.append(_write(out / f"{name}_godot_rl.onnx", content, card, "onnx for godot_rl", differs=differs))
            continue
        content, differs = onnx_bytes(policy, card)
        written.append(_write(out / f"{name}.onnx", content, card, "onnx", differs=differs))
        if int8:
            small = int8_bytes(content)
            cost = int8_cost(content, small, card, rounds=rounds, progress=progress) if has_rivals(card) else None
            written.append(_write(out / f"{name}_int8.onnx", small, card, "onnx int8", int8_cost=cost))
    return written


def int8_cost(
    content: bytes, small: bytes, card: PolicyCard, *, rounds: int = 500, progress: Progress | None = None
) -> Int8Cost:
    """Both models play the same rounds against the same scripted opponent."""
    settings, opponent = game_settings(card.game, card.settings), yardstick(card.game)
    shares: list[Proportion] = []
    with judging_worlds(card.game, settings, rounds=rounds) as worlds:
        mine = seats(worlds, card.role, 1) if shared_role(worlds) is not None else None
        for title, model in (("float32", content), ("int8", small)):
            own = OnnxPlayer(model, card)
            players: dict[str, Opponent] = {
                role: own if role == card.role else player_from(opponent, role, game=card.game, seed=1)
                for role in worlds.roles
            }
            if mine is not None:
                rival = player_from(opponent, card.role, game=card.game, seed=1)
                players[card.role] = SharedSeats(card.role, own, rival, 1)
            text = f"{card.role} ({title}) against {opponent}"
            report = None if progress is None else (lambda share, text=text: progress(text, share))
            results = play_matches(worlds, players, rounds, seed=judging_seed(0), progress=report, seats=mine)
            shares.append(results.wins(card.role))
    before, after = shares
    return Int8Cost(opponent, before, after, Difference.of(after, before))


def has_rivals(card: PolicyCard) -> bool:
    """Whether its game has scripted opponents for it to beat."""
    if not yardstick(card.game):
        return False
    with make_vec(card.game, settings=game_settings(card.game, card.settings)) as worlds:
        return shared_role(worlds) is not None or (len(worlds.roles) > 1 and card.role in worlds.winners)


def weight_count(shape: PolicyShape) -> int:
    convolutions = sum(rows * (columns + 1) for image in shape.images for rows, columns in image.blocks)
    return convolutions + sum(math.prod(block) for layer in layers_of(shape) for block in layer.blocks)


def gdscript_us(shape: PolicyShape) -> float:
    """Estimated time of one decision's matrix products in GDScript; activations come on top."""
    matrices = [block for layer in layers_of(shape) for block in layer.blocks if len(block) == 2]
    found_ns = sum(math.ceil(rows / 4) * math.ceil(columns / 4) for rows, columns in matrices) * BLOCK_NS
    for image in shape.images:
        for layer, ((_, _, inputs), (rows, columns, _)) in zip(
            image.convolutions, itertools.pairwise(image.shapes), strict=True
        ):
            taps = layer.kernel**2 * math.ceil(inputs / 4)
            found_ns += rows * columns * taps * math.ceil(layer.channels / 4) * CONVOLUTION_BLOCK_NS
    return found_ns / 1000.0


def parse_levels(text: str) -> dict[str, str]:
    """`easy=10s,hard=final` as a table."""
    levels = {}
    for word in text.split(","):
        level, equals, snapshot = (piece.strip() for piece in word.partition("="))
        if not equals or not level or not snapshot or level in levels:
            raise GodojoError(f"--levels {text!r} is no list such as easy=10s,medium=1m,hard=final")
        levels[checked_name("level", level)] = snapshot
    return levels


def _is_file(text: str) -> bool:
    return text.endswith((".pt", dojo_file.SUFFIX))


def _policies(text: str) -> dict[str, tuple[Policy, PolicyCard]]:
    if text.endswith(dojo_file.SUFFIX):
        path = Path(text).expanduser()
        policy, card = load_dojo(path)
        card = known_settings(card, path)
        return {card.role: (policy, card)}
    return policies_of(text)


def _write(path: Path, content: bytes, card: PolicyCard, kind: str, **more: Any) -> Shipped:
    atomic_write(path, content)
    return Shipped(
        path=str(path),
        game=card.game,
        role=card.role,
        format=kind,
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        weights=weight_count(card.shape),
        agent_steps=card.agent_steps,
        **more,
    )
