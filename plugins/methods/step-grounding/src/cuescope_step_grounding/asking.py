"""Which traces an audit asks for, and what came back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuescope_sdk import Audit, Outcome, Sample, Trial
from cuescope_sdk.grounding import Claim, times_of
from cuescope_step_grounding.answers import is_right
from cuescope_step_grounding.key_objects import key_boxes
from cuescope_step_grounding.naming import Perturbation, Style
from cuescope_step_grounding.paraphrasing import paraphrases
from cuescope_step_grounding.perturbing import perturbed
from cuescope_step_grounding.prompts import NO_QUESTION, asked, recorded
from cuescope_step_grounding.traces import Trace, read_trace

if TYPE_CHECKING:
    from cuescope_step_grounding import StepGrounding
    from cuescope_step_grounding.claims import Parser

RECORDED = "recorded"  # what a model exposes whose traces were written before
Claims = tuple[tuple[Claim, ...], ...]  # by step


@dataclass(frozen=True)
class Asked:
    """A trace that is asked for: of which sample, in which style, after which change."""

    sample: Sample
    style: Style
    trial: Trial
    change: Perturbation | None = None
    recorded: bool = False


@dataclass(frozen=True)
class Told:
    """A trace that came, with what it claims step by step, and whether its answer is right.

    `contradictory` counts the steps that tell two times of one thing.
    """

    asked: Asked
    trace: Trace
    claims: Claims
    right: bool | None
    contradictory: int = 0

    @property
    def sample(self) -> Sample:
        """The example, as the data set has it."""
        return self.asked.sample


def baselines(audit: Audit, options: "StepGrounding.Options") -> list[Asked]:
    """A trace a sample, by key; a recorded one, or one in the style of the options."""
    samples = sorted(audit.samples, key=lambda sample: sample.key)
    if is_recorded(audit):
        return [Asked(sample, "natural", recorded(sample), recorded=True) for sample in samples]
    style = options.style
    return [Asked(sample, style, asked(sample, style, options.steps)) for sample in samples]


def others(audit: Audit, options: "StepGrounding.Options", told: Sequence[Told]) -> Iterator[Asked]:
    """The same samples in other styles, and changed; nothing more of what was recorded."""
    if is_recorded(audit):
        return
    for style in dict.fromkeys(options.also):
        if style != options.style:
            for one in told:
                yield Asked(one.sample, style, asked(one.sample, style, options.steps, style))
    for change in dict.fromkeys(options.perturbations):
        for instance in range(options.instances):
            yield from _changed(audit, options, told, change, instance)


def _changed(
    audit: Audit,
    options: "StepGrounding.Options",
    told: Sequence[Told],
    change: Perturbation,
    instance: int,
) -> Iterator[Asked]:
    """One change of each sample that it can change."""
    name = f"{change}-{instance}"
    if change == "paraphrase":
        questions = [one.sample.question or NO_QUESTION for one in told]
        said = paraphrases(questions, audit.tools.get("text-generator"), instance)
        for one, question in zip(told, said, strict=True):
            sample = one.sample.model_copy(
                update={"question": question, "key": f"{one.sample.key}/{name}"}
            )
            trial = asked(sample, options.style, options.steps, name)
            yield Asked(one.sample, options.style, trial, change)
        return
    for one in told:
        key = key_boxes(one.sample, (claim for step in one.claims for claim in step))
        frames = perturbed(one.sample, change, key, audit.rng(name, one.sample.key))
        if frames is not None:
            shown = one.sample.showing(frames, name)
            trial = asked(shown, options.style, options.steps, name)
            yield Asked(one.sample, options.style, trial, change)


def heard(
    asked: Sequence[Asked],
    outcomes: Sequence[Outcome],
    parser: "Parser",
    options: "StepGrounding.Options",
) -> list[Told]:
    """The traces that came, read and parsed."""
    from cuescope_step_grounding.claims import Clock, read_steps

    found = []
    for one, outcome in zip(asked, outcomes, strict=True):
        sample = one.sample
        trace = read_trace(outcome.response.text, sample.choices, options.most_steps)
        clock = Clock(len(sample.frames), times_of(sample))
        steps = read_steps(parser, trace.steps, clock) if trace.steps else []
        unrecorded = one.recorded and "empty" in trace.problems
        right = None if unrecorded else is_right(trace.answer, sample)
        torn = sum(step.contradictory for step in steps)
        found.append(Told(one, trace, tuple(step.claims for step in steps), right, torn))
    return found


def is_recorded(audit: Audit) -> bool:
    """Whether the model cannot be shown anything else than what it was shown."""
    return RECORDED in audit.capabilities.exposes
