"""`cuescope.audit`, `.plan` and `.load`: the command line's `audit` and `report`, from Python."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any

import numpy as np

from cuescope.building import context_for
from cuescope.cli.hints import refuse_bare_arguments
from cuescope.context import Context, silent
from cuescope.errors import UserError, nearest
from cuescope.objects import Held, HeldRegistry
from cuescope.planning import Plan
from cuescope.python.holding import hold_data, hold_model
from cuescope.python.remembered import remembered
from cuescope.python.request import PythonRequest
from cuescope.python.stored import StoredReport
from cuescope.registry import Registry
from cuescope.request import Request, Settings, make_request
from cuescope.runner import Runner
from cuescope.runs import load_report
from cuescope.spec import Spec
from cuescope.whole_files import at_home, require_path

Given = Mapping[str, Any]
OWN = ("model", "data", "out", "runs", "cache", "progress")


def audit(
    method: str,
    *,
    model: Any,
    data: Any,
    model_options: Given | None = None,
    data_options: Given | None = None,
    method_options: Given | None = None,
    model_name: str | None = None,
    data_name: str | None = None,
    out: str | Path | None = None,
    runs: str | Path = "runs",
    cache: bool = True,
    progress: bool = True,
    **options: Any,
) -> StoredReport:
    """Audit one model with one method on one data set; the report is stored as by `cuescope audit`.

    `model` and `data` are SPECs as on the command line, or objects: an open_clip or transformers
    model with its processor, a function from images to probabilities, a tuple (images, labels), a
    pandas DataFrame, a `datasets.Dataset` ... `model_options` and `data_options` are those of -M
    and -D. `options` are the settings of `cuescope audit` (`seed`, `limit`, `device` ...) and the
    method's own, -O (or `method_options`, where a name is taken here). `model_name` and `data_name`
    are what a report calls an object; answers of a function are kept only under a name that you
    give it. `cache=False` neither reads nor keeps any answer.

    Raises UserError, with one line that says what was expected, what came and what to do.
    """
    asked = Asked(
        method,
        model,
        data,
        model_options or {},
        data_options or {},
        method_options or {},
        model_name,
        data_name,
        options,
    )
    with _open(asked, out, runs, cache=cache, progress=progress) as (runner, request):
        report = runner.run(request)
        folder = runner.folder(request).path
    return StoredReport.of(report, folder, model=model, data=data)


def plan(
    method: str,
    *,
    model: Any,
    data: Any,
    model_options: Given | None = None,
    data_options: Given | None = None,
    method_options: Given | None = None,
    model_name: str | None = None,
    data_name: str | None = None,
    cache: bool = True,
    **options: Any,
) -> Plan:
    """What `cuescope.audit` of the same words would cost; the model is not asked.

    `trials`, `cached`, `model_calls`, and `seconds` where this model was timed here before.
    """
    asked = Asked(
        method,
        model,
        data,
        model_options or {},
        data_options or {},
        method_options or {},
        model_name,
        data_name,
        options,
    )
    with _open(asked, None, "runs", cache=cache, progress=False) as (runner, request):
        return runner.plan(request)


@dataclass(frozen=True)
class Asked:
    """What a caller asks for: plugins or objects, and their options."""

    method: str
    model: Any
    data: Any
    model_options: Given
    data_options: Given
    method_options: Given
    model_name: str | None
    data_name: str | None
    options: Given


@contextmanager
def _open(
    asked: Asked,
    out: str | Path | None,
    runs: str | Path,
    *,
    cache: bool,
    progress: bool,
) -> Iterator[tuple[Runner, Request]]:
    """What runs it, and the request; nothing stays open after."""
    require_path("runs", runs)
    if out is not None:
        require_path("out", out)
    registry = Registry()
    options = dict(asked.options)
    settings = {
        name: options.pop(name) for name in Settings.model_fields if name in options
    }
    given = _method_options(registry, asked.method, dict(asked.method_options), options)
    # checked before an object is opened, which may take long
    draft = make_request(
        method=asked.method,
        model="-",
        data="-",
        method_options=given,
        **settings,
    )
    bars = make_bars() if progress else None
    # what has to be known (weak data, say) is no progress
    context = Context(
        registry=registry, progress=bars or silent, announce=announce_on_stderr
    )
    context = context_for(draft, context)
    held: dict[str, Held] = {}
    refuse_bare_arguments({"dataset": asked.data, "model": asked.model}, registry)
    if not isinstance(asked.data, str):
        held["data"] = hold_data(
            asked.data, asked.data_options, asked.data_name, context
        )
    if not isinstance(asked.model, str):
        held["model"] = hold_model(
            asked.model, asked.model_options, asked.model_name, context
        )
        _require_fit(draft, held["model"], registry)
    request = _complete(draft, asked, held)
    if held:
        # a name stands for the object: the engine knows SPECs alone (docs/adr/0015)
        context = replace(context, registry=HeldRegistry(registry, held))
    # a function has no content that could be digested (docs/adr/0015)
    kept = cache and may_be_kept(held, context.announce)
    folder = None if out is None else at_home(out)
    observers = [*remembered(held, context.announce), *([bars] if bars else [])]
    runner = Runner(context, at_home(runs), observers, kept, out=folder)
    # a notebook lives for days: the file must not stay open
    with closing(runner.cache):
        try:
            yield runner, request
        finally:
            clear_bars(bars)


def _with_settings(signature: Signature) -> Signature:
    """The signature with the settings of a request by name, for `help()` and for completion."""
    # `**options` has to stay the last
    *named, options = signature.parameters.values()
    settings = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=field.annotation,
        )
        for name, field in Settings.model_fields.items()
    ]
    return signature.replace(parameters=[*named, *settings, options])


_functions: tuple[Any, ...] = (audit, plan)
for _function in _functions:
    _function.__signature__ = _with_settings(signature(_function))


def load(run: str | Path) -> StoredReport:
    """The report of a run folder; raises UserError where there is none, or where it was changed."""
    require_path("run", run)
    path = at_home(run)
    return StoredReport.of(load_report(path), path if path.is_dir() else path.parent)


def _complete(draft: Request, asked: Asked, held: Mapping[str, Held]) -> Request:
    """The whole request; with SPECs alone it is the command line's own."""
    if held and draft.executor is not None:
        raise UserError(
            "executor with an object in memory",
            expected="SPECs for model and data",
            remedy="Leave executor out: an object answers in this process",
        )
    fields = {name: getattr(draft, name) for name in Request.model_fields}
    fields |= {
        "model": asked.model,
        "data": asked.data,
        "model_options": _plain(asked.model_options),
        "data_options": _plain(asked.data_options),
    }
    # no PythonRequest: report, folder and cache are those of the command line
    if not held:
        return Request(**fields)
    for part, item in held.items():
        # an object has taken its options already
        fields |= {part: item.name, f"{part}_options": {}}
    # one name would stand for both fingerprints
    if len(held) == 2 and fields["model"] == fields["data"]:
        raise UserError(
            f"model and data are both called '{fields['model']}'", remedy="Rename one"
        )
    fingerprints = {item.name: item.fingerprint for item in held.values()}
    return PythonRequest(**fields, objects=fingerprints)


