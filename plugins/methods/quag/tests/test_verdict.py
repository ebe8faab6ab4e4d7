"""The rule of the verdict, its sentences, and the paper's own sentences from its own figures."""

from typing import NamedTuple

import pytest

from cuescope_quag.paper import BENCHMARKS, CONSISTENT, paper_rows
from cuescope_quag.scores import Loss, Rate, Rule
from cuescope_quag.verdict import (
    Kind,
    Verdict,
    state,
    verdict,
    verdict_kind,
    verdict_sentence,
)

RULE = Rule()
CHANCE = {"ActivityNet-QA": 0.0, "MSRVTT-QA": 0.0, "NExT-QA": 20.0, "ATP-Hard": 20.0}


class Judged(NamedTuple):
    """A verdict and its sentence."""

    verdict: Verdict
    sentence: str


def judged(rate: Rate, losses: dict[str, Loss], measure: str = "accuracy") -> Judged:
    decision = verdict(rate, losses, RULE)
    return Judged(
        decision, verdict_sentence(decision.kind, rate, losses, RULE, measure)
    )


def overall(model: str, benchmark: str) -> dict[str, float]:
    """Accuracy by condition."""
    rows = paper_rows(model, benchmark)
    return {str(row["condition"]): float(row["accuracy"] or 0) for row in rows}


def published(model: str, benchmark: str) -> Judged:
    """The verdict on a column of table 1, whose figures are taken at their word.

    There are no samples behind them: a loss is above the margin or it is not.
    """
    after, chance = overall(model, benchmark), CHANCE[benchmark]
    baseline = after.pop("baseline")
    rate, losses = Rate(baseline, chance, float(baseline <= chance)), {}
    for key, value in after.items():
        lost = round(baseline - value, 6)
        costs = lost >= RULE.margin(rate)
        losses[key] = Loss(
            value, lost, 1.0 - (lost > RULE.drop), float(not costs), float(costs)
        )
    return judged(rate, losses)


@pytest.mark.parametrize(
    ("model", "benchmark", "kind"),
    [
        ("FrozenBiLM", "ActivityNet-QA", "fuses"),
        ("FrozenBiLM", "MSRVTT-QA", "fuses"),
        ("FrozenBiLM", "NExT-QA", "text alone"),
        ("FrozenBiLM", "ATP-Hard", "text alone"),
        ("JustAsk", "ActivityNet-QA", "fuses by means"),
        ("JustAsk", "MSRVTT-QA", "fuses by means"),
        ("JustAsk", "NExT-QA", "fuses by means"),
        ("JustAsk", "ATP-Hard", "text alone"),
        ("All-in-one+", "ActivityNet-QA", "fuses"),
        ("All-in-one+", "MSRVTT-QA", "fuses"),
    ],
)
def test_the_papers_sentences_follow_from_its_figures(
    model: str, benchmark: str, kind: Kind
) -> None:
    assert published(model, benchmark).verdict.kind == kind


@pytest.mark.parametrize("benchmark", CHANCE)
def test_no_attention_of_just_ask_matters_on_any_data_set(benchmark: str) -> None:
    """Section 4.1 (2), where averaging cannot tell "never aligns" from joining by means.

    FrozenBiLM loses more than 19 points under text short-circuit.
    """
    words = "and no short-circuit costs more than"
    assert words in published("JustAsk", benchmark).sentence
    assert words not in published("FrozenBiLM", benchmark).sentence


def test_a_verdict_has_its_figures() -> None:
    sentence = published("FrozenBiLM", "ActivityNet-QA").sentence
    assert sentence == (
        "{feature}: the model fuses them and answers from both together. "
        "Averaging the attention between video and text costs 11.3 points; it loses 11.4 "
        "points without the video and 43.5 points without the question."
    )
    sentence = published("JustAsk", "ActivityNet-QA").sentence
    assert sentence == (
        "{feature}: the model uses both, and joins them by their means at most, or outside "
        "of this attention: its answers stay as good when every token sees only the average of "
        "the other modality. "
        "It loses 10.5 points without the video "
        "and 36.1 points without the question, yet averaging the attention between video and text "
        "costs 0.4 points, and no short-circuit costs more than 0.5 points. Averaging keeps the "
        "mean of each modality, so what a model takes from a mean is not tested."
    )


