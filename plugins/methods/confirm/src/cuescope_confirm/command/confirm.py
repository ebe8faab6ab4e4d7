"""`cuescope confirm RUN`: does each cue of a run cause the answer? Tested on samples held out."""

import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from cuescope.application import (
    AskedAgain,
    Folds,
    HeldOut,
    Output,
    Pairs,
    Run,
    Runner,
    ToolOptions,
    apart,
    ask_again,
    beside,
    by_role,
    find_then_test,
    foretell,
    in_folds,
    open_runner,
    pairs,
    require_same_data,
    require_whole,
    spread,
)
from cuescope_confirm import Confirm
from cuescope_confirm.cases.own_pairs import read_scenes
from cuescope_confirm.command import METHOD, PARTS
from cuescope_confirm.command.renaming import keys_of_same
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.study import NOTHING_TO_CONFIRM, no_feature
from cuescope_sdk import Context, Report, Request, StoredRun, UserError, nearest
from cuescope_sdk.report import count_of

ByRole = dict[str, str]
FEW = (
    "Take more samples, name another split with --on, or let few samples serve both jobs with "
    "--folds 4"
)

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@spread
def confirm(
    run: Run,
    asked: AskedAgain,
    output: Output,
    others: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN ...]",
            help="More runs on the same model and data: what is one cue is tested once.",
        ),
    ] = None,
    interventions: Annotated[
        Pairs,
        typer.Option(
            "--with",
            metavar="NAME",
            help="Intervention, as often as you like. [default: all that apply]",
        ),
    ] = None,
    features: Annotated[
        Pairs,
        typer.Option(
            "--feature",
            metavar="KEY[@LABEL]",
            help="Test this feature of the run, found or not. [default: the run's findings]",
        ),
    ] = None,
    own_pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            metavar="FOLDER",
            help="FOLDER/with and FOLDER/without: the same scenes with the cue and without it. "
            "These alone decide.",
        ),
    ] = None,
    folds: Folds = None,
    tool: Annotated[
        Pairs,
        typer.Option(
            metavar="ROLE=SPEC",
            help="detector, segmenter, image-editor or embedder; [default: the run's own]",
        ),
    ] = None,
    tool_option: ToolOptions = None,
    option: Annotated[
        Pairs, typer.Option("-O", metavar="KEY=VALUE", help="Option of the test.")
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, help="Most findings, the first ones.")
    ] = 10,
) -> None:
    """Test whether the cues of RUN cause the answers, or only accompany them.

    Each cue is located in samples that the run has not seen: by default the run is made again on
    half of its data, and the other half is for testing. There the cue is taken out and put in, in
    every way that applies, and each way is held against a placebo. The verdict is causes,
    accompanies or cannot tell, and says what is missing. The dossier is in RUN-confirmed.
    """
    report = StoredRun(run).report
    folder = asked.out or beside(run, "confirmed")
    of_tools = by_role(pairs("-T", tool_option or ()))
    # what is typed for a tool here is as good as allowed
    allowed = list(asked.allow or ())
    for options in of_tools.values():
        allowed += options
    asked = replace(asked, allow=allowed)
    with open_runner(out=folder, quiet=output.quiet, verbose=output.verbose) as runner:
        registry = runner.context.registry
        runner, request = ask_again(runner, run, asked)
        tools, settings = _tools(request, pairs("--tool", tool or ()), of_tools)
        typed_options = pairs("-O", option or ())
        # a wrong one is told before anything else, and before the run is made again
        words = {"run": str(run)} | typed_options
        choice = runner.context.resolve("method", METHOD, words)
        least = cast(ConfirmOptions, choice.options).least
        _require_answers(run, StoredRun(run, runner.context))
        _require_usable(runner.context, request, interventions or [], tools)
        _require_cues(run, report, features or (), others or ())
        require_same_data(report, runner, request)
        if own_pairs is not None:
            _require_one(report, features, others)
            # at once, with its scenes: the run would be made again before they are looked at
            read_scenes(runner.context, own_pairs, least)
        found = folder / "found"
        if folds is None:
            held = apart(run, request, asked.on, registry, found, parts=PARTS)
        else:
            # a key of one run may be something else in another
            typed = {"RUN": others, "--pairs": own_pairs, "--feature": features}
            require_whole(run, request, asked, next(filter(typed.get, typed), None))
            held = in_folds(run, request, folds, found)
        stored = StoredRun(run, runner.context)
        foretold: Iterable[str] = ()
        if held.again:
            foretold = foretell(stored, top, parts=PARTS, folds=folds, least=least)
        changed = _changed_options(interventions, features, own_pairs, top)
        update = {"method": METHOD, "tools": tools, "tool_options": settings}
        rest = held.rest.model_copy(update=update)
        found_others = folder / "found-others"
        more = _find_others(runner, others or (), request, asked, found_others)
        more_held = [other for _, other in more]
        given = {"run": str(held.found[0])} | changed | _more_found(held, more_held)
        # -O comes last, so what is typed wins
        trial = rest.model_copy(update={"method_options": given | typed_options})
        if not asked.plan:
            _make_others(more)
        find_then_test(
            runner,
            held,
            trial,
            asked,
            output,
            share="half",
            why="no cue is tested where it was found",
            foretold=foretold,
            any_feature=bool(features or others),
            remedy=FEW,
            adapt=partial(_name_anew, run, held.found[0]) if features else None,
        )


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
    interventions: Sequence[str] | None,
    features: Sequence[str] | None,
    own_pairs: Path | None,
    top: int,
) -> dict[str, Any]:
    """Options of the test that are no defaults: the folder of a run does not depend on defaults."""
    changed: dict[str, Any] = {}
    if interventions:
        changed["interventions"] = interventions
    if features:
        changed["features"] = features
    if own_pairs is not None:
        # absolute: the test may be asked again from elsewhere
        changed["pairs"] = str(own_pairs.resolve())
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
    report: Report, features: Sequence[str] | None, others: Sequence[Path] | None
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
    options: dict[str, ByRole],
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
                f"-T {role}: no tool has this role here",
                remedy=nearest(role, tools) or f"Add --tool {role}=SPEC",
            )
        settings[role] = settings.get(role, {}) | typed
    return tools, settings


def _require_usable(
    context: Context,
    request: Request,
    names: list[str],
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
    asked: AskedAgain,
    folder: Path,
) -> list[tuple[Runner, HeldOut]]:
    """More runs with what makes them; raises UserError for a run of another model or data."""
    parts = []
    for number, run in enumerate(runs, 2):
        its_runner, request = ask_again(runner, run, asked)
        # parts are dealt by seed: with another one, halves of two runs would overlap
        request = request.model_copy(update={"seed": first.seed})
        for role in ("model", "data"):
            _require_same(role, run, first, request)
        held = apart(
            run,
            request,
            asked.on,
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
