"""Cues of the default way: who shows them, what they change, and the order of frames."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Response, Trial
from cuescope_sdk.statistics import Roc
from cuescope_testing import run_audit
from cuescope_trove import TRoVe
from cuescope_trove.candidates.frames import by_candidate, by_cue
from cuescope_trove.candidates.groups import Candidates
from cuescope_trove.cues import Cue
from cuescope_trove.maths.clustering import Clusters
from cuescope_trove.scores import Pairs

from .clips import Clips, Leaning


class ManyClips(Clips):
    """So many that rare labels have enough clips with the cue."""

    size = 252


class SilentEmbedding(Leaning):
    """Keeps nothing of red in its embedding: the pictures alone show it."""

    fingerprint = "silent-embedding"

    def answer(self, trial: Trial) -> Response:
        plain = super().answer(trial)
        assert plain.embedding is not None
        embedding = np.concatenate([[1.0, 0.0], plain.embedding[2:]])
        return Response(logits=plain.logits, embedding=embedding)


def shares_of_red(report: Any, feature: str) -> tuple[float, float]:
    """Share of a feature's samples that show red, and of samples with red that it lists."""
    red = {
        sample.key
        for sample in map(ManyClips(None, None).__getitem__, range(ManyClips.size))
        if any(sample.annotations["cues"]["red"])
    }
    [found] = [one for one in report.features if one.key == feature]
    listed = {seen.sample for seen in found.occurrences}
    return len(listed & red) / len(listed), len(listed & red) / len(red)


@pytest.mark.parametrize("model", [Leaning, SilentEmbedding])
def test_the_group_that_is_printed_is_the_cue_that_names_it(
    model: type[Leaning],
) -> None:
    report = run_audit(TRoVe, model, ManyClips, null_shuffles=0)
    assert {score.label for score in report.findings} == {"north", "east", "west"}
    [feature] = {score.feature for score in report.findings}
    pure, whole = shares_of_red(report, feature)
    assert min(pure, whole) >= 0.95
    data = ManyClips(None, None)
    correct = {
        sample.key: bool(
            np.argmax(model(None, None).answer(Trial(sample=sample)).logits) == label
        )
        for number in range(ManyClips.size)
        for label, sample in [(number % 4, data[number])]
    }
    for score in report.scores:
        if (score.metric, score.feature) != ("error_contribution", feature):
            continue
        if score.label == "south":
            continue
        sides: dict[bool, list[bool]] = {True: [], False: []}
        for number in range(ManyClips.size):
            sample = data[number]
            if sample.label == score.label:
                shows = any(sample.annotations["cues"]["red"])
                sides[shows].append(correct[sample.key])
        observed = np.mean(sides[False]) - np.mean(sides[True])
        assert score.low is not None
        assert score.high is not None
        assert score.low <= observed <= score.high


def test_the_answers_own_label_gains_and_is_no_finding() -> None:
    report = run_audit(TRoVe, Leaning, ManyClips, null_shuffles=0)
    [feature] = {score.feature for score in report.findings}
    [own] = [
        score
        for score in report.scores
        if (score.feature, score.label, score.metric)
        == (feature, "south", "error_contribution")
    ]
    assert (own.value or 0) < 0
    assert not own.finding


def test_a_few_wrong_answers_are_no_finding() -> None:
    class Right(Leaning):
        lean = 0.0
        fingerprint = "nearly-right"

        def answer(self, trial: Trial) -> Response:
            plain = super().answer(trial)
            clip = int(np.asarray(trial.sample.frames[0].load())[0, 1, 0])
            logits = 9.0 * (np.arange(4) == (clip + (clip < 3)) % 4)
            return Response(logits=logits, embedding=plain.embedding)

    report = run_audit(TRoVe, Right, Clips)
    assert not report.findings


def cue_of(odds: np.ndarray) -> Cue:
    nothing: Any = None
    return Cue(0, nothing, nothing, nothing, odds)


def test_frames_are_ranked_by_the_cue_of_the_labels_first_pair() -> None:
    shows = np.arange(40) % 4 == 0
    odds = np.where(shows, 2.0, -2.0) + np.linspace(0, 0.1, 40)
    pairs = SimpleNamespace(label=np.array([0, 1]), cluster=np.array([0, 1]))
    table = SimpleNamespace(
        pairs=pairs,
        scored=np.array([True, True]),
        worth=np.array([1.0, 2.0]),
        finding=np.array([True, True]),
        mistake=SimpleNamespace(surplus=np.zeros(2)),
    )
    analysis: Any = SimpleNamespace(cues=[cue_of(-odds), cue_of(odds)], table=table)
    order = by_cue(analysis, 1)
    assert Roc(-np.argsort(order).astype(float), shows).auroc() == 1.0
    assert by_cue(analysis, 0).tolist() == order[::-1].tolist()


def test_the_papers_way_ranks_frames_by_their_cluster() -> None:
    clusters = Clusters(np.eye(3), np.array([0, 0, 1, 2]), np.array([1.0, 0.5, 1, 1]))
    zeros = np.zeros(3, dtype=int)
    pairs = Pairs(zeros, np.arange(3), zeros, zeros, zeros, zeros)
    value = np.array([0.2, -np.inf, 0.9])
    assert by_candidate(Candidates.of(clusters), pairs, value, 0).tolist() == [
        3,
        0,
        1,
        2,
    ]


@pytest.mark.long
def test_answers_that_know_nothing_of_what_is_seen_are_seldom_blamed() -> None:
    class Blind(Leaning):
        """Errs by the clip's number alone; its embedding shows red and noise of its own."""

        lean = 0.0

        seed = 0

        def answer(self, trial: Trial) -> Response:
            pixels = np.asarray(trial.sample.frames[0].load())
            clip, red = int(pixels[0, 1, 0]), float(pixels[0, 0, 1] == 0)
            answered = np.random.default_rng([self.seed, 0, clip])
            seen = np.random.default_rng([self.seed, 1, clip]).normal(0, 1, 8)
            logits = answered.normal(0, 0.6, 4) + 1.2 * (np.arange(4) == clip % 4)
            return Response(
                logits=logits, embedding=np.concatenate([[red, 1 - red], seen])
            )

    alarms = 0
    for seed in range(40):
        named = {"seed": seed, "fingerprint": f"blind-{seed}"}
        report = run_audit(
            TRoVe, type("Blind", (Blind,), named), Clips, null_shuffles=0
        )
        alarms += bool(report.findings)
    # 7: the binomial 99.9th percentile of 40 at 5%
    assert alarms <= 7
