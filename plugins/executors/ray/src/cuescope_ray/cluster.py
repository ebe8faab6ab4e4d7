"""The Ray that an audit uses: one of this machine's own, or a cluster that is joined."""

import logging
import os
import socket
import warnings
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any

from cuescope_sdk import UserError

CONNECT_SECONDS = 5.0  # for a port to answer at all
STORE_BYTES = 256 * 2**20  # of a local Ray's object store: a few batches; it spills to the disk
START = "Start it with `ray start --head`, and look at `ray status`"
_here: dict[str, Any] = {}  # the Ray that we started or joined


def connect(address: str | None, cpus: float, seconds: float) -> None:
    """Start or join Ray, unless this process has it; raises UserError where nobody answers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # 0 GPUs asked for: the environment stays as it is
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    if ray.is_initialized():
        if not _here or (_here["address"] == address and cpus <= _here["cpus"]):
            return  # the person's own, or the one of an audit before
        ray.shutdown()
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        cpus = max(cpus, os.cpu_count() or 1)
        settings = {"num_cpus": int(-(-cpus // 1)), "object_store_memory": STORE_BYTES}
        settings |= {"address": "local", "include_dashboard": False}
    else:
        require_answer(address)
        settings = {"address": address}
    where = f"ray:{address}" if address else "ray"
    _within(seconds, where, lambda: ray.init(**settings, **quiet))
    _here.update(address=address, cpus=cpus)


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
    errors: list[BaseException] = []

    def act() -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of Ray's own future
                action()
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=act, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise UserError(f"{where} does not answer within {seconds:g} seconds", remedy=START)
    if errors:
        error = errors[0]
        words = " ".join(str(error).split())[:300] or type(error).__name__
        raise UserError(f"{where} cannot be used", got=words, remedy=START) from error
