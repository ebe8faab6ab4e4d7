"""What is asked, and how often; outcomes as arrays, calibrated."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from cuescope_sdk import (
    Audit,
    Context,
    Frame,
    HideTokens,
    Outcome,
    Response,
    Sample,
    Trial,
)
from cuescope_sdk.maths import softmax
from cuescope_sdk.stills import Answers
from cuescope_testing import FAKE_TOOLS, Setup, temporary_cache
from cuescope_trove import TRoVe
from cuescope_trove.analysis import observe
from cuescope_trove.candidates.groups import Candidates
from cuescope_trove.checks.annotated_cues import sequences
from cuescope_trove.maths.calibration import cross_fitted_temperatures
from cuescope_trove.report import clusters_words
from cuescope_trove.scores import among_top
from cuescope_trove.trials import Clustering, feasible, sweep

LABELS = ("a", "b", "c")


def test_each_trial_passes_respond_once() -> None:
    """With every check that there is: annotated cues, a detector, the null."""
    passed: Counter[tuple[str, frozenset[str]]] = Counter()
    tools = {"detector": FAKE_TOOLS["detector"]}
    options = {"feature_name": "red corner"}
    setup = Setup(TRoVe, tools=tools, options=options)
    with temporary_cache() as cache:
        session = setup.session(cache)
        respond = session.audit.respond

        def counting(trials: Iterable[Trial]) -> list[Outcome]:
            asked = list(trials)
            passed.update(
                (trial.sample.key, trial.outputs)
                for trial in asked
                # findings may share a picture, and its parts with it
                if trial.condition != "hidden"
            )
            return respond(asked)

        session.audit.respond = counting
        report = session.run()
    frames = sum(len(sample.frames) for sample in session.samples)
    assert set(passed.values()) == {1}
    assert len(passed) == len(session.samples) + frames
    # frames of equal pixels are one trial to the model
    assert report.cost.trials <= len(passed)
    assert len(report.evidence) >= 4


def test_a_plan_counts_the_sequences_and_their_still_clips() -> None:
    setup = Setup(TRoVe)
    plan = setup.plan()
    cost = setup.report().cost
    assert plan.trials == plan.model_calls == cost.trials
    assert plan.more == 0
    assert plan.conditions == cost.conditions


def clip(index: int) -> Sample:
    pixels = np.full((2, 1, 1, 3), index, dtype=np.uint8)
    frames = tuple(Frame.from_array(frame) for frame in pixels)
    return Sample(
        key=f"clip-{index:02d}", frames=frames, choices=LABELS, label=LABELS[index % 3]
    )


def test_outcomes_become_arrays() -> None:
    rng = np.random.default_rng(0)
    samples = [clip(index) for index in range(30)]
    label = np.arange(30) % 3
    logits = {
        sample.key: row
        for sample, row in zip(
            samples, rng.normal(0, 4, (30, 3)) + 3 * np.eye(3)[label], strict=True
        )
    }
    static = {
        f"{sample.key}/static-{frame}": rng.normal(0, 4, 3)
        for sample in samples
        for frame in range(2)
    }

    def respond(trials: Iterable[Trial]) -> list[Outcome]:
        known = logits | static
        return [
            Outcome(
                trial, Response(logits=known[trial.sample.key], embedding=np.zeros(2))
            )
            for trial in trials
        ]

    audit = Audit(LABELS, None, respond, Context(), samples=tuple(reversed(samples)))
    observations, temperature = observe(audit, 1, "halves")
    owner = np.repeat(np.arange(30), 2)
    whole = np.stack(list(logits.values()))
    still = np.stack(
        [static[f"clip-{i:02d}/static-{n % 2}"] for n, i in enumerate(owner)]
    )
    assert observations.frame_sample.tolist() == owner.tolist()
    assert observations.prediction.tolist() == whole.argmax(axis=1).tolist()
    assert observations.correct.tolist() == (whole.argmax(axis=1) == label).tolist()
    fitted = cross_fitted_temperatures(whole, label, audit.rng("halves"))
    assert temperature == pytest.approx(fitted, rel=1e-5)
    assert len(set(fitted)) == 2
    assert observations.frame_static == pytest.approx(
        softmax(still, fitted[owner]), abs=1e-5
    )
    assert observations.frame_bias == pytest.approx(
        observations.frame_static[np.arange(60), whole.argmax(axis=1)[owner]]
    )


def test_among_the_top_k_ties_go_to_the_lower_class() -> None:
    logits = np.array([[1.0, 3.0, 2.0], [2.0, 2.0, 2.0]])
    assert among_top(logits, np.array([2, 1]), 1).tolist() == [False, False]
    assert among_top(logits, np.array([2, 1]), 2).tolist() == [True, True]
    assert among_top(logits, np.array([0, 2]), 2).tolist() == [False, False]


def test_sweep_of_clusters() -> None:
    assert sweep(4, 2, 6, None) == [8, 12, 16, 20, 24]
    assert sweep(400, 2, 6, 400) == [800, 1200, 1600, 2000, 2400]
    assert feasible([8, 12, 16], 10) == [8, 9]
    assert feasible([8], 1) == [1]


def test_what_is_said_of_the_clusters() -> None:
    members = np.array_split(np.arange(99), 7)
    strength = [np.ones(len(part)) for part in members]
    candidates = Candidates(99, members, strength)
    assert clusters_words(Clustering(candidates, [8], [8], {8: 0.25})) == (
        "7; of 8 it has the best cosine silhouette (0.250) over 99 frames"
    )


def test_a_check_asks_only_what_the_audited_method_did_not() -> None:
    samples = tuple(clip(index) for index in range(5))
    asked: list[str] = []

    def respond(trials: Iterable[Trial]) -> list[Outcome]:
        outcomes = [Outcome(trial, Response(logits=np.zeros(3))) for trial in trials]
        asked.extend(outcome.trial.sample.key for outcome in outcomes)
        return outcomes

    others = (
        Trial(sample=samples[0], outputs=Answers.outputs),
        Trial(sample=replace(samples[1], question="where?")),
        Trial(sample=samples[2], edit=HideTokens.from_mask(np.ones((2, 1, 1), bool))),
        Trial(sample=replace(samples[3], frames=samples[4].frames)),
        Trial(sample=samples[4], outputs=frozenset({"embedding"})),
    )
    answer = Response(logits=np.ones(3), embedding=np.ones(2))
    known = [Outcome(trial, answer) for trial in others]
    audit = Audit(LABELS, None, respond, Context(), samples=samples, outcomes=known)
    outcomes = {outcome.trial.sample.key: outcome for outcome in sequences(audit)}
    assert asked == [sample.key for sample in samples[1:]]
    assert outcomes.keys() == {sample.key for sample in samples}
    assert outcomes["clip-00"] is known[0]
