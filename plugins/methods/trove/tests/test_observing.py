"""Outcomes as arrays: predictions, correctness, and calibrated still clips."""

import numpy as np
import pytest

from cuescope_sdk import Feature, Frame, Occurrence, Outcome, Response, Sample, Trial
from cuescope_sdk.maths import cross_fitted_temperatures, softmax
from cuescope_trove.observing import among_top, observe, static_trial

LABELS = ("a", "b", "c")


def clip(index: int) -> Sample:
    pixels = np.full((2, 1, 1, 3), index, dtype=np.uint8)
    frames = tuple(Frame.from_array(frame) for frame in pixels)
    return Sample(key=f"clip-{index:02d}", frames=frames, choices=LABELS, label=LABELS[index % 3])


def test_outcomes_become_arrays() -> None:
    rng = np.random.default_rng(0)
    samples = [clip(index) for index in range(30)]
    label = np.arange(30) % 3
    logits = rng.normal(0, 4, (30, 3)) + 3 * np.eye(3)[label]
    static = rng.normal(0, 4, (60, 3))
    features = [
        Feature(
            key=f"cluster-{cluster}",
            kind="cluster",
            occurrences=tuple(Occurrence(sample=s.key, frame=cluster) for s in reversed(samples)),
        )
        for cluster in range(2)
    ]
    trials = [Trial(sample=sample) for sample in samples]
    trials += [static_trial(sample, frame) for frame in range(2) for sample in reversed(samples)]
    outcomes = [
        Outcome(trial, Response(logits=row))
        for trial, row in zip(trials, [*logits, *static], strict=True)
    ]
    observed, temperature = observe(
        samples, features, outcomes, LABELS, 1, np.random.default_rng(1)
    )
    owner = np.tile(np.arange(30)[::-1], 2)
    assert observed.frame_sample.tolist() == owner.tolist()
    assert observed.frame_cluster.tolist() == [0] * 30 + [1] * 30
    assert observed.prediction.tolist() == logits.argmax(axis=1).tolist()
    assert observed.correct.tolist() == (logits.argmax(axis=1) == label).tolist()
    fitted = cross_fitted_temperatures(logits, label, np.random.default_rng(1))
    assert temperature == pytest.approx(fitted, rel=1e-5)
    assert len(set(fitted)) == 2
    assert observed.frame_static == pytest.approx(softmax(static, fitted[owner]), abs=1e-5)
    assert observed.frame_bias == pytest.approx(
        observed.frame_static[np.arange(60), logits.argmax(axis=1)[owner]]
    )


def test_among_the_top_k_ties_go_to_the_lower_class() -> None:
    logits = np.array([[1.0, 3.0, 2.0], [2.0, 2.0, 2.0]])
    assert among_top(logits, np.array([2, 1]), 1).tolist() == [False, False]
    assert among_top(logits, np.array([2, 1]), 2).tolist() == [True, True]
    assert among_top(logits, np.array([0, 2]), 2).tolist() == [False, False]