@pytest.mark.parametrize(
    ("without_video", "without_question", "crossmodal", "kind"),
    [
        ("costs", "costs", "costs", "fuses"),
        ("costs", "costs", "spared", "fuses by means"),
        ("costs", "costs", "open", "open"),
        ("spared", "costs", "spared", "text alone"),
        (
            "spared",
            "costs",
            "costs",
            "text alone",
        ),  # an edit disturbs what it does not inform
        ("costs", "spared", "open", "video alone"),
        (None, "spared", "costs", "video alone"),
        ("spared", "spared", "costs", "needs neither"),
        ("spared", "open", "spared", "open"),
        ("open", "costs", "costs", "open"),
        ("open", "spared", "costs", "open"),
        (None, "costs", "costs", "fuses"),
        (None, "costs", "spared", "does not fuse"),
        (None, None, "costs", "not asked"),
    ],
)
def test_the_rule(
    without_video: str, without_question: str, crossmodal: str, kind: Kind
) -> None:
    assert verdict_kind(without_video, without_question, crossmodal) == kind  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("without_question", "elsewhere", "kind"),
    [
        ("costs", "costs", "fuses by means"),
        ("spared", "costs", "each alone"),
        ("spared", "spared", "video alone"),
        ("spared", "open", "open"),
        ("open", "costs", "open"),
    ],
)
def test_a_part_of_the_questions_decides(
    without_question: str, elsewhere: str, kind: Kind
) -> None:
    found = verdict_kind("costs", without_question, "spared", elsewhere=elsewhere)  # type: ignore[arg-type]
    assert found == kind


def loss(lost: float, low: float, high: float, **p_values: float) -> Loss:
    tests = {"p_value": 0.001, "p_costs": 1.0, "p_spared": 1.0, **p_values}
    return Loss(rate=80 - lost, lost=lost, low=low, high=high, **tests)


def test_an_interval_across_the_margin_decides_nothing() -> None:
    wide = loss(6, 1, 11, p_costs=0.4, p_spared=0.6)
    assert state(wide, RULE.level) == "open"
    sure = loss(40, 35, 45, p_costs=0.001)
    losses = {"without video": sure, "without question": sure, "SC: crossmodal": wide}
    decision, sentence = judged(Rate(80, 25, 0.001), losses)
    assert decision == Verdict("open")
    assert "6.0 points [1.0, 11.0]" in sentence
    assert sentence.endswith(" Only losses of 5.5 points or more count.")


def test_the_p_value_is_the_largest_that_is_needed() -> None:
    losses = {
        "without video": loss(0.5, -1, 2, p_spared=0.01),
        "without question": loss(50, 45, 55, p_costs=0.002),
        "SC: crossmodal": loss(9, 1, 20, p_costs=0.3),
    }
    decision, sentence = judged(Rate(80, 25, 0.001), losses)
    assert decision == Verdict("text alone", "without video", 0.01)
    assert (
        "from text alone. It loses 0.5 points [\N{MINUS SIGN}1.0, 2.0] without"
        in sentence
    )


def test_a_small_but_sure_loss_is_not_called_nothing() -> None:
    """Significant and above the paper's 2 points, yet below a tenth of what is above chance."""
    small, sure = loss(3, 2.1, 4, p_spared=0.001), loss(40, 35, 45, p_costs=0.001)
    rate = Rate(80, 25, 0.001)
    hardly = {"without video": sure, "without question": sure, "SC: crossmodal": small}
    assert (
        "outside of this attention: its answers stay nearly as good"
        in judged(rate, hardly).sentence
    )
    almost = {"without video": small, "without question": sure, "SC: crossmodal": small}
    assert "answers almost only from text. It" in judged(rate, almost).sentence


def test_nothing_is_said_of_a_model_at_chance() -> None:
    sure = loss(20, 15, 25, p_costs=0.001)
    losses = {"without video": sure, "without question": sure, "SC: crossmodal": sure}
    decision, sentence = judged(Rate(27, 25, 0.2, 22, 32), losses)
    assert decision == Verdict("at chance")
    assert "accuracy is 27.0% [22.0, 32.0], where the chance level is 25.0%" in sentence


