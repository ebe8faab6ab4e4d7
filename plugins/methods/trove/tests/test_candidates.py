"""Candidates of several starts and directions: one cue is told once, and its frames come first."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cuescope_sdk.maths import normalise
from cuescope_sdk.statistics import FamilyTest, Groups, Roc
from cuescope_trove.candidates.directions import directions_of
from cuescope_trove.candidates.distinct import ALIKE, Distinct, weighed
from cuescope_trove.candidates.foretold import AnswerTest, Foreteller
from cuescope_trove.candidates.frames import by_candidate, by_cue
from cuescope_trove.candidates.groups import (
    COMPONENT,
    FORETOLD,
    Candidates,
    independent_components,
    principal_components,
    several_clusterings,
)
from cuescope_trove.candidates.views import View
from cuescope_trove.maths.clustering import Clusters
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations, compare, lead, most_common_mistake
from cuescope_trove.selection import ScoredPairs, Verdict, score

LABELS, SEQUENCES, FRAMES, DIM = 4, 240, 3, 24


def scene(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Unit embeddings of frames of four labels on six backgrounds, and which show a cue.

    The cue is a direction that is weaker than label and background: no cluster is made of it.
    """
    rng = np.random.default_rng(seed)
    looks, places = (normalise(rng.normal(size=(count, DIM))) for count in (LABELS, 6))
    cue = normalise(rng.normal(size=(1, DIM)))
    label = np.arange(SEQUENCES) % LABELS
    shows = rng.random(SEQUENCES) < 0.3
    points = looks[label] + 1.2 * places[rng.integers(6, size=SEQUENCES)]
    points = np.repeat(points + 0.9 * shows[:, None] * cue, FRAMES, axis=0)
    points += 0.08 * rng.normal(size=points.shape)
    return normalise(points).astype(np.float32), np.repeat(shows, FRAMES)


def answered(candidates: Candidates, shows: np.ndarray, lean: float) -> Observations:
    """A model that takes label 1 to 3 for label 0 where the cue is, with a chance of `lean`."""
    rng = np.random.default_rng(1)
    label = np.arange(SEQUENCES) % LABELS
    pulled = shows[::FRAMES] & (rng.random(SEQUENCES) < lean)
    other = (label + 1) % LABELS
    wrong = np.where(rng.random(SEQUENCES) < 0.1, other, label)
    prediction = np.where(pulled, 0, wrong)
    still = np.repeat(np.eye(LABELS)[prediction], FRAMES, axis=0) * 0.6 + 0.1
    return Observations(
        label=label,
        prediction=prediction,
        correct=prediction == label,
        frame_sample=np.repeat(np.arange(SEQUENCES), FRAMES),
        frame_static=still,
        member=candidates.member,
        groups=Groups.single(SEQUENCES),
    )


def audited(seed: int, lean: float = 0.8) -> tuple[Any, np.ndarray, np.ndarray]:
    points, shows = scene(seed)
    clusterings = several_clusterings(points, [8, 16, 24], [seed, seed + 100])
    candidates = Candidates.join(
        [clusterings, independent_components(points, 12, seed)]
    )
    table = score(
        answered(candidates, shows, lean), TRoVeOptions(), np.random.default_rng(0)
    )
    directions = directions_of(table.observations, points)
    analysis = SimpleNamespace(
        distinct=Distinct(candidates, table, directions),
        choice=SimpleNamespace(candidates=candidates),
        observations=table.observations,
        table=table,
        foretold=(),
    )
    return analysis, points, shows


def found_alike(analysis: Any) -> tuple[Distinct, np.ndarray]:
    """As if all that lies in the direction of a finding were found too; and the pairs of it."""
    table, distinct = analysis.table, analysis.distinct
    pairs = table.pairs
    found = int(np.flatnonzero(table.finding)[0])
    of_label = np.flatnonzero(pairs.label == pairs.label[found])
    directions = distinct.directions[pairs.cluster[of_label]]
    towards = directions @ distinct.directions[pairs.cluster[found]]
    same = of_label[towards >= ALIKE]
    assert len(same) > 2
    verdict = np.full_like(table.verdict, Verdict.NOTHING)
    verdict[same] = Verdict.FINDING
    return replace(distinct, table=replace(table, verdict=verdict)), same


