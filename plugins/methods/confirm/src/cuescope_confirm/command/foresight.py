"""How long an investigation takes: its methods by their plans, its test by earlier ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, Self

from cuescope.application import (
    Plan,
    Runner,
    SeenKeys,
    Stage,
    own_seconds,
    share_asked,
    silent,
)
from cuescope_confirm.command import METHOD
from cuescope_confirm.study import LISTED
from cuescope_sdk import Request

WEAK = (
    "weak data"  # a note of `cuescope_sdk.data`: too few samples for what is not strong
)
CUES = 3  # before the methods have run
KINDS = 6  # of change that apply to a cue, of all that are installed
# of what a test so foreseen asks for at most: how much it asks, and the seconds beside each input
TEST_ASKED = 0.7
TEST_SECONDS = 0.005


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
    cache = work.runner.cache
    counted = SeenKeys()
    plans = {}
    stages = []
    for name, request in work.requests.items():
        runner = work.of_method(name)
        if not again and runner.folder(request).report_file.exists():
            stages.append(Stage(name, 0.0, 0.0))
            continue
        plans[name] = plan = runner.plan(request, counted)
        stages.append(Stage.of_plan(name, plan, cache, request.data, request.method))
    if not plans and all((home / LISTED).exists() for home in work.lists):
        # what the test asks is known when all methods have run
        plans[METHOD] = plan = work.runner.plan(work.test, counted)
        stages.append(Stage.of_plan(METHOD, plan, cache, work.test.data))
    elif work.is_tested:
        known = max(plans.values(), key=lambda plan: plan.samples, default=Plan())
        frames_each = known.frames / known.samples if known.samples else 1.0
        stages.append(stage_of_test(work, frames_each, known.samples, CUES))
    return Foresight(plans, stages)


def course_of(
    work: Investigation, *, again: bool
) -> tuple[Sequence[Stage], float | None]:
    """The stages and the pace, with nothing said: the audits will say what is to be said."""
    context = work.runner.context
    silenced = replace(context, announce=lambda line: None, progress=silent)
    try:
        foresight = foresee(
            work.on_runner(replace(work.runner, context=silenced)), again=again
        )
    except Exception:  # an audit that fails is left out in its turn, with its reason
        names = [*work.requests, METHOD]
        return [Stage(name, 0.0, 0.0) for name in names], None
    return foresight.stages, foresight.pace


def most_of_test(work: Investigation) -> tuple[int, int, int]:
    """Cues, interventions of each, and samples that each changes, at most."""
    context = work.runner.context
    test = context.resolve("method", METHOD, work.test.method_options)
    given = test.options.model_dump()
    ways = given["interventions"] or context.registry.of_kind("intervention")
    return given["top"], len(ways), given["samples"]


def stage_of_test(
    work: Investigation, frames_each: float, samples: int | None, cues: int
) -> Stage:
    """The test of so many cues; its samples are as many as those of the methods."""
    top, ways, most_samples = most_of_test(work)
    changed = min(most_samples, samples or most_samples)
    # each beside its placebo
    most = 2.0 * min(top, cues) * min(ways, KINDS) * changed * frames_each
    cache, data = work.runner.cache, work.test.data
    share = share_asked(METHOD, data, cache, TEST_ASKED)
    own = own_seconds(METHOD, data, cache, TEST_SECONDS)
    inputs, seconds = share * most, own * most
    return Stage(METHOD, inputs, seconds, most, most, share, min(top, cues), data)
