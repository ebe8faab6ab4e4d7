"""Evidence to look at: samples with a feature beside others, chosen by a stated rule."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image

from cuescope_core.conclusions import Contrast, Exhibit, Occurrence, Side
from cuescope_core.types import Frame, Outcome
from cuescope_sdk.report._numbers import percent

# whether an answer is right; None where nobody knows
Judge = Callable[[Outcome], bool | None]
Values = Float[np.ndarray, " outcome"]
Pixels = UInt8[np.ndarray, "row col 3"]
EXHIBITS = 4  # on a side: more are not looked at
DRAWING = 256  # pixels of a drawing's width, and at most of its height
RULE = (
    "On each side, samples spread evenly over how probable the model finds the right answer, "
    "from least to most; the most typical comes first."
)
PAIRED_RULE = (
    "Both sides show the same samples, spread evenly over how much less probable the right answer "
    "becomes, from least to most; the most typical comes first."
)


def is_right(outcome: Outcome) -> bool | None:
    """True if the answer is the label; None where no label is known."""
    return None if outcome.trial.sample.label is None else outcome.correct()


def contrast(
    feature: str,
    sides: Mapping[str, Sequence[Outcome]],
    *,
    label: str | None = None,
    where: Mapping[str, Occurrence] | None = None,
    words: Callable[[Outcome], str | None] = lambda outcome: None,
    drawing: Callable[[Outcome], bytes | None] = lambda outcome: None,
    correct: Judge = is_right,
    paired: bool = False,
    matched: bool = False,
    counted: bool = True,
    count: int = EXHIBITS,
    rule: str | None = None,
    drawn: str = "",
) -> Contrast | None:
    """The contrast of two sides, title -> all of its outcomes; None where a side is empty.

    `where` tells by sample which frame and region to show, `words` and `drawing` what stands
    below and beside it. `paired` sides hold the same samples in the same order, and the same ones
    are shown of both. Where they are `matched` the second side shows as many of each label as
    the first: else the classes would differ. Each title also says how many of all its answers are
    right, unless it has figures of its own (`counted` is False). `rule` says how the samples were
    chosen where that is more than this function's own choice, and `drawn` what the drawings show.
    """
    first, second = sides.values()
    if matched:
        first = typical(first, count, correct)
        second = _of_same_labels(first, second, count, correct)
    if not (first and second):
        return None
    occurrences = where or {}

    def exhibit(outcome: Outcome) -> Exhibit:
        sample = outcome.trial.sample
        return Exhibit(
            occurrence=occurrences.get(sample.key) or Occurrence(sample=sample.key),
            label=sample.label,
            prediction=outcome.prediction,
            probability=_probability(outcome, outcome.response.prediction),
            correct=correct(outcome),
            words=words(outcome),
            drawing=drawing(outcome),
        )

    # what the second answer to each sample takes from the probability of the right one
    changes = None
    if paired:
        changes = _of_labels(first, correct) - _of_labels(second, correct)
    both = []
    for title, outcomes in zip(sides, (first, second), strict=True):
        exhibits = map(exhibit, typical(outcomes, count, correct, changes))
        heading = _with_accuracy(title, sides[title], correct) if counted else title
        both.append(Side(title=heading, exhibits=tuple(exhibits)))
    # no contrast without one: readers see that no best-looking ones were picked (docs/adr/0016)
    rule = rule or (PAIRED_RULE if paired else RULE)
    return Contrast(
        feature=feature,
        label=label,
        sides=(both[0], both[1]),
        rule=rule + drawn,
    )


def typical(
    outcomes: Sequence[Outcome],
    count: int,
    correct: Judge = is_right,
    values: Values | None = None,
) -> list[Outcome]:
    """So many of them, at even steps from the least to the most value; the median first.

    The values are probabilities of the right answer unless given.
    """
    if values is None:
        values = _of_labels(outcomes, correct)
    keys = np.array([outcome.trial.sample.key for outcome in outcomes])
    # keys break ties: what is shown must not depend on the data's order
    ranked = np.lexsort((keys, values)).tolist()
    count = min(count, len(ranked))
    # at even steps: never the best-looking ones (docs/adr/0016)
    shares = (np.arange(count) + 0.5) / max(count, 1)
    middle_first = sorted(shares, key=lambda share: abs(share - 0.5))
    return [outcomes[ranked[int(share * len(ranked))]] for share in middle_first]


def _of_same_labels(
    shown: Sequence[Outcome],
    others: Sequence[Outcome],
    count: int,
    correct: Judge,
) -> list[Outcome]:
    beside: list[Outcome] = []
    labels = Counter(outcome.trial.sample.label for outcome in shown)
    for label, number in labels.items():
        of_label = [other for other in others if other.trial.sample.label == label]
        beside += typical(of_label, number, correct)
    # no such label: any other shows more than none
    return beside or typical(others, count, correct)


def draw_beside(images: Sequence[Frame | Pixels]) -> bytes:
    """A JPEG for an exhibit: pictures side by side, small, each in an equal share of the width."""
    from cuescope_sdk.report._figures import thumbnail

    width = DRAWING // len(images)
    pictures = []
    tallest = 1
    for image in images:
        pixels = thumbnail(image) if isinstance(image, Frame) else image
        rows, cols, _ = pixels.shape
        height = max(1, min(DRAWING, round(width * rows / cols)))
        tallest = max(tallest, height)
        picture = Image.fromarray(pixels)
        pictures.append(picture.resize((width, height), Image.Resampling.LANCZOS))
    sheet = Image.new("RGB", (width * len(pictures), tallest), "white")
    for column, picture in enumerate(pictures):
        sheet.paste(picture, (column * width, 0))
    out = BytesIO()
    sheet.save(out, "JPEG", quality=85)
    return out.getvalue()


def _with_accuracy(title: str, outcomes: Sequence[Outcome], correct: Judge) -> str:
    marks = Counter(map(correct, outcomes))
    marked = marks[True] + marks[False]
    if not marked:
        return title
    return f"{title}: {percent(marks[True] / marked)} of {marked:,} right"


def _of_labels(outcomes: Sequence[Outcome], correct: Judge) -> Values:
    return np.array([_of_label(outcome, correct) for outcome in outcomes])


def _of_label(outcome: Outcome, correct: Judge) -> float:
    """The probability of the right answer, or whether it was given."""
    sample = outcome.trial.sample
    if sample.label is None or sample.label not in sample.choices:
        return float(bool(correct(outcome)))
    probability = _probability(outcome, sample.choices.index(sample.label))
    return float(bool(correct(outcome))) if probability is None else probability


def _probability(outcome: Outcome, choice: int | None) -> float | None:
    logits = outcome.response.logits
    if logits is None or choice is None:
        return None
    weights = np.exp(logits - logits.max(), dtype=np.float64)
    return float(weights[choice] / weights.sum())
