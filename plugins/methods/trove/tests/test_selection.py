"""False findings of each kind, what explains them, and cues that are found all the same."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cuescope_sdk.statistics import GapPlan, Groups, LabelNoise
from cuescope_sdk.testing import Setup, temporary_cache
from cuescope_trove import TRoVe, label_noise, selection
from cuescope_trove.analysis import pair_intervals
from cuescope_trove.candidates import correction
from cuescope_trove.candidates.correction import could_pass, p_values
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.power import (
    SPLIT,
    TOGETHER,
    Kept,
    chance_to_find,
    expected_tried,
    limit,
    smallest_loss,
)
from cuescope_trove.scores import LabelPart, compare, label_parts
from cuescope_trove.selection import Verdict, discovery_part, score
from cuescope_trove.verify import check_null

# audits, and the binomial 99.9th percentile of those with a finding where 5% are promised
AUDITS = [(6, 3), pytest.param((100, 13), marks=pytest.mark.long)]


def simulations(name: str) -> Any:
    """A script of benchmarks/, which has simulated audits."""
    path = Path(__file__).parents[4] / "benchmarks" / f"{name}.py"
    spec = spec_from_file_location(f"simulated_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


SIMULATIONS = simulations("nulls/trove")
SINGLE, WORLD = SIMULATIONS.NULLS["independent sequences"], SIMULATIONS.World


def simulate(world: Any, rng: np.random.Generator) -> Any:
    """What the model answers in a simulated audit."""
    return SIMULATIONS.simulate(world, rng).observations


def verdicts(world: Any, audits: int, discover: float, **options: Any) -> np.ndarray:
    """How many audits have a pair of each verdict."""
    counts = np.zeros(len(Verdict), dtype=int)
    for audit in range(audits):
        rng = np.random.default_rng([3, audit])
        scene = simulate(world, rng)
        chosen = TRoVeOptions(discover=discover, **options)
        part = discovery_part(scene, discover, rng)
        table = score(scene, chosen, rng, part)
        counts += [(table.verdict == verdict).any() for verdict in Verdict]
    return counts


@pytest.mark.parametrize("audits", AUDITS)
@pytest.mark.parametrize("discover", [pytest.param(0.0, marks=pytest.mark.long), 0.5])
@pytest.mark.parametrize(
    "null",
    ["10 clips of a source", pytest.param("5% label noise", marks=pytest.mark.long)],
)
def test_a_null_has_few_cues(
    null: str, discover: float, audits: tuple[int, int]
) -> None:
    number, most = audits
    counts = verdicts(SIMULATIONS.NULLS[null], number, discover)
    assert counts[Verdict.FINDING] <= most
    if "noise" in null:
        assert counts[Verdict.LABEL_NOISE] >= 0.3 * number


@pytest.mark.long
def test_clips_taken_as_independent_are_found_where_nothing_is() -> None:
    """The bad audit that groups prevent."""
    found = 0
    for audit in range(30):
        scene = simulate(WORLD(clips=10), np.random.default_rng([3, audit]))
        naive = replace(scene, groups=Groups.single(len(scene.label)))
        table = score(naive, TRoVeOptions(label_noise=0))
        found += table.finding.any()
    assert found >= 10


@pytest.mark.parametrize(
    "null",
    [
        pytest.param("size, noisy boxes (reliability .9)", marks=pytest.mark.long),
        pytest.param("drift in time", marks=pytest.mark.long),
        pytest.param("site", marks=pytest.mark.long),
        "size, unknown",
    ],
)
def test_what_else_explains_errors_takes_the_star(null: str) -> None:
    """Of audits in which the rule is passed: what is left after all checks is no star."""
    passed = 0
    # some of it is taken for label noise first
    options = TRoVeOptions(null_shuffles=0, label_noise=0)
    for audit in range(4):
        rng = np.random.default_rng([7, audit])
        scene = SIMULATIONS.simulate(SIMULATIONS.NULLS[null], rng)
        found = SIMULATIONS.check_trove(scene, rng, options).found
        passed += bool(found)
        assert all(score.doubt for score in found)
    assert passed >= 2


@pytest.mark.parametrize("clips", [1, pytest.param(5, marks=pytest.mark.long)])
@pytest.mark.parametrize("discover", [pytest.param(0.0, marks=pytest.mark.long), 0.5])
def test_no_finding_stands_beside_an_interval_that_holds_0(
    discover: float, clips: int
) -> None:
    """Of audits with cues that are hardly found, where test and interval could disagree."""
    found = 0
    for audit in range(12):
        rng = np.random.default_rng([6, audit])
        world = WORLD(
            n=int(rng.integers(12, 60)) * 5,
            clips=clips,
            cue_share=rng.uniform(0.15, 0.5),
            cue_loss=rng.uniform(0.3, 0.8),
        )
        options = TRoVeOptions(
            discover=discover,
            fdr=rng.choice([0.05, 0.3]),
            confidence=rng.choice([0.8, 0.95, 0.99]),
            min_error_contribution=rng.choice([-1.0, 0.1]),
        )
        scene = simulate(world, rng)
        part = discovery_part(scene, discover, rng)
        table = score(scene, options, rng, part)
        (gap_low, _), _, (score_low, _) = pair_intervals(table, options)
        told = table.verdict != Verdict.NOTHING
        assert (gap_low[told] > 0).all()
        assert (score_low[table.finding] > 0).all()
        assert (table.q_value[told] <= options.fdr).all()
        found += told.any()
    assert found >= 3


def test_a_pair_is_found_from_its_critical_p_value_on() -> None:
    """The level of an interval is that of the test, whatever the weights of the pairs."""
    rng = np.random.default_rng(2)
    scene = simulate(WORLD(cue_share=0.25, cue_loss=0.3, harmed=3), rng)
    table = score(scene, TRoVeOptions(discover=0.0), rng)
    critical = table.correction.critical(table.q_value, 0.05)
    # of labels in which something is found: their share of the rate is what the others leave
    found = np.unique(table.pairs.label[table.q_value <= 0.05])
    tested = table.tried & np.isin(table.pairs.label, found)
    passes = table.q_value[tested] <= 0.05
    assert np.array_equal(passes, 2 * table.p_value[tested] <= critical[tested])
    assert 0 < passes.sum() < len(passes)


@pytest.mark.parametrize("discover", [pytest.param(0.0, marks=pytest.mark.long), 0.5])
def test_a_planted_cue_is_still_found(discover: float) -> None:
    world = WORLD(n=300, cue_share=0.25, cue_loss=0.5)
    assert verdicts(world, 20, discover)[Verdict.FINDING] >= 19


@pytest.mark.long
def test_a_cue_that_harms_several_labels_is_found_by_all_of_them() -> None:
    found = np.zeros(2, dtype=int)
    for audit in range(10):
        rng = np.random.default_rng([5, audit])
        scene = simulate(WORLD(cue_share=0.1, cue_loss=0.25, harmed=3), rng)
        for way in (0, 1):
            options = TRoVeOptions(discover=0.0, pool_labels=bool(way))
            table = SIMULATIONS.audit(scene, options, rng)
            is_cue = (table.pairs.label > 0) & (table.pairs.cluster == SIMULATIONS.CUE)
            found[way] += (table.finding & is_cue).sum()
    assert found[1] >= found[0] + 5  # of 30
    # where a group lies in several labels, these are not independent, and nothing is pooled
    across = replace(scene, groups=Groups(np.arange(1200) % 300, 300, True))
    pairs = compare(across)
    assert (
        np.ptp(correction.pooled_weights(across, pairs, np.full(len(pairs), 0.01))) == 0
    )
    apart = correction.pooled_weights(scene, pairs, np.linspace(0.001, 0.9, len(pairs)))
    assert np.ptp(apart) > 10


def test_mislabelled_sequences_are_named() -> None:
    rng = np.random.default_rng(0)
    scene = simulate(WORLD(n=300), rng)
    changed = rng.choice(len(scene.label), 40, replace=False)
    label = scene.label.copy()
    label[changed] = (label[changed] + 1) % 4
    noisy = replace(scene, label=label, correct=scene.prediction == label)
    suspects = np.flatnonzero(LabelNoise.of(noisy.answered).looks_like >= 0)
    # a model that is right in 85% is confidently so in about 60%
    assert len(set(suspects) & set(changed)) >= 16
    assert len(suspects) <= 3 * len(set(suspects) & set(changed))


def test_pairs_that_could_not_pass_are_not_tested() -> None:
    scene = simulate(SINGLE, np.random.default_rng(0))
    pairs = compare(scene)
    kept = could_pass(scene, pairs, 0.05)
    assert 0 < kept.sum() < len(pairs)
    everything = np.ones(len(pairs), dtype=bool)
    rng = np.random.default_rng(0)
    p = p_values(scene, pairs, rng, everything)
    assert p[~kept].min() > 0.05 / (kept.sum() + 1)


@pytest.mark.parametrize(
    "kept", [TOGETHER, pytest.param(SPLIT, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("discover", [pytest.param(0.0, marks=pytest.mark.long), 0.5])
def test_the_limit_of_detection_is_that_of_the_plan(
    discover: float, kept: Kept
) -> None:
    """Both are about the same audits: one asks a formula, the other the answers themselves."""
    rng, options = np.random.default_rng(0), TRoVeOptions(discover=discover)
    scene = simulate(SINGLE, rng)
    part = discovery_part(scene, discover, rng)
    table = score(scene, options, rng, part)
    # 2: as `limit` counts pooled labels
    tried, rate = 2 * table.correction.count, float(scene.correct.mean())
    planned = smallest_loss(
        0.25, 300, rate, options, kept=kept, tried=tried, discover=discover
    )
    found = limit(scene, table, options, rng, 0.25, kept)
    assert planned is not None
    assert found == pytest.approx(planned, abs=0.06)
    n_with = 300 * kept.share_with_candidate(0.25)
    plan = GapPlan(n_with, 300 - n_with, rate)
    of_candidate = planned * kept.contrast(0.25)
    power = chance_to_find(of_candidate, plan, options, tried=tried, discover=discover)
    assert power == pytest.approx(0.8, abs=0.02)


def test_a_plan_pays_for_every_label_and_a_split_cue_costs_more() -> None:
    options = TRoVeOptions()
    few, many = (expected_tried(labels, 300, options, 0.0) for labels in (4, 40))
    assert many == pytest.approx(10 * few)
    assert expected_tried(4, 300, TRoVeOptions(paper=True), 0.0) < few
    together, split = (
        smallest_loss(0.25, 300, 0.8, options, kept=kept, tried=few, discover=0.0)
        for kept in (TOGETHER, SPLIT)
    )
    assert together is not None
    assert split is not None
    assert together + 0.1 < split
    # a candidate that is the cue dilutes nothing
    assert Kept(caught=1.0, stray=0.0).contrast(0.25) == 1.0


@pytest.mark.long
def test_a_cue_that_a_plan_foretells_is_found_in_8_of_10() -> None:
    power = simulations("trove_power")
    for name in ("300 a class", "600 a class, in a tenth"):
        found, *_ = power.found_shares(power.WORLDS[name], 40)["default"]
        assert 0.7 <= found <= 0.95


def test_copies_of_a_candidate_are_tried_again_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    scene = simulate(SIMULATIONS.NULLS["size, unknown"], rng)
    copies = replace(scene, member=sparse.csr_array(sparse.hstack([scene.member] * 3)))
    tried = []

    def suspects(noise: LabelNoise, label: int, *_: Any) -> np.ndarray:
        tried.append(label)
        return noise.answered.label == label

    monkeypatch.setattr(LabelNoise, "suspects", suspects)
    monkeypatch.setattr(selection, "unlike_label_errors", lambda *_: 1.0)
    table = score(copies, TRoVeOptions(label_noise=1.0), rng)
    explained = table.verdict == Verdict.LABEL_NOISE
    assert not table.finding.any()
    assert explained.sum() >= 3 * len(tried) > 0
    # a copy has the verdict of what stands for it
    of_pair = np.zeros((4, 3, scene.clusters), dtype=bool)
    copy, cluster = np.divmod(table.pairs.cluster[explained], scene.clusters)
    of_pair[table.pairs.label[explained], copy, cluster] = True
    assert (of_pair == of_pair[:, :1]).all()


def test_a_sequence_without_another_frame_says_nothing_of_what_shows_beside() -> None:
    scene = simulate(SINGLE, np.random.default_rng(1))
    cluster = int(np.bincount(scene.member_cluster).argmax())
    others = np.ones(len(scene.frame_sample), dtype=bool)
    others[scene.frames_of(cluster)] = False
    beside = np.bincount(scene.frame_sample[others], minlength=len(scene.label))
    looks = label_noise._looks(scene, cluster, scene.label == 0, scene.label == 1)
    assert (beside == 0).any()
    assert np.array_equal(np.isnan(looks), beside == 0)


@pytest.mark.parametrize("learned", [False, True])
def test_what_was_learned_from_pictures_is_tried_again_by_itself(learned: bool) -> None:
    """Though something of which half is the same is more certain: that may be what a class is."""
    rng = np.random.default_rng(1)
    scene = simulate(SINGLE, rng)
    twice = replace(scene, member=sparse.csr_array(sparse.hstack([scene.member] * 2)))
    pairs = compare(twice)
    is_copy = pairs.cluster >= scene.clusters
    p_value = np.where(is_copy, 0.01, 0.001)
    found = np.ones(len(pairs), dtype=bool)
    leader = selection._leaders(twice, pairs, found, p_value, first=is_copy & learned)
    assert (is_copy[leader] == learned).all()


@pytest.mark.parametrize(
    ("p_value", "explains", "rests"),
    [(0.001, True, True), (0.001, False, False), (0.0001, True, False)],
)
def test_a_finding_says_where_only_its_answers_speak_against_label_errors(
    monkeypatch: pytest.MonkeyPatch, p_value: float, explains: bool, rests: bool
) -> None:
    """Where its samples explain the loss away, and draws come as far as its answers."""
    losses = []

    def suspects(noise: LabelNoise, label: int, *_: Any) -> np.ndarray:
        mine = noise.answered.label == label
        return mine if explains else mine & (np.arange(len(mine)) == mine.argmax())

    def unlike(*_: Any) -> float:
        losses.append(1)
        return p_value

    monkeypatch.setattr(LabelNoise, "suspects", suspects)
    monkeypatch.setattr(selection, "unlike_label_errors", unlike)
    rng = np.random.default_rng(1)
    scene = simulate(WORLD(n=300, cue_share=0.2, cue_loss=0.8), rng)
    table = score(scene, TRoVeOptions(label_noise=1.0), rng)
    assert table.finding.any()
    told = p_value * len(losses) if rests else 0.0
    assert table.unlike[table.finding] == pytest.approx(told)


def groups_ignored(scene: Any, pairs: Any) -> Iterator[LabelPart]:
    """A broken test: sequences of a group change places one by one."""
    for part in label_parts(scene, pairs):
        yield part._replace(groups=Groups.single(len(part.values)))


def frames_as_proofs(scene: Any, pairs: Any) -> Iterator[LabelPart]:
    """A broken test: each frame counts as if it had been drawn and answered by itself."""
    for part in label_parts(scene, pairs):
        frames = np.isin(scene.frame_sample, part.samples)
        yield part._replace(
            present=scene.member[frames].toarray()[:, pairs.cluster[part.pairs]],
            values=scene.values[scene.frame_sample[frames]],
            groups=Groups.single(int(frames.sum())),
        )


@pytest.mark.long
@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(None, marks=pytest.mark.long),
        groups_ignored,
        pytest.param(frames_as_proofs, marks=pytest.mark.long),
    ],
)
def test_the_null_check_tells_a_broken_test_from_a_right_one(
    broken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if broken is not None:
        monkeypatch.setattr(correction, "label_parts", broken)
    verdicts = []
    with temporary_cache() as cache:
        audit = Setup(TRoVe).session(cache).audit
        for number in range(3):
            scene = simulate(WORLD(n=600, clips=10), np.random.default_rng([4, number]))
            shown = replace(scene, member=scene.member[:, :24])
            verdicts.append(check_null(audit, TRoVeOptions(), shown).verdict)
    # a right test is refuted in at most 5% of audits, so hardly in two of three
    assert verdicts.count("refuted") >= 2 if broken else verdicts.count("refuted") <= 1


@pytest.mark.long
def test_a_cue_that_decides_everything_in_few_sequences_is_no_label_noise() -> None:
    world = WORLD(n=300, cue_share=0.08, cue_loss=0.8, decides=True)
    counts = verdicts(world, 10, 0.0)
    assert counts[Verdict.FINDING] >= 9
    # candidates that cut the cue may be explained beside the one that shows it
    assert counts[Verdict.LABEL_NOISE] <= 4


def test_a_group_across_two_labels_and_all_wrong_answers_are_no_trouble() -> None:
    scene = simulate(WORLD(n=60), np.random.default_rng(0))
    one = replace(scene, groups=Groups(np.zeros(240, dtype=np.int64), 1, True))
    across = replace(scene, groups=Groups(np.arange(240) % 60, 60, True))
    wrong = replace(
        scene, prediction=(scene.label + 1) % 4, correct=np.zeros(240, dtype=bool)
    )
    for odd in (one, across, wrong):
        for discover in (0.0, 0.5):
            rng = np.random.default_rng(0)
            part = discovery_part(odd, discover, rng)
            options = TRoVeOptions(discover=discover)
            table = score(odd, options, rng, part)
            assert not table.finding.any()
