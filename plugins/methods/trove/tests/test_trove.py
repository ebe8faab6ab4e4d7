"""TRoVe from end to end: planted cues, checks and degenerate data."""

from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from cuescope_sdk import Response, Sample, Trial, UserError
from cuescope_testing import FAKE_TOOLS, Setup, run_audit
from cuescope_trove import TRoVe

from .clips import DIRECTIONS, Clips, Honest, Leaning, by_check, report_of_leaning


def test_the_planted_cue_leads_and_its_frames_lead_the_ranking() -> None:
    report = report_of_leaning()
    best = report.scores[0]
    assert best.finding
    assert report.names[best.feature] == "red"
    assert best.label in {"north", "east", "west"}
    assert {score.label for score in report.findings} == {"north", "east", "west"}
    assert "A single frozen frame with it is answered 'south' with 9" in str(
        best.statement
    )
    for check in ("Precision@10 ", "Precision@25 ", "Precision@100 ", "R-Prec"):
        precision = by_check(report.evidence, check)
        assert (precision.verdict, precision.value) == ("supported", 1.0)
    assert by_check(report.evidence, "null").verdict == "supported"
    medoid = report.features[
        [f.key for f in report.features].index(best.feature)
    ].occurrences[0]
    assert medoid.frame in (1, 2)


def test_a_model_that_does_not_lean_is_not_accused() -> None:
    report = run_audit(TRoVe, Honest, Clips)
    assert not report.findings
    gap = by_check(report.evidence, "annotated cue 'red'")
    assert gap.verdict == "inconclusive"
    assert not [item for item in report.evidence if item.check.startswith("Precision")]


def test_a_cue_that_costs_but_is_not_found_counts_against_the_method() -> None:
    report = run_audit(TRoVe, Leaning, Clips, max_frequency=0.01)
    assert not report.findings
    assert by_check(report.evidence, "annotated cue 'red': found").verdict == "refuted"


def test_the_score_is_error_contribution_plus_static_bias() -> None:
    report = report_of_leaning()
    rows = {(s.feature, s.label, s.metric): s for s in report.scores}
    scored = [
        s for s in report.scores if s.metric == "trove_score" and s.value is not None
    ]
    assert scored
    for score in scored:
        parts = [
            rows[score.feature, score.label, name].value
            for name in ("error_contribution", "static_bias")
        ]
        assert score.value == pytest.approx(
            sum(part for part in parts if part is not None)
        )
        assert score.low is not None
        assert score.low <= score.value <= (score.high or 0)


def test_top_k_counts_the_label_among_the_best() -> None:
    first, second = report_of_leaning(), run_audit(TRoVe, Leaning, Clips, top_k=2)
    rates = [
        float(report.notes["accuracy"].split("%")[0]) for report in (first, second)
    ]
    assert rates[0] < rates[1]
    assert len(second.findings) < len(first.findings)
    with pytest.raises(UserError, match="every answer counts as right"):
        run_audit(TRoVe, Leaning, Clips, top_k=4)


def test_both_readings_of_the_static_bias_are_offered_and_named() -> None:
    reports = [
        report_of_leaning(),
        run_audit(TRoVe, Leaning, Clips, static_bias="cluster"),
    ]
    counts = [
        next(s.n for s in report.scores if s.metric == "static_bias") or 0
        for report in reports
    ]
    assert counts[0] < counts[1]
    assert "published code" in reports[0].notes["static bias"]
    assert "eq. 2" in reports[1].notes["static bias"]


@pytest.mark.parametrize(
    "name",
    ["red corner", "blue corner", pytest.param("green corner", marks=pytest.mark.long)],
)
def test_a_detector_tells_the_cue_from_the_decoy(name: str) -> None:
    tools = {"detector": FAKE_TOOLS["detector"]}
    report = Setup(TRoVe, tools=tools, options={"feature_name": name}).report()
    gap = by_check(report.evidence, "detector: accuracy")
    still = by_check(report.evidence, "detector: still-frame")
    if name == "red corner":
        assert (gap.verdict, still.verdict) == ("supported", "supported")
        assert gap.value is not None
        assert gap.value > 0.5
    else:
        assert gap.verdict != "supported"
    if name == "green corner":
        assert "no sequence" in gap.detail
        assert "no frame" in still.detail


