"""Test of a run's cues on samples held out: are they causes of the answers?"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field

from cuescope.application import (
    Folds,
    HeldOut,
    OutputFolder,
    Plan,
    Rerun,
    Runner,
    StoredReport,
    apart,
    ask_again,
    beside,
    expected_samples,
    find_then_test,
    in_folds,
    require_same_data,
    require_whole,
)
from cuescope_confirm import Confirm
from cuescope_confirm.cases.own_pairs import read_scenes
from cuescope_confirm.command import METHOD, PARTS
from cuescope_confirm.command.cost import most_of_test
from cuescope_confirm.command.renaming import keys_of_same
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.study import NOTHING_TO_CONFIRM, no_feature
from cuescope_sdk import Context, Report, Request, StoredRun, UserError, nearest
from cuescope_sdk.report import count_of

Given = Mapping[str, Any]
ByRole = Mapping[str, str]
FEW = (
    "Take more samples, name another split with --on, or let few samples serve both jobs with "
    "--folds 4"
)


def confirm(
    runner: Runner,
    run: Path,
    rerun: Rerun,
    *,
    others: Sequence[Path] = (),
    interventions: Sequence[str] = (),
    features: Sequence[str] = (),
    pairs: Path | None = None,
    folds: Folds = None,
    tools: ByRole | None = None,
    tool_options: Mapping[str, Given] | None = None,
    options: Given | None = None,
    top: Annotated[int, Field(ge=1)] = 10,
    plan: bool = False,
    out: Annotated[Path | None, OutputFolder()] = None,
) -> StoredReport | Plan:
    """Test whether the cues of a run cause the answers; with `plan` tell what it would cost.

    `others` are more runs on the same model and data, `features` those to test, found or not, and
    `pairs` a folder of the same scenes with the cue and without it. `tools` and `tool_options` go
    before those of the run, `options` are those of the test.
    """
    report = StoredRun(run).report
    folder = out or beside(run, "confirmed")
    of_tools = tool_options or {}
    # what is given for a tool here is as good as allowed
    allowed = [*rerun.allow]
    for of_tool in of_tools.values():
        allowed += of_tool
    rerun = replace(rerun, allow=allowed)
    runner, request = ask_again(replace(runner, out=folder), run, rerun)
    used_tools, settings = _tools(request, tools or {}, of_tools)
    own_options = dict(options or {})
    # a wrong one is told before anything else, and before the run is made again
    choice = runner.context.resolve("method", METHOD, {"run": str(run)} | own_options)
    least = cast(ConfirmOptions, choice.options).least
    _require_answers(run, StoredRun(run, runner.context))
    _require_usable(runner.context, request, interventions, used_tools)
    _require_cues(run, report, features, others)
    require_same_data(report, runner, request)
    if pairs is not None:
        _require_one(report, features, others)
        # at once, with its scenes: the run would be made again before they are looked at
        read_scenes(runner.context, pairs, least)
    found = folder / "found"
    if folds is None:
        registry = runner.context.registry
        held = apart(run, request, rerun.on, registry, found, parts=PARTS)
    else:
        # a key of one run may be something else in another
        given = {"RUN": others, "--pairs": pairs, "--feature": features}
        require_whole(run, request, rerun, next(filter(given.get, given), None))
        held = in_folds(run, request, folds, found)
    expected: Iterable[str] = ()
    if held.again:
        stored = StoredRun(run, runner.context)
        expected = expected_samples(stored, top, parts=PARTS, folds=folds, least=least)
    more = _find_others(runner, others, request, rerun, folder / "found-others")
    of_test = {"run": str(held.found[0])}
    of_test |= _changed_options(interventions, features, pairs, top)
    of_test |= _more_found(held, [other for _, other in more])
    update = {
        "method": METHOD,
        # the options come last, so what is given wins
        "method_options": of_test | own_options,
        "tools": used_tools,
        "tool_options": settings,
    }
    trial = held.rest.model_copy(update=update)
    if not plan:
        _make_others(more)
    return find_then_test(
        runner,
        held,
        trial,
        plan=plan,
        share="half",
        why="no cue is tested where it was found",
        expected=expected,
        any_feature=bool(features or others),
        remedy=FEW,
        adapt=partial(_name_anew, run, held.found[0]) if features else None,
        most=_most(runner, trial, features or report.findings) if plan else None,
    )


def _most(runner: Runner, trial: Request, tested: Sequence[object]) -> int:
    """How many trials a test of these findings asks at most, each beside a control."""
    # the command names the method: nobody else's word
    context = runner.context
    typed = replace(context, typed=context.typed | {"method"})
    cues, ways, samples = most_of_test(replace(runner, context=typed), trial)
    return 2 * min(cues, len(tested)) * ways * samples


def _require_answers(run: Path, stored: StoredRun) -> None:
    """Raise UserError for a run of recorded answers: nobody answers what a test would ask."""
    if not stored.is_recorded:
        return
    raise UserError(
        f"{run} is a run of recorded answers",
        expected="a model that can be asked about changed samples",
        got=stored.report.provenance.model.spec,
        remedy="With the model at hand: cuescope investigate --log FILE --model SPEC",
    )


def _require_cues(
    run: Path, report: Report, features: Sequence[str], others: Sequence[Path]
) -> None:
    """Raise UserError where there is nothing to test, or a run is named twice."""
    if not (features or others or report.findings):
        remedy = NOTHING_TO_CONFIRM
        if held_back := [score for score in report.told if score.doubt]:
            first = held_back[0]
            key = first.feature + (f"@{first.label}" if first.label else "")
            remedy = (
                "Do what the checks of its report say, and audit again; --feature "
                f"{shlex.quote(key)} tests what is in doubt as it stands"
            )
        raise report.no_finding(run, remedy)
    if features and not others:
        # at once: what the run is made anew for costs an audit
        _require_features(run, report, features)
    paths = [run, *others]
    # resolved: "runs/a" and "runs/../runs/a" are one run
    if len({path.resolve() for path in paths}) < len(paths):
        raise UserError("a run is named twice", expected="each run once")


def _changed_options(
    interventions: Sequence[str],
    features: Sequence[str],
    pairs: Path | None,
    top: int,
) -> dict[str, Any]:
    """Options of the test that are no defaults: the folder of a run does not depend on defaults."""
    changed: dict[str, Any] = {}
    if interventions:
        changed["interventions"] = list(interventions)
    if features:
        changed["features"] = list(features)
    if pairs is not None:
        # absolute: the test may be asked again from elsewhere
        changed["pairs"] = str(pairs.resolve())
    if top != ConfirmOptions.model_fields["top"].default:
        changed["top"] = top
    return changed


def _more_found(held: HeldOut, others: Sequence[HeldOut]) -> dict[str, Any]:
    """Options of the test that name the runs beside the first: of folds, or of other runs."""
    if held.by_folds:
        whole = held.run if held.run.is_dir() else held.run.parent
        more = [str(path) for path in held.found[1:]]
        return {"folds": True, "whole": str(whole), "others": more}
    if not others:
        return {}
    return {"others": [str(other.found[0]) for other in others]}


def _require_features(run: Path, report: Report, texts: Sequence[str]) -> None:
    known = [feature.key for feature in report.features]
    for text in texts:
        # a key may have an @ of its own
        if text not in known and text.rpartition("@")[0] not in known:
            raise no_feature(run, text, known)


def _require_one(
    report: Report, features: Sequence[str], others: Sequence[Path]
) -> None:
    """Raise UserError for pairs beside several cues: they show one."""
    found = list(dict.fromkeys(score.feature for score in report.findings))
    count = len(features or found)
    if others or count > 1:
        raise UserError(
            "--pairs show one cue",
            expected="one finding of one run",
            got="several runs" if others else f"{count_of(count, 'findings')}",
            remedy=f"Name it: --feature KEY, as {found[0]}" if found else None,
        )


def _name_anew(run: Path, found: Path, trial: Request) -> Request:
    """The trial, with the features of `run` by what they are called in the run made anew."""
    options = trial.method_options
    before = StoredRun(run).report.features
    anew = StoredRun(found)
    try:
        labels = {row["sample"]: row["label"] for row in anew.answers}
    except UserError:  # a method that asks nothing keeps no answers
        labels = {}
    features = keys_of_same(before, anew.report.features, options["features"], labels)
    return trial.model_copy(
        update={"method_options": {**options, "features": features}}
    )


def _tools(
    request: Request,
    named: ByRole,
    options: Mapping[str, Given],
) -> tuple[ByRole, dict[str, dict[str, Any]]]:
    """SPEC and options by role: those of the run that this method can use, and what was typed.

    Raises UserError for options of a role that no tool has.
    """
    # a run may have tools that are of no use here, as a proposer
    usable = Confirm.requires.may_use
    tools = {role: spec for role, spec in request.tools.items() if role in usable}
    settings = {}
    # the run's options are not for another tool that was typed in its place
    for role in tools.keys() & request.tool_options.keys() - named.keys():
        settings[role] = dict(request.tool_options[role])
    tools |= named
    for role, typed in options.items():
        if role not in tools:
            raise UserError(
                f"-O tool.{role}: no tool has this role here",
                remedy=nearest(role, tools) or f"Add --tool {role}=SPEC",
            )
        settings[role] = {**settings.get(role, {}), **typed}
    return tools, settings


def _require_usable(
    context: Context,
    request: Request,
    names: Sequence[str],
    tools: ByRole,
) -> None:
    """Raise UserError for an intervention that this model or these tools cannot serve."""
    # by the classes alone: no weights are loaded to refuse a name
    model = context.resolve("model", request.model, request.model_options).plugin
    for name in names:
        kind = context.resolve("intervention", name).plugin
        lacking = None
        # one that fails costs itself, and the dossier says so
        with suppress(Exception):
            lacking = kind.lacks(model.capabilities, tools)
        if lacking:
            raise UserError(
                f"--with {name} cannot be used on {request.model}",
                got=lacking,
                remedy="Leave --with out: all interventions that apply are taken",
            )


# -------------------------------------------------------------------------------- more runs


def _find_others(
    runner: Runner,
    runs: Sequence[Path],
    first: Request,
    rerun: Rerun,
    folder: Path,
) -> list[tuple[Runner, HeldOut]]:
    """More runs with what makes them; raises UserError for a run of another model or data."""
    parts = []
    for number, run in enumerate(runs, 2):
        its_runner, request = ask_again(runner, run, rerun)
        # parts are dealt by seed: with another one, halves of two runs would overlap
        request = request.model_copy(update={"seed": first.seed})
        for role in ("model", "data"):
            _require_same(role, run, first, request)
        held = apart(
            run,
            request,
            rerun.on,
            runner.context.registry,
            folder / f"{number}",
            parts=PARTS,
        )
        parts.append((its_runner, held))
    return parts


def _make_others(others: Sequence[tuple[Runner, HeldOut]]) -> None:
    """Make those anew that looked at all of their data."""
    for runner, held in others:
        for path in held.again:
            runner.context.announce(
                f"{held.run} is made again on the same part of the data ({path})"
            )
        held.make(runner)


def _require_same(
    role: str,
    run: Path,
    first: Request,
    other: Request,
) -> None:
    expected = getattr(first, role)
    got = getattr(other, role)
    expected_options = getattr(first, f"{role}_options")
    got_options = getattr(other, f"{role}_options")
    if (expected, expected_options) != (got, got_options):
        raise UserError(
            f"{run} is about another {role} than the first run",
            expected=f"{expected} {dict(expected_options) or ''}".strip(),
            got=f"{got} {dict(got_options) or ''}".strip(),
            remedy="Confirm the runs of each by themselves",
        )
