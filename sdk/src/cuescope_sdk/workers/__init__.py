"""Executors over workers: each opens the model once and answers batch after batch.

`WorkerExecutor` is an executor less the workers themselves: it keeps the next batch with each
worker, gives the batches of a dead worker to others, puts a new one in its place, and names a batch
that kills one after the other. A subclass brings a `Pool`: how workers are started, reached and
ended. `Answering` is what a worker runs. `KeptJobs` are the jobs of a bench, over processes.
"""

from cuescope_sdk.workers._answering import Answering, Setup
from cuescope_sdk.workers._crew import Death, Pool
from cuescope_sdk.workers._executor import WorkerExecutor, WorkerOptions
from cuescope_sdk.workers._jobs import KeptJobs

__all__ = [
    "Answering",
    "Death",
    "KeptJobs",
    "Pool",
    "Setup",
    "WorkerExecutor",
    "WorkerOptions",
]
