"""Executors over workers: each opens the model once and answers batch after batch.

`WorkerExecutor` is an executor less the workers themselves: it keeps the next batch with each
worker, gives the batches of a dead worker to others, puts a new one in its place, and names a batch
that kills one after the other. A subclass brings a `Pool`: how workers are started, reached and
ended. `Answering` is what a worker runs. `KeptJobs` are the jobs of a bench, over processes.
"""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.workers._answering import Answering as Answering, Setup as Setup
    from cuescope_sdk.workers._crew import Death as Death, Pool as Pool
    from cuescope_sdk.workers._executor import (
        WorkerExecutor as WorkerExecutor,
        WorkerOptions as WorkerOptions,
    )
    from cuescope_sdk.workers._jobs import KeptJobs as KeptJobs

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._answering": ["Answering", "Setup"],
        "._crew": ["Death", "Pool"],
        "._executor": ["WorkerExecutor", "WorkerOptions"],
        "._jobs": ["KeptJobs"],
    },
)
