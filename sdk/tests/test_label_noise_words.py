"""Samples that look mislabelled: those with the cue of a finding are not to be relabelled."""

from collections.abc import Sequence

import numpy as np
import pytest

from cuescope_sdk import Feature, Occurrence, Sample, Score
from cuescope_sdk.data import mislabelled_samples
from cuescope_sdk.statistics import Answered, Groups, LabelNoise

LABELS = ("cow", "horse")


def test_a_sample_with_the_cue_of_a_finding_is_not_to_be_relabelled() -> None:
    samples = [Sample(key=f"s{n}", frames=(), label="cow") for n in range(6)]
    sure = np.full((6, 2), [0.9, 0.1])
    sure[:3] = (0.1, 0.9)
    answered = Answered(
        label=np.zeros(6, int),
        prediction=sure.argmax(axis=1),
        correct=sure[:, 0] > sure[:, 1],
        groups=Groups.single(6),
        probability=sure,
    )
    noise = LabelNoise(answered, np.array([1, 1, 1, -1, -1, -1]), np.ones(2))
    marked = tuple(Occurrence(sample=f"s{n}", frame=0) for n in (0, 1))
    feature = Feature(key="cluster-00", kind="cluster", occurrences=marked)

    def words(label: str) -> str:
        score = Score(
            feature="cluster-00", label=label, metric="loss", value=0.6, finding=True
        )
        return mislabelled_samples(
            samples,
            LABELS,
            noise,
            explained=0,
            held=1,
            features=[feature],
            scores=[score],
        ).detail

    assert "2 of them show the cue of a finding" in words("cow")
    assert "Look at these of the others first: s2 (" in words("cow")
    assert "1 finding holds without them, or has errors" in words("cow")
    assert "s0" not in words("cow")
    # of another label the cue is no reason
    assert "Look at these first: s0 (" in words("horse")


@pytest.mark.parametrize("shared", ["black bars, along the top edge", None])
def test_what_the_samples_share_may_be_a_cue_that_was_not_found(
    shared: str | None,
) -> None:
    samples = [Sample(key=f"s{n}", frames=(), label="cow") for n in range(4)]
    wrong = np.tile([0.1, 0.9], (4, 1))
    answered = Answered(
        label=np.zeros(4, int),
        prediction=np.ones(4, int),
        correct=np.zeros(4, bool),
        groups=Groups.single(4),
        probability=wrong,
    )
    noise = LabelNoise(answered, np.array([1, 1, 1, -1]), np.ones(2))
    given: list[str] = []

    def share(alike: Sequence[Sample]) -> str | None:
        given.extend(sample.key for sample in alike)
        return shared

    said = mislabelled_samples(
        samples, LABELS, noise, explained=0, held=0, share=share
    ).detail
    assert given == ["s0", "s1", "s2"]
    words = "The 3 of 'cow' that look like 'horse' share something in their pictures"
    assert (f"{words} (a guess: {shared})" in said) is (shared is not None)
