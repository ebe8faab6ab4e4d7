"""`cuescope.investigate`, `.confirm` and others: commands from Python, with objects for SPECs.

The words are those of the command line, and the work is the command's own: see
`cuescope.cli.calling`. A mapping stands for `KEY=VALUE`, several of an option for a list.
"""

import inspect
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from cuescope.cli.calling import Call, calling
from cuescope.cli.hints import refuse_bare_arguments
from cuescope.cli.paths import NamedPath
from cuescope.context import Context
from cuescope.errors import UserError, nearest, with_article
from cuescope.objects import Held, HeldRegistry
from cuescope.python.holding import hold_data, hold_model
from cuescope.python.remembered import remembered
from cuescope.python.request import PythonRequest
from cuescope.python.running import (
    announce_on_stderr,
    clear_bars,
    make_bars,
    may_be_kept,
)
from cuescope.python.stored import StoredReport, require_pandas
from cuescope.registry import Registry
from cuescope.request import Request, option_text
from cuescope.runner import Runner
from cuescope.spec import in_words
from cuescope.whole_files import at_home, require_path

Words = Mapping[str, Any]
RunOf = str | Path | StoredReport
# they are objects, or belong to them: a command has no such word
OF_OBJECTS = ("model_name", "data_name", "cache", "progress")


def investigate(
    *,
    model: Any,
    data: Any,
    methods: str | Sequence[str] | None = None,
    **words: Any,
) -> Any:
    """Run every installed method that fits, and test whether the cues that they find are causes.

    `model` and `data` are SPECs or objects, as for `cuescope.audit`; `methods` names some methods.
    `words` are the options of `cuescope investigate` (`on`, `seed`, `limit`, `out` ...), with
    `model_options`, `data_options` and `method_options` ({"trove": {"clusters": 8}}) as mappings.
    The report is the dossier; with `plan=True` it is what `--plan --json` prints.
    """
    return _call("investigate", model, data, {"methods": methods, **words})


def confirm(
    run: RunOf, *others: RunOf, model: Any = None, data: Any = None, **words: Any
) -> Any:
    """Test whether the cues of a run cause the answers, or only accompany them.

    `run` is a report of `cuescope.audit`, or the folder of a run. `model` and `data` are those of
    the run; where they were objects, and the report was loaded, they have to be given again.
    `words` are the options of `cuescope confirm` (`interventions`, `features`, `on`, `top` ...).
    """
    # paths, since a command takes nothing else: a report knows its folder
    more = [Path(_folder_of(other)) for other in others] or None
    given = {"run": _folder_of(run), "others": more, **words}
    return _call("confirm", *_objects_of(run, model, data), given)


def mitigate(
    run: RunOf, mitigator: str, *, model: Any = None, data: Any = None, **words: Any
) -> Any:
    """Learn how the model can do without the cues of a run, and measure whether it helps.

    As `cuescope mitigate RUN --with MITIGATOR`; see `confirm` for `run`, `model` and `data`.
    """
    given = {"run": _folder_of(run), "mitigator": mitigator, **words}
    return _call("mitigate", *_objects_of(run, model, data), given)


def blind(data: Any, *, model: Any = None, **words: Any) -> Any:
    """Find out what of a benchmark is answered without looking; no model is needed.

    `words` are the options of `cuescope blind` (`hardest`, `prune`, `manifest`, `limit` ...).
    """
    return _call("blind", model, data, words)


def compare(*runs: RunOf, **words: Any) -> Any:
    """Show several runs side by side: tables by title, each a pandas DataFrame.

    `words` are the options of `cuescope compare` (`consensus`, `by_name`, `html`).
    """
    pandas = require_pandas()
    given = {"runs": [_folder_of(run) for run in runs], **words}
    tables = _call("compare", None, None, given)["tables"]
    return {table["title"]: pandas.DataFrame(table["rows"]) for table in tables}


# ------------------------------------------------------------------------------------- a call


