"""What learns to do without a cue, what it learned, and a model that answers with it."""

from cuescope_sdk.mitigation._mitigation import (
    Mitigation,
    columns_of,
    content,
    rescored,
)
from cuescope_sdk.mitigation._mitigator import Mitigator, Task, save
from cuescope_sdk.mitigation._routing import (
    Ask,
    CueRouter,
    Router,
    centroids,
    stills_of,
)

__all__ = [
    "Ask",
    "CueRouter",
    "Mitigation",
    "Mitigator",
    "Router",
    "Task",
    "centroids",
    "columns_of",
    "content",
    "rescored",
    "save",
    "stills_of",
]
