"""`cuescope investigate`: all methods that fit, their cues merged and tested, one dossier."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self

import typer

from cuescope.application import (
    RUNS,
    Asking,
    Choices,
    Folds,
    Output,
    Pairs,
    Registry,
    Runner,
    apart,
    by_role,
    echo,
    in_folds,
    open_registry,
    pairs,
    prints,
    reason_of,
    refuse_another_audit,
    require_openable,
    say_once,
    show_report,
    spread,
    stdout,
)
from cuescope_confirm.command import METHOD, PARTS
from cuescope_confirm.command.cost import WEAK, most_of_test, plans_of, seconds_of
from cuescope_confirm.command.from_log import FromLog, of_test, saved_words
from cuescope_confirm.command.outputs import InvestigationPlan
from cuescope_confirm.command.untested import OPEN, failure_reason, untested
from cuescope_confirm.study import LISTED, LeftOut
from cuescope_sdk import Context, Request, UserError, nearest, write_sealed
from cuescope_sdk.choosing import Fit, Question
from cuescope_sdk.report import count_of

Advance = Callable[[int], None]

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@spread
@prints(
    "cuescope.conclusions:Report",
    "cuescope_confirm.command.outputs:InvestigationPlan",
)
def investigate(
    asked: Asking,
    output: Output,
    log: FromLog,
    methods: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME", help="Only these. [default: all that fit]"),
    ] = None,
    method_option: Annotated[
        Pairs,
        typer.Option(
            "-O",
            metavar="METHOD.KEY=VALUE",
            help="Option of a method, or of confirm.",
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="Test on this split of the data. [default: cues are found in one half of the "
            "data, and tested in the other]",
        ),
    ] = None,
    folds: Folds = None,
    again: Annotated[
        bool, typer.Option("--again", help="Run the methods again that have run.")
    ] = False,
) -> None:
    """Run every installed method that fits, and test whether the cues that they find are causes.

    Cues are found in one half of the data. Findings that are one cue are merged, each cue is tested
    in the other half by interventions beside placebos, and one report tells which are causes, the
    most harmful first. With --folds each part of the data is tested by what was found in the
    others. What was interrupted goes on when the same command is given again. With --log cues are
    found in recorded answers, at no model call, and --model is asked what decides.
    """
    registry = open_registry()
    options = by_role(pairs("-O", method_option or ()), "-O method")
    finding = log.asking(asked, registry)
    testing = log.testing(asked, finding)
    request = finding.request("investigate", options)
    folder = asked.out or RUNS / request.slug
    with finding.runner(output, out=folder) as runner:
        names = _names(methods, registry)
        _require_one_way(folds, on, log)
        choice = choose(request, options, names, runner.context)
        work = Investigation(runner, request, options, choice, folder, on, folds)
        if log.log is not None:
            given = of_test(options.get(METHOD, {}))
            tested = None if testing is None else testing.request(METHOD, given)
            work = work.on_model(tested, given)
        work.is_tested = testing is not None
        if asked.plan:
            work.require_openable()
            show_plan(work, as_json=output.as_json)
            if testing is not None and testing is not finding and not output.as_json:
                whole = testing.request("investigate", options)
                echo(saved_words(*calls_of_whole(work, whole, options, names)))
            return
        work.require_sound()
        for line in choice.lines:
            runner.context.announce(line)
        steps = len(work.requests) + 1
        with runner.context.progress("steps of the investigation", steps) as advance:
            work.find(advance, again=again)
            failure = None
            if testing is not None:
                try:
                    report = runner.run(work.test)
                except Exception as error:
                    failure = error
        if testing is None:
            report = untested(work.candidates, work.test, work.found, OPEN)
            show_report(work.candidates, work.test, report, as_json=output.as_json)
            return
        if failure is not None:
            # hours of findings must not end in a line: the page tells them, then the error
            report = untested(runner, work.test, work.found, failure_reason(failure))
        show_report(runner, work.test, report, as_json=output.as_json)
        if not output.as_json and runner.total.audits > 1:
            runner.context.announce(runner.total.words)
        if failure is not None:
            raise failure


def _names(
    methods: str | None,
    registry: Registry,
) -> tuple[str, ...]:
    """The methods asked for; raises UserError for one that is not installed."""
    names = tuple(filter(None, map(str.strip, (methods or "").split(","))))
    if methods is not None and not names:
        raise UserError(
            "--methods",
            expected="names with commas, as trove,cci",
            got=repr(methods),
            remedy="Leave it out: all that fit run",
        )
    for name in names:
        registry.find("method", name)
    return names


def _require_one_way(folds: int | None, on: str | None, log: FromLog) -> None:
    """Raise UserError for two ways to test."""
    other = "--on" if on is not None else "--log" if log.log is not None else None
    if folds is not None and other is not None:
        raise UserError(
            f"--folds and {other} are two tests",
            expected="one of them",
            remedy="Leave --folds out where cues are found elsewhere than they are tested",
        )


# ------------------------------------------------------------------------------ what runs, what not


@dataclass(frozen=True)
class Choice:
    """The methods that run, and why others do not."""

    run: tuple[str, ...]
    left_out: LeftOut

    @property
    def lines(self) -> Iterator[str]:
        """What runs and what not, a line each."""
        count = len(self.run)
        yield f"{count} method{'s fit' if count > 1 else ' fits'}: {', '.join(self.run)}"
        for name, why in self.left_out.items():
            yield f"left out: {name}: {why}"


def choose(
    request: Request,
    options: Mapping[str, Mapping[str, Any]],
    wanted: Sequence[str],
    context: Context,
) -> Choice:
    """Of the installed methods, or those wanted; raises UserError where none is left."""
    question = Question(
        request.model,
        request.data,
        request.model_options,
        request.data_options,
        request.tools,
        options,
    )
    run = []
    first = []
    left_out = {}
    # -O confirm.KEY is for the test, which nobody chooses
    known = {METHOD}
    # as in a plan: whether a method fits must cost no answers
    for fit in question.fits(replace(context, planning=True)):
        known.add(fit.method)
        if (wanted and fit.method not in wanted) or not (fit.installed or wanted):
            continue
        method = context.registry.load(context.registry.find("method", fit.method))
        if getattr(method, "started_by", None) is not None and fit.method not in wanted:
            continue  # it tests what others found
        if why := _why_not(fit, method, bool(wanted)):
            left_out[fit.method] = why
        elif getattr(method, "asks_nothing", False):
            # a cue of the data is found before a model is blamed for it
            first.append(fit.method)
        else:
            run.append(fit.method)
    run = [*first, *run]
    for name in options.keys() - known:
        raise UserError(
            f"-O {name}.{next(iter(options[name]))}",
            expected="an option of a method, as trove.clusters=8",
            got=f"no method '{name}'",
            remedy=nearest(name, known),
        )
    _require_used_tools(request, [*run, METHOD], context.registry)
    if not run:
        raise UserError(
            f"no method fits {request.model} on {request.data}",
            got=_lines(left_out) or None,
            remedy="`cuescope methods --model SPEC --data SPEC` says how to get what is missing",
        )
    return Choice(tuple(run), left_out)


def _why_not(fit: Fit, method: Any, wanted: bool) -> str | None:
    """Why a method is left out, in a line; None where it can run."""
    # a control that the user named is wanted all the same
    if getattr(method, "is_control", False) and not wanted:
        return "it is a control, which has no findings of its own"
    # what no option can mend says more than what is yet to be chosen
    for lack in sorted(fit.lacks, key=lambda lack: lack.gravity == "open"):
        if lack.gravity == "open":
            return f"{lack.what} ({lack.how})"
        if lack.gravity != "weak":
            return lack.what
    return None


def _require_used_tools(
    request: Request,
    names: Sequence[str],
    registry: Registry,
) -> None:
    used = set[str]()
    for name in names:
        used |= _roles(registry, name)
    for role in request.tools:
        if role not in used:
            raise UserError(
                f"--tool {role}={request.tools[role]}",
                expected=f"a role that one of the methods has use for: {', '.join(sorted(used))}",
                remedy=nearest(role, used),
            )


def _roles(registry: Registry, method: str) -> frozenset[str]:
    requires = registry.load(registry.find("method", method)).requires
    return frozenset(requires.usable_tools)


# ------------------------------------------------------------------------------- one after another


class Investigation:
    """The audits of the methods in one half of the data, and that of their cues in the other.

    With `folds` the methods run without each part of the data, in a folder of its own each.
    """

    def __init__(
        self,
        runner: Runner,
        request: Request,
        options: Mapping[str, Mapping[str, Any]],
        choice: Choice,
        folder: Path,
        on: str | None,
        folds: int | None = None,
    ) -> None:
        self.runner = runner if folds is None else say_once(runner)
        self.choice = choice
        self.folds = folds
        self.is_tested = True
        self.found = folder / "found"
        registry = runner.context.registry
        if folds is None:
            held = apart(folder, request, on, registry, self.found, parts=PARTS)
            # a limit holds for each half; `apart` drops it
            rest = held.rest.model_copy(update={"limit": request.limit})
        else:
            held = in_folds(folder, request, folds, self.found)
            rest = held.rest
        # with --on all of the first split is for finding cues
        first = held.again or {self.found: request}
        run, *others = map(str, first)
        tested: dict[str, Any] = {"run": run}
        if held.by_folds:
            tested |= {"others": others, "folds": True}
        # by the folder of its run below that of all
        self.requests: dict[str, Request] = {}
        for home, part in first.items():
            for name in choice.run:
                key = (home / name).relative_to(self.found).as_posix()
                self.requests[key] = self._of(part, name, options.get(name, {}))
        self.lists = list(first)
        given = tested | dict(options.get(METHOD, {}))
        self.test = self._of(rest, METHOD, given)

    def _of(
        self,
        request: Request,
        method: str,
        options: Mapping[str, Any],
    ) -> Request:
        roles = _roles(self.runner.context.registry, method)
        update = {"method": method, "method_options": dict(options)}
        for field in ("tools", "tool_options"):
            by_role = getattr(request, field).items()
            update[field] = {role: value for role, value in by_role if role in roles}
        return request.model_copy(update=update)

    def on_model(self, model: Request | None, given: Mapping[str, Any]) -> Self:
        """The same, tested on another model than that of the findings, by these options.

        Without a model the test is only named.
        """
        update: dict[str, Any] = {"method_options": {"run": str(self.found), **given}}
        if model is not None:
            update |= {"model": model.model, "model_options": model.model_options}
        work = copy(self)
        work.test = self.test.model_copy(update=update)
        return work

    @property
    def candidates(self) -> Runner:
        """What keeps the report of cues that nothing has tested."""
        return replace(self.runner, out=self.found.parent / "candidates")

    def of_method(self, name: str) -> Runner:
        """What keeps the run of a method in its own folder."""
        return replace(self.runner, out=self.found / name)

    def require_sound(self) -> None:
        """Raise UserError for what would end it later: before hours of answers, in one line."""
        context = self.runner.context
        for request in (*self.requests.values(), self.test):
            Choices.of(request, context)
        test = context.resolve("method", METHOD, self.test.method_options)
        for spec in test.options.model_dump()["interventions"]:
            context.resolve("intervention", spec)
        for name, request in self.requests.items():
            refuse_another_audit(self.found / name, request)
        # the dossier is written last
        refuse_another_audit(self.found.parent, self.test)
        self.require_openable()

    def require_openable(self) -> None:
        """Raise UserError for data or a model that is not there, as a split that --on names."""
        for request in (next(iter(self.requests.values())), self.test):
            require_openable(request, self.runner.context)

    def find(self, advance: Advance, *, again: bool = False) -> None:
        """Run the methods; one that fails is left out. What has run is not run again by itself."""
        announce = self.runner.context.announce
        count = len(self.requests) + 1
        done: list[str] = []
        faults: dict[str, str] = {}
        for number, (name, request) in enumerate(self.requests.items(), 1):
            title = f"[{number}/{count}] {name}"
            announce(title)
            try:
                report = self.of_method(name).run(request, resume=not again)
            except Exception as error:  # one that fails must not cost the others
                faults[name] = f"it failed: {reason_of(error)}"
                announce(f"{title} failed and is left out: {reason_of(error)}")
                continue
            finally:
                advance(1)
            done.append(name)
            findings = len(report.findings)
            announce(f"{title}: {findings} finding{'s' * (findings != 1)}")
        if not done:
            raise UserError("every method failed", got=_lines(faults))
        for home in self.lists:
            self._list(home, done, faults)
        where = "other samples" if self.folds is None else "what each has not seen"
        announce(f"[{count}/{count}] {METHOD}: are the cues causes? Tested in {where}")

    def _list(self, home: Path, done: Sequence[str], faults: Mapping[str, str]) -> None:
        """Write which runs a folder has, and what was left out."""
        own = home.relative_to(self.found)
        runs = [Path(name).name for name in done if Path(name).parent == own]
        failed = {
            Path(name).name: why
            for name, why in faults.items()
            if Path(name).parent == own
        }
        # sealed: the test opens what this list names, and refuses an edited one
        listed = {"runs": runs, "left_out": {**self.choice.left_out, **failed}}
        home.mkdir(parents=True, exist_ok=True)
        write_sealed(home / LISTED, json.dumps(listed, indent=1).encode())


def _lines(reasons: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in reasons.items())


# --------------------------------------------------------------------------------------------- plan


def show_plan(work: Investigation, *, as_json: bool) -> None:
    """Print what would run, what not and why, and what it would cost."""
    from rich.table import Table
    from rich.text import Text

    choice = work.choice
    plans = plans_of(work)
    done = [name for name in work.requests if name not in plans]
    if as_json:
        planned = InvestigationPlan(
            done=tuple(done),
            plans=dict(plans),
            left_out=dict(choice.left_out),
            seconds=seconds_of(plans),
        )
        planned.show()
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in (
        "runs",
        "answers known",
        "model calls",
        "inputs",
        "time of the model",
        "until",
    ):
        table.add_column(column, overflow="fold")
    for name in done:
        table.add_row(name, "", "has run", "", "", "")
    silent = 0
    for name, plan in plans.items():
        # without another part the same is asked, and was counted there
        if "/" in name and not plan.model_calls and plan.until is None:
            silent += 1
            continue
        calls = f"{plan.model_calls:,}"
        until = ""
        if not plan.is_whole:
            calls = f"at least {calls}"
            until = plan.until or ""
            if plan.more:
                calls += f", at most {plan.model_calls + plan.more:,}"
        inputs = f"{plan.model_inputs:,}"
        cells = (
            name,
            f"{plan.cached:,}",
            calls,
            inputs,
            plan.model_time,
            until,
        )
        table.add_row(*map(Text, cells))
    stdout().print(table)
    if silent:
        echo(
            f"{count_of(silent, 'runs')} more, each without one part of the data, ask nothing new."
        )
    if METHOD not in plans and work.is_tested:
        top, ways, samples = most_of_test(work.runner, work.test)
        echo(
            f"{METHOD}: depends on what is found; for each of up to {count_of(top, 'cues')} at "
            f"most {ways} "
            f"interventions in {count_of(samples, 'samples')}, each beside its placebo"
        )
    echo("What several methods ask is asked once, and counted where it is asked first.")
    weak = [name for name, plan in plans.items() if WEAK in plan.notes]
    if weak and work.folds is None:
        echo(
            f"A half is small for {', '.join(weak)}. With --folds 4 cues are found in three "
            "quarters of the data, and each part is tested by what was found in the others."
        )
    for name, why in choice.left_out.items():
        echo(f"left out: {name}: {why}")


def calls_of_whole(
    work: Investigation,
    request: Request,
    options: Mapping[str, Mapping[str, Any]],
    names: Sequence[str],
) -> tuple[dict[str, int], Sequence[str]]:
    """What each method would ask of the model itself, by its plan; and the methods of the log."""
    runner = work.runner
    choice = choose(request, options, names, runner.context)
    whole = Investigation(runner, request, options, choice, work.found.parent, None)
    calls = {}
    for name, of_method in whole.requests.items():
        calls[name] = runner.plan(of_method).model_calls
    return calls, work.choice.run
