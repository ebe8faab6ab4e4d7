"""What learns to do without a cue, what it learned, and a model that answers with it."""

from cuescope_sdk.mitigation._heads import LinearHead, Scaler, halves
from cuescope_sdk.mitigation._mitigation import Mitigation
from cuescope_sdk.mitigation._mitigator import Mitigator, Task
from cuescope_sdk.mitigation._routing import Ask, CueRouter, Router

__all__ = [
    "Ask",
    "CueRouter",
    "LinearHead",
    "Mitigation",
    "Mitigator",
    "Router",
    "Scaler",
    "Task",
    "halves",
]
