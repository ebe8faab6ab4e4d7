"""What the commands of this package print with `--json`."""

from typing import Literal

from cuescope.application import JsonOutput, Value
from cuescope_sdk import Table
from cuescope_sdk.choosing import Fit


class Lack(Value):
    """Something that a method lacks, how to get it, and how grave that is."""

    what: str
    how: str
    gravity: Literal["fatal", "blind", "weak", "open"]


class MethodFit(Value):
    """A method: what it finds and needs, whether it fits, and what is missing."""

    method: str
    finds: str
    needs: str
    installed: bool
    lacks: tuple[Lack, ...]
    enough: int
    verdict: str
    is_control: bool = False

    @classmethod
    def of(cls, fit: Fit) -> "MethodFit":
        """Of what was found out about a method."""
        lacks = tuple(Lack(**vars(lack)) for lack in fit.lacks)
        return cls(**{**vars(fit), "lacks": lacks}, verdict=fit.verdict)


class MethodFits(JsonOutput):
    """`cuescope methods`."""

    methods: tuple[MethodFit, ...]


class Comparison(JsonOutput):
    """`cuescope compare`: tables, the runs' settings first."""

    tables: tuple[Table, ...]


class GateRule(Value):
    """How a rule of the policy ended; figures are missing where nothing was measured."""

    rule: str
    name: str
    line: int
    outcome: Literal["pass", "fail", "undecided"]
    blocks: bool
    sentence: str
    value: float | None
    low: float | None
    high: float | None
    samples: tuple[str, ...]


class GateResult(JsonOutput):
    """`cuescope gate`; `samples_asked` where a model was asked."""

    exit_code: int
    samples_asked: int | None
    rules: tuple[GateRule, ...]


class InputFinding(Value):
    """A check of an input: a fault changes figures or hides rows, a note is to be known."""

    check: str
    status: Literal["ok", "note", "fault"]
    detail: str


class CheckedInput(JsonOutput):
    """`cuescope check`: what reads the input, what it holds, and the checks of it."""

    spec: str
    card: dict[str, str]
    facts: dict[str, str]
    checks: tuple[InputFinding, ...]
    faults: int


class PluginCheck(Value):
    """A check of a contract; `reason` where it failed or was skipped."""

    check: str
    status: Literal["ok", "failed", "skipped"]
    reason: str | None


class PluginChecks(JsonOutput):
    """`cuescope plugins check`."""

    plugin: str
    checks: tuple[PluginCheck, ...]
