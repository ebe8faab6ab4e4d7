"""Which traces an audit asks for, in which words, and what came back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import cast

from cuescope_sdk import Audit, Outcome, Sample, TextGenerator, Trial, UserError
from cuescope_sdk.grounding import TIMES, Claim
from cuescope_sdk.report import count_of
from cuescope_step_grounding.claims import (
    Clock,
    ParserReader,
    WrittenReader,
    find_model,
    parser,
)
from cuescope_step_grounding.claims.resources import read_toml
from cuescope_step_grounding.options import Perturbation, StepGroundingOptions, Style
from cuescope_step_grounding.perturbations import key_boxes, perturbed_frames
from cuescope_step_grounding.traces import Trace, is_right, read_trace

RECORDED = "recorded"  # what a model exposes whose traces were written before
NO_QUESTION = "What is shown?"
Claims = tuple[tuple[Claim, ...], ...]  # by step


@dataclass(frozen=True)
class TraceRequest:
    """A trace that is asked for: of which sample, in which style, after which change."""

    sample: Sample
    style: Style
    trial: Trial
    change: Perturbation | None = None


@dataclass(frozen=True)
class Reasoning:
    """A trace that came, with what it claims step by step, and whether its answer is right."""

    request: TraceRequest
    trace: Trace
    claims: Claims
    right: bool | None

    @property
    def sample(self) -> Sample:
        return self.request.sample


def claim_parser(audit: Audit) -> ParserReader | WrittenReader:
    """What reads claims from steps, built once; raises UserError where there is no generator."""
    return audit.once(_claim_reader, audit)


def _claim_reader(audit: Audit) -> ParserReader | WrittenReader:
    options: StepGroundingOptions = audit.options
    if options.extract == "parser":
        return ParserReader(parser(options.parser))
    if "text-generator" not in audit.tools:
        raise UserError(
            "step-grounding: extract=llm has nothing to write the claims",
            remedy="add --tool text-generator=SPEC",
        )
    # this way of reading must work without a model of English too
    by_parser = parser(options.parser) if find_model(options.parser) else None
    return WrittenReader(
        cast(TextGenerator, audit.tools["text-generator"]),
        audit.tool_specs["text-generator"],
        by_parser,
    )


def is_recorded(audit: Audit) -> bool:
    """Whether the model cannot be shown anything else than what it was shown."""
    return RECORDED in audit.capabilities.exposes


def describe_plan(audit: Audit) -> str:
    """How many traces are asked for, known before any is."""
    samples = len(audit.samples)
    if is_recorded(audit):
        return f"none: the traces of {samples:,} samples are read from the recording"
    changes, styles, blind = _variants_of_each(audit.options)
    each = "one as it is" + f", {changes} with changes" * bool(changes)
    each += f", {styles} in other styles" * bool(styles)
    each += f", {blind} with another video" * bool(blind)
    return f"{samples + most_variants(audit):,} traces at most: for each sample {each}"


def most_variants(audit: Audit) -> int:
    """How many traces are asked for at most after those of the samples as they are."""
    if is_recorded(audit):
        return 0
    return len(audit.samples) * sum(_variants_of_each(audit.options))


def _variants_of_each(options: StepGroundingOptions) -> tuple[int, int, int]:
    """Changed forms of a sample, other styles of asking about it, and other videos."""
    # the own style is no other one, and one that is named twice counts once
    styles = len({*options.also} - {options.style})
    changes = len({*options.perturbations}) * options.instances
    return changes, styles, int(options.blind)


# --------------------------------------------------------------------------------- baseline traces


def baseline_traces(audit: Audit) -> list[Reasoning]:
    """The model's trace of each sample as it is: recorded, or in the style of the options."""
    style = audit.options.style
    requests = []
    for sample in sorted(audit.samples, key=lambda sample: sample.key):
        # A recording is looked up by what was shown, so the sample goes out as the data set has it.
        if is_recorded(audit):
            requests.append(
                TraceRequest(
                    sample,
                    "natural",
                    Trial(sample=sample, outputs=frozenset({"text"})),
                )
            )
        else:
            requests.append(TraceRequest(sample, style, trial_of(audit, sample, style)))
    outcomes = audit.respond([request.trial for request in requests])
    return read_traces(audit, requests, outcomes)


def read_traces(
    audit: Audit,
    requests: Sequence[TraceRequest],
    outcomes: Sequence[Outcome],
) -> list[Reasoning]:
    reader = claim_parser(audit)
    recorded = is_recorded(audit)
    read = []
    asked = []
    for request, outcome in zip(requests, outcomes, strict=True):
        sample = request.sample
        # Videos in class folders have choices but no question: what a recording was asked of them
        # is not known, so its answer is neither right nor wrong.
        unasked = recorded and sample.question is None
        choices = () if unasked else sample.choices
        trace = read_trace(outcome.response.text, choices)
        read.append((request, trace, unasked))
        clock = Clock(len(sample.frames), sample.annotations.get(TIMES))
        asked.append((trace.steps, clock))
    # All in one call: a text generator answers many prompts at once.
    claims_of = reader.read(asked)
    traces = []
    for (request, trace, unasked), steps in zip(read, claims_of, strict=True):
        # a video of which nothing was recorded was not answered wrongly
        unrecorded = recorded and "empty" in trace.problems
        judged = not (unasked or unrecorded)
        right = is_right(trace.answer, request.sample) if judged else None
        traces.append(
            Reasoning(
                request,
                trace,
                tuple(steps),
                right,
            )
        )
    return traces


