"""Actors, each with a queue of calls; no actor pool of Ray's, which a dead actor would block."""

import time
from collections import deque
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from cuescope_ray.actor import actor_class
from cuescope_sdk import UserError
from cuescope_sdk.workers import Death, Pool

LOOK_SECONDS = 1.0  # between looks at the clock while nothing comes


class RayPool(Pool):
    """An actor a worker; that it is not restarted and no call repeated is left to the driver."""

    def __init__(self, ray: Any, needs: Mapping[str, float], patience: float) -> None:
        self._ray = ray
        self._patience = patience
        actor = ray.remote(
            num_cpus=needs["CPU"],
            num_gpus=needs["GPU"],
            max_restarts=0,
            max_task_retries=0,
            # batches are taken beside the one that is answered
            concurrency_groups={"beside": 1},
        )
        self._class = actor(actor_class())
        self._actors: dict[int, Any] = {}
        self._calls: dict[
            int, deque[Any]
        ] = {}  # in their order; the first is under way
        self._batches: dict[int, int] = {}  # taken, or answered and not yet stored
        self._began: dict[int, float] = {}  # workers that wait for room, since when

    def start(self, worker: int, setup: bytes) -> None:
        """Ask for an actor; it begins where and when there is room."""
        actor = self._class.remote()
        self._actors[worker] = actor
        self._calls[worker] = deque([actor.ready.remote(), actor.open.remote(setup)])
        self._batches[worker] = 0
        self._began[worker] = time.monotonic()

    def submit(self, worker: int, batch: bytes) -> None:
        """Hand it over; that the actor is dead is told by `wait`."""
        self._actors[worker].take.options(concurrency_group="beside").remote(batch)
        self._batches[worker] += 1
        if self._batches[worker] == 1:
            self._begin(worker)

    def start_next(self, worker: int) -> None:
        """Begin the next batch, if it has one."""
        if worker in self._actors:
            self._batches[worker] -= 1
            if self._batches[worker]:
                self._begin(worker)

    def _begin(self, worker: int) -> None:
        self._calls[worker].append(self._actors[worker].answer.remote())

    def wait(self) -> list[tuple[int, bytes | Death]]:
        """What the workers' first calls gave."""
        messages: list[tuple[int, bytes | Death]] = []
        while not messages:
            asked = filter(itemgetter(1), self._calls.items())
            first = {calls[0]: worker for worker, calls in asked}
            done, _ = self._ray.wait(list(first), timeout=LOOK_SECONDS)
            for call in done:
                messages += self._receive(first[call])
            self._require_room()
        return messages

    def _receive(self, worker: int) -> list[tuple[int, bytes | Death]]:
        call = self._calls[worker].popleft()
        try:
            reply = self._ray.get(call)
        except self._ray.exceptions.RayError as error:
            self._ray.kill(self._actors.pop(worker), no_restart=True)
            del self._calls[worker], self._batches[worker]
            self._began.pop(worker, None)
            return [(worker, Death(_reason(error)))]
        if isinstance(reply, str):
            raise UserError(
                reply,
                remedy="Install cuescope-ray there, from the same clone or wheels as here",
            )
        if reply is None:  # it is ready, and opens the model next
            del self._began[worker]
            return []
        return [(worker, reply)]

    def _require_room(self) -> None:
        """Raise UserError where all workers have waited too long for room."""
        waited = time.monotonic() - min(self._began.values(), default=float("inf"))
        if len(self._began) == len(self._actors) and waited > self._patience:
            raise UserError(
                f"ray: no worker began within {self._patience:g} seconds",
                got=f"room for {self._ray.available_resources()}",
                remedy="See `ray status`; wait=600 waits longer",
            )

    def end(self, *, at_once: bool) -> None:
        """End the actors."""
        if self._ray.is_initialized():
            for actor in self._actors.values():
                if at_once:
                    self._ray.kill(actor, no_restart=True)
                else:
                    actor.__ray_terminate__.remote()
        self._actors = {}


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    told = [
        line.strip()
        for line in lines
        if "exit_detail" in line or "died because" in line
    ]
    return f"{type(error).__name__}: {(told or lines or [''])[-1][:200]}"
