"""Trained policies as files: `policy_seeker.pt` and the like; read without running anything that is in them."""

import io
import itertools
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor

from godojo.errors import GodojoError
from godojo.files import write_whole
from godojo.games.parts import ObservationPart
from godojo.learn.networks import Policy, PolicyShape, number_places

FORMAT = "godojo-policy/1"
MAX_BYTES = 256 * 2**20
MAX_LAYERS = 64


class PolicyCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a policy file says about itself."""

    game: str
    role: str
    observation_parts: tuple[ObservationPart, ...]
    shape: PolicyShape
    agent_steps: int
    """How long it had trained."""
    settings: dict[str, Any] = {}
    """The game's settings it was trained with."""


def policy_bytes(policy: Policy, card: PolicyCard) -> bytes:
    # Copies: a policy that learns lies in one row with its critic, and all of the row would be written.
    weights = {name: tensor.clone() for name, tensor in policy.state_dict().items()}
    content = {"format": FORMAT, "card": msgspec.to_builtins(card), "weights": weights}
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def save_policy(path: Path, policy: Policy, card: PolicyCard) -> None:
    write_whole(path, policy_bytes(policy, card))


def load_policy(path: Path) -> tuple[Policy, PolicyCard]:
    """A policy and its card; GodojoError says why not."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise GodojoError(f"{path} has {size:,} bytes; a policy has {MAX_BYTES:,} at most")
        _check_unpacked(path)
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise GodojoError(f"{path}: there is no such policy file") from None
    except (OSError, RuntimeError, ValueError, KeyError, EOFError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        raise GodojoError(f"{path} is no whole policy file ({' '.join(str(error).split())[:200]})") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise GodojoError(f"{path} is no policy of this version ({FORMAT})")
    try:
        card = msgspec.convert(content["card"], PolicyCard)
        _check_sizes(card.shape, content["weights"])
        policy = Policy(card.shape)
        policy.load_state_dict(content["weights"])
    except (KeyError, TypeError, ValueError, OverflowError, RuntimeError, msgspec.ValidationError) as error:
        raise GodojoError(f"{path} does not fit together ({' '.join(str(error).split())[:200]})") from None
    if not all(bool(torch.isfinite(weights).all()) for weights in policy.state_dict().values()):
        raise GodojoError(f"{path} holds weights that are not numbers")
    policy.eval()
    return policy, card


def heading_complaint(shape: PolicyShape) -> str:
    """What is wrong with the places that a policy turns with its agent; nothing if all is well."""
    heading = shape.heading
    if heading is None:
        return ""
    seen = [*heading.forward, *itertools.chain.from_iterable(heading.observed)]
    if any(not 0 <= place < shape.observation_size for place in seen):
        return "its heading is of observations that are not there"
    if not set(itertools.chain.from_iterable(heading.acted)) <= set(number_places(shape.action_parts)):
        return "its heading is of actions that are not there"
    remembered = list(itertools.chain.from_iterable(heading.remembered))
    if remembered and shape.memory != "leaky":
        return "its heading turns what is remembered, and only leaky cells turn"
    if any(not 0 <= place < shape.memory_size for place in remembered):
        return "its heading is of what is not remembered"
    if len(set(remembered)) != len(remembered):
        return "its heading turns something remembered twice"
    return ""


def _check_unpacked(path: Path) -> None:
    """A file may be packed a thousandfold; ours are not packed at all."""
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > MAX_BYTES:
        raise GodojoError(f"{path} unpacks to {size:,} bytes; a policy has {MAX_BYTES:,} at most")


def _check_sizes(shape: PolicyShape, weights: Mapping[str, Tensor]) -> None:
    """Refuses a card that asks for more numbers than there are, before room is made for them, or for other places."""
    if len(shape.hidden) > MAX_LAYERS:
        raise ValueError(f"{len(shape.hidden)} layers; {MAX_LAYERS} are the most")
    with torch.device("meta"):  # sizes alone, no memory
        wanted = {name: tensor.shape for name, tensor in Policy(shape).state_dict().items()}
    if {name: tensor.shape for name, tensor in weights.items()} != wanted:
        raise ValueError("its weights are not of the sizes that its card says")
    if any(tensor.numel() * tensor.itemsize > tensor.untyped_storage().nbytes() for tensor in weights.values()):
        raise ValueError("its weights are fewer numbers than they claim")
    if complaint := heading_complaint(shape):
        raise ValueError(complaint)
