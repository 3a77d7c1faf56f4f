"""Policy files (`policy_seeker.pt`), read without executing anything in them.

A file ends in a hash of all its bytes (`files.TRAILER`), which torch and zip ignore.
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

from godojo.errors import GodojoError
from godojo.files import TRAILER, Damaged, atomic_write
from godojo.formats import POLICY
from godojo.games.parts import ObservationPart
from godojo.learn.networks import Policy, PolicyShape, continuous_columns

MAX_BYTES = 256 * 2**20
MAX_LAYERS = 64
_CURE = "restore it from a copy, or resume its run, which writes its newest policies anew"


class PolicyCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Metadata of a policy file."""

    game: str
    role: str
    observation_parts: tuple[ObservationPart, ...]
    shape: PolicyShape
    agent_steps: int
    """Training so far."""
    settings: dict[str, Any] = {}
    """The game's settings it was trained with."""


def policy_bytes(policy: Policy, card: PolicyCard) -> bytes:
    # Copies: a learning policy is a view of one flat tensor with its critic, which would be written as a whole.
    weights = {name: tensor.clone() for name, tensor in policy.state_dict().items()}
    content = {"format": POLICY.tag, "card": msgspec.to_builtins(card), "weights": weights}
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return TRAILER.close(buffer.getvalue())


def save_policy(path: Path, policy: Policy, card: PolicyCard) -> None:
    atomic_write(path, policy_bytes(policy, card))


def load_policy(path: Path) -> tuple[Policy, PolicyCard]:
    """Read a policy and its card; GodojoError says why it cannot be read."""
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
        raise GodojoError(f"{path} is damaged ({error}); {_CURE}") from None
    except GodojoError:
        raise
    except Exception as error:  # zip and pickle raise nearly anything on what is damaged
        raise GodojoError(f"{path} is no whole policy file ({' '.join(str(error).split())[:200]}); {_CURE}") from None
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
        raise GodojoError(f"{path} holds weights that are not numbers; {_CURE}")
    if POLICY.is_hashed(version) and not is_hashed:
        raise GodojoError(f"{path} is damaged (its hash is missing); {_CURE}")
    policy.eval()
    return policy, card


def heading_complaint(shape: PolicyShape) -> str:
    """The mistake in the columns that a policy rotates; empty if there is none."""
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
    """A file may be packed a thousandfold; ours are not packed at all. torch does not look at a zip's `checksums`."""
    with zipfile.ZipFile(file) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_BYTES:
            raise GodojoError(f"{path} unpacks to {size:,} bytes; a policy has {MAX_BYTES:,} at most")
        if checksums and (spoilt := archive.testzip()) is not None:
            raise Damaged(f"the checksum of {spoilt} fails")


def _check_sizes(shape: PolicyShape, weights: Mapping[str, Tensor]) -> None:
    """Refuses a card that asks for more numbers than there are, before room is made for them, or for other places."""
    if len(shape.net_arch) > MAX_LAYERS:
        raise ValueError(f"{len(shape.net_arch)} layers; {MAX_LAYERS} are the most")
    with torch.device("meta"):  # sizes alone, no memory
        wanted = {name: tensor.shape for name, tensor in Policy(shape).state_dict().items()}
    if {name: tensor.shape for name, tensor in weights.items()} != wanted:
        raise ValueError("its weights are not of the sizes that its card says")
    if any(tensor.numel() * tensor.itemsize > tensor.untyped_storage().nbytes() for tensor in weights.values()):
        raise ValueError("its weights are fewer numbers than they claim")
    if complaint := heading_complaint(shape):
        raise ValueError(complaint)
