"""`--executor ray`: the model answers in actors, on this machine or in a cluster."""

import os
import re
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    field_validator,
)

from cuescope_ray.frames import as_pixels, files_of
from cuescope_sdk import Address, Names, Trial, UserError
from cuescope_sdk.workers import Pool, Setup, WorkerExecutor, WorkerOptions

CLUSTER = 16  # workers of a cluster, while nobody has asked it
WORKERS = 2  # of a local Ray without GPUs
# workers of a local Ray: each opens the model, and more fill the memory
MOST_PER_CORE = 8
MOST_DIGITS = 6


class RayOptions(WorkerOptions):
    """Options of the executor, after its ARG: `ray:auto,workers=8,num_gpus=0.5`."""

    argument: ClassVar[str | None] = "where"
    where: Annotated[Address | None, Names.host()] = Field(
        None,
        description="a number: so many workers on this machine; auto or HOST:PORT: join a cluster",
    )
    workers: PositiveInt | None = Field(
        None, description="workers; left out, as many as there is room for"
    )
    num_gpus: NonNegativeFloat | None = Field(
        None, description="GPUs of each worker; left out, 1 where there are GPUs"
    )
    num_cpus: PositiveFloat = Field(1, description="cores of each worker")
    memory: PositiveFloat | None = Field(
        None, description="GB of memory that a machine must have free for each worker"
    )
    frames: Literal["paths", "bytes"] = Field(
        "paths",
        description="bytes: send pixels, where machines do not see the same files",
    )
    wait: PositiveFloat = Field(
        60, description="seconds to wait for the cluster and for room in it"
    )

    @field_validator("where")
    @classmethod
    def _is_a_place(cls, where: str | None) -> str | None:
        if where is None or where == "auto":
            return where
        if where.isdecimal() and int(where[:MOST_DIGITS]):
            if len(where) > MOST_DIGITS:
                raise ValueError(f"a number of workers of at most {MOST_DIGITS} digits")
            return where
        if re.fullmatch(r"(ray://)?[^\s:/]+:\d+", where):
            return where
        raise ValueError("a number of workers, auto, or HOST:PORT")

    @property
    def address(self) -> str | None:
        """That of the cluster, None for a Ray of this machine's own."""
        return None if self.where is None or self.where.isdecimal() else self.where

    @property
    def asked(self) -> int | None:
        """Workers that were asked for."""
        if self.where is None or self.address is not None:
            return self.workers
        return int(self.where)


class Ray(WorkerExecutor):
    """Each actor opens the model once; a dead one is replaced, wherever there is room."""

    Options = RayOptions
    options: RayOptions
    name: ClassVar[str] = "ray"

    @property
    def expected(self) -> int:
        """Those that were asked for; how many a cluster has is not known before it is joined."""
        return self.options.asked or (CLUSTER if self.options.address else WORKERS)

    def pool(self) -> tuple[Pool, int]:
        """The actors; raises UserError for a cluster that does not answer or has no room."""
        try:
            import ray
        except ImportError as error:
            raise UserError(
                "--executor ray needs Ray",
                got=str(error),
                remedy="pip install ray",
            ) from error
        from cuescope_ray.cluster import connect, room
        from cuescope_ray.pool import RayPool

        options = self.options
        asked = options.asked
        most = MOST_PER_CORE * (os.cpu_count() or 1)
        if options.address is None and (asked or 0) > most:
            raise UserError(
                f"ray:{asked}", expected=f"at most {most}, {MOST_PER_CORE} a core"
            )
        connect(options.address, (asked or WORKERS) * options.num_cpus, options.wait)
        needs = self._needs(gpus=room(ray, {"GPU": 1.0}))
        fitting = room(ray, needs)
        by_itself = fitting if options.address or needs["GPU"] else WORKERS
        workers = asked or by_itself
        if (workers > fitting and not options.address) or not workers:
            raise UserError(
                f"ray:{options.where or workers}",
                expected=f"at most {fitting} workers, each with {in_words(needs)}",
                got=str(workers or "no room for any"),
                remedy="Take fewer workers, or ask for less: num_gpus=0.5, num_cpus=1",
            )
        if workers > fitting:
            self.context.announce(f"ray: room for {fitting} of {workers} workers now")
        return RayPool(ray, needs, options.wait), workers

    def setup(self, build: bytes, trials: Sequence[Trial]) -> Setup:
        """Other machines must have the same versions, and see the files that are named."""
        if self.options.address is None:
            return Setup(build)
        files = files_of(trials) if self.options.frames == "paths" else ()
        return Setup.elsewhere(build, files)

    def pack(self, trials: Sequence[Trial]) -> bytes:
        """A batch, with the pixels of its frames where that is asked for."""
        if self.options.frames == "bytes":
            trials = as_pixels(trials)
        return super().pack(trials)

    def _needs(self, gpus: int) -> dict[str, float]:
        """What Ray sets aside for a worker; memory in bytes."""
        options = self.options
        wanted = options.num_gpus
        if wanted is None:
            wanted = float(gpus > 0 and self.context.device != "cpu")
        memory = 1e9 * (options.memory or 0)
        return {"CPU": options.num_cpus, "GPU": wanted, "memory": memory}


def in_words(needs: dict[str, float]) -> str:
    """ "1 CPU, 1 GPU and 16 GB"."""
    words = [f"{needs['CPU']:g} CPU"]
    if needs["GPU"]:
        words.append(f"{needs['GPU']:g} GPU")
    if needs["memory"]:
        words.append(f"{needs['memory'] / 1e9:g} GB")
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
