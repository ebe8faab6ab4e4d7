"""Investigation: all methods that fit, their cues merged and tested, one report."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self

from cuescope.application import (
    RUNS,
    Choices,
    Draft,
    Folds,
    OutputFolder,
    Registry,
    Runner,
    StoredReport,
    UnfinishedError,
    apart,
    in_folds,
    reason_of,
    refuse_another_audit,
    require_openable,
    warn_once,
)
from cuescope_confirm.command import METHOD, PARTS
from cuescope_confirm.command.cost import WEAK, most_of_test, plans_of, seconds_of
from cuescope_confirm.command.from_log import FromLog
from cuescope_confirm.command.outputs import InvestigationPlan
from cuescope_confirm.command.untested import OPEN, failure_reason, untested
from cuescope_confirm.study import LISTED, LeftOut
from cuescope_sdk import Context, Report, Request, UserError, nearest, write_sealed
from cuescope_sdk.choosing import Fit, Question
from cuescope_sdk.report import count_of

Given = Mapping[str, Any]
Advance = Callable[[int], None]


def investigate(
    runner: Runner,
    draft: Draft,
    *,
    methods: Sequence[str] | None = None,
    options: Mapping[str, Given] | None = None,
    on: str | None = None,
    folds: Folds = None,
    again: bool = False,
    log: Path | None = None,
    log_options: Given | None = None,
    plan: bool = False,
    out: Annotated[Path | None, OutputFolder()] = None,
) -> "StoredReport | InvestigationPlan":
    """Run every method that fits, and test whether the cues that they find are causes.

    `options` are those of each method, and of the test as `confirm`. With a `log` cues are found in
    recorded answers, and the model is asked what decides. Raises UnfinishedError where the test
    fails: its report has what was found.
    """
    context = runner.context
    registry = context.registry
    by_method = options or {}
    source = FromLog(log, log_options or {})
    finding = source.finding(draft, registry)
    testing = source.testing(draft, finding)
    request = runner.on_objects(finding.request("investigate", by_method))
    folder = out or RUNS / request.slug
    runner = replace(runner, out=folder)
    names = _names(methods, registry)
    _require_one_way(folds, on, log)
    choice = choose(request, by_method, names, context)
    work = Investigation(runner, request, by_method, choice, folder, on, folds)
    if log is not None:
        given = by_method.get(METHOD, {})
        tested = None if testing is None else testing.request(METHOD, given)
        work = work.on_model(tested, given)
    work.is_tested = testing is not None
    if plan:
        work.require_openable()
        return plan_of(work)
    work.require_sound()
    for line in choice.lines:
        context.announce(line)
    steps = len(work.requests) + 1
    with context.progress("steps of the investigation", steps) as advance:
        work.find(advance, again=again)
        if testing is None:
            report = untested(work.candidates, work.test, work.found, work.lists, OPEN)
            return _stored(work.candidates, work.test, report)
        try:
            return runner.audit(work.test)
        except Exception as error:
            # hours of findings must not end in a line: the page tells them, then the error
            report = untested(
                runner, work.test, work.found, work.lists, failure_reason(error)
            )
            raise UnfinishedError(_stored(runner, work.test, report), error) from error


def _stored(runner: Runner, request: Request, report: Report) -> StoredReport:
    return StoredReport.of(report, runner.folder(request).path)


def _names(methods: Sequence[str] | None, registry: Registry) -> tuple[str, ...]:
    """The methods asked for; raises UserError for one that is not installed."""
    words = ",".join(methods or ())
    names = tuple(filter(None, map(str.strip, words.split(","))))
    if methods is not None and not names:
        raise UserError(
            "--methods",
            expected="names with commas, as trove,cci",
            got=repr(words),
            remedy="Leave it out: all that fit run",
        )
    for name in names:
        registry.find("method", name)
    return names


def _require_one_way(folds: int | None, on: str | None, log: Path | None) -> None:
    """Raise UserError for two ways to test."""
    other = "--on" if on is not None else "--log" if log is not None else None
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
        self.runner = runner if folds is None else warn_once(runner)
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


def plan_of(work: Investigation) -> InvestigationPlan:
    """What would run, what not and why, and what it would cost."""
    plans, faults = plans_of(work)
    left_out = {**work.choice.left_out, **faults}
    lines = []
    if METHOD not in plans and work.is_tested:
        top, ways, samples = most_of_test(work.runner, work.test)
        lines.append(
            f"{METHOD}: depends on what is found; for each of up to {count_of(top, 'cues')} at "
            f"most {ways} interventions in {count_of(samples, 'samples')}, each beside its control"
        )
    lines.append(
        "What several methods ask is asked once, and counted where it is asked first."
    )
    weak = [name for name, plan in plans.items() if WEAK in plan.notes]
    if weak and work.folds is None:
        lines.append(
            f"A half is small for {', '.join(weak)}. With --folds 4 cues are found in three "
            "quarters of the data, and each part is tested by what was found in the others."
        )
    lines += [f"left out: {name}: {why}" for name, why in left_out.items()]
    return InvestigationPlan(
        done=tuple(name for name in work.requests if name not in {*plans, *faults}),
        plans=plans,
        left_out=left_out,
        seconds=seconds_of(plans),
        lines=tuple(lines),
    )
