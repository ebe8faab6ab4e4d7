"""Executors over workers: each opens the model once and answers batch after batch.

`WorkerExecutor` is an executor less the workers themselves: it keeps two batches with each worker,
gives the batches of a dead worker to others, puts a new one in its place, and names a batch that
kills two workers. A subclass brings a `Pool`: how workers are started, reached and ended.
`Answering` is what a worker runs. `KeptJobs` are the jobs of a bench, over processes.
"""

from cuescope_sdk.workers._answering import (
    Answering as Answering,
    Setup as Setup,
    read_reply as read_reply,
)
from cuescope_sdk.workers._crew import WINDOW as WINDOW, Death as Death, Pool as Pool
from cuescope_sdk.workers._executor import (
    MOST_TOGETHER as MOST_TOGETHER,
    ROUNDS as ROUNDS,
    WorkerExecutor as WorkerExecutor,
    WorkerOptions as WorkerOptions,
)
from cuescope_sdk.workers._frames import as_pixels as as_pixels, files_of as files_of
from cuescope_sdk.workers._jobs import Job as Job, KeptJobs as KeptJobs
from cuescope_sdk.workers._versions import loaded_versions as loaded_versions
