"""How long an investigation takes: its methods by their plans, its test by earlier ones."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, Self

from cuescope.application import (
    Plan,
    Runner,
    SeenKeys,
    Stage,
    count_questions,
    load_report,
    pixels_of,
    plan_each,
    share_of_part,
)
from cuescope_confirm import Confirm
from cuescope_confirm.command import METHOD
from cuescope_confirm.study import LISTED, NOWHERE, TELLS
from cuescope_sdk import Capabilities, Context, Report, Request, Sample, StoredRun
from cuescope_sdk.stills import Answers

# a note of `cuescope_sdk.data`: too few samples for what is not strong
WEAK = "weak data"
# Before the methods have run, and of samples that are enough for a test: fewer show fewer cues.
# This and the next figures are of investigations of the benchmarks' worlds.
CUES = 8
ASKED_CUES = 3  # the same of data whose samples ask different questions
KINDS = 2  # of change that apply to a cue, of all that the model can be asked for
# of what a test so foreseen asks for at most: how much it asks
TEST_ASKED = 0.7
# beside the model, of an input and of each pixel of it: pictures are changed, and looked at
INPUT_SECONDS = 0.012
PIXEL_SECONDS = 2.5e-6
# the same of a cue in questions, and of as many more as cues share
TEST_SECONDS = 1.0
SHARED = 3.0
FEW = 20


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


@dataclass(frozen=True)
class Held:
    """The samples of a test, as far as its time depends on them.

    So many `samples`, of so many frames each, of so many `pixels`; whether questions differ.
    """

    samples: int = 0
    frames_each: float = 1.0
    pixels: int = 0
    asks_questions: bool = False

    @classmethod
    def of_plan(cls, plan: Plan) -> Self:
        """Half of the data, as the methods see the other half."""
        frames_each = plan.frames / plan.samples if plan.samples else 1.0
        return cls(plan.samples, frames_each or 1.0, plan.pixels, plan.questions > 1)

    @classmethod
    def of_samples(cls, data: Sequence[Sample], count: int) -> Self:
        """So many samples like these."""
        frames_each = float(len(data[0].frames) or 1)
        return cls(count, frames_each, pixels_of(data), count_questions(data) > 1)


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
        stages.append(stage_of_test(work.runner, work.test, Held.of_plan(known)))
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
    found = len(cues_of(report))
    samples = round(share_of_part(test.part) * len(run.data))
    # the first ones tell of what sort all are
    first = [run.data[number] for number in range(min(FEW, len(run.data)))]
    held = Held.of_samples(first, samples)
    return stage_of_test(runner, test, held, max(1, found if count is None else count))


def cues_of(report: Report) -> set[str]:
    """Keys of the features that were found, and that a test is about."""
    kinds = {feature.key: feature.kind for feature in report.features}
    found = {score.feature for score in report.findings}
    return {key for key in found if kinds.get(key) not in (*NOWHERE, *TELLS)}


def most_of_test(runner: Runner, test: Request) -> tuple[int, int, int]:
    """Cues, interventions of each, and samples that each changes, at most."""
    context = runner.context
    method = context.resolve("method", METHOD, test.method_options)
    given = method.options.model_dump()
    ways = len(given["interventions"]) or _count_usable(context, test)
    return given["top"], ways, given["samples"]


def _declared(context: Context, test: Request) -> Capabilities | None:
    """What the model declares, without being opened."""
    model = context.resolve("model", test.model, test.model_options).plugin
    return getattr(model, "capabilities", None)


def _count_usable(context: Context, test: Request) -> int:
    """The installed interventions that this model and these tools can serve."""
    declared = _declared(context, test)
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


def _inputs_to_locate(
    runner: Runner, test: Request, held: Held, most_samples: int
) -> float:
    """What all cues share: each frame still, of the samples looked at and of as many of the run.

    0 for a model that gives no embedding: the pictures alone tell the cue then.
    """
    # late: it loads what looks for cues
    from cuescope_confirm.locating import POOL

    declared = _declared(runner.context, test)
    if declared is not None and not declared.outputs >= Answers.outputs:
        return 0.0
    # those that are judged, and half as many others
    looked_at = min(held.samples, POOL * most_samples * 3 // 2)
    return 2.0 * looked_at * held.frames_each


def stage_of_test(
    runner: Runner, test: Request, held: Held, cues: int | None = None
) -> Stage:
    """The test of so many cues, or of as many as so many samples show."""
    top, ways, most_samples = most_of_test(runner, test)
    changed = min(most_samples, held.samples or most_samples)
    # each beside its placebo
    of_cue = 2.0 * min(ways, KINDS) * changed * held.frames_each
    are_known = cues is not None
    if cues is None:
        enough = Confirm.data_needs.enough or 1
        most_cues = ASKED_CUES if held.asks_questions else CUES
        cues = max(1, int(most_cues * min(1.0, (held.samples or enough) / enough)))
    cues = min(top, cues)
    if held.asks_questions:
        # what is found in questions has no place in pictures
        shared = SHARED
        seconds = TEST_SECONDS * (cues + shared)
    else:
        to_locate = _inputs_to_locate(runner, test, held, most_samples)
        # where no kind of change applies, nothing is asked of a cue
        shared = to_locate / of_cue if of_cue else 0.0
    # as a course scales it, when the cues are known
    most = of_cue * (cues + shared)
    if not held.asks_questions:
        each = INPUT_SECONDS + PIXEL_SECONDS * held.pixels
        seconds = each * TEST_ASKED * most
    stage = Stage.of_test(
        METHOD,
        most,
        runner.cache,
        test,
        share=TEST_ASKED,
        seconds=seconds,
        cues=cues,
        shared=shared,
    )
    return replace(stage, cues_are_known=are_known)