def two_alike(distinct: Distinct, same: np.ndarray) -> tuple[int, int]:
    """The pair that is worth most, and the one of the others that lies nearest to it."""
    most, *others = same[np.argsort(-distinct.table.worth[same])].tolist()
    lies = distinct.directions[distinct.table.pairs.cluster]
    return most, max(others, key=lambda other: lies[other] @ lies[most])


def learned(distinct: Distinct, pair: int) -> Distinct:
    """As if the candidate of a pair had been learned from pictures."""
    start = distinct.candidates.start.copy()
    start[distinct.table.pairs.cluster[pair]] = FORETOLD
    candidates = replace(distinct.candidates, start=start)
    return replace(distinct, candidates=candidates).led_by_pictures()


def test_a_candidate_keeps_its_members_strongest_first() -> None:
    points, _ = scene()
    joined = several_clusterings(points, [8, 16], [0, 1])
    assert joined.start.tolist() == sorted(joined.start.tolist())
    assert set(joined.start) == {0, 1}
    assert joined.member.sum(axis=1).tolist() == [4] * len(points)
    for members, strength in zip(joined.members, joined.strength, strict=True):
        assert len(set(members.tolist())) == len(members)
        assert (np.diff(strength) <= 0).all()
    some = joined.take([5, 2])
    assert some.members[0].tolist() == joined.members[5].tolist()


def test_a_direction_shows_a_cue_that_no_cluster_is_made_of() -> None:
    gains = []
    for seed in range(4):
        points, shows = scene(seed)
        clusterings = several_clusterings(points, [8, 16, 24], [0, 1, 2])
        directions = independent_components(points, 12, 0)
        assert set(directions.start) == {COMPONENT}
        again = independent_components(points, 12, 0)
        for first, second in zip(directions.members, again.members, strict=True):
            assert first.tolist() == second.tolist()
        gains.append(best_match(directions, shows) - best_match(clusterings, shows))
    assert np.mean(gains) > 0.15


def test_a_dimension_that_a_network_never_uses_changes_no_component() -> None:
    points, _ = scene(0)
    unused = np.hstack([np.zeros((len(points), 1), np.float32), points])
    found = independent_components(unused, 12, 0)
    for first, second in zip(
        found.members, independent_components(points, 12, 0).members, strict=True
    ):
        assert first.tolist() == second.tolist()


def best_match(candidates: Candidates, shows: np.ndarray) -> float:
    """F1, precision and recall in one, of the candidate that shows the cue best."""
    hits = [shows[members].sum() for members in candidates.members]
    sizes = [len(members) for members in candidates.members]
    return float(np.max(2 * np.array(hits) / (np.array(sizes) + shows.sum())))


def test_a_principal_component_holds_a_cue_in_a_quarter_of_the_frames() -> None:
    rng = np.random.default_rng(0)
    label = np.repeat(np.arange(LABELS), 200)
    shows = rng.random(len(label)) < 0.25
    looks, cue = rng.normal(size=(LABELS, 16)), rng.normal(size=16)
    points = looks[label] + 0.8 * shows[:, None] * cue
    points = (points + 0.5 * rng.normal(size=points.shape)).astype(np.float32)
    principal = principal_components(points, label, 4)
    assert len(principal) == 8
    # one tail shows it, the other its lack, and none shows a label
    assert best_match(principal, shows) > 0.8
    for code in range(LABELS):
        assert best_match(principal, label == code) < 0.5


def test_a_tail_holds_what_has_the_wrong_label_and_would_hold_its_class() -> None:
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1], 200)
    looks_like = np.where(np.arange(len(label)) < 40, 1, label)
    points = rng.normal(size=(2, 16))[looks_like]
    points = (points + 0.1 * rng.normal(size=points.shape)).astype(np.float32)
    principal = principal_components(points, label, 4)
    shows = looks_like != label
    [number] = [
        number
        for number, members in enumerate(principal.members)
        if shows[members].mean() > 0.9
    ]
    assert principal.member[:, [number]].toarray()[label == 1].mean() == 0
    tail = principal.tails[number]
    assert tail.with_label(label == 0)[label == 1].mean() == 1
    assert tail.with_label(label == 1)[label == 1].mean() == 0
    assert tail.take(label == 1).with_label(np.zeros(200, dtype=bool)).all()
    again = Candidates.join([principal.take([0]), principal.take([number, 0])])
    assert np.array_equal(again.tails[1].beside, tail.beside)


def test_points_that_are_their_labels_mean_have_no_principal_component() -> None:
    points, label = np.ones((9, 4)), np.repeat([0, 1, 2], 3)
    assert len(principal_components(points, label, 4)) == 0


