"""Samples to look at: chosen by the stated rule, whatever they look like."""

import numpy as np
import pytest

from cuescope_sdk import Occurrence, Outcome, Response, Sample, Trial
from cuescope_sdk.report import contrast
from cuescope_sdk.report._contrasts import typical

CHOICES = ("cat", "dog")


def outcome(number: int, probability: float, label: str | None = "cat") -> Outcome:
    """An answer that gives "cat" so much probability."""
    logits = np.log([probability, 1 - probability])
    sample = Sample(key=f"s{number:03}", frames=(), choices=CHOICES, label=label)
    return Outcome(Trial(sample=sample), Response(logits=logits))


def test_typical_samples_are_spread_evenly_and_the_median_comes_first() -> None:
    shares = np.linspace(0.01, 0.99, 80)
    outcomes = [outcome(number, share) for number, share in enumerate(shares)]
    keys = [each.trial.sample.key for each in typical(outcomes[::-1], 4)]
    assert keys == ["s030", "s050", "s010", "s070"]
    assert [each.trial.sample.key for each in typical(outcomes[:2], 4)] == [
        "s000",
        "s001",
    ]


def test_each_side_says_how_often_the_model_is_right() -> None:
    shown = contrast(
        "mark",
        {
            "with it": [outcome(n, 0.2 if n < 30 else 0.9) for n in range(40)],
            "without it": [outcome(n, 0.9) for n in range(40, 60)],
        },
        label="cat",
        where={"s000": Occurrence(sample="s000", frame=0, region=(0, 0, 1, 1))},
        words=lambda each: f"asked {each.trial.sample.key}",
    )
    assert shown is not None
    assert [side.title for side in shown.sides] == [
        "with it: 25% of 40 right",
        "without it: 100% of 20 right",
    ]
    first = shown.sides[0].exhibits[0]
    assert (first.label, first.prediction, first.correct) == ("cat", "dog", False)
    assert first.probability == pytest.approx(0.8)
    assert first.words == f"asked {first.occurrence.sample}"


def test_an_empty_side_is_no_contrast_and_open_answers_have_no_share() -> None:
    assert contrast("mark", {"with it": [outcome(0, 0.5)], "without it": []}) is None
    unlabelled = {
        "with it": [outcome(0, 0.5, None)],
        "without it": [outcome(1, 0.5, None)],
    }
    shown = contrast("mark", unlabelled)
    assert shown is not None
    assert [side.title for side in shown.sides] == ["with it", "without it"]


def test_a_matched_side_has_the_labels_of_the_first() -> None:
    first = [outcome(n, 0.3, "cat" if n % 4 else "dog") for n in range(4)]
    second = [outcome(n, 0.6, "dog" if n < 20 else "cat") for n in range(10, 40)]
    shown = contrast("mark", {"with it": first, "without it": second}, matched=True)
    assert shown is not None
    for side in shown.sides:
        labels = [exhibit.label for exhibit in side.exhibits]
        assert sorted(map(str, labels)) == ["cat", "cat", "cat", "dog"]
    # without any of these labels others are shown
    cats = [outcome(n, 0.3, "cat") for n in range(4)]
    dogs = [outcome(n, 0.6, "dog") for n in range(10, 40)]
    shown = contrast("mark", {"with it": cats, "without it": dogs}, matched=True)
    assert shown is not None
    assert len(shown.sides[1].exhibits) == 4
