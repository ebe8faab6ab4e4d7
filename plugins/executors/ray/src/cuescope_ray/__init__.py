"""`--executor ray`: the model answers in actors, on this machine or in a cluster."""

import re
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import (
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    field_validator,
)

from cuescope_sdk import Address, Names, Trial, UserError
from cuescope_sdk.workers import Pool, Setup, WorkerExecutor, WorkerOptions

CLUSTER = 16  # workers of a cluster, while nobody has asked it
WORKERS = 2  # of a local Ray without GPUs


class RayOptions(WorkerOptions):
    """Options of the executor, after its ARG: `ray:auto,workers=8,num_gpus=0.5`."""

    argument = "where"
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
    wait: PositiveFloat = Field(
        60, description="seconds to wait for the cluster and for room in it"
    )

    @field_validator("where")
    @classmethod
    def _is_a_place(cls, where: str | None) -> str | None:
        place = r"auto|0*[1-9]\d{0,5}|(ray://)?[^\s:/]+:\d+"
        if where is None or re.fullmatch(place, where):
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
        connect(options.address, (asked or WORKERS) * options.num_cpus, options.wait)
        needs = self._needs(gpus=room(ray, {"GPU": 1.0}))
        fitting = room(ray, needs)
        by_itself = fitting if options.address or needs["GPU"] else WORKERS
        workers = asked or by_itself
        if (workers > fitting and not options.address) or not workers:
            raise UserError(
                f"ray:{options.where or workers}",
                expected=f"at most {fitting} workers, each with {needs['CPU']:g} CPU "
                f"and {needs['GPU']:g} GPU",
                got=str(workers or "no room for any"),
                remedy="Take fewer workers, or ask for less: num_gpus=0.5, num_cpus=1",
            )
        if workers > fitting:
            self.context.announce(f"ray: room for {fitting} of {workers} workers now")
        return RayPool(ray, needs, options.wait), workers

    def setup(self, build: bytes, trials: Sequence[Trial]) -> Setup:
        """Other machines must have the same versions."""
        return Setup.elsewhere(build) if self.options.address else Setup(build)

    def _needs(self, gpus: int) -> dict[str, float]:
        """What Ray sets aside for a worker."""
        options = self.options
        wanted = options.num_gpus
        if wanted is None:
            wanted = float(gpus > 0 and self.context.device != "cpu")
        return {"CPU": options.num_cpus, "GPU": wanted}
