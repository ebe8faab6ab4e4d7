"""TRoVe's equations by hand, against a loop over clusters, and under the null."""

from dataclasses import replace

import numpy as np
import pytest

from cuescope_sdk.statistics import Estimate, Groups
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import (
    Observations,
    bias_limits,
    compare,
    gap_limits,
    meets,
    most_common_mistake,
    partition,
    static_bias,
)
from cuescope_trove.selection import ranking, score_clusters, shuffle_within_labels

RNG = np.random.default_rng(0)
DEFAULTS = TRoVeOptions()
READINGS = {False: DEFAULTS, True: TRoVeOptions(static_bias="cluster")}  # across labels


def random_scene(
    seed: int, samples: int = 120, classes: int = 4, clusters: int = 9
) -> Observations:
    """Answers that know nothing of clusters; sequences of 1 to 4 frames."""
    rng = np.random.default_rng(seed)
    label = rng.integers(classes, size=samples)
    prediction = np.where(
        rng.random(samples) < 0.7, label, rng.integers(classes, size=samples)
    )
    owner = np.repeat(np.arange(samples), rng.integers(1, 5, samples))
    return Observations(
        label=label,
        prediction=prediction,
        correct=prediction == label,
        frame_sample=owner,
        member=partition(rng.integers(clusters, size=len(owner)), clusters),
        frame_static=rng.dirichlet(np.ones(classes), len(owner)),
        groups=Groups.single(samples),
    )


def by_hand() -> Observations:
    """Four sequences of label 0, two frames each; cluster 1 shows in the last two."""
    return Observations(
        label=np.array([0, 0, 0, 0, 1]),
        prediction=np.array([0, 0, 1, 0, 0]),
        correct=np.array([True, True, False, True, False]),
        frame_sample=np.array([0, 0, 1, 1, 2, 2, 3, 3, 4]),
        member=partition(np.array([0, 0, 0, 0, 1, 0, 1, 1, 1]), 2),
        frame_static=np.array(
            [[0.9, 0.1]] * 4
            + [[0.2, 0.8], [0.6, 0.4], [0.7, 0.3], [0.7, 0.3], [0.5, 0.5]]
        ),
        groups=Groups.single(5),
    )


def test_equations_by_hand() -> None:
    table = score_clusters(by_hand(), DEFAULTS, RNG)
    # Cluster 0 shows in three of label 0's sequences, cluster 1 in two; label 1 cannot be compared.
    assert table.pairs.label.tolist() == [0, 0]
    assert table.pairs.cluster.tolist() == [0, 1]
    assert table.pairs.error_contribution == pytest.approx([1 - 2 / 3, 1 - 1 / 2])
    assert table.bias.value == pytest.approx([0.4, 0.8])
    assert table.bias.n_frames.tolist() == [1, 1]
    assert table.score == pytest.approx([1 / 3 + 0.4, 0.5 + 0.8])
    # one wrong answer of four proves nothing, wherever it is
    assert not table.finding.any()
    assert ranking(table).tolist() == [1, 0]


def test_the_papers_reading_of_the_static_bias_counts_every_label() -> None:
    scene = by_hand()
    bias = static_bias(scene, compare(scene), across_labels=True)
    assert bias.value == pytest.approx([0.4, (0.8 + 0.5) / 2])
    assert bias.n_frames.tolist() == [1, 2]


