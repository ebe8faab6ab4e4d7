"""`cuescope.investigate`, `.confirm` and others: functions of installed packages, with objects.

The words are those of the command line. Each function also stands behind the command of its name,
which prints what the function returns.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cuescope.python.audits import KINDS
from cuescope.python.objects import hold_other_data, spec_of
from cuescope.python.opening import open_python
from cuescope.python.stored import StoredReport, UnfinishedError, require_pandas
from cuescope.python.words import load_function, values_of
from cuescope_core.atomic_files import at_home, require_path
from cuescope_core.errors import UserError, with_article
from cuescope_core.planning import Plan
from cuescope_core.registry import Registry

Words = Mapping[str, Any]
RunOf = str | Path | StoredReport
# about objects and their answers, for every function
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
    `model_options`, `data_options` and `options` ({"trove": {"clusters": 8}}) as mappings.
    The report is the dossier; with `plan=True` it is what `--plan --json` prints.
    """
    return _call("investigate", model, data, {"methods": methods, **words})


def confirm(
    run: RunOf, *others: RunOf, model: Any = None, data: Any = None, **words: Any
) -> Any:
    """Test whether the cues of a run cause the answers, or only accompany them.

    `run` is a report of `cuescope.audit`, or the folder of a run. `model` and `data` are those of
    the run; where they were objects, and the report was loaded, they have to be given again.
    `words` are the options of `cuescope confirm` (`interventions`, `features`, `top` ...). `on` is
    what the cues are tested on: another split by its name, or data of the same labels in memory,
    `on=(images, labels)`; samples that the run has seen are left out.
    """
    more = [_folder_of(other) for other in others] or None
    return _call("confirm", model, data, {"others": more, **words}, run)


def mitigate(
    run: RunOf, mitigator: str, *, model: Any = None, data: Any = None, **words: Any
) -> Any:
    """Learn how the model can do without the cues of a run, and measure whether it helps.

    As `cuescope mitigate RUN --with MITIGATOR`; see `confirm` for `run`, `model`, `data` and `on`.
    """
    given = {"mitigator": mitigator, **words}
    return _call("mitigate", model, data, given, run)


def blind(data: Any, *, model: Any = None, **words: Any) -> Any:
    """Find out what of a benchmark is answered without looking; no model is needed.

    `words` are the options of `cuescope blind` (`hardest`, `manifest`, `limit` ...).
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


def gate(
    policy: str | Path, run: RunOf | None = None, *, model: Any = None, **words: Any
) -> Any:
    """Judge a run by a policy, or a model that is asked; gives what `--json` prints.

    `words` are the options of `cuescope gate` (`baseline`, `budget`, `data` ...).
    """
    given = {"policy": policy, **words}
    if run is not None:
        given["run"] = _folder_of(run)
    if words.get("baseline") is not None:
        given["baseline"] = _folder_of(words["baseline"])
    return _call("gate", model, given.pop("data", None), given)


def _call(name: str, model: Any, data: Any, words: Words, *runs: RunOf) -> Any:
    """The report that a function gives, or what its command would print as JSON."""
    from cuescope.cli.outputs import AuditPlan

    # None is what a caller passes who means the default
    given = {key: value for key, value in words.items() if value is not None}
    of_objects = {key: given.pop(key) for key in OF_OBJECTS if key in given}
    registry = Registry()
    function = load_function(name, registry)
    objects = _objects_of(runs, model, data)
    # the method is found by its name alone
    _, model, data = (
        spec_of(kind, item, registry) for kind, item in zip(KINDS, objects, strict=True)
    )
    # what a run is tested on is held beside what it was made on
    if name in ("confirm", "mitigate") and "on" in given:
        given["on"] = hold_other_data(given["on"], registry)
    options = {
        key: given.pop(key)
        for key, item in (("model_options", model), ("data_options", data))
        if key in given and item is not None and not isinstance(item, str)
    }
    with open_python(model, data, registry, **of_objects, **options) as (runner, held):
        for role, item in (("model", model), ("data", data)):
            if item is not None:
                given[role] = item if isinstance(item, str) else held[role].name
        values = values_of(name, function, given)
        try:
            result = function(runner, *map(_folder_of, runs), **values)
        except UnfinishedError as stopped:
            # its report is stored: the error says where it went wrong
            raise stopped.error from None
    if isinstance(result, StoredReport):
        return result.with_objects(*objects)
    if isinstance(result, Plan):
        result = AuditPlan.of(result)
    printed: dict[str, Any] = result.model_dump(mode="json")
    return printed


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


def _objects_of(runs: Sequence[RunOf], model: Any, data: Any) -> tuple[Any, Any, Any]:
    """Method, model and data of a call: those given, else the objects of its run."""
    method = None
    for run in runs:
        if isinstance(run, StoredReport):
            # what a SPEC names is in the report
            method = _object(run.objects.method)
            model = _object(run.objects.model) if model is None else model
            data = _object(run.objects.data) if data is None else data
    return method, model, data


def _object(item: Any) -> Any:
    return None if isinstance(item, str) else item