# -------------------------------------------------------------------------------- changed samples


def variant_requests(audit: Audit) -> list[TraceRequest]:
    """The same samples in other styles, and changed; nothing more of what was recorded."""
    return [] if is_recorded(audit) else [*_other_styles(audit), *_changes(audit)]


def _other_styles(audit: Audit) -> Iterator[TraceRequest]:
    for style in dict.fromkeys(audit.options.also):
        if style != audit.options.style:
            for trace in audit.once(baseline_traces, audit):
                yield TraceRequest(
                    trace.sample,
                    style,
                    trial_of(audit, trace.sample, style, style),
                )


def _changes(audit: Audit) -> Iterator[TraceRequest]:
    options: StepGroundingOptions = audit.options
    traces = audit.once(baseline_traces, audit)
    for change in dict.fromkeys(options.perturbations):
        for instance in range(options.instances):
            name = f"{change}-{instance}"
            samples = _perturbed_samples(audit, traces, name, change)
            if change == "paraphrase":
                samples = _paraphrased_samples(audit, traces, name, instance)
            for original, sample in samples:
                yield TraceRequest(
                    original,
                    options.style,
                    trial_of(audit, sample, options.style, name),
                    change,
                )


def _perturbed_samples(
    audit: Audit,
    traces: Sequence[Reasoning],
    name: str,
    change: Perturbation,
) -> Iterator[tuple[Sample, Sample]]:
    """Each sample that the change can change, and its changed form."""
    for trace in traces:
        sample = trace.sample
        frames = perturbed_frames(
            sample,
            change,
            key_boxes(sample, chain.from_iterable(trace.claims)),
            audit.rng(name, sample.key),
        )
        if frames is not None:
            yield sample, sample.with_frames(frames, name)


def _paraphrased_samples(
    audit: Audit,
    traces: Sequence[Reasoning],
    name: str,
    instance: int,
) -> Iterator[tuple[Sample, Sample]]:
    questions = [trace.sample.question or NO_QUESTION for trace in traces]
    reworded = paraphrases(questions, audit.tools.get("text-generator"), instance)
    for trace, question in zip(traces, reworded, strict=True):
        yield (
            trace.sample,
            replace(
                trace.sample,
                question=question,
                key=f"{trace.sample.key}/{name}",
            ),
        )


# ----------------------------------------------------------------------------------- the questions

_PROMPTS = read_toml("prompts.toml")


def trial_of(
    audit: Audit,
    sample: Sample,
    style: Style,
    condition: str = "baseline",
) -> Trial:
    """The trial that brings a trace. What is known of the sample stays behind.

    The choices are in the words: models that list them for a letter would get no steps.
    """
    return Trial(
        sample=Sample(
            key=f"{sample.key}/{style}",
            frames=sample.frames,
            question=prompt(sample, style, audit.options.steps),
            group=sample.group,
        ),
        condition=condition,
        outputs=frozenset({"text"}),
    )


def prompt(sample: Sample, style: Style, steps: str = "6 to 8") -> str:
    """The question of a sample as a model reads it; `natural` adds nothing to it but its choices.

    Frames are counted from 1, as the claims' parser counts them.
    """
    question = (sample.question or NO_QUESTION).strip()
    if sample.choices:
        question += f"\nChoices: {'; '.join(sample.choices)}."
    if style == "natural":
        return question
    instruction = _PROMPTS["styles"][style].format(steps=steps)
    return f"{question}\n{_frame_count(sample)}{instruction}"


def _frame_count(sample: Sample) -> str:
    count = len(sample.frames)
    # an image has nothing to count
    if count < 2:
        return ""
    times = sample.annotations.get(TIMES)
    until = f" from {times[0]:g} to {times[-1]:g} seconds" if times else ""
    frames = count_of(count, "frames")
    return f"The video is shown as {frames}{until}; frame 1 is the first, {count} the last.\n"


def paraphrases(
    questions: Sequence[str],
    generator: TextGenerator | None,
    instance: int,
) -> list[str]:
    """Each question in a text generator's words; without one, or where it has none, re-opened.

    The counter-causal control of section 3.5: other words, the same video.
    """
    if generator is None:
        return [_reopen(question, instance) for question in questions]
    request: str = _PROMPTS["paraphrases"]["request"]
    prompts = [request.format(question=question) for question in questions]
    reworded = []
    for old, answer in zip(questions, generator.generate(prompts), strict=True):
        new = " ".join(answer.split())
        # the same words again would be no paraphrase
        is_new = new and new != old
        reworded.append(new if is_new else _reopen(old, instance))
    return reworded


def _reopen(question: str, instance: int) -> str:
    """Behind another opening: a rule that rewrote the question itself could change its meaning."""
    openings = _PROMPTS["paraphrases"]["openings"]
    return f"{openings[instance % len(openings)]} {question}"
