"""The questions: is this object in the image?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Audit, Edit, Outcome, Output, Sample, Trial, UserError
from cuescope_sdk.language import parse_yes_no

CHOICES = ("yes", "no")
# In the three forms of appendix A.1: do you see, is there, determine whether.
WORDINGS = (
    "Do you see {object} in the image?",
    "Is there {object} in the image?",
    "Determine whether there is {object} in the image.",
)
SINGULAR = ("ss", "us", "is", "gas", "lens", "canvas")
Key = tuple[str, Edit | None]  # frames and question, edit


def with_article(noun: str) -> str:
    """`a cup`, `an apple`, `a unicorn`; a plural stays as it is: `skis`, `scissors`.

    >>> with_article("ear of corn"), with_article("one-way sign"), with_article("scissors")
    ('an ear of corn', 'a one-way sign', 'scissors')
    """
    lower = noun.lower()
    if (lower.endswith("s") and not lower.endswith(SINGULAR)) or lower.endswith("skis"):
        return noun
    sounds_like_you = lower.startswith(("uni", "use", "eu", "ukulele", "one", "uro"))
    vowel = lower[:1] in set("aeiou") and (not sounds_like_you or lower.startswith("unin"))
    return f"{'an' if vowel or lower.startswith('hour') else 'a'} {noun}"


def questions(wordings: Sequence[str], label: str) -> tuple[str, ...]:
    """The wordings about a class; `{object}` is the class with its article."""
    return tuple(wording.replace("{object}", with_article(label)) for wording in wordings)


def asked_as(audit: Audit) -> Output:
    """Text where the model writes, for only words can be no answer; else logits.

    Raises UserError for a model that gives neither, and for one that only says what it said before.
    """
    if "recorded" in audit.capabilities.exposes:
        raise UserError("spurlens asks questions of its own", expected="a model that answers them",
                        got="recorded answers")  # fmt: skip
    for output in ("text", "logits"):
        if output in audit.capabilities.outputs:
            return output
    raise UserError(
        "spurlens asks yes/no questions", expected="a model with output 'text' or 'logits'",
        got=", ".join(sorted(audit.capabilities.outputs)) or "none",
    )  # fmt: skip


def trial(
    sample: Sample, question: str, output: Output, *, edit: Edit | None = None, condition: str
) -> Trial:
    """A question about an image. What is known of the image stays behind."""
    asked = Sample(
        key=f"{sample.key}/spurlens", frames=sample.frames, question=question, choices=CHOICES
    )
    return Trial(sample=asked, edit=edit, condition=condition, outputs=frozenset({output}))


def key_of(asked: Trial) -> Key:
    """Equal for trials that show and ask the same."""
    frames = "|".join(frame.key for frame in asked.sample.frames)
    return f"{frames}|{asked.sample.question}", asked.edit


def unique(trials: Iterable[Trial]) -> Iterator[Trial]:
    """Each once, in order."""
    seen: set[Key] = set()
    for one in trials:
        if (key := key_of(one)) not in seen:
            seen.add(key)
            yield one


def said(outcome: Outcome) -> bool | None:
    """True for yes, False for no, None for words that are neither."""
    index = outcome.response.prediction
    return parse_yes_no(outcome.response.text or "") if index is None else CHOICES[index] == "yes"


def heard(outcomes: Sequence[Outcome]) -> dict[Key, bool | None]:
    """Every answer by what was asked."""
    return {key_of(outcome.trial): said(outcome) for outcome in outcomes}


def yes_rates(
    rows: Sequence[Sequence[Trial]], answers: Mapping[Key, bool | None]
) -> Float[np.ndarray, " row"]:
    """Share of yes among the questions of each row (eq. 5). Words that are neither are no yes."""
    return np.array([np.mean([answers[key_of(one)] is True for one in row]) for row in rows])
