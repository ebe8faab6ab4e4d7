"""Regions hidden whole: a background that stands in for itself is found all the same."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from cuescope_cci.importance import Answered, Look
from cuescope_cci.sides import background_clusters, lost, regions
from cuescope_sdk import Audit, Context, Frame, Outcome, Response, Sample, Trial

CHOICES = ("owl", "toad")
CLUSTER = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]])
OBJECT = np.kron(CLUSTER == 3, np.ones((4, 4), bool)).astype(bool)  # bottom right, in pixels


def answered() -> Answered:
    frame = Frame.from_array(np.zeros((16, 16, 3), np.uint8))
    sample = Sample(key="x/canvas", frames=(frame,), choices=CHOICES, label="owl")
    return Answered(Look(sample, CLUSTER), np.zeros(2), np.zeros((4, 2)))


def audit_of(says: Any) -> Audit:
    """An audit whose model sees which patches are left."""

    def respond(trials: Iterable[Trial]) -> list[Outcome]:
        return [Outcome(t, Response(logits=np.asarray(says(_left(t))))) for t in trials]

    return Audit(labels=CHOICES, options=None, respond=respond, context=Context())


def _left(trial: Trial) -> np.ndarray:
    return np.ones((4, 4), bool) if trial.edit is None else ~trial.edit.mask[0]  # type: ignore[union-attr]


def any_background(left: np.ndarray) -> Sequence[float]:
    """One visible background patch is enough for "toad": no cluster alone is missed."""
    return (0.0, 5.0 if (left & (CLUSTER != 3)).any() else 0.0)


def any_object(left: np.ndarray) -> Sequence[float]:
    return (0.0, 5.0 if (left & (CLUSTER == 3)).any() else 0.0)


def anything(left: np.ndarray) -> Sequence[float]:
    """All choices gain alike from whatever is on the background."""
    seen = float((left & (CLUSTER != 3)).sum())
    return (3 * seen, 3 * seen + float((left & (CLUSTER == 3)).any()))


def test_clusters_are_of_the_side_that_they_lie_on() -> None:
    assert background_clusters(CLUSTER, OBJECT).tolist() == [True, True, True, False]
    half = OBJECT.copy()
    half[:8, :8] = True  # two clusters of four are covered
    assert background_clusters(CLUSTER, half).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("says", "region"),
    [(any_background, "background"), (any_object, "foreground"), (anything, "foreground")],
)
def test_the_region_whose_absence_costs_more_decides(says: Any, region: str) -> None:
    assert regions(audit_of(says), [answered()], ["toad"], [OBJECT]) == [region]


def test_nothing_is_said_of_a_mask_of_one_region() -> None:
    audit, one = audit_of(any_background), answered()
    for mask in (np.zeros((16, 16), bool), np.ones((16, 16), bool)):
        assert regions(audit, [one], ["toad"], [mask]) == [None]


def test_a_text_of_its_own_has_no_choices_to_be_compared_with() -> None:
    def heat(left: np.ndarray) -> Sequence[float]:
        return (float((left & (CLUSTER != 3)).any()),)

    assert regions(audit_of(heat), [answered()], ["a pond"], [OBJECT]) == ["background"]
    assert lost(np.array([4.0]), np.array([1.0]), 0) == 3.0


def test_what_all_choices_lose_is_no_loss_of_one() -> None:
    assert lost(np.array([5.0, 5.0]), np.array([1.0, 1.0]), 0) == 0.0
    assert lost(np.array([5.0, 5.0]), np.array([1.0, 3.0]), 0) == pytest.approx(1.0)
