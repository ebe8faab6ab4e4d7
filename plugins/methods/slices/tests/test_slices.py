"""The rankings against scikit-learn and a planted scene; what cannot be sliced is said."""

from typing import Any

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from cuescope_sdk import Report
from cuescope_sdk.statistics import Groups
from cuescope_slices import Confidence, DistillingFailures, Domino, George
from cuescope_slices.analysis import compare, is_finding, sides
from cuescope_slices.options import (
    DistillingFailuresOptions,
    DominoOptions,
    GeorgeOptions,
)
from cuescope_slices.scores import (
    Points,
    Slice,
    distilling_failures,
    domino,
    fit_mixture,
    george,
    group_folds,
    make_slice,
)
from cuescope_slices.trials import Ranked
from cuescope_testing import Setup

LABELS = ("a", "b", "c")


def scene(wrong: float = 0.9) -> tuple[Points, np.ndarray]:
    """600 points of three classes; where a direction is added, `wrong` of "a" is taken for "b"."""
    rng = np.random.default_rng(0)
    label = np.arange(600) % 3
    cue = rng.random(600) < np.array([0.15, 0.6, 0.15])[label]
    embedding = np.eye(3, 12)[label] + 2.0 * cue[:, None] * np.eye(12)[5]
    embedding += 0.3 * rng.normal(size=embedding.shape)
    prediction = np.where(cue & (label != 1) & (rng.random(600) < wrong), 1, label)
    return Points(
        embedding=embedding,
        label=label,
        probability=0.04 + 0.88 * np.eye(3)[prediction],
        group=np.arange(600),
        fitted=np.ones(600, dtype=bool),
        prediction=prediction,
        labels=LABELS,
    ), cue


def ranking(slices: list[Slice], label: int) -> np.ndarray:
    mine = [part for part in slices if label in part.value]
    return np.concatenate(
        [s.points for s in sorted(mine, key=lambda s: -s.value[label])]
    )


@pytest.mark.parametrize(
    ("slicer", "options"),
    [
        (domino, DominoOptions()),
        pytest.param(george, GeorgeOptions(), marks=pytest.mark.long),
        (distilling_failures, DistillingFailuresOptions()),
    ],
)
def test_a_ranking_begins_with_what_the_errors_share(slicer: Any, options: Any) -> None:
    points, cue = scene()
    top = ranking(slicer(points, options, 3, np.random.default_rng(3)), 0)[:20]
    assert cue[top].mean() >= 0.9 > 0.6 > cue.mean()


def test_without_labels_and_answers_dominos_mixture_is_scikit_learns() -> None:
    points, _ = scene()
    start = points.label
    ours, share = fit_mixture(
        points.embedding, np.eye(3)[start], points.probability, start, 0.0
    )
    means = np.stack([points.embedding[start == k].mean(axis=0) for k in range(3)])
    spread = np.stack([points.embedding[start == k].var(axis=0) for k in range(3)])
    theirs = GaussianMixture(
        3,
        covariance_type="diag",
        means_init=means,
        precisions_init=1 / spread,
        weights_init=np.bincount(start) / len(start),
    ).fit(points.embedding)
    assert ours.mean == pytest.approx(theirs.means_, abs=0.01)
    agree = share.argmax(axis=1) == theirs.predict(points.embedding)
    assert agree.mean() >= 0.995


def test_folds_are_of_whole_groups_and_need_enough_of_them() -> None:
    right, group = np.array([0, 0, 1, 1] * 5), np.arange(20) // 2
    for train, test in group_folds(right, group, 2):
        assert not set(group[train]) & set(group[test])
    assert group_folds(right, np.where(right, group, 0), 2) == []


def audit(method: Any, options: dict[str, Any] | None = None, **data: Any) -> Report:
    return Setup(method, options=options or {}, data_options=data).report()


