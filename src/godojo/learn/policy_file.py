"""Policy files (`policy_ROLE.pt`), loaded without executing code from them.

A file ends with a hash of its bytes (`files.TRAILER`), which torch and zip ignore.
"""

import io
import itertools
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import torch
from torch import Tensor

from godojo.engines.base import RoleArrays
from godojo.errors import GodojoError
from godojo.files import TRAILER, Damaged, atomic_write
from godojo.formats import POLICY
from godojo.games.parts import ObservationPart
from godojo.learn.cnn import images_complaint
from godojo.learn.networks import Policy, PolicyShape, continuous_columns

MAX_BYTES = 256 * 2**20
MAX_LAYERS = 64
_ADVICE = "restore it from a copy, or resume its run, which writes its newest policies anew"


class PolicyCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Metadata of a policy file."""

    game: str
    role: str
    observation_parts: tuple[ObservationPart, ...]
    shape: PolicyShape
    agent_steps: int
    """Agent-steps that it was trained for."""
    settings: dict[str, Any] = {}
    """The settings of the game that it was trained in."""


def policy_bytes(policy: Policy, card: PolicyCard) -> bytes:
    # Cloned: the weights of a training policy are views of one flat tensor, which torch would save as a whole.
    weights = {name: tensor.clone() for name, tensor in policy.state_dict().items()}
    content = {
        "format": POLICY.tag_for(is_plain=card.shape.is_plain),
        "card": msgspec.to_builtins(card),
        "weights": weights,
    }
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return TRAILER.close(buffer.getvalue())


def save_policy(path: Path, policy: Policy, card: PolicyCard) -> None:
    atomic_write(path, policy_bytes(policy, card))


def load_policy(path: Path) -> tuple[Policy, PolicyCard]:
    """Load a policy and its card; raises GodojoError if the file is missing, damaged or not a policy."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise GodojoError(f"{path} has {size:,} bytes; a policy has {MAX_BYTES:,} at most")
        with path.open("rb") as file:
            is_hashed = TRAILER.check(file) is not None
            _check_unpacked(path, file, checksums=not is_hashed)
            file.seek(0)
            content = torch.load(file, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise GodojoError(f"{path}: there is no such policy file") from None
    except Damaged as error:
        raise GodojoError(f"{path} is damaged ({error}); {_ADVICE}") from None
    except GodojoError:
        raise
    except Exception as error:  # zip and pickle raise nearly anything on a damaged file
        raise GodojoError(f"{path} is no whole policy file ({' '.join(str(error).split())[:200]}); {_ADVICE}") from None
    if not isinstance(content, dict):
        raise GodojoError(f"{path} is no policy file")
    version = POLICY.version_of(content.get("format", ""), path)
    try:
        POLICY.migrate(content, version)
        card = msgspec.convert(content["card"], PolicyCard)
        _check_sizes(card.shape, content["weights"])
        policy = Policy(card.shape)
        policy.load_state_dict(content["weights"])
    except (LookupError, TypeError, ValueError, OverflowError, RuntimeError, AttributeError) as error:
        why = " ".join(str(error).split())[:200]
        raise GodojoError(f"{path} does not fit together ({why}): update Godojo, or train it again") from None
    if not all(bool(torch.isfinite(weights).all()) for weights in policy.state_dict().values()):
        raise GodojoError(f"{path} holds weights that are not numbers; {_ADVICE}")
    if POLICY.is_hashed(version) and not is_hashed:
        raise GodojoError(f"{path} is damaged (its hash is missing); {_ADVICE}")
    policy.eval()
    return policy, card


def check_layout(card: PolicyCard, arrays: RoleArrays, name: str) -> None:
    """Refuses a policy that was trained to see or to do something else, and says what differs."""
    here = {part.name: part.shape for part in arrays.observation_parts}
    known = {part.name: part.shape for part in card.observation_parts}
    for part in dict.fromkeys((*known, *here)):
        if known.get(part) != here.get(part):
            ours, theirs = _shape(known.get(part)), _shape(here.get(part))
            raise GodojoError(f"{name} was trained on other observations: {part} is {ours} to it, and {theirs} here")
    if tuple(known) != tuple(here):
        raise GodojoError(f"{name} was trained on the same observations in another order")
    if card.shape.action_parts != arrays.action_parts:
        ours, theirs = (
            ", ".join(part.name for part in parts) for parts in (card.shape.action_parts, arrays.action_parts)
        )
        raise GodojoError(f"{name} was trained for other actions: {ours}, and here there are: {theirs}")


def _shape(shape: tuple[int, ...] | None) -> str:
    return "absent" if shape is None else " x ".join(str(size) for size in shape)


def heading_complaint(shape: PolicyShape) -> str:
    """The mistake in the columns that a policy rotates with its heading; empty if there is none."""
    heading = shape.heading
    if heading is None:
        return ""
    observed = [*heading.forward, *itertools.chain.from_iterable(heading.observed)]
    if any(not 0 <= place < shape.observation_size for place in observed):
        return "its heading is of observations that are not there"
    if not set(itertools.chain.from_iterable(heading.acted)) <= set(continuous_columns(shape.action_parts)):
        return "its heading is of actions that are not there"
    remembered = list(itertools.chain.from_iterable(heading.remembered))
    if remembered and shape.memory != "leaky":
        return "its heading rotates memory cells, and only leaky cells rotate"
    if any(not 0 <= place < shape.memory_size for place in remembered):
        return "its heading is of memory cells that are not there"
    if len(set(remembered)) != len(remembered):
        return "its heading rotates a memory cell twice"
    return ""


def _check_unpacked(path: Path, file: BinaryIO, *, checksums: bool) -> None:
    """Reject zip bombs, and with `checksums` damaged entries, which torch does not check itself."""
    with zipfile.ZipFile(file) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_BYTES:
            raise GodojoError(f"{path} unpacks to {size:,} bytes; a policy has {MAX_BYTES:,} at most")
        if checksums and (damaged := archive.testzip()) is not None:
            raise Damaged(f"the checksum of {damaged} fails")


def _check_sizes(shape: PolicyShape, weights: Mapping[str, Tensor]) -> None:
    """Reject a card that does not fit the weights, before memory is allocated for it."""
    if len(shape.net_arch) > MAX_LAYERS:
        raise ValueError(f"{len(shape.net_arch)} layers; {MAX_LAYERS} are the most")
    if complaint := images_complaint(shape.images, shape.observation_size):
        raise ValueError(complaint)
    if sum(len(image.convolutions) for image in shape.images) > MAX_LAYERS:
        raise ValueError(f"more convolutions than {MAX_LAYERS}")
    with torch.device("meta"):  # shapes only, no memory
        wanted = {name: tensor.shape for name, tensor in Policy(shape).state_dict().items()}
    if {name: tensor.shape for name, tensor in weights.items()} != wanted:
        raise ValueError("its weights are not of the sizes that its card says")
    if any(tensor.numel() * tensor.itemsize > tensor.untyped_storage().nbytes() for tensor in weights.values()):
        raise ValueError("its weights are fewer numbers than they claim")
    if complaint := heading_complaint(shape):
        raise ValueError(complaint)
