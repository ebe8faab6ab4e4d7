"""The Ray that an audit uses: one of this machine's own, or a cluster that is joined."""

import logging
import os
import socket
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import ceil
from threading import Thread
from typing import Any

from cuescope_sdk import UserError

CONNECT_SECONDS = 5.0  # for a port to answer at all
# of a local Ray's object store: a few batches; it spills to the disk
STORE_BYTES = 256 * 2**20
BUSY = "A machine with much to do may be too slow for Ray's start: try again"
START = (
    "Start it with `ray start --head`, and look at `ray status`; for one that asks for a token, "
    "set RAY_AUTH_MODE=token"
)
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # no GPUs asked for: none are taken away
    "RAY_agent_register_timeout_ms": "120000",  # a machine with much to do needs more than 30 s
}
CLUSTER_SWITCH = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
_here: dict[str, Any] = {}  # the Ray that we started or joined


def connect(address: str | None, cpus: float, seconds: float) -> None:
    """Start or join Ray, unless this process has it; raises UserError where nobody answers."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        if not _here or (_here["address"] == address and cpus <= _here["cpus"]):
            return  # the person's own, or the one of an audit before
        ray.shutdown()
    if address is None:
        cpus = max(cpus, os.cpu_count() or 1)
        # in this thread: Ray's processes end with the one that started them
        with _on_this_machine_alone():
            _init(
                "ray",
                BUSY,
                address="local",
                include_dashboard=False,
                num_cpus=ceil(cpus),
                object_store_memory=STORE_BYTES,
            )
        _warn_of_outer_addresses(ray)
    else:
        require_answer(address)
        where = f"ray:{address}"
        _within(seconds, where, partial(_init, where, START, address=address))
    _here.update(address=address, cpus=cpus)


@contextmanager
def _on_this_machine_alone() -> Iterator[None]:
    """Ray's processes that start within listen on the loopback address and on no other.

    On Linux they would listen on all of them, and whoever reaches a port of Ray's runs code here.
    `ray.init(_node_ip_address="127.0.0.1")` does not help: Ray makes the outer address of it. But
    for Windows and macOS it knows a Ray of one machine; we ask for the same. A cluster that is
    joined later needs Ray as it was.
    """
    from ray._private import ray_constants

    before = getattr(ray_constants, "ENABLE_RAY_CLUSTER", True)
    typed = os.environ.get(CLUSTER_SWITCH)
    os.environ[CLUSTER_SWITCH] = "0"  # for Ray's processes
    ray_constants.ENABLE_RAY_CLUSTER = False  # read already, as Ray was imported
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before
        if typed is None:
            del os.environ[CLUSTER_SWITCH]
        else:
            os.environ[CLUSTER_SWITCH] = typed


def _warn_of_outer_addresses(ray: Any) -> None:
    """Another version of Ray may not know the switch."""
    addresses = {
        str(node["NodeManagerAddress"]) for node in ray.nodes() if node["Alive"]
    }
    if outer := sorted(addresses - {"127.0.0.1", "::1"}):
        warnings.warn(
            f"Ray {ray.__version__} listens on {outer[0]}, and whoever reaches its ports can run "
            "code here: use --executor processes, or another version of Ray",
            stacklevel=2,
        )


def _init(where: str, remedy: str, **settings: Any) -> None:
    import ray

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Ray's own future
            ray.init(logging_level=logging.ERROR, log_to_driver=False, **settings)
    except Exception as error:
        words = " ".join(str(error).split())[:300] or type(error).__name__
        raise UserError(f"{where} cannot be used", got=words, remedy=remedy) from error


def require_answer(address: str) -> None:
    """Raise UserError where nothing listens; `auto` is left to Ray."""
    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except OSError as error:
        raise UserError(
            f"ray:{address} does not answer",
            got=str(error),
            remedy=START,
        ) from error


def room(ray: Any, needs: Mapping[str, float]) -> int:
    """How many workers with these needs the machines that are up have room for in all."""
    workers = 0
    for node in ray.nodes():
        if node["Alive"]:
            has = node["Resources"]
            fit = [has.get(name, 0.0) / need for name, need in needs.items() if need]
            workers += int(min(fit))
    return workers


def _within(seconds: float, where: str, action: Callable[[], object]) -> None:
    """The action in a thread of its own: Ray may wait for a cluster for ever."""
    errors: list[Exception] = []

    def act() -> None:
        try:
            action()
        except Exception as error:
            errors.append(error)

    thread = Thread(target=act, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise UserError(
            f"{where} does not answer within {seconds:g} seconds", remedy=START
        )
    if errors:
        raise errors[0]