def test_sequences_are_ranked_and_their_frames_follow_in_order() -> None:
    report = audit(Domino, {"discover": 0})
    assert not report.findings
    assert all(score.p_value is None for score in report.scores)
    for feature in report.features:
        frames = [occurrence.frame for occurrence in feature.occurrences]
        assert frames == [0, 1, 2] * (len(frames) // 3)
    assert "nothing is tested" in report.notes["two parts"]


def test_what_cannot_be_sliced_is_one_line_of_the_report() -> None:
    lonely = audit(DistillingFailures, {"folds": 60})
    assert "both right and wrong answers" in lonely.notes["labels left out"]
    alike = audit(George, identical=True)
    assert "three sequences that can be grouped" in alike.notes["labels left out"]


def test_confidence_ranks_frames_by_how_sure_a_still_is() -> None:
    [feature] = audit(Confidence).features
    strengths = [occurrence.strength for occurrence in feature.occurrences]
    assert len(strengths) == 450
    assert 1 / 3 <= min(strengths) < max(strengths) <= 1


def ranked_of(points: Points, slices: list[Slice]) -> Ranked:
    """Each point is a sample of its own."""
    samples = len(points)
    return Ranked(
        points=points,
        sequence=np.arange(samples),
        frame=np.full(samples, -1),
        lengths=np.ones(samples, dtype=int),
        keys=tuple(map(str, range(samples))),
        groups=Groups.single(samples),
        slices=tuple(slices),
    )


def test_a_cue_is_learned_from_errors_on_the_side_of_errors() -> None:
    points, cue = scene()
    # class "c" looks even more like the errors of "a" than these do
    points.embedding[points.label == 2, 5] += 6
    options = DistillingFailuresOptions()
    rng = np.random.default_rng(1)
    [part, *_] = distilling_failures(points, options, 1, rng)
    assert (points.label[part.points[:100]] == 2).all()
    found = sides(ranked_of(points, [part]), part)
    assert found is not None
    shown = np.array(found.shown, int)
    others = np.array(found.others, int)
    assert set(points.label[[*shown, *others]]) == {0}
    assert cue[shown].mean() > 0.95
    assert cue[others].mean() < 0.1
    assert len(shown) >= 12


def test_a_slice_that_lists_its_points_has_no_sides() -> None:
    points, _ = scene()
    part = make_slice("slice", np.arange(9), np.ones(9), {0: 1.0})
    assert sides(ranked_of(points, [part]), part) is None


def test_no_finding_stands_beside_an_interval_that_holds_0() -> None:
    """Of slices that hardly cost a label anything, where test and interval could disagree."""
    found = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        sequences = int(rng.integers(20, 150))
        clips = int(rng.integers(1, 4))
        inside = rng.random(sequences) < rng.uniform(0.1, 0.6)
        loss = rng.uniform(0.1, 0.7)
        right = rng.random(sequences) < 0.9 - loss * inside
        ranked = Ranked(
            points=Points(
                embedding=np.zeros((sequences, 2)),
                label=np.zeros(sequences, dtype=int),
                probability=np.full((sequences, 2), 0.5),
                group=np.arange(sequences) // clips,
                fitted=np.ones(sequences, dtype=bool),
                prediction=np.where(right, 0, 1),
                labels=("a", "b"),
            ),
            sequence=np.arange(sequences),
            frame=np.full(sequences, -1),
            lengths=np.ones(sequences, dtype=int),
            keys=tuple(map(str, range(sequences))),
            groups=Groups(
                np.arange(sequences) // clips, -(-sequences // clips), clips > 1
            ),
            slices=(),
        )
        members = np.flatnonzero(inside)
        part = make_slice("slice", members, np.ones(len(members)), {0: 1.0})
        options = GeorgeOptions(confidence=rng.choice([0.8, 0.95, 0.999]))
        for pair in compare(ranked, [part], options, rng):
            if is_finding(pair, options):
                found += 1
                assert pair.low is not None
                assert pair.low > 0
    assert found >= 10
