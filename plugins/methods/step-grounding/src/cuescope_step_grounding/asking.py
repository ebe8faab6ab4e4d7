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
from cuescope_step_grounding.prompts import NO_QUESTION, recorded, to_ask
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
class Reasoning:
    """A trace that came, with what it claims step by step, and whether its answer is right.

    `contradictory` counts the steps that tell two times of one thing.
    """

    asked_for: Asked
    trace: Trace
    claims: Claims
    right: bool | None
    contradictory: int = 0

    @property
    def sample(self) -> Sample:
        """The example, as the data set has it."""
        return self.asked_for.sample


def baselines(audit: Audit, options: "StepGrounding.Options") -> list[Asked]:
    """A trace a sample, by key; a recorded one, or one in the style of the options."""
    samples = sorted(audit.samples, key=lambda sample: sample.key)
    if is_recorded(audit):
        return [Asked(sample, "natural", recorded(sample), recorded=True) for sample in samples]
    style = options.style
    return [Asked(sample, style, to_ask(sample, style, options.steps)) for sample in samples]


def variants(
    audit: Audit, options: "StepGrounding.Options", traces: Sequence[Reasoning]
) -> Iterator[Asked]:
    """The same samples in other styles, and changed; nothing more of what was recorded."""
    if is_recorded(audit):
        return
    for style in dict.fromkeys(options.also):
        if style != options.style:
            for one in traces:
                yield Asked(one.sample, style, to_ask(one.sample, style, options.steps, style))
    for change in dict.fromkeys(options.perturbations):
        for instance in range(options.instances):
            yield from _changed(audit, options, traces, change, instance)


def _changed(
    audit: Audit,
    options: "StepGrounding.Options",
    traces: Sequence[Reasoning],
    change: Perturbation,
    instance: int,
) -> Iterator[Asked]:
    """One change of each sample that it can change."""
    name = f"{change}-{instance}"
    if change == "paraphrase":
        questions = [one.sample.question or NO_QUESTION for one in traces]
        said = paraphrases(questions, audit.tools.get("text-generator"), instance)
        for one, question in zip(traces, said, strict=True):
            sample = one.sample.model_copy(
                update={"question": question, "key": f"{one.sample.key}/{name}"}
            )
            trial = to_ask(sample, options.style, options.steps, name)
            yield Asked(one.sample, options.style, trial, change)
        return
    for one in traces:
        key = key_boxes(one.sample, (claim for step in one.claims for claim in step))
        frames = perturbed(one.sample, change, key, audit.rng(name, one.sample.key))
        if frames is not None:
            shown = one.sample.with_frames(frames, name)
            trial = to_ask(shown, options.style, options.steps, name)
            yield Asked(one.sample, options.style, trial, change)


def most_asked(audit: Audit, options: "StepGrounding.Options") -> str:
    """How many traces are asked for, known before any is."""
    samples = len(audit.samples)
    if is_recorded(audit):
        return f"none: the traces of {samples:,} samples are looked up"
    styles = len({*options.also} - {options.style})
    changes = len({*options.perturbations}) * options.instances
    parts = [f"{changes} changed"] * bool(changes) + [f"{styles} in other styles"] * bool(styles)
    each = " and ".join(["one as it is", *parts])
    return f"{samples * (1 + changes + styles):,} traces at most, of each sample {each}"


def read_traces(
    asked_for: Sequence[Asked],
    outcomes: Sequence[Outcome],
    parser: "Parser",
    options: "StepGrounding.Options",
) -> list[Reasoning]:
    """The traces that came, read and parsed."""
    from cuescope_step_grounding.claims import Clock, read_steps

    found = []
    for one, outcome in zip(asked_for, outcomes, strict=True):
        sample = one.sample
        unasked = one.recorded and sample.question is None  # what was asked is not known
        choices = () if unasked else sample.choices
        trace = read_trace(outcome.response.text, choices, options.most_steps)
        clock = Clock(len(sample.frames), times_of(sample))
        steps = read_steps(parser, trace.steps, clock) if trace.steps else []
        unrecorded = one.recorded and "empty" in trace.problems
        right = None if unasked or unrecorded else is_right(trace.answer, sample)
        torn = sum(step.contradictory for step in steps)
        found.append(Reasoning(one, trace, tuple(step.claims for step in steps), right, torn))
    return found


def is_recorded(audit: Audit) -> bool:
    """Whether the model cannot be shown anything else than what it was shown."""
    return RECORDED in audit.capabilities.exposes
