"""Recogniser of a cue: planted groups come back held out, calibrated, and chance gives none."""

import numpy as np
import pytest

from cuescope_sdk.statistics import Groups, Recogniser, Roc, TwoGroups, recognise
from cuescope_sdk.statistics._recogniser import association

LABELS, DIM = 4, 20
SHARE = np.array([0.95, 0.05, 0.1, 0.15])


def scene(
    seed: int, samples: int = 600, shift: float = 6.0, draws: float = 0.9
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Embeddings of labels that lie apart, who shows a cue, labels, and who gets answer 0."""
    rng = np.random.default_rng(seed)
    label = np.arange(samples) % LABELS
    shows = rng.random(samples) < SHARE[label]
    looks = 8 * rng.standard_normal((LABELS, DIM))
    direction = rng.standard_normal(DIM)
    direction *= shift / np.linalg.norm(direction)
    points = looks[label] + rng.standard_normal((samples, DIM))
    points += shows[:, None] * direction
    drawn = np.where(shows, draws, 0.02)
    given = (label == 0) | (rng.random(samples) < drawn)
    return points, shows, label, given


@pytest.mark.parametrize("seed", [0, 1])
def test_a_planted_cue_is_recognised_in_all_labels(seed: int) -> None:
    points, shows, label, given = scene(seed)
    rng = np.random.default_rng(seed)
    found = recognise(points, label, given, LABELS, Groups.single(600), rng)
    assert found is not None
    probability = found.probability
    assert (probability @ shows) / probability.sum() > 0.95
    assert (probability @ shows) / shows.sum() > 0.95
    # of the answer's own label nearly all show it, which a group around 0 would not tell
    assert probability[label == 0].mean() == pytest.approx(SHARE[0], abs=0.08)


def test_probabilities_are_calibrated_where_groups_overlap() -> None:
    parts = []
    for seed in range(6):
        points, shows, label, given = scene(seed, 1200, shift=3.0)
        rng = np.random.default_rng(seed)
        found = recognise(points, label, given, LABELS, Groups.single(1200), rng)
        assert found is not None
        parts.append((found.probability, shows))
    probability, shows = map(np.concatenate, zip(*parts, strict=True))
    for low, high in ((0.0, 0.2), (0.2, 0.8), (0.8, 1.0)):
        inside = (probability >= low) & (probability <= high)
        assert shows[inside].mean() == pytest.approx(
            probability[inside].mean(), abs=0.12
        )


def test_scores_have_not_seen_their_sample() -> None:
    """Answers that know nothing of embeddings: held-out scores do not tell them."""
    strengths = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        points, _, label, _ = scene(seed, 240, shift=0.0)
        given = rng.random(240) < 0.2
        found = recognise(points, label, given, LABELS, Groups.single(240), rng)
        assert found is not None
        strengths.append(association(found.score, given, label, LABELS))
    assert np.mean(strengths) < 1.0


def test_copies_of_a_sample_stay_in_one_fold() -> None:
    points, _, label, given = scene(0, 200)
    codes = np.repeat(np.arange(200), 3)
    found = recognise(
        points[codes],
        label[codes],
        given[codes],
        LABELS,
        Groups(codes, 200, True),
        np.random.default_rng(0),
    )
    assert found is not None
    folds = found.fold.reshape(200, 3)
    assert (folds == folds[:, :1]).all()


def test_too_few_answers_leave_nothing_to_learn() -> None:
    points, _, label, _ = scene(0, 100)
    given = np.arange(100) < 4
    rng = np.random.default_rng(0)
    assert recognise(points, label, given, LABELS, Groups.single(100), rng) is None


def test_a_recogniser_tells_new_samples() -> None:
    points, shows, label, given = scene(3, 900)
    old, new = np.arange(900) < 600, np.arange(900) >= 600
    learned = Recogniser.learn(points[old], label[old], given[old], LABELS, 15)
    probability = learned.probability(points[new], label[new])
    assert (Roc(probability, shows[new]).auroc() or 0) > 0.99
    assert probability.mean() == pytest.approx(shows[new].mean(), abs=0.05)


def test_two_groups_are_what_they_were_drawn_from() -> None:
    rng = np.random.default_rng(0)
    label = np.arange(3000) % 3
    shows = rng.random(3000) < np.array([0.1, 0.5, 0.9])[label]
    score = np.array([0.0, 2.0, -1.0])[label] + 5.0 * shows
    score += 0.8 * rng.standard_t(4, 3000)
    given = rng.random(3000) < np.where(shows, 0.7, 0.2)
    fit = TwoGroups.fit(score, label, given, 3)
    assert fit.share == pytest.approx([0.1, 0.5, 0.9], abs=0.04)
    assert fit.mean == pytest.approx([0.0, 2.0, -1.0], abs=0.3)
    assert (fit.shift, fit.width) == pytest.approx((5.0, 0.8), abs=0.15)
    assert fit.probability(score, label).mean() == pytest.approx(shows.mean(), abs=0.02)
