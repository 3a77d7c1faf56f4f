"""Starts the workers of a run on a Ray cluster; refuses wrong addresses before Ray waits for them."""

import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from godojo.engines.base import Worlds
from godojo.errors import GodojoError, option
from godojo.extras import require
from godojo.processes import finish, is_alive
from godojo.runs.config import RunConfig

AUTO, LOCAL = "auto", "local"
RAY = "ray"
"""Key of `RunConfig.more`: a `ClusterConfig`."""
REACH_TIMEOUT_S, PROBE_TIMEOUT_S = 5.0, 60.0

# In a process of its own: Ray waits for minutes for a cluster that is not there, and then ends the process.
_PROBE = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR", configure_logging=False)
except BaseException as error:
    sys.exit("failed: %s: %s" % (type(error).__name__, error))
print("connected")
"""


class ClusterConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the workers of a run play, as `RunConfig.more` keeps it."""

    address: str = AUTO
    """Of a cluster; `auto` is the one on this machine, or else a new one; `local` is always a new one."""
    workers: int = 2
    timeout_s: float | None = None
    """How long a worker may fall behind the first."""

    def check(self) -> None:
        if self.workers < 1:
            raise GodojoError(f"{option('workers')} must be 1 or more, not {self.workers}")
        if self.timeout_s is not None and not 0.0 < self.timeout_s < float("inf"):
            raise GodojoError(f"{option('worker_timeout')} must be seconds above 0, not {self.timeout_s:g}")
        if self.address not in (AUTO, LOCAL):
            check_form(self.address)


def check_form(address: str) -> tuple[str, int]:
    """Host and port of a cluster's address."""
    if address.startswith("ray://"):
        raise GodojoError(
            f"{option('ray', address)} is an address for Ray Client; run this on a machine of the cluster, "
            f"with {option('ray', AUTO)}"
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise GodojoError(f"{option('ray')} takes {AUTO}, {LOCAL} or HOST:PORT, not {address!r}")
    return host.strip("[]"), int(port)


def resolve(address: str, say: Callable[[str], None]) -> str | None:
    """The address of a cluster that answers and fits; None to start one on this machine."""
    if address == LOCAL:
        return None
    if address != AUTO:
        host, port = check_form(address)
        try:
            socket.create_connection((host, port), REACH_TIMEOUT_S).close()
        except OSError as error:
            raise GodojoError(f"nothing answers at {address} ({error}); is the Ray cluster running there?") from None
    found = finish([sys.executable, "-c", _PROBE, address], timeout_s=PROBE_TIMEOUT_S)
    if found.code == 0 and "connected" in found.output:
        return address
    reason = "no answer" if found.timed_out else one_line(found.output)
    if address == AUTO and "ConnectionError" in reason and "find any running" in reason:
        return None
    if address == AUTO and found.timed_out:
        say("the Ray cluster that was on this machine does not answer; a new one starts")
        return None
    raise GodojoError(f"cannot use the Ray cluster at {address}: {reason}")


def one_line(output: str) -> str:
    """The reason that the probe gives, without Ray's own log lines."""
    if "InvalidAuthToken" in output:
        return "it wants its token: set RAY_AUTH_MODE=token, with the token in ~/.ray/auth_token (ray get-auth-token)"
    _, marker, text = output.rpartition("failed: ")
    text = text if marker else output
    if "ersion mismatch" in text:
        versions = re.findall(r"(?:Ray|Python): (\S+)", text)
        if len(versions) >= 4:
            there, here = " and ".join(versions[:2]), " and ".join(versions[2:4])
            return f"it runs Ray and Python {there}, this is {here}; install the same versions"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines)[:300] if lines else "no reason given"


def make_folder() -> str:
    """A folder for a cluster of this process; those of processes that were killed are removed."""
    for path in Path(tempfile.gettempdir()).glob("godojo-ray-*-*"):
        owner = path.name.split("-")[2]
        if owner.isdecimal() and not is_alive(int(owner)):
            shutil.rmtree(path, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"godojo-ray-{os.getpid()}-")


def open_cluster(config: RunConfig, make_worlds: Callable[[RunConfig], Worlds], say: Callable[[str], None]) -> Worlds:
    """Workers with their worlds, as the `Worlds` of a learner (`cluster.learner.ClusterPpo`).

    The run's worlds are spread evenly. `make_worlds` makes those of one worker, from its configuration.
    """
    wanted = msgspec.convert(config.more[RAY], ClusterConfig)
    wanted.check()
    require(RAY, say)
    address = resolve(wanted.address, say)
    from godojo.cluster.fleet import BEHIND_S, Fleet, Limits
    from godojo.cluster.ray_transport import RayTransport
    from godojo.cluster.worlds import ClusterWorlds

    where = "a Ray cluster on this machine" if address is None else f"the Ray cluster at {address}"
    say(f"starting {wanted.workers} workers in {where}")
    transport = RayTransport(address, wanted.workers, worker_config(config, wanted.workers), make_worlds)
    try:
        behind_s = wanted.timeout_s or BEHIND_S
        fleet = Fleet(transport, wanted.workers, say, Limits(behind_s=behind_s, silent_s=4.0 * behind_s))
        return ClusterWorlds(fleet, fleet.open())
    except BaseException:
        transport.close()
        raise


def worker_config(config: RunConfig, workers: int) -> RunConfig:
    """The configuration of one worker: its share of the worlds."""
    count = config.learner_settings["num_worlds"]
    share = max(round(count / workers), 1)
    more = {name: value for name, value in config.more.items() if name != RAY}
    learner = {**config.learner_settings, "num_worlds": share}
    return msgspec.structs.replace(config, learner_settings=learner, more=more)
