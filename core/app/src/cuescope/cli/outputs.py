"""Output of commands with `--json`: a model each, with its version."""

from typing import Any, Literal

from cuescope.cli.echo import echo_json
from cuescope_core.conclusions import Picture, Table
from cuescope_core.planning import Plan
from cuescope_core.types import Value


class JsonOutput(Value):
    """Output of a command. Fields may come; where one goes the version rises."""

    schema_version: Literal[1] = 1

    def show(self) -> None:
        """Print it."""
        echo_json(self.model_dump_json(indent=1))


class Lines(JsonOutput):
    """A command that does something: the lines that a person reads."""

    lines: tuple[str, ...]


class AuditPlan(JsonOutput):
    """`--plan`: what an audit would cost.

    It is whole where `until` is missing. After that come at most `more` trials, missing where the
    method does not say how many. `samples` with so many `frames` are looked at, the first
    of so many `pixels`, and they ask so many different `questions`.
    """

    # trials are what a method asks for, calls what is left of them after the cache
    trials: int
    cached: int
    model_calls: int
    model_inputs: int
    seconds: float | None
    until: str | None
    more: int | None
    conditions: dict[str, int]
    tool_calls: dict[str, int]
    notes: dict[str, str]
    samples: int
    frames: int
    pixels: int
    questions: int

    @classmethod
    def of(cls, plan: Plan) -> "AuditPlan":
        """Build it of a plan."""
        return cls(**vars(plan))


class RunRow(Value):
    """A run of `cuescope list`; "-" stands for what its report does not tell.

    `findings` are counted by cue, and `verdict` is what they say. `fault` says why a report cannot
    be read, and what to do.
    """

    run: str
    method: str
    model: str
    data: str
    findings: int | str
    date: str
    made: str
    verdict: str | None = None
    impact: str | None = None
    status: str | None = None
    fault: str | None = None


class RunList(JsonOutput):
    """`cuescope list`: the newest first."""

    runs: tuple[RunRow, ...]


class MatrixRow(Value):
    """An audit of a run file: its findings, and how many hold when all audits share one error
    budget; `fault` where it failed."""

    run: str
    findings: int | None = None
    lasting: int | None = None
    strongest: str | None = None
    # one audit that fails is a row, and the others keep theirs
    fault: str | None = None


class MatrixResult(JsonOutput):
    """`cuescope run`."""

    folder: str
    runs: tuple[MatrixRow, ...]


class OpenedPage(JsonOutput):
    """`cuescope show --page`: where the page is, and whether a browser showed it."""

    page: str
    opened: bool


class BenchResult(JsonOutput):
    """`cuescope dev bench`; pictures are PNG or JPEG in base64."""

    bench: str
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...]


class CachedModel(Value):
    """The answers of a model; `size` in bytes, `used` in seconds since 1970."""

    name: str
    answers: int
    size: int
    used: float | None


class CacheContents(JsonOutput):
    """`cuescope cache`: bytes of each file, and the models whose answers are kept."""

    folder: str
    files: dict[str, int]
    models: tuple[CachedModel, ...]


class PluginRow(Value):
    """An installed plugin; `problem` where it is broken, with what to do."""

    kind: str
    name: str
    dist: str
    version: str
    does: str
    problem: str | None = None
    remedy: str | None = None


class PluginList(JsonOutput):
    """`cuescope plugins`. `imported` says whether each was tried, as `--check` does."""

    imported: bool
    plugins: tuple[PluginRow, ...]
    damaged: dict[str, str]


class PluginOption(Value):
    """An option of a plugin, as a command line takes it."""

    name: str
    takes: str
    default: str
    meaning: str


class PluginDescription(Value):
    """Description of a plugin: kind, capabilities and options."""

    kind: str
    name: str
    dist: str
    version: str
    summary: str
    requires: dict[str, str]
    capabilities: dict[str, str]
    options: tuple[PluginOption, ...]


class PluginDescriptions(JsonOutput):
    """`cuescope plugins info`: one name may be several plugins."""

    plugins: tuple[PluginDescription, ...]


class ListedPlugin(Value):
    """A plugin of everybody's list, and how to install it where it is not here."""

    kind: str
    name: str
    dist: str
    finds: str
    installed: bool
    how: str


class PluginSearch(JsonOutput):
    """`cuescope plugins search`."""

    plugins: tuple[ListedPlugin, ...]


class Progress(Value):
    """How far a piece of work is; pace and time left are missing before a batch is done.

    Of several audits, `step` says how many are done, and how long the others take.
    """

    work: str
    done: int
    total: int
    unit: str
    per_second: float | None
    seconds_left: float | None
    step: str | None = None


class LogLine(JsonOutput):
    """A line of standard error with `--log-json`. The last one has the exit code."""

    time: str
    level: Literal["info", "progress", "warning", "error"]
    message: str
    progress: Progress | None = None
    traceback: str | None = None
    exit_code: int | None = None


def as_schema(*models: Any) -> dict[str, Any]:
    """JSON schema of what is one of the models; open, since fields may come."""
    from functools import reduce
    from operator import or_

    from pydantic import TypeAdapter

    # one schema for all: a command may print one of several forms
    schema = TypeAdapter(reduce(or_, models)).json_schema(mode="serialization")
    opened: dict[str, Any] = _open(schema)
    return opened


def _open(schema: Any) -> Any:
    """The schema without `additionalProperties: false`."""
    if isinstance(schema, list):
        return list(map(_open, schema))
    if not isinstance(schema, dict):
        return schema
    return {
        key: _open(value)
        for key, value in schema.items()
        if not (key == "additionalProperties" and value is False)
    }