def test_too_few_samples_are_not_called_chance() -> None:
    decision, sentence = judged(Rate(100, 50, 0.25, 100, 100, n=2, p_best=0.25), {})
    assert decision == Verdict("too few samples")
    assert (
        "With so few samples (n = 2) or videos, even all right answers could be luck."
        in sentence
    )


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (2.0, "It loses 2.0 points [1.0, 3.0] without the video"),
        (
            0.04,
            "It loses nothing (0.0 points [\N{MINUS SIGN}1.0, 1.0]) without the video",
        ),
        (-2.0, "It gains 2.0 points [1.0, 3.0] without the video"),
    ],
)
def test_what_is_won_is_not_called_lost(lost: float, words: str) -> None:
    sure = loss(40, 35, 45, p_costs=0.001)
    some = loss(lost, round(lost) - 1, round(lost) + 1, p_spared=0.001)
    losses = {"without video": some, "without question": sure, "SC: crossmodal": some}
    sentence = judged(Rate(80, 25, 0.001), losses).sentence
    assert words in sentence
    assert ("video and text gains 2.0" in sentence) == (lost == -2.0)


def test_without_the_crossmodal_short_circuit_there_is_no_verdict() -> None:
    decision, sentence = judged(Rate(80, 25, 0.001), {})
    assert decision == Verdict("not asked")
    assert "because the attention between video and text was not averaged" in sentence


def test_what_one_type_of_question_loses_is_not_hidden_by_another() -> None:
    """Without the video a model may say yes to all: "no" is lost, "yes" won, and the mean stays."""
    nothing = loss(0.8, -0.2, 1.9, p_spared=0.001)
    types = {
        "E": loss(-60, -70, -50, p_costs=1.0),
        "E-NC": loss(100, 100, 100, p_costs=0.001),
        "BA": loss(4, -1, 9, p_costs=0.2),
    }
    assert state(nothing, RULE.level) == "spared"
    hidden = nothing.with_worst(types, RULE.level)
    assert hidden.worst is not None
    assert (hidden.worst[0], hidden.worst[1].p_costs) == ("E-NC", 0.003)
    assert state(hidden, RULE.level) == "costs"
    sure = loss(18, 17, 19, p_costs=0.001)
    losses = {"without video": hidden, "without question": sure, "SC: crossmodal": sure}
    decision, sentence = judged(Rate(68, 50, 0.001), losses, "balanced accuracy")
    assert (decision.kind, decision.p_value) == ("fuses", 0.003)
    assert (
        "it loses 0.8 points [\N{MINUS SIGN}0.2, 1.9] in all, but loses 100.0 points "
        "[100.0, 100.0] on E-NC questions, without the video"
    ) in sentence


def test_a_type_must_be_sure_after_correction() -> None:
    nothing = loss(0.5, -1, 2, p_spared=0.001)
    types = {str(number): loss(9, 0, 18, p_costs=0.02) for number in range(9)}
    assert nothing.with_worst(types, RULE.level).worst is None


# ------------------------------------------------------------------------ tables of the paper


def test_means_over_types_agree_with_the_papers_overall_figures() -> None:
    """An overall figure lies between those of its types; the paper's own do, but for 0.3."""
    for model in ("FrozenBiLM", "JustAsk"):
        for benchmark in BENCHMARKS:
            for row in paper_rows(model, benchmark):
                types = [
                    float(v)
                    for k, v in row.items()
                    if k not in ("condition", "accuracy")
                ]  # type: ignore[arg-type]
                assert (
                    min(types) - 0.31 <= float(row["accuracy"]) <= max(types) + 0.31
                ), row  # type: ignore[arg-type]


def test_figures_stand_where_the_paper_has_them() -> None:
    a_qa = {row["condition"]: row for row in paper_rows("FrozenBiLM", "ActivityNet-QA")}
    assert a_qa["SC: text"]["accuracy"] == 1.4
    assert a_qa["SC: video"]["Yes/No"] == 75.1
    assert a_qa["merged video"]["Other"] == 41.1
    assert overall("JustAsk", "ATP-Hard")["merged both"] == 44.1
    assert overall("All-in-one+", "MSRVTT-QA")["SC: crossmodal"] == 27.6
    assert overall("All-in-one+", "NExT-QA") == {}
    baseline, averaged = paper_rows("FrozenBiLM", CONSISTENT)
    assert baseline["CAcc_T complement"] == 57.2
    assert averaged["CAcc_V complement"] == 3.6
    assert len(paper_rows("JustAsk", CONSISTENT)) == 1
