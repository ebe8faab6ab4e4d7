"""cuescope finds the cues that a vision-language model is really using."""

import cuescope_core

# imported when somebody is told how to get a package
cuescope_core.remedies_module = "cuescope.installing"
# typing's own costs milliseconds, and this module is to cost none
TYPE_CHECKING = False
if TYPE_CHECKING:
    from cuescope.python.audits import audit as audit, load as load, plan as plan
    from cuescope.python.commands import (
        blind as blind,
        compare as compare,
        confirm as confirm,
        gate as gate,
        investigate as investigate,
        mitigate as mitigate,
    )
    from cuescope.python.functions import (
        Classifier as Classifier,
        TextModel as TextModel,
    )
    from cuescope.python.images import Images as Images
    from cuescope.python.mitigated import Mitigated as Mitigated
    from cuescope.python.stored import StoredReport as StoredReport
    from cuescope_core.conclusions import Report as Report
    from cuescope_core.errors import UserError as UserError
    from cuescope_core.planning import Plan as Plan

__version__ = "0.1.0"

# What Python users call, by the module that has it; each is imported when it is first asked for.
_DOOR = {
    "audit": "cuescope.python.audits",
    "load": "cuescope.python.audits",
    "plan": "cuescope.python.audits",
    "investigate": "cuescope.python.commands",
    "confirm": "cuescope.python.commands",
    "mitigate": "cuescope.python.commands",
    "blind": "cuescope.python.commands",
    "compare": "cuescope.python.commands",
    "gate": "cuescope.python.commands",
    "Classifier": "cuescope.python.functions",
    "TextModel": "cuescope.python.functions",
    "Images": "cuescope.python.images",
    "Mitigated": "cuescope.python.mitigated",
    "StoredReport": "cuescope.python.stored",
    "Plan": "cuescope_core.planning",
    "Report": "cuescope_core.conclusions",
    "UserError": "cuescope_core.errors",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _DOOR:
        raise AttributeError(f"module 'cuescope' has no attribute {name!r}")
    return getattr(import_module(_DOOR[name]), name)


def __dir__() -> list[str]:
    return [*_DOOR, "__version__"]
