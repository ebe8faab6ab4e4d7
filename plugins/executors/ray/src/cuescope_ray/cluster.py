"""The Ray that an audit uses: one of this machine's own, or a cluster that is joined."""

import logging
import os
import socket
import warnings
from collections.abc import Callable, Mapping
from math import ceil
from threading import Thread
from typing import Any

from cuescope_sdk import UserError

CONNECT_SECONDS = 5.0  # for a port to answer at all
STORE_BYTES = 256 * 2**20  # of a local Ray's object store: a few batches; it spills to the disk
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
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        cpus = max(cpus, os.cpu_count() or 1)
        settings = {"num_cpus": ceil(cpus), "object_store_memory": STORE_BYTES}
        # in this thread: Ray's processes end with the one that started them
        _init(ray, "ray", BUSY, address="local", include_dashboard=False, **settings, **quiet)
    else:
        require_answer(address)
        where = f"ray:{address}"
        _within(seconds, where, lambda: _init(ray, where, START, address=address, **quiet))
    _here.update(address=address, cpus=cpus)


def _init(ray: Any, where: str, remedy: str, **settings: Any) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Ray's own future
            ray.init(**settings)
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
        raise UserError(f"ray:{address} does not answer", got=str(error), remedy=START) from error


def room(ray: Any, needs: Mapping[str, float]) -> int:
    """How many workers with these needs the machines that are up have room for in all."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return sum(
        int(min(machine.get(name, 0.0) / wanted for name, wanted in needs.items() if wanted))
        for machine in machines
    )


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
        raise UserError(f"{where} does not answer within {seconds:g} seconds", remedy=START)
    if errors:
        raise errors[0]