@pytest.mark.parametrize("points", [np.ones((9, 4)), np.eye(4)[:1], np.eye(4)[[0, 1]]])
def test_points_without_directions_have_no_components(points: np.ndarray) -> None:
    found = independent_components(points.astype(np.float32), 8, 0)
    assert sum(map(len, found.members)) <= 2 * len(points)
    assert len(independent_components(np.ones((9, 4), dtype=np.float32), 8, 0)) == 0


def test_each_cue_is_told_once_and_no_finding_is_left_out() -> None:
    for seed in range(3):
        analysis, _, shows = audited(seed)
        table = analysis.table
        candidates = analysis.choice.candidates
        distinct = analysis.distinct
        chosen = distinct.choose(most=24)
        told = table.of_clusters(chosen)
        assert table.finding.sum() >= told.finding.sum() > 0
        # the cue is one thing: whatever the label, it is told once or, where it is cut, twice
        assert told.finding.sum() <= 2 * (LABELS - 1)
        # every label with a finding has one that is told
        assert set(told.pairs.label[told.finding]) == set(
            table.pairs.label[table.finding]
        )
        best = told.pairs.cluster[np.flatnonzero(told.finding)[0]]
        assert shows[candidates.members[chosen[best]]].mean() > 0.7
        sizes = [len(candidates.members[number]) for number in chosen]
        assert sizes == sorted(sizes, reverse=True)
        assert len(chosen) >= 12
        for pair in np.flatnonzero(told.finding):
            count = distinct.starts_of(
                told.pairs.label[pair], chosen[told.pairs.cluster[pair]]
            )
            assert 0 <= count <= distinct.starts == 2


def test_the_pairs_of_some_clusters_are_numbered_anew() -> None:
    analysis, _, _ = audited(0)
    table: ScoredPairs = analysis.table
    chosen = [7, 3, 40]
    some = table.of_clusters(chosen)
    assert some.observations.clusters == 3
    # by label, then cluster: as if only these had been compared
    fresh = compare(some.observations)
    assert np.array_equal(some.pairs.label, fresh.label)
    assert np.array_equal(some.pairs.cluster, fresh.cluster)
    assert np.array_equal(some.pairs.n_with, fresh.n_with)
    for pair in range(len(some.pairs)):
        mine = (table.pairs.label == some.pairs.label[pair]) & (
            table.pairs.cluster == chosen[some.pairs.cluster[pair]]
        )
        assert some.q_value[pair] == pytest.approx(table.q_value[mine][0], nan_ok=True)


def test_frames_are_ranked_by_the_cue_and_not_by_their_label() -> None:
    for seed in range(3):
        analysis, points, shows = audited(seed)
        label = int(analysis.table.pairs.label[analysis.table.finding][0])
        order = by_cue(points, analysis, label)
        assert sorted(order.tolist()) == list(range(len(points)))
        assert shows[order[:100]].mean() >= 0.9
        place = np.empty(len(order))
        place[order] = -np.arange(len(order))
        assert Roc(place, shows).auroc() > 0.9


def test_what_leads_clearest_to_one_mistake_stands_for_what_is_the_same_thing() -> None:
    """A small part of a cue is purer, and leaves the rest of it out."""
    analysis, _, shows = audited(0)
    distinct, same = found_alike(analysis)
    table = distinct.table
    shown = distinct.choose(1)
    foremost = table.pairs.cluster[same[table.clarity[same].argmax()]]
    purest = table.pairs.cluster[same[table.worth[same].argmax()]]
    assert foremost in shown
    members = distinct.candidates.members
    assert shows[members[foremost]].sum() > shows[members[purest]].sum()
    towards = distinct.directions[shown] @ distinct.directions[foremost]
    assert (towards >= ALIKE).sum() == 1


def test_what_was_learned_from_pictures_stands_for_the_same_thing() -> None:
    """However unclear it is; and it is worth no less than what stood for it."""
    analysis, _, _ = audited(0)
    distinct, same = found_alike(analysis)
    table = distinct.table
    least = int(same[table.clarity[same].argmin()])
    candidate = table.pairs.cluster[least]
    before = distinct.choose(1)
    assert candidate not in before
    led = learned(distinct, least)
    assert candidate in led.choose(1)
    stood = same[np.isin(table.pairs.cluster[same], before)]
    assert led.table.worth[least] == table.worth[stood].max() > table.worth[least]


