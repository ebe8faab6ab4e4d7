"""Mitigators, what they learn, and models that answer with it."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.mitigation._heads import (
        LinearHead as LinearHead,
        Scaler as Scaler,
        halves as halves,
    )
    from cuescope_sdk.mitigation._mitigation import Mitigation as Mitigation
    from cuescope_sdk.mitigation._mitigator import Mitigator as Mitigator, Task as Task
    from cuescope_sdk.mitigation._routing import (
        Ask as Ask,
        CueRouter as CueRouter,
        Router as Router,
    )

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._heads": ["LinearHead", "Scaler", "halves"],
        "._mitigation": ["Mitigation"],
        "._mitigator": ["Mitigator", "Task"],
        "._routing": ["Ask", "CueRouter", "Router"],
    },
)
