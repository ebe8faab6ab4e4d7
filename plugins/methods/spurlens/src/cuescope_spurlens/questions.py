"""The questions: their words, the trials that ask them, and which models can answer."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cuescope_sdk import Audit, Capabilities, Edit, Output, Sample, Trial, UserError
from cuescope_sdk.statistics import Groups
from cuescope_spurlens.options import QUESTIONS, TELL, SpurLensOptions

CHOICES = ("yes", "no")
# endings of words in s that are one thing: glass, bus, gas, lens
SINGULAR = ("ss", "us", "is", "gas", "lens", "canvas")
# Conditions in answers.parquet.
WITH = "with the cue"
WITHOUT = "without the cue"
TrialKey = tuple[str, Edit | None]  # frames and question, edit


def with_article(noun: str) -> str:
    """`a cup`, `an apple`, `a unicorn`; a plural stays as it is: `skis`, `scissors`.

    >>> with_article("ear of corn"), with_article("one-way sign"), with_article("scissors")
    ('an ear of corn', 'a one-way sign', 'scissors')
    """
    lower = noun.lower()
    # skis end in "is" and are many
    if (lower.endswith("s") and not lower.endswith(SINGULAR)) or lower.endswith("skis"):
        return noun
    sounds_like_you = lower.startswith(("uni", "use", "eu", "ukulele", "one", "uro"))
    # Of the words in "uni", those in "unin" begin with the prefix "un": "an uninflated ball".
    vowel = lower[:1] in set("aeiou") and (
        not sounds_like_you or lower.startswith("unin")
    )
    return f"{'an' if vowel or lower.startswith('hour') else 'a'} {noun}"


def questions_about(templates: Sequence[str], label: str) -> tuple[str, ...]:
    """The questions about a class; `{object}` is the class with its article."""
    # No str.format: a person's own question may have other braces, of JSON for example.
    return tuple(
        template.replace("{object}", with_article(label)) for template in templates
    )


def question_templates(audit: Audit) -> tuple[str, ...]:
    """The person's own questions, or else the paper's three forms.

    A model that writes freely is told to say yes or no, as the paper tells it.
    """
    options: SpurLensOptions = audit.options
    if options.questions is not None:
        return options.questions
    closed = "closed-answers" in audit.capabilities.exposes
    if closed or answer_output(audit) != "text":
        return QUESTIONS
    return tuple(f"{question} {TELL}" for question in QUESTIONS)


def why_unanswerable(has: Capabilities) -> str | None:
    """Why a model can answer no question of ours; None where it can."""
    if "recorded" in has.exposes:
        return "answers that were recorded before"
    if "text" in has.outputs:
        return None
    if "embedding" in has.outputs or "logits" not in has.outputs:
        # Images beside labels, as CLIP has them: a question is never read.
        given = " and ".join(sorted(has.outputs)) or "nothing"
        return f"{given} of images, and no question is read"
    return None


def answer_output(audit: Audit) -> Output:
    """Text where the model writes, for only words can be no answer; else logits.

    Raises UserError for a model that reads no question, or only repeats recorded answers.
    """
    if (why := why_unanswerable(audit.capabilities)) is not None:
        raise UserError(
            "spurlens asks yes/no questions of its own",
            expected="a model that reads a question and answers it",
            got=why,
            remedy="`cuescope methods --model SPEC` shows the methods that fit this model",
        )
    return "text" if "text" in audit.capabilities.outputs else "logits"


def most_later_trials(audit: Audit, cases: Iterable[tuple[Groups, int, bool]]) -> int:
    """How many trials follow the questions that the cues need, at most.

    Of each case: the groups of its images, K, and whether they are shown as they are. The two sides
    of a finding are asked about apart; images as they are also in a second detector's ranking, and
    in other ways, with a black image beside. A probe reads every image.
    """
    options: SpurLensOptions = audit.options
    templates = len(question_templates(audit))
    ways = len(options.mitigation)
    detectors = options.second_detector is not None
    describes = "dual" in options.mitigation
    trials = 0
    for groups, k, plain in cases:
        # no two sides can have more images than the largest groups
        largest_first = np.sort(np.bincount(groups.codes))[::-1]
        shown = int(largest_first[: 2 * k].sum())
        trials += shown * templates
        if plain:
            trials += shown * templates * (detectors + ways)
            # One black image, asked about in each way and plainly.
            trials += (ways > 0) * (ways + 1) * templates
            # the black image is described, too
            trials += describes * (shown + 1)
    if "patches" in audit.capabilities.exposes and "recognition" in options.tasks:
        trials += len(audit.samples)
    return trials


def question_trial(
    sample: Sample,
    question: str,
    output: Output,
    *,
    edit: Edit | None = None,
    condition: str,
) -> Trial:
    """A question about an image. What is known of the image stays behind."""
    # A sample of its own: the data set's label and choices are no part of a yes/no question, and
    # would only make equal questions look different to the cache.
    asked = Sample(
        key=f"{sample.key}/spurlens",
        frames=sample.frames,
        question=question,
        # `read_answer` counts on this order: yes is the first
        choices=CHOICES,
        group=sample.group,
    )
    return Trial(
        sample=asked,
        edit=edit,
        condition=condition,
        outputs=frozenset({output}),
    )


def trial_key(trial: Trial) -> TrialKey:
    """Equal for trials that show and ask the same."""
    return f"{frames_key(trial.sample)}|{trial.sample.question}", trial.edit


def frames_key(sample: Sample) -> str:
    """Equal for samples that show the same pixels."""
    # not the sample's key: two samples may show the same picture
    return "|".join(frame.key for frame in sample.frames)


def distinct_trials(trials: Iterable[Trial]) -> Iterator[Trial]:
    """Each once, in order."""
    first: dict[TrialKey, Trial] = {}
    for trial in trials:
        first.setdefault(trial_key(trial), trial)
    return iter(first.values())