@pytest.mark.parametrize("across_labels", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_vectorised_scores_are_those_of_a_loop(seed: int, across_labels: bool) -> None:
    scene, expected = random_scene(seed), {}
    for cluster in range(scene.clusters):
        present = np.array(
            [
                (scene.member_cluster[scene.frame_sample == s] == cluster).any()
                for s in range(120)
            ]
        )
        for label in range(4):
            inside, outside = (
                (scene.label == label) & present,
                (scene.label == label) & ~present,
            )
            if not inside.any() or not outside.any():
                continue
            gap = scene.correct[outside].mean() - scene.correct[inside].mean()
            probabilities = [
                scene.frame_static[frame, scene.prediction[sample]]
                for frame, sample in enumerate(scene.frame_sample)
                if scene.member_cluster[frame] == cluster
                and not scene.correct[sample]
                and (across_labels or scene.label[sample] == label)
            ]
            expected[label, cluster] = (
                gap,
                np.mean(probabilities) if probabilities else None,
            )
    table = score_clusters(scene, READINGS[across_labels], RNG)
    keys = list(
        zip(table.pairs.label.tolist(), table.pairs.cluster.tolist(), strict=True)
    )
    assert sorted(expected) == keys
    for pair, key in enumerate(keys):
        assert table.pairs.error_contribution[pair] == pytest.approx(expected[key][0])
        assert table.scored[pair] == (expected[key][1] is not None)
        if table.scored[pair]:
            assert table.bias.value[pair] == pytest.approx(expected[key][1])


def test_scores_do_not_depend_on_the_order_of_sequences_and_frames() -> None:
    scene, rng = random_scene(7), np.random.default_rng(0)
    samples, frames = rng.permutation(120), rng.permutation(len(scene.frame_sample))
    position = np.argsort(samples)
    mixed = Observations(
        scene.label[samples],
        scene.prediction[samples],
        scene.correct[samples],
        position[scene.frame_sample[frames]],
        scene.frame_static[frames],
        scene.member[frames],
        scene.groups,
    )
    first, second = (
        score_clusters(scene, DEFAULTS, RNG),
        score_clusters(mixed, DEFAULTS, RNG),
    )
    assert second.score == pytest.approx(first.score)
    # drawn in another order: known to a few of 2,000 draws
    assert second.q_value == pytest.approx(first.q_value, abs=0.1, nan_ok=True)
    mistakes = [
        most_common_mistake(s, t.pairs) for s, t in ((scene, first), (mixed, second))
    ]
    assert np.array_equal(mistakes[0].prediction, mistakes[1].prediction)


def test_the_most_common_mistake() -> None:
    scene = replace(
        by_hand(),
        label=np.array([0, 0, 0, 0, 0]),
        prediction=np.array([0, 2, 1, 1, 2]),
        correct=np.array([True, False, False, False, False]),
        frame_static=np.eye(3)[[0, 0, 2, 2, 1, 0, 1, 0, 0]],
    )
    mistake = most_common_mistake(scene, compare(scene))
    # Cluster 1 shows in sequences 2, 3 (taken for 1) and 4 (taken for 2).
    assert mistake.prediction.tolist() == [1, 1]
    assert mistake.share == pytest.approx([1 / 2, 2 / 3])
    # two of the five are taken for 1, both with cluster 1 on screen
    assert mistake.taken_with[1] == pytest.approx(2 / 3)
    assert mistake.taken_without[1] == 0
    assert mistake.surplus == pytest.approx(mistake.taken_with - mistake.taken_without)
    assert mistake.confidence == pytest.approx([0.0, 2 / 3])


@pytest.mark.parametrize(
    ("rule", "passes"),
    [
        ({}, True),
        ({"min_error_contribution": 0.95}, False),
        ({"min_frequency": 0.6}, False),
        ({"max_frequency": 0.4}, False),
        ({"fdr": 1e-9}, False),
    ],
)
def test_each_exclusion_can_refuse_a_finding(
    rule: dict[str, float], passes: bool
) -> None:
    assert finds(leaning(), **rule) is passes


def test_a_finding_exceeds_chance_unless_that_is_switched_off() -> None:
    by_chance = replace(leaning(), frame_static=np.tile([0.5, 0.5], (20, 1)))
    assert not finds(by_chance)
    assert finds(by_chance, above_chance=False)


def finds(scene: Observations, **rule: float) -> bool:
    """Whether cluster 1 is a finding."""
    table = score_clusters(scene, DEFAULTS.model_copy(update=rule), RNG)
    return bool(table.finding[table.pairs.cluster == 1].item())


def leaning() -> Observations:
    """Twenty sequences of label 0, half of them with cluster 1, of which nine go wrong at 0.9."""
    frame = np.arange(20)
    correct = (frame < 10) | (frame == 10)
    return Observations(
        label=np.zeros(20, dtype=np.int64),
        prediction=np.where(correct, 0, 1),
        correct=correct,
        frame_sample=frame,
        member=partition((frame >= 10).astype(np.int64), 2),
        frame_static=np.tile([0.1, 0.9], (20, 1)),
        groups=Groups.single(20),
    )


@pytest.mark.long
def test_null_data_are_found_no_more_often_than_promised() -> None:
    loose = TRoVeOptions(min_error_contribution=-1.0, above_chance=False, fdr=0.2)
    alarms = [
        score_clusters(random_scene(seed), loose, RNG).finding.any()
        for seed in range(200)
    ]
    # 0.2 promised; the exact test of small counts is stricter. 57 is the binomial 99.9th percentile
    assert np.sum(alarms) <= 57
    assert score_clusters(leaning(), loose, RNG).finding.any()


def test_shuffling_keeps_what_each_label_shows_and_breaks_the_tie_to_answers() -> None:
    scene = random_scene(3)
    shuffled = shuffle_within_labels(scene, np.random.default_rng(0))
    assert np.array_equal(shuffled.correct, scene.correct)
    before = meets(scene).toarray()
    after = meets(shuffled).toarray()
    assert not np.array_equal(after, before)
    for label in range(scene.classes):
        mine = scene.label == label
        assert sorted(after[mine].tolist()) == sorted(before[mine].tolist())
    gaps = [
        compare(
            shuffle_within_labels(leaning(), np.random.default_rng(seed))
        ).error_contribution[1]
        for seed in range(80)
    ]
    assert np.mean(gaps) == pytest.approx(0.0, abs=0.06)


def test_shuffling_keeps_what_a_group_shows_together() -> None:
    rng = np.random.default_rng(0)
    source = np.repeat(np.arange(40), 5)
    scene = Observations(
        label=np.repeat([0, 1], 100),
        prediction=np.zeros(200, dtype=np.int64),
        correct=np.repeat([True, False], 100),
        frame_sample=np.tile(np.arange(200), 2),
        member=partition(np.tile((rng.random(40) < 0.5)[source].astype(int), 2), 2),
        frame_static=np.full((400, 3), 1 / 3),
        groups=Groups(source, 40, True),
    )
    shuffled = meets(shuffle_within_labels(scene, rng)).toarray()[:, 1]
    before = meets(scene).toarray()[:, 1]
    assert not np.array_equal(shuffled, before)
    assert all(len(set(shuffled[source == group].tolist())) == 1 for group in range(40))
    assert shuffled[:100].sum() == before[:100].sum()


@pytest.mark.parametrize("across_labels", [False, True])
@pytest.mark.parametrize("clips", [1, 5])
def test_intervals_of_both_parts_and_of_the_score_cover(
    clips: int, across_labels: bool
) -> None:
    """Accuracy 0.9 without the cluster and 0.5 with it; a wrong still says 0.6."""
    rng, covered = np.random.default_rng(0), np.zeros(3)
    for _ in range(200):
        scene = known_scene(clips, rng)
        pairs = compare(scene)
        pairs = pairs.take(np.flatnonzero(pairs.cluster == 1))
        bias = static_bias(scene, pairs, across_labels=across_labels)
        gap = gap_limits(scene, pairs, 0.95)
        limits = bias_limits(scene, pairs, 0.95, across_labels=across_labels)
        both = Estimate(pairs.error_contribution, *gap).plus(
            Estimate(bias.value, *limits)
        )
        bounds = gap, limits, (both.low, both.high)
        truth = 0.4, 0.6, 1.0
        covered += [
            low[0] <= value <= high[0]
            for (low, high), value in zip(bounds, truth, strict=True)
        ]
    # 94% promised; 176 is the binomial 0.1th percentile
    assert (covered >= 176).all(), covered


def known_scene(clips: int, rng: np.random.Generator) -> Observations:
    """60 sources of one label, a third of them with cluster 1; clips of a source are alike."""
    source = np.repeat(np.arange(60), clips)
    shows = source < 20
    rate = np.where(shows, 0.5, 0.9)
    shared = rng.random(60)[source]  # half of the clips are decided by their source
    own = rng.random(len(source))
    correct = np.where(rng.random(len(source)) < 0.5, shared, own) < rate
    wrong = rng.beta(6, 4, 60)[source]
    return Observations(
        label=np.zeros(len(source), dtype=np.int64),
        prediction=np.where(correct, 0, 1),
        correct=correct,
        frame_sample=np.arange(len(source)),
        member=partition(shows.astype(np.int64), 2),
        frame_static=np.stack([1 - wrong, wrong], axis=1),
        groups=Groups(source, 60, clips > 1),
    )
