"""How long an investigation takes: its methods by their plans, its test by earlier ones."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from cuescope.application import (
    SHARED,
    Plan,
    Runner,
    SeenKeys,
    Stage,
    load_report,
    plan_each,
    share_of_part,
)
from cuescope_confirm.command import METHOD
from cuescope_confirm.study import LISTED
from cuescope_sdk import Context, Request, StoredRun

WEAK = (
    "weak data"  # a note of `cuescope_sdk.data`: too few samples for what is not strong
)
CUES = 3  # before the methods have run
KINDS = 6  # of change that apply to a cue, of all that the model can be asked for
# of what a test so foreseen asks for at most: how much it asks
TEST_ASKED = 0.7
TEST_SECONDS = 3.0  # beside the model, of each cue and of as many more to locate them


class Investigation(Protocol):
    """The audits of methods and of the test, as far as they are foreseen."""

    runner: Runner
    requests: dict[str, Request]
    test: Request
    found: Path
    lists: list[Path]
    is_tested: bool

    def of_method(self, name: str) -> Runner:
        """What runs a method."""

    def on_runner(self, runner: Runner) -> Self:
        """The same, by another runner."""


@dataclass(frozen=True)
class Foresight:
    """The plans of what has not run, by name; and stages for all, in their order."""

    plans: Mapping[str, Plan]
    stages: Sequence[Stage]

    @property
    def pace(self) -> float | None:
        """Seconds of an input of the model here; None where nothing tells."""
        paces = [plan.pace for plan in self.plans.values()]
        return next((pace for pace in paces if pace is not None), None)

    @property
    def seconds(self) -> float | None:
        """Of all; None where nothing tells how fast the model is."""
        inputs = sum(stage.inputs for stage in self.stages)
        own = sum(stage.seconds for stage in self.stages)
        if not inputs:
            return own
        return None if self.pace is None else own + inputs * self.pace


def foresee(work: Investigation, *, again: bool = False) -> Foresight:
    """What is still to run, each trial counted where it is asked first."""
    counted = SeenKeys()
    audits = {
        name: (work.of_method(name), request) for name, request in work.requests.items()
    }
    plans, stages = plan_each(audits, counted, again=again)
    if not plans and all((home / LISTED).exists() for home in work.lists):
        # what the test asks is known when all methods have run
        plans[METHOD] = plan = work.runner.plan(work.test, counted)
        stages.append(Stage.of_plan(METHOD, plan, work.runner.cache, work.test))
    elif work.is_tested:
        known = max(plans.values(), key=lambda plan: plan.samples, default=Plan())
        frames_each = known.frames / known.samples if known.samples else 1.0
        stages.append(
            stage_of_test(work.runner, work.test, frames_each, known.samples, CUES)
        )
    return Foresight(plans, stages)


def stages_of(work: Investigation, runner: Runner, *, again: bool) -> Sequence[Stage]:
    """The stages, by a runner that says nothing."""
    return foresee(work.on_runner(runner), again=again).stages


def stage_after_run(
    run: StoredRun, test: Request, count: int | None, runner: Runner
) -> Stage:
    """The test of a stored run, of as many cues as it found, or `count`."""
    made = runner.folder(test)
    if made.report_file.exists():
        # all is answered: a plan would take as long as the test
        return Stage.of_run(METHOD, load_report(made.path), runner.cache, test)
    report = run.report
    cues = len({score.feature for score in report.findings})
    frames_each = float(len(run.data[0].frames) or 1)
    samples = round(share_of_part(test.part) * len(run.data))
    cues = max(1, cues if count is None else count)
    return stage_of_test(runner, test, frames_each, samples, cues)


def most_of_test(runner: Runner, test: Request) -> tuple[int, int, int]:
    """Cues, interventions of each, and samples that each changes, at most."""
    context = runner.context
    method = context.resolve("method", METHOD, test.method_options)
    given = method.options.model_dump()
    ways = len(given["interventions"]) or _count_usable(context, test)
    return given["top"], ways, given["samples"]


def _count_usable(context: Context, test: Request) -> int:
    """The installed interventions that this model and these tools can serve."""
    model = context.resolve("model", test.model, test.model_options).plugin
    declared = getattr(model, "capabilities", None)
    entries = context.registry.of_kind("intervention")
    usable = len(entries)
    if declared is None:
        return usable
    for entry in entries:
        # one that fails costs itself, and the dossier says so
        with suppress(Exception):
            kind = context.resolve("intervention", entry.name).plugin
            usable -= bool(kind.lacks(declared, list(test.tools)))
    return usable


def stage_of_test(
    runner: Runner, test: Request, frames_each: float, samples: int | None, cues: int
) -> Stage:
    """The test of so many cues; its samples are as many as those of the methods."""
    top, ways, most_samples = most_of_test(runner, test)
    changed = min(most_samples, samples or most_samples)
    # each beside its placebo
    most = 2.0 * min(ways, KINDS) * changed * frames_each
    cues = min(top, cues)
    # as a course scales it, when the cues are known
    most *= (cues + SHARED) / 2.0
    return Stage.of_test(
        METHOD,
        most,
        runner.cache,
        test,
        share=TEST_ASKED,
        seconds=TEST_SECONDS * (cues + SHARED),
        cues=cues,
    )
