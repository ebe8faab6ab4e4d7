"""Cues are tested on samples that they were not found in: runs made again, then a test."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from cuescope.rerun import Rerun
from cuescope.warn_once import warn_once
from cuescope_core.amounts import count_of
from cuescope_core.errors import UserError

if TYPE_CHECKING:
    from cuescope.python.stored import StoredReport
    from cuescope.runner import Runner
    from cuescope_core.conclusions import Report
    from cuescope_core.planning import Plan
    from cuescope_core.registry import Registry
    from cuescope_core.request import Request

MORE = "Take more samples, or name another split with --on"
# parts of the data, each tested by what the others found
Folds = Annotated[int, Field(ge=3, le=20)] | None


@dataclass(frozen=True)
class HeldOut:
    """The runs that find the cues of `run`, and the request for what these have not seen.

    `again` are those that are made, by their folders: one on a part of the data, or by folds one
    without each part. Where there is none, `run` itself left something to test on.
    """

    run: Path
    again: "Mapping[Path, Request]"
    rest: "Request"

    @property
    def found(self) -> Sequence[Path]:
        """The folders of the runs that find the cues."""
        return tuple(self.again) or (self.run,)

    @property
    def by_folds(self) -> bool:
        """True if all samples are tested, each by what was found without it."""
        return len(self.again) > 1

    @property
    def is_found(self) -> bool:
        """True if all runs have been made."""
        return all((path / "report.json").exists() for path in self.found)

    def make(self, runner: "Runner") -> "list[Report]":
        """Make the runs that are to be made."""
        reports = []
        runner = warn_once(runner)
        with runner.context.progress("runs made again", len(self.again)) as advance:
            for path, request in self.again.items():
                # resume: the test may be run again, and finding costs an audit
                reports.append(replace(runner, out=path).run(request, resume=True))
                advance(1)
        return reports


def apart(
    run: Path,
    request: "Request",
    on: str | None,
    registry: "Registry",
    found: Path,
    *,
    parts: int,
) -> HeldOut:
    """Choose what to test a run's cues on: a split, the parts that it left, or all but the first.

    `on` names the split, or other data that a caller holds.
    In the last case it is made anew on the first of so many `parts`, in the folder `found`.
    Raises UserError for a split that the data has not, or that is the run's own.
    """
    # no limit: that of the run was for finding, and all that is held out helps the test
    rest: dict[str, Any] = {"limit": None, "part": None}
    again = {}
    # of a caller in Python, who has other data at hand
    if ("dataset", on) in registry.held:
        rest |= {"data": on, "data_options": {}}
    elif on is not None:
        rest["data_options"] = _on_split(request, on, registry)
    elif request.part is not None:
        rest["part"] = complement(request.part)
    else:
        # the largest of many gaps is too large in the samples in which it was chosen
        first = f"1/{parts}"
        rest["part"] = complement(first)
        again[found] = request.model_copy(update={"part": first})
    return HeldOut(run, again, request.model_copy(update=rest))


def in_folds(run: Path, request: "Request", count: int, found: Path) -> HeldOut:
    """All of the data, found in without each of so many parts, in a folder below `found` each."""
    again = {}
    for fold in range(1, count + 1):
        part = complement(f"{fold}/{count}")
        again[found / f"without-{fold}"] = request.model_copy(update={"part": part})
    return HeldOut(run, again, request)


def require_whole(
    run: Path, request: "Request", asked: Rerun, beside: str | None = None
) -> None:
    """Raise UserError where the run has no parts to leave out, or `beside` is asked for as well."""
    if asked.on is not None:
        beside = "--on"
    if beside is not None:
        raise UserError(
            f"--folds and {beside} are two tests",
            expected="one of them",
            remedy="Leave --folds out where something else is named to test, or to test on",
        )
    if request.part is not None or request.limit is not None:
        raise UserError(
            f"{run} looked at a part of its data",
            expected="a run of all samples, of which each fold leaves some out",
            remedy="Leave --folds out: the samples that the run left are for testing",
        )


def _on_split(request: "Request", split: str, registry: "Registry") -> dict[str, Any]:
    """The options of the data with another split."""
    from cuescope_core.spec import Spec

    name = Spec.parse(request.data).name
    fields = registry.load(registry.find("dataset", name)).Options.model_fields
    if "split" not in fields:
        raise UserError(
            f"--on {split}",
            expected="a data set with splits",
            got=f"{name}, which has none",
            remedy="Leave --on out: the data is split by group",
        )
    # `options_of` has left the default out
    if split == request.data_options.get("split", fields["split"].default):
        raise UserError(
            f"--on {split}",
            expected="another split than that in which the cues were found",
            got=f"the run's own split '{split}'",
            remedy="Leave --on out: then the run is made again on a part of it",
        )
    return {**request.data_options, "split": split}


def find_then_test(
    runner: "Runner",
    held: HeldOut,
    trial: "Request",
    *,
    share: str,
    why: str,
    plan: bool = False,
    expected: Iterable[str] = (),
    any_feature: bool = False,
    remedy: str = MORE,
    adapt: "Callable[[Request], Request] | None" = None,
    most: int | None = None,
) -> "StoredReport | Plan":
    """Make the runs that find the cues, then run the `trial`; with `plan` tell what it costs.

    `share` and `why` say on how much of the data the run is made anew, and what for, and `expected`
    how many samples show each cue. Where it has no finding, or with `any_feature` no feature, this
    is an error, which advises the `remedy`; one fold may find nothing. `adapt` makes of the trial
    one of what the run made anew found. `most` trials are asked beside the samples as they are.
    """
    from cuescope.report.folders import refuse_another_audit
    from cuescope_core.building import choose

    announce = runner.context.announce
    # the command names the trial's method: nobody else's word
    context = runner.context
    typed = replace(context, typed=context.typed | {"method"})
    trial_runner = replace(runner, context=typed)
    if held.again:
        # at once: to make runs anew costs audits
        choose(trial, typed)
        if adapt is None:
            refuse_another_audit(trial_runner.folder(trial).path, trial)
        for line in expected:
            announce(line)
        announce(_why_again(held, share, why))
        if not plan:
            made = held.make(runner)
            if not held.by_folds:
                _require_cue(made[0], any_feature=any_feature, remedy=remedy)
        elif not held.is_found:
            announce(
                "the plan of the test: the answers of the stored run are remembered"
            )
            return _plan_of_test(runner, held, most)
        if adapt is not None:
            trial = adapt(trial)
    if plan:
        return trial_runner.plan(trial)
    return trial_runner.audit(trial)


def _plan_of_test(runner: "Runner", held: HeldOut, most: int | None) -> "Plan":
    """The cost of a test of cues that are not found yet: what is held out, and `most` trials."""
    from cuescope_core.engine import Session
    from cuescope_core.errors import PlanStopped
    from cuescope_core.planning import plan_of
    from cuescope_core.types import Trial

    session = Session(held.rest, runner.context, runner.cache, planning=True)
    has = session.audit.capabilities.outputs
    outputs = has & {"logits"} or has

    def ask() -> None:
        trials = [Trial(sample=sample, outputs=outputs) for sample in session.samples]
        with suppress(PlanStopped):
            session.audit.respond(trials)
        if most is not None:
            session.audit.more_trials = most
        raise PlanStopped("the cues that are found anew")

    return plan_of(session, ask)


def _why_again(held: HeldOut, share: str, why: str) -> str:
    # said before the work: it takes as long as so many audits
    if held.by_folds:
        return (
            f"The run is made again {count_of(len(held.again), 'times')}, each without one part "
            "of its data, "
            "and each part is tested by what was found in the others"
        )
    return (
        f"{held.run} looked at all of its data: it is made again on {share} of it "
        f"({held.found[0]}), so that {why}"
    )


def _require_cue(made: "Report", *, any_feature: bool, remedy: str) -> None:
    if made.features if any_feature else made.findings:
        return
    origin = made.provenance
    got = " ".join([f"none in {count_of(origin.samples, 'samples')}.", *made.doubts])
    raise UserError(
        f"on part {origin.part} of its data {origin.method.spec} finds no cue",
        expected="a finding to go on with",
        got=got.removesuffix("."),
        remedy=remedy,
    )


def complement(part: str) -> str:
    """The other parts; raises UserError where there is none."""
    wanted, _, of = part.partition("/")
    rest = [str(n) for n in range(1, int(of) + 1) if str(n) not in wanted.split("+")]
    if not rest:
        raise UserError(
            f"the run looked at part {part}",
            expected="a run of some of the parts, so that others are held out",
            remedy="Audit without --part, or name another split with --on",
        )
    return f"{'+'.join(rest)}/{of}"
