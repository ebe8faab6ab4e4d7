"""`--executor processes:N`: the model answers in N processes of this machine."""

import os
from typing import ClassVar

from pydantic import Field, PositiveInt

from cuescope_processes.gpus import visible_gpus
from cuescope_sdk import UserError
from cuescope_sdk.workers import Pool, WorkerExecutor, WorkerOptions

WORKERS = 2  # where there are no GPUs


class ProcessesOptions(WorkerOptions):
    """Options of the executor, after its ARG: `processes:2,threads=4`."""

    argument = "workers"
    workers: PositiveInt | None = Field(
        None,
        description="processes; left out, one a GPU, and 2 where there are no GPUs",
    )
    threads: PositiveInt | None = Field(
        None, description="threads of each process; left out, its share of the cores"
    )


class Processes(WorkerExecutor):
    """Each process opens the model once; a dead one is replaced."""

    Options = ProcessesOptions
    options: ProcessesOptions
    name: ClassVar[str] = "processes"

    @property
    def expected(self) -> int:
        """Those that were asked for, else one a GPU."""
        return self.options.workers or len(visible_gpus(self.context.device)) or WORKERS

    def pool(self) -> tuple[Pool, int]:
        """The processes; raises UserError for more of them than GPUs."""
        from cuescope_processes.pool import ProcessPool

        device = self.context.device
        gpus = visible_gpus(device)
        workers = self.expected
        if device.startswith("cuda:") and workers > 1:
            raise UserError(
                f"processes:{workers} with --device {device}",
                expected="--device auto or cuda: each process has a GPU of its own",
            )
        if gpus and workers > len(gpus):
            raise UserError(
                f"processes:{workers}",
                expected=f"at most {len(gpus)}, one process a GPU",
                got=str(workers),
                remedy=f"Take processes:{len(gpus)}, or --device cpu",
            )
        return ProcessPool(environments(gpus, workers, self.options.threads)), workers


def environments(
    gpus: list[str],
    workers: int,
    threads: int | None,
) -> list[dict[str, str]]:
    """What is set in each process before it imports anything."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    number = threads or max(1, usable_cores() // workers)
    share = dict.fromkeys(names, str(number))
    # what the person has set stays, unless they ask for threads here
    if threads is None:
        share = {name: os.environ.get(name, number) for name, number in share.items()}
    if not gpus:
        return [share] * workers
    return [share | {"CUDA_VISIBLE_DEVICES": gpu} for gpu in gpus[:workers]]


def usable_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux has it
        return os.cpu_count() or 1