def test_what_is_the_same_thing_is_told_once_for_a_label() -> None:
    """What was learned from pictures rather than what is worth more; of other labels both."""
    analysis, _, _ = audited(0)
    distinct, same = found_alike(analysis)
    most, like = two_alike(distinct, same)
    chosen = distinct.table.pairs.cluster[[most, like]].tolist()
    both = distinct.table.of_clusters(chosen)
    assert both.finding.sum() == 2
    for first, stands in ((distinct, 0), (learned(distinct, like), 1)):
        once = first.told_once(chosen)
        assert once.pairs.cluster[once.finding].tolist() == [stands]
        # the pair of another label is there still
        assert len(once.pairs) == len(both.pairs) - 1


def test_frames_come_by_what_pictures_tell_where_it_is_the_same_thing() -> None:
    analysis, points, _ = audited(0)
    distinct, same = found_alike(analysis)
    _, pair = two_alike(distinct, same)
    analysis.distinct = led = learned(distinct, pair)
    analysis.table = led.table
    label, answer = (
        int(led.table.pairs.label[pair]),
        led.table.mistake.prediction[pair],
    )
    drawn = by_cue(points, analysis, label).tolist()
    told = np.random.default_rng(5).permutation(len(points)).astype(float)
    told[:7] = -np.inf  # not looked at: behind all others, as they are drawn
    candidate = led.table.pairs.cluster[pair]
    nothing = FamilyTest.of_draws(np.zeros((3, 1)))
    for learned_answer in (answer, answer + 1):
        test = AnswerTest(learned_answer, candidate, np.array([label]), nothing, told)
        analysis.foretold = (test,)
        order = by_cue(points, analysis, label).tolist()
        if learned_answer == answer:
            by_told = np.argsort(-told)[:-7].tolist()
            assert order == by_told + [frame for frame in drawn if frame < 7]
        else:
            assert order == drawn


@pytest.mark.parametrize(("beyond", "stands"), [(0.01, "large"), (-0.01, "small")])
def test_what_is_surely_less_pure_does_not_stand_for_what_is_the_same_thing(
    beyond: float, stands: str
) -> None:
    """Within a standard error of the purest, which is small, the clearer one stands."""
    analysis, _, _ = audited(0)
    table, distinct = analysis.table, analysis.distinct
    pairs = table.pairs
    found = int(np.flatnonzero(table.finding)[0])
    same = np.flatnonzero(pairs.label == pairs.label[found])
    small, large = same[table.error[same].argmax()], same[table.error[same].argmin()]
    worth = np.zeros_like(table.worth)
    worth[small] = 1.0
    worth[large] = 1.0 - table.error[small] + beyond
    judged = replace(distinct, table=replace(table, worth=worth))
    assert judged.table.clarity[large] > judged.table.clarity[small]
    expected = {"small": small, "large": large}[stands]
    assert judged._clearest(small, same) == expected


def test_what_a_label_looks_like_is_worth_less_than_what_leads_there() -> None:
    _, shows = scene()
    label = np.repeat(np.arange(SEQUENCES) % LABELS, FRAMES)
    everything = Candidates(
        len(label), [np.arange(len(label))], [label], np.zeros(1, int)
    )
    taken = answered(everything, shows, 0.8)
    is_taken = np.repeat((taken.prediction == 0) & (taken.label != 0), FRAMES)
    # the cue, the same in other labels alone, and the answer's label with what is taken for it
    members = [shows, shows & (label != 0), (label == 0) | is_taken]
    candidates = Candidates(
        len(label),
        [np.flatnonzero(shown) for shown in members],
        [np.ones(int(shown.sum())) for shown in members],
        np.array([0, FORETOLD, 1]),
    )
    table = score(answered(candidates, shows, 0.8), TRoVeOptions())
    assert table.finding.sum() == 3 * (LABELS - 1)
    cue, learned, looks = (
        np.flatnonzero(table.finding & (table.pairs.cluster == number))
        for number in range(3)
    )
    assert table.worth[looks].min() > table.worth[cue].max()
    worth = weighed(table, None).worth
    assert worth[looks].max() < worth[cue].min()
    # whatever label it is told of
    assert worth[cue] == pytest.approx(worth[cue[0]])
    # it leads as far, and as much of the cue is in each label
    assert worth[learned] == pytest.approx(worth[cue], rel=0.1)
    rest = np.setdiff1d(np.arange(len(worth)), [*looks, *cue, *learned])
    assert (worth[rest] == table.worth[rest]).all()


