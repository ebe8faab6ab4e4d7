"""cuescope finds the cues that a vision-language model is really using."""

# typing's own costs milliseconds, and this module is to cost none
TYPE_CHECKING = False
if TYPE_CHECKING:
    from cuescope.conclusions import Report as Report
    from cuescope.errors import UserError as UserError
    from cuescope.planning import Plan as Plan
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
    from cuescope.python.running import audit as audit, load as load, plan as plan
    from cuescope.python.stored import StoredReport as StoredReport

__version__ = "0.1.0"

# What Python users call, by the module that has it; each is imported when it is first asked for.
_DOOR = {
    "audit": "cuescope.python.running",
    "load": "cuescope.python.running",
    "plan": "cuescope.python.running",
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
    "Plan": "cuescope.planning",
    "Report": "cuescope.conclusions",
    "UserError": "cuescope.errors",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _DOOR:
        raise AttributeError(f"module 'cuescope' has no attribute {name!r}")
    return getattr(import_module(_DOOR[name]), name)


def __dir__() -> list[str]:
    return [*_DOOR, "__version__"]
