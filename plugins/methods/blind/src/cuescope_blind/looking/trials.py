"""The same question, without its video, with another one, in parts and in other orders."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cuescope_sdk import Audit, Frame, Outcome, Sample, Trial, UserError
from cuescope_sdk.report import count_of

AS_IT_IS = "as it is"
QUESTION_ALONE = "question alone"
WRONG_VIDEO = "wrong video"
OPTIONS_ALONE = "options alone"
ONE_FRAME = "one frame"
SHUFFLED = "shuffled"
REVERSED = "reversed"
TURNED = "options turned"
NEUTRAL = "Which option is right?"
GREY = 128  # as far from black as from white


@dataclass(frozen=True)
class Way:
    """A way to ask: `name` completes "With ... the model is right in 48% of 400 questions"."""

    key: str
    name: str
    ask: Callable[[Sample], Sample]


def questions_asked(audit: Audit) -> list[Sample]:
    """Samples with a label, two choices or more, and a video; for `audit.once`."""
    # by key: orders and partners are the same in whatever order samples come
    ordered = sorted(audit.samples, key=lambda sample: sample.key)
    asked = [
        sample
        for sample in ordered
        if sample.label is not None and len(sample.choices) > 1 and sample.frames
    ]
    if not asked:
        raise UserError(
            "looking: there is no question with a video",
            expected="questions with frames, two options or more and a right answer",
            got=f"none in {count_of(len(ordered), 'samples')}",
            remedy="Give the videos (-O data.videos=FOLDER); without them `cuescope "
            "blind DATA` reads "
            "the questions alone",
        )
    return asked


def ways_of(audit: Audit) -> list[Way]:
    """The ways to ask that these data and this model have; for `audit.once`."""
    asked = audit.once(questions_asked, audit)
    without = partial(_without_frames, grey=audit.capabilities.min_frames > 0)
    ways = [Way(QUESTION_ALONE, "the question alone", without)]
    partners = _partners(asked, audit.rng("wrong video"))
    if partners:
        wrong = partial(_with_frames_of, partners)
        ways.append(Way(WRONG_VIDEO, "the video of another question", wrong))
    # a label without a question has nothing that could be left out
    if any(sample.question for sample in asked):
        alone = partial(_options_alone, without)
        ways.append(Way(OPTIONS_ALONE, "the options alone", alone))
    most = max(len(sample.frames) for sample in asked)
    if most > 1:
        ways.append(Way(ONE_FRAME, "the middle frame alone", _one_frame))
        ways.append(Way(REVERSED, "the frames from last to first", _reversed_frames))
    if most > 2:
        seed = audit.derive_seed("shuffled")
        ways.append(Way(SHUFFLED, "shuffled frames", partial(_shuffle, seed)))
    return ways


def numbered_trials(audit: Audit) -> list[tuple[int, Trial]]:
    """Each question as it is, in every way, and with its options turned; for `audit.once`.

    Behind the number of the question among `questions_asked`.
    """
    asked = audit.once(questions_asked, audit)
    numbered = []
    for number, sample in enumerate(asked):
        numbered.append((number, Trial(sample=sample, condition=AS_IT_IS)))
    for way in audit.once(ways_of, audit):
        for number, sample in enumerate(asked):
            trial = Trial(sample=way.ask(sample), feature=way.key, condition=way.key)
            numbered.append((number, trial))
    for number, sample in enumerate(asked):
        trial = Trial(sample=turn_options(sample), feature=TURNED, condition=TURNED)
        numbered.append((number, trial))
    return numbered


def ask(audit: Audit) -> Sequence[Outcome]:
    """What the model says to all of them, in order; for `audit.once`."""
    return audit.respond([trial for _, trial in audit.once(numbered_trials, audit)])


def turn_options(sample: Sample) -> Sample:
    """The options one place on, as CircularEval turns them (MMBench, section 4.3)."""
    choices = (*sample.choices[1:], sample.choices[0])
    return replace(sample, choices=choices, key=f"{sample.key}/turned")


def _without_frames(sample: Sample, *, grey: bool) -> Sample:
    if not grey:
        return sample.with_frames((), QUESTION_ALONE)
    width, height = sample.frames[0].load().size
    # what cannot be asked without a picture is shown one of nothing
    frame = Frame.from_array(np.full((height, width, 3), GREY, dtype=np.uint8))
    return sample.with_frames((frame,) * len(sample.frames), QUESTION_ALONE)


def _options_alone(
    without: Callable[[Sample], Sample],
    sample: Sample,
) -> Sample:
    key = f"{sample.key}/{OPTIONS_ALONE}"
    return replace(without(sample), question=NEUTRAL, key=key)


def _partners(
    samples: Sequence[Sample], rng: np.random.Generator
) -> Mapping[str, Sample]:
    """Another group's sample for each, by key; {} where all are of one group."""
    groups = [sample.group or sample.key for sample in samples]
    if len(set(groups)) < 2:
        return {}
    partners = {}
    for sample, group in zip(samples, groups, strict=True):
        number = int(rng.integers(len(samples)))
        # on to the next one that is of another video
        while groups[number] == group:
            number = (number + 1) % len(samples)
        partners[sample.key] = samples[number]
    return partners


def _with_frames_of(partners: Mapping[str, Sample], sample: Sample) -> Sample:
    partner = partners[sample.key]
    return sample.with_frames(partner.frames, f"video of {partner.key}")


def _one_frame(sample: Sample) -> Sample:
    # repeated: some models take clips of one length
    return sample.static(len(sample.frames) // 2)


def _reversed_frames(sample: Sample) -> Sample:
    return sample.with_frames(sample.frames[::-1], REVERSED)


def _shuffle(seed: int, sample: Sample) -> Sample:
    count = len(sample.frames)
    # each question another order, the same in every audit
    rng = np.random.default_rng([seed, *sample.key.encode()])
    order = rng.permutation(count)
    # as it is, or from last to first, is no other order
    while count > 2 and abs(np.diff(order)).max() == 1:
        order = rng.permutation(count)
    frames = tuple(sample.frames[number] for number in order.tolist())
    return sample.with_frames(frames, SHUFFLED)