@dataclass
class PythonCall(Call):
    """A call with objects of the caller; `bars` follow the work."""

    held: Mapping[str, Held] = field(default_factory=dict)
    bars: Any = None
    context: Context = field(default_factory=Context)
    cache: bool = True
    runners: list[Runner] = field(default_factory=list)

    def runner(self, **words: Any) -> Runner:
        """What runs requests, with the caller's objects among the plugins."""
        context = replace(self.context, allowed=frozenset(words["allow"] or ()))
        # built before the first audit: a misspelled observer is told at once
        observers = [context.build("observer", spec) for spec in words["observe"]]
        observers += remembered(self.held, context.announce)
        if self.bars is not None:
            observers.append(self.bars)
        runner = Runner(
            context,
            words["runs"],
            observers,
            self.cache and words["cache_responses"],
            out=words["out"],
        )
        self.runners.append(runner)
        return runner

    def request(self, request: Request) -> Request:
        """The same, under the fingerprints of the objects."""
        if not self.held:
            return request
        if request.executor is not None:
            raise UserError(
                "executor with an object in memory",
                expected="SPECs for model and data",
                remedy="Leave executor out: an object answers in this process",
            )
        # fields as they are: validation would ask for what the caller may leave out
        fields = {name: getattr(request, name) for name in Request.model_fields}
        objects = {item.name: item.fingerprint for item in self.held.values()}
        return PythonRequest(**fields, objects=objects)

    def close(self) -> None:
        """Leave nothing open: a notebook lives for days."""
        for runner in self.runners:
            runner.cache.close()
        clear_bars(self.bars)


def _call(name: str, model: Any, data: Any, words: Words) -> Any:
    """What a command gives: its report, or what it would print as JSON."""
    # None is what a caller passes who means the default
    given = {key: value for key, value in words.items() if value is not None}
    # these never reach the command
    of_objects = {key: given.pop(key) for key in OF_OBJECTS if key in given}
    registry = Registry()
    callback = _function_of(name, registry)
    progress = of_objects.get("progress", True)
    bars = make_bars() if progress else None
    context = Context(registry=registry, announce=announce_on_stderr)
    if bars is not None:
        context = replace(context, progress=bars)
    held: dict[str, Held] = {}
    refuse_bare_arguments({"dataset": data, "model": model}, registry)
    for role, item, hold in (("data", data, hold_data), ("model", model, hold_model)):
        if item is None or isinstance(item, str):
            given |= {} if item is None else {role: item}
            continue
        options = given.pop(f"{role}_options", {})
        held[role] = hold(item, options, of_objects.get(f"{role}_name"), context)
        given[role] = held[role].name
    if held:
        context = replace(context, registry=HeldRegistry(registry, held))
    kept = of_objects.get("cache", True) and may_be_kept(held, context.announce)
    call = PythonCall(
        registry=context.registry,
        held=held,
        bars=bars,
        context=context,
        cache=kept,
    )
    values = _values(name, callback, given)
    try:
        with calling(call):
            callback(**values)
    finally:
        call.close()
    if call.json is not None:
        return json.loads(call.json)
    if call.report is None or call.folder is None:
        raise UserError(f"{name} gave no report", got=" ".join(call.lines) or None)
    return StoredReport.of(call.report, call.folder, model=model, data=data)


def _function_of(name: str, registry: Registry) -> Callable[..., Any]:
    """The function of a command that a package brings; raises UserError where none does."""
    command = registry.load(registry.find("command", name))
    # a package brings one command an entry point, so there is one to take
    (registered,) = command.registered_commands
    callback: Callable[..., Any] = registered.callback
    return callback


def _values(name: str, callback: Callable[..., Any], words: Words) -> dict[str, Any]:
    """A value for each parameter of a command; raises UserError for words that it has not."""
    parameters = inspect.signature(callback).parameters
    hints = get_type_hints(callback, include_extras=True)
    values: dict[str, Any] = {}
    for word, value in words.items():
        key = _parameter_of(word, hints)
        if key is None or key not in parameters:
            raise UserError(
                f"{name} has no option '{word}'",
                remedy=nearest(word, parameters)
                or f"`cuescope {name} --help` lists them",
            )
        values[key] = _value(name, word, value, hints[key])
    if "as_json" in parameters:
        # of tables and plans alone: a report is handed over as it is
        values["as_json"] = True
    for key, parameter in parameters.items():
        if key in values:
            continue
        if parameter.default is inspect.Parameter.empty:
            raise UserError(f"{name}: {key} is missing")
        values[key] = parameter.default
    return values