def may_be_kept(held: Mapping[str, Held], announce: Callable[[str], None]) -> bool:
    """Whether answers can be told from those of another object; says so where they cannot."""
    nameless = [item for item in held.values() if item.private]
    for item in nameless:
        announce(
            f"answers of '{item.name}' are not kept: model_name=... names it for the cache"
        )
    return not nameless


def _method_options(
    registry: Registry,
    method: Any,
    given: dict[str, Any],
    options: Given,
) -> dict[str, Any]:
    """The method's options; raises UserError for one that neither it nor `audit` has."""
    if not isinstance(method, str):
        kind = type(method).__name__
        raise UserError(
            "method",
            expected="the name of a method, as 'trove'",
            got=f"a {kind}",
        )
    name = Spec.parse(method).name
    of_method = registry.load(registry.find("method", name)).Options.model_fields
    settings = [*Settings.model_fields, *OWN, "model_options", "data_options"]
    for option in options:
        if option == "plan" and option not in of_method:
            # a word of all other commands
            raise UserError(
                "audit has no option 'plan'",
                remedy="cuescope.plan takes the same words, and says what it would cost",
            )
        if option not in of_method:
            raise UserError(
                f"audit has no option '{option}', and {name} has none",
                expected=f"of {name}: {', '.join(of_method) or 'none'}",
                remedy=nearest(option, [*of_method, *settings]),
            )
        if option in given:
            raise UserError(
                f"option '{option}' is given twice", remedy="Keep one of them"
            )
    return _plain(given | dict(options))


def _plain(options: Given) -> dict[str, Any]:
    """Numbers of numpy as Python's."""
    plain = dict(options)
    for name, value in options.items():
        # a report is JSON, which knows no numbers of numpy
        if isinstance(value, np.generic):
            plain[name] = value.item()
    return plain


def _require_fit(request: Request, model: Held, registry: Registry) -> None:
    """Raise UserError for what a model in memory cannot do, in words that say how it could."""
    if (request.device, request.dtype) != ("auto", "float32"):
        raise UserError(
            "device or dtype with a model in memory",
            expected="neither: it answers where it is, as it is",
            remedy="Move the object itself, or name the model by a SPEC",
        )
    name = Spec.parse(request.method).name
    needs = registry.load(registry.find("method", name)).requires.outputs
    has = model.capabilities.outputs if model.capabilities else frozenset[str]()
    if has == {"logits"} and needs == {"logits", "embedding"}:
        raise UserError(
            f"{name} groups images by what the model makes of them",
            expected="a model that gives embeddings too",
            got=f"'{model.name}', which gives probabilities alone",
            remedy="cuescope.Classifier(function, embed=EMBED): a function from images to vectors, "
            "or 'pixels' to group them by colour and layout",
        )


def make_bars() -> Any:
    """Bars, which observe the audit too."""
    from cuescope.cli.progress import Bars

    return Bars()


def clear_bars(bars: Any) -> None:
    """Take them away: the report stands alone."""
    if bars is not None:
        bars.clear()


def announce_on_stderr(line: str) -> None:
    """Say a line that is no part of the result."""
    sys.stderr.write(f"cuescope: {line}\n")
