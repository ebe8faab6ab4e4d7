"""A remedy for a run's cues, learned and measured on samples held out."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from cuescope.application import (
    Folds,
    OutputFolder,
    Plan,
    Rerun,
    Runner,
    Spec,
    StoredReport,
    UnfinishedError,
    apart,
    ask_again,
    beside,
    expected_samples,
    find_then_test,
    in_folds,
    require_same_data,
    require_whole,
)
from cuescope_mitigation.options import NOT_TRIED, MitigationOptions, require_fit
from cuescope_sdk import Request, StoredRun, UserError

METHOD = "mitigation"
FEW = (
    "Take more samples, name another split with --on, or let few samples serve all jobs with "
    "--folds 4"
)
PARTS = 3  # found in the first, fitted and measured in the others


def mitigate(
    runner: Runner,
    run: Path,
    rerun: Rerun,
    *,
    mitigator: str,
    options: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    folds: Folds = None,
    tools: Mapping[str, str] | None = None,
    top: Annotated[int, Field(ge=1)] = 20,
    placebos: Annotated[int, Field(ge=0)] = 3,
    plan: bool = False,
    out: Annotated[Path | None, OutputFolder()] = None,
) -> StoredReport | Plan:
    """Learn how the model can do without the cues of a run, and measure whether it helps.

    `options` are those of the mitigator, `names` say what a finding shows, by its key, and `tools`
    may name an embedder. Raises UnfinishedError where the mitigator fails.
    """
    report = StoredRun(run).report
    plugin = Spec.parse(mitigator).name
    # another mitigator has another folder: both can be compared
    folder = out or beside(run, f"mitigated-{plugin}")
    of_remedy = dict(options or {})
    # a wrong name is told before hours of answers
    remedy = runner.context.resolve("mitigator", mitigator, of_remedy)
    runner, request = ask_again(replace(runner, out=folder), run, rerun)
    require_same_data(report, runner, request)
    # the others served to find the cues, and the remedy has no use for them
    eye = {role: spec for role, spec in request.tools.items() if role == "embedder"}
    eye |= tools or {}
    if not eye:
        # by the classes alone: what is refused is refused before the run is made again
        model = runner.context.resolve("model", request.model, request.model_options)
        require_fit(mitigator, remedy.plugin.requires, model.plugin.capabilities)
    changed = _changed_options(
        {
            "mitigator_options": of_remedy,
            "names": dict(names or {}),
            "top": top,
            "placebos": placebos,
        }
    )
    found = folder / "found"
    if folds is None:
        # in three parts, for what is learned must not be measured on its own samples
        registry = runner.context.registry
        held = apart(run, request, rerun.on, registry, found, parts=PARTS)
        if names and held.again:
            _refuse_names(run, found)
    else:
        require_whole(run, request, rerun)
        held = in_folds(run, request, folds, found)
        # all findings of the run are tested, each where it is found again
        changed["folds"] = [str(path) for path in held.found]
    whole = run if run.is_dir() else run.parent
    stamp = report.provenance.model
    method_options = {
        "run": str(whole if held.by_folds else held.found[0]),
        "mitigator": mitigator,
        **changed,
        # what is learned of another eye's embeddings is of no use to a model that has none
        "save": None if eye else str(folder / "mitigated"),
        # what is learned fits this model alone, and its folder refuses any other
        "model": {"model": stamp.fingerprint or "", "spec": request.model},
    }
    expected = expected_samples(
        StoredRun(run, runner.context),
        top,
        parts=PARTS,
        folds=folds,
        least=MitigationOptions.model_fields["least"].default,
    )
    tried = find_then_test(
        runner,
        held,
        _trial(held.rest, method_options, eye),
        plan=plan,
        share="a third",
        why="nothing is learned or measured where the cues were found",
        expected=expected if held.again else (),
        remedy=FEW,
    )
    if isinstance(tried, StoredReport) and NOT_TRIED in tried.notes:
        # the page tells the cues all the same
        failure = UserError(f"{mitigator} failed: {tried.notes[NOT_TRIED]}")
        raise UnfinishedError(tried, failure)
    return tried


def _changed_options(options: dict[str, Any]) -> dict[str, Any]:
    """Those that are no defaults: the folder of a run does not depend on defaults."""
    fields = MitigationOptions.model_fields
    return {
        name: value for name, value in options.items() if value != fields[name].default
    }


def _trial(
    rest: Request, method_options: dict[str, Any], eye: dict[str, str]
) -> Request:
    """The remedy learned and measured on what is held out, with the embedder alone as tool."""
    tool_options = {
        role: options for role, options in rest.tool_options.items() if role in eye
    }
    update = {
        "method": METHOD,
        "method_options": method_options,
        "tools": eye,
        "tool_options": tool_options,
    }
    return rest.model_copy(update=update)


def _refuse_names(run: Path, found: Path) -> None:
    """Raise UserError: keys that were typed are those of `run`, not of the one made anew."""
    is_made = (found / "report.json").exists()
    raise UserError(
        f"--name: {run} looked at all of its data, and is made again on a third of it, "
        "where findings get other keys",
        expected="--on SPLIT, or a run made with --part 1/3",
        remedy=f"cuescope mitigate {found}" if is_made else "Add --on SPLIT",
    )