def _parameter_of(word: str, hints: Words) -> str | None:
    """The parameter of a command that a word means: by its name, or by that of its option."""
    # several of an option are one parameter of the command, called after one of them
    for key in (word, word.removesuffix("s")):
        if key in hints:
            return key
    option = f"--{word.replace('_', '-')}"
    for key, hint in hints.items():
        if option in _option_names(hint):
            return key
    return None


def _option_names(hint: Any) -> list[str]:
    """What a parameter is called on the command line, where it is not called after itself."""
    names: list[Any] = []
    for option in _metadata(hint):
        # in an annotation typer takes the first name for a default
        names.append(getattr(option, "default", None))
        names += getattr(option, "param_decls", None) or ()
    return [name for name in names if isinstance(name, str)]


def _value(name: str, word: str, value: Any, hint: Any) -> Any:
    """A value as the command line would hand it over."""
    if isinstance(value, Mapping):
        # a mapping is Python's word for KEY=VALUE
        value = _pairs(value)
    elif isinstance(value, (list, tuple)):
        # one option takes several names with commas between them
        with suppress(ValidationError):
            return TypeAdapter(hint).validate_python(list(value))
        value = ",".join(map(str, value))
    try:
        valid = _validate(hint, value)
    except ValidationError as error:
        # the first is enough: the caller has given one value
        wanted = in_words(error.errors()[0])
        raise UserError(f"{name}: {word}", expected=wanted, got=repr(value)) from error
    _require_in_range(name, word, valid, hint)
    if isinstance(valid, Path):
        # as it was given: a Path of nothing is the folder that one is in
        require_path(word, value)
        valid = at_home(valid)
        _require_usable_path(word, valid, hint)
    return valid


def _validate(hint: Any, value: Any) -> Any:
    """A value of this type; one text stands for a list of one, as an option typed once."""
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError:
        if isinstance(value, str):
            with suppress(ValidationError):
                return TypeAdapter(hint).validate_python([value])
        raise


def _require_usable_path(word: str, path: Path, hint: Any) -> None:
    """Raise UserError for a path that the command line would refuse."""
    kinds = [getattr(option, "click_type", None) for option in _metadata(hint)]
    for kind in [*filter(None, kinds), NamedPath()]:
        kind.require(word, path)


def _metadata(hint: Any) -> tuple[Any, ...]:
    """What typer is told of a parameter."""
    options: tuple[Any, ...] = getattr(hint, "__metadata__", ())
    return options


def _require_in_range(name: str, word: str, value: Any, hint: Any) -> None:
    """Raise UserError for a number that the command line would refuse."""
    for option in _metadata(hint):
        least = getattr(option, "min", None)
        most = getattr(option, "max", None)
        if value is None or (least, most) == (None, None):
            continue
        if (least is not None and value < least) or (most is not None and value > most):
            expected = f"{least} or more" if most is None else f"{least} to {most}"
            raise UserError(f"{name}: {word}", expected=expected, got=repr(value))


def _pairs(options: Words, before: str = "") -> list[str]:
    """`KEY=VALUE`, of a mapping in a mapping `KEY.KEY=VALUE`."""
    pairs: list[str] = []
    for key, value in options.items():
        if isinstance(value, Mapping):
            pairs += _pairs(value, f"{before}{key}.")
        else:
            pairs.append(f"{before}{key}={option_text(value)}")
    return pairs


def _folder_of(run: Any) -> Path:
    if isinstance(run, StoredReport):
        return run.folder
    if not isinstance(run, str | os.PathLike):
        remedy = None
        if isinstance(run, (list, tuple)):
            remedy = "Give several one by one: compare(first, second)"
        raise UserError(
            f"run is {with_article(type(run).__name__)}",
            expected="a report of `cuescope.audit`, or the folder of a run",
            remedy=remedy,
        )
    require_path("run", run)
    return at_home(run)


def _objects_of(run: RunOf, model: Any, data: Any) -> tuple[Any, Any]:
    """The objects that a run is asked again with: those given, else its own."""
    if isinstance(run, StoredReport):
        # what a SPEC names is in the report
        model = _object(run.objects.model) if model is None else model
        data = _object(run.objects.data) if data is None else data
    return model, data


def _object(item: Any) -> Any:
    return None if isinstance(item, str) else item