def test_a_detector_without_a_name_says_what_to_do() -> None:
    report = Setup(TRoVe, tools={"detector": FAKE_TOOLS["detector"]}).report()
    check = by_check(report.evidence, "detector")
    assert check.verdict == "inconclusive"
    assert "feature_name" in check.detail


def test_no_errors_leave_nothing_to_explain() -> None:
    report = run_audit(TRoVe, AlwaysRight, Clips)
    assert not report.scores
    assert "always right" in report.notes["errors"]
    assert report.notes["power"].startswith("80% for a cue in 25%")


class AlwaysRight(Leaning):
    """Knows every clip by its number."""

    fingerprint = "right"

    def answer(self, trial: Trial) -> Response:
        clip = int(np.asarray(trial.sample.frames[0].load())[0, 1, 0])
        return Response(
            logits=9.0 * (np.arange(4) == clip % 4), embedding=np.eye(4)[clip % 4]
        )


def test_one_class_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match="at least 2 labels"):
        Setup(TRoVe, data_options={"labels": 1}).report()


def test_identical_frames_show_no_cue() -> None:
    report = Setup(TRoVe, data_options={"identical": True}).report()
    assert not report.findings


def test_identical_frames_are_one_cluster_and_no_finding() -> None:
    report = Setup(
        TRoVe, options={"paper": True}, data_options={"identical": True}
    ).report()
    assert [feature.key for feature in report.features] == ["cluster-00"]
    assert "the same for all" in report.notes["clusters"]
    assert not report.scores


def test_single_frames_and_few_frames_are_noted() -> None:
    single = Setup(TRoVe, data_options={"frames": 1}).report()
    assert "the sample itself" in single.notes["frames"]
    assert "over time" not in single.notes["weak data"]
    # a picture is no frame that was frozen
    assert not any("frozen frame" in words for words in single.statements)
    assert any("Such a picture" in words for words in single.statements)
    few = Setup(
        TRoVe,
        options={"paper": True},
        data_options={"frames": 1, "samples": 18},
    ).report()
    assert "only 18 frames" in few.notes["cluster sweep"]
    assert len(few.features) <= 17


class OtherChoices(Clips):
    """One clip has a choice of its own."""

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        return sample if index else replace(sample, choices=(*DIRECTIONS, "up"))


def test_an_open_label_set_is_refused() -> None:
    with pytest.raises(UserError, match="clip-000"):
        run_audit(TRoVe, Leaning, OtherChoices)


class ShuffledChoices(Clips):
    """The choices in another order for every clip."""

    def __getitem__(self, index: int) -> Sample:
        order = np.random.default_rng(index).permutation(4)
        choices = tuple(DIRECTIONS[number] for number in order)
        return replace(super().__getitem__(index), choices=choices)


class ByChoice(Leaning):
    """Answers in the order of the choices it is shown."""

    fingerprint = "by-choice"

    def answer(self, trial: Trial) -> Response:
        plain = super().answer(trial)
        order = [DIRECTIONS.index(choice) for choice in trial.sample.choices]
        assert plain.logits is not None
        return Response(logits=plain.logits[order], embedding=plain.embedding)


@pytest.mark.long
def test_the_order_of_the_choices_does_not_matter() -> None:
    plain, shuffled = (
        run_audit(TRoVe, ByChoice, data) for data in (Clips, ShuffledChoices)
    )
    assert shuffled.scores == plain.scores


@pytest.mark.parametrize(
    "given", [{"k_min": 7}, {"min_frequency": 0.9, "max_frequency": 0.1}]
)
def test_bounds_out_of_order_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="no greater than"):
        TRoVe.Options(**given)
