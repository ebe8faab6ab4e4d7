"""`cuescope.audit`, `.plan` and `.load`: audits of SPECs and of objects of the caller."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any

import numpy as np

from cuescope.python.objects import spec_of, specs_of
from cuescope.python.opening import open_python
from cuescope.python.stored import StoredReport
from cuescope.runner import Runner
from cuescope_core.atomic_files import at_home, require_path
from cuescope_core.errors import UserError, nearest, with_article
from cuescope_core.in_memory import Held
from cuescope_core.planning import Plan
from cuescope_core.registry import Registry
from cuescope_core.request import Request, Settings, make_request
from cuescope_core.runs import load_report
from cuescope_core.spec import Spec

Given = Mapping[str, Any]
KINDS = ("method", "model", "dataset")
OWN = ("model", "data", "out", "runs", "cache", "progress", "options")


def audit(
    method: Any,
    *,
    model: Any,
    data: Any,
    options: Given | None = None,
    model_options: Given | None = None,
    data_options: Given | None = None,
    model_name: str | None = None,
    data_name: str | None = None,
    out: str | Path | None = None,
    runs: str | Path = "runs",
    cache: bool = True,
    progress: bool = True,
    **settings: Any,
) -> StoredReport:
    """Audit one model with one method on one data set; the report is stored as by `cuescope audit`.

    `method`, `model`, `data` and the tools are SPECs as on the command line (`trove`,
    `./idea.py:Idea`) or classes of plugins. Model and data may be objects too: an open_clip or
    transformers model with its processor, a function from images to probabilities, a tuple
    (images, labels), a pandas DataFrame, a `datasets.Dataset` ... `options`, `model_options` and
    `data_options` are those of -O. `settings` are as on the command line (`seed`,
    `limit`, `device` ...).
    `model_name` and `data_name` are what a report calls an object; answers of a function are kept
    only under a name that you give it. `cache=False` neither reads nor keeps any answer.

    Raises UserError, with one line that says what was expected, what came and what to do.
    """
    given = method, model, data
    opening = {
        "model_options": model_options,
        "data_options": data_options,
        "model_name": model_name,
        "data_name": data_name,
        "cache": cache,
        "progress": progress,
        "out": out,
        "runs": runs,
    }
    with _asked(given, options, settings, opening) as (runner, request):
        report = runner.audit(request)
    return report.with_objects(*given)


def plan(
    method: Any,
    *,
    model: Any,
    data: Any,
    options: Given | None = None,
    model_options: Given | None = None,
    data_options: Given | None = None,
    model_name: str | None = None,
    data_name: str | None = None,
    cache: bool = True,
    **settings: Any,
) -> Plan:
    """Return the cost of `cuescope.audit` with the same words; the model is not asked.

    `trials`, `cached`, `model_calls`, and `seconds` where this model was timed here before.
    """
    opening = {
        "model_options": model_options,
        "data_options": data_options,
        "model_name": model_name,
        "data_name": data_name,
        "cache": cache,
        "progress": False,
    }
    given = method, model, data
    with _asked(given, options, settings, opening) as (runner, request):
        return runner.plan(request)


@contextmanager
def _asked(
    given: tuple[Any, Any, Any],
    options: Given | None,
    settings: Given,
    opening: dict[str, Any],
) -> Iterator[tuple[Runner, Request]]:
    """The request of a method, model and data, and its runner; `opening` is for `open_python`."""
    registry = Registry()
    method, model, data = (
        spec_of(kind, item, registry) for kind, item in zip(KINDS, given, strict=True)
    )
    draft = _draft(registry, method, options, specs_of(settings, registry))
    with open_python(model, data, registry, draft=draft, **opening) as (runner, held):
        of_data = opening["model_options"], opening["data_options"]
        yield runner, _complete(draft, runner, held, model, data, *of_data)


def load(run: str | Path) -> StoredReport:
    """The report of a run folder; raises UserError where there is none, or where it was changed."""
    require_path("run", run)
    path = at_home(run)
    return StoredReport.of(load_report(path), path if path.is_dir() else path.parent)


def _draft(
    registry: Registry, method: Any, options: Given | None, words: Given
) -> Request:
    """A request whose model and data are open: checked before an object is, which takes long."""
    settings = {name: words[name] for name in Settings.model_fields if name in words}
    others = {name: words[name] for name in words if name not in settings}
    return make_request(
        method=method if isinstance(method, str) else "-",
        model="-",
        data="-",
        method_options=_method_options(registry, method, dict(options or {}), others),
        **settings,
    )


def _complete(
    draft: Request,
    runner: Runner,
    held: Mapping[str, Held],
    model: Any,
    data: Any,
    model_options: Given | None,
    data_options: Given | None,
) -> Request:
    """The whole request; with SPECs alone it is the command line's own."""
    if "model" in held:
        _require_fit(draft, held["model"], runner.context.registry)
    fields = {name: getattr(draft, name) for name in Request.model_fields}
    given = (("model", model, model_options), ("data", data, data_options))
    for role, item, of_item in given:
        # an object has taken its options already
        if role in held:
            fields |= {role: held[role].name, f"{role}_options": {}}
        else:
            fields |= {role: item, f"{role}_options": _plain(of_item or {})}
    return runner.on_objects(Request(**fields))


def _with_settings(signature: Signature) -> Signature:
    """The signature with the settings of a request by name, for `help()` and for completion."""
    *named, _ = signature.parameters.values()
    settings = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=field.annotation,
        )
        for name, field in Settings.model_fields.items()
    ]
    return signature.replace(parameters=[*named, *settings])


_functions: tuple[Any, ...] = (audit, plan)
for _function in _functions:
    _function.__signature__ = _with_settings(signature(_function))


def _method_options(
    registry: Registry,
    method: Any,
    given: dict[str, Any],
    options: dict[str, Any],
) -> dict[str, Any]:
    """The method's options; raises UserError for one that neither it nor `audit` has."""
    if not isinstance(method, str):
        kind = type(method).__name__
        raise UserError(
            "method",
            expected="the name of a method, as 'trove', './idea.py:Idea', or its class",
            got=with_article(kind),
        )
    name = Spec.parse(method).name
    of_method = registry.load(registry.find("method", name)).Options.model_fields
    settings = [*Settings.model_fields, *OWN, "model_options", "data_options"]
    for option in options:
        remedy = nearest(option, [*of_method, *settings])
        if option in of_method:
            remedy = f"It is one of {name}: options={{'{option}': ...}}"
        # a word of all other commands
        if option == "plan":
            remedy = "cuescope.plan takes the same words, and says what it would cost"
        raise UserError(f"audit has no option '{option}'", remedy=remedy)
    return _plain(given)


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