def test_what_pictures_tell_better_is_worth_more() -> None:
    rng = np.random.default_rng(1)
    _, shows = scene()
    label = np.repeat(np.arange(SEQUENCES) % LABELS, FRAMES)
    own = np.repeat(np.arange(SEQUENCES), FRAMES)
    unseen = rng.permutation(shows)
    candidates = Candidates(
        len(label),
        [np.flatnonzero(shows), np.flatnonzero(unseen)],
        [np.ones(int(shows.sum()))] * 2,
        np.array([0, 1]),
    )
    observations = answered(candidates, shows, 0.8)
    rows = rng.normal(size=(len(label), 6)) + 3 * shows[:, None]
    pictures = View.of(rows, own, observations.label, observations.groups, rng)
    foreteller = Foreteller(len(label), np.arange(len(label)), pictures, None)
    table = score(observations, TRoVeOptions())
    answer = np.zeros(len(table.pairs), dtype=int)
    visible = foreteller.visible(observations, table.pairs, answer)
    assert visible[table.pairs.cluster == 0].min() > 0.9
    assert visible[table.pairs.cluster == 1].max() < 0.5
    before, after = (weighed(table, of).worth for of in (None, foreteller))
    found = np.flatnonzero(table.finding)
    assert after[found] == pytest.approx(before[found] * visible[found])


def test_what_leads_one_label_alone_is_worth_less_than_what_leads_all() -> None:
    """Though that label is led more often."""
    label = np.repeat(np.arange(LABELS), 100)
    prediction = label.copy()
    everywhere = np.arange(400) % 100 < 20
    prediction[(np.arange(400) % 100 < 14) & (label > 0)] = 0
    alone = (label == 3) & (np.arange(400) % 100 >= 80)
    prediction[alone] = 0
    member = sparse.csr_array(np.stack([everywhere, alone], axis=1))
    observations = Observations(
        label=label,
        prediction=prediction,
        correct=prediction == label,
        frame_sample=np.arange(400),
        frame_static=np.full((400, LABELS), 0.25),
        member=member,
        groups=Groups.single(400),
    )
    pairs = compare(observations)
    third = pairs.take(pairs.label == 3)
    mistake = most_common_mistake(observations, third)
    assert mistake.surplus[1] > mistake.surplus[0]
    leads = lead(observations, third, mistake.prediction)
    # 14 of 20, where the rest of two labels has none and of the third 20 of 80
    expected = (2 * 14 / 23 + (14 - 20 * 20 / 80) / 23) / 3
    assert leads == pytest.approx([expected, (20 - 20 * 14 / 80) / 23 / 3])


def test_where_nothing_is_found_frames_are_ranked_by_the_commonest_mistake() -> None:
    analysis, points, _ = audited(0, lean=0.0)
    assert not analysis.table.finding.any()
    label = 1
    observations = analysis.observations
    wrong = (observations.label == label) & ~observations.correct
    mistake = Counter(observations.prediction[wrong].tolist()).most_common(1)[0][0]
    first, *_, last = by_cue(points, analysis, label)
    pulled = observations.frame_static[:, mistake]
    assert pulled[first] > pulled.mean() > pulled[last]


def test_the_papers_way_ranks_frames_by_their_candidate() -> None:
    analysis, _, _ = audited(0, lean=0.0)
    clusters = Clusters(np.eye(3), np.array([0, 0, 1, 2]), np.array([1.0, 0.5, 1, 1]))
    candidates = Candidates.of(clusters)
    pairs = analysis.table.pairs.take([0, 1, 2])
    object.__setattr__(pairs, "label", np.zeros(3, dtype=int))
    object.__setattr__(pairs, "cluster", np.arange(3))
    order = by_candidate(candidates, pairs, np.array([0.2, -np.inf, 0.9]), 0)
    assert order.tolist() == [3, 0, 1, 2]


@pytest.mark.long
def test_no_more_is_found_in_answers_that_know_nothing_of_what_is_seen() -> None:
    alarms = 0
    for seed in range(40):
        analysis, _, _ = audited(seed, lean=0.0)
        alarms += bool((analysis.table.verdict == Verdict.FINDING).any())
    # 7: the binomial 99.9th percentile of 40 at 5%
    assert alarms <= 7
