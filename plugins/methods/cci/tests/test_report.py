"""From answers to counts, scores, findings and the table; every figure by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, false_discovery_control, fisher_exact, hypergeom

from cuescope_cci.error_source import BACKGROUND, AnswerSource, factor_words, features, groups
from cuescope_cci.options import CCIOptions
from cuescope_cci.report import Row, error_table, rows, scores, statement, tally
from cuescope_cci.scores import Tally, contrast_p_value
from cuescope_sdk import Audit, Context, Score
from cuescope_sdk.maths import benjamini_hochberg

CHOICES = ("owl", "toad", "hawk")
Many = Callable[..., list[AnswerSource]]


@pytest.fixture
def leaning(many: Many) -> list[AnswerSource]:
    """Right 18 of 20 on an object and 4 of 16 on the background; one error of the 14 is fine."""
    return [
        *many(18, "fr", label="owl"),
        *many(1, "fine", label="owl", prediction="hawk", alike=True),
        *many(1, "coarse", label="owl", prediction="toad"),
        *many(4, "br", label="toad", prediction="toad", region="background"),
        *many(12, "bw", label="toad", prediction="owl", region="background", alike=True),
    ]


def scored(sources: list[AnswerSource], **given: Any) -> tuple[list[Score], Audit]:
    chosen = CCIOptions(**given)
    audit = Audit(
        labels=CHOICES,
        options=chosen,
        respond=lambda trials: [],
        context=Context(),
        samples=tuple(source.sample for source in sources),
    )
    return list(scores(audit, chosen, sources)), audit


def value(all_scores: list[Score], metric: str, label: str | None = None) -> Score:
    [score] = [
        s for s in all_scores if (s.feature, s.label, s.metric) == (BACKGROUND, label, metric)
    ]
    return score


# ---------------------------------------------------------------------------------------- counts


def test_counts_by_hand(leaning: list[AnswerSource]) -> None:
    counts = tally(leaning)
    assert counts == Tally(
        images=36, errors=14, background=16, background_errors=12, fine_errors=1
    )  # a look-alike on the background is no fine-grained error
    assert counts.foreground_errors == 2
    assert counts.gap_counts == (18, 20, 4, 16)


def test_an_image_without_a_label_is_neither_right_nor_wrong(
    source: Callable[..., AnswerSource],
) -> None:
    bare = source(label=None, prediction="owl", region="background")
    assert (bare.correct, bare.wrong, bare.is_counted, bare.fine_grained) == (
        False,
        False,
        False,
        False,
    )
    assert tally([bare]).errors == 0


def test_background_share_is_that_of_the_positive_importance(
    source: Callable[..., AnswerSource],
) -> None:
    assert source().background_share == 11 / 16  # columns 1 1 1.25 1.75 | 2.25 2.75 3 3


# ---------------------------------------------------------------------------------------- groups


def test_groups_are_all_images_then_each_value_of_a_factor_that_varies(many: Many) -> None:
    sources = [
        *many(2, "a", size="small", light="day"),
        *many(3, "b", size="large", light="day"),
        *many(1, "c"),
    ]
    sizes = {name: len(group) for name, group in groups(sources).items()}
    assert sizes == {"background": 6, "background|size=large": 3, "background|size=small": 2}


def test_a_group_in_words() -> None:
    assert factor_words("background|time of day=12=noon") == "time of day: 12=noon"


def test_a_feature_occurs_where_the_background_misled(many: Many) -> None:
    sources = [
        *many(3, "right", region="background"),
        *many(2, "misled", label="toad", region="background"),
        *many(2, "object", label="toad"),
    ]
    [feature] = features(sources)
    assert [o.sample for o in feature.occurrences] == ["misled-0", "misled-1"]
    [feature] = features(sources[:3])  # no errors at all: where it was looked at
    assert len(feature.occurrences) == 3


def test_no_feature_where_no_region_is_known(many: Many) -> None:
    assert not list(features(many(3, "a", region=None) + many(3, "b", label=None)))


# ---------------------------------------------------------------------------------------- scores


def test_rates_and_the_gap_by_hand(leaning: list[AnswerSource]) -> None:
    of_report, _ = scored(leaning)
    bg_er, gap = value(of_report, "bg_er"), value(of_report, "accuracy_gap")
    assert bg_er.value == pytest.approx(12 / 14)
    assert value(of_report, "fine_er").value == pytest.approx(1 / 14)
    assert gap.value == pytest.approx(18 / 20 - 4 / 16)
    assert (bg_er.n, gap.n) == (16, 16)  # images that the background decided
    assert gap.low is not None
    assert gap.high is not None
    assert gap.low < 0.65 < gap.high


def test_the_gaps_p_value_is_fishers(leaning: list[AnswerSource]) -> None:
    of_report, _ = scored(leaning)
    [[right_fore, wrong_fore], [right_back, wrong_back]] = table = [[18, 2], [4, 12]]
    exact = fisher_exact(table, alternative="greater").pvalue
    total, right = 36, right_fore + right_back
    tail = hypergeom(total, right, right_back + wrong_back).cdf(right_back)
    assert value(of_report, "accuracy_gap").p_value == pytest.approx(exact)
    assert exact == pytest.approx(tail)
    majority = binomtest(12, 14, 0.5, alternative="greater").pvalue
    assert value(of_report, "bg_er").p_value == pytest.approx(2 * min(exact, majority))
    assert wrong_fore + wrong_back == total - right


def test_q_values_are_over_all_rows_that_were_tested(
    leaning: list[AnswerSource], many: Many
) -> None:
    more = many(3, "more", label="owl", region="background")
    p_values = {row.label: row.p_value for row in rows([*leaning, *more], CHOICES)}
    of_report, _ = scored([*leaning, *more])
    q_values = {s.label: s.q_value for s in of_report if s.metric == "bg_er"}
    tested = [label for label, p in p_values.items() if p is not None]
    expected = false_discovery_control([p_values[label] for label in tested])
    assert [q_values[label] for label in tested] == pytest.approx(expected.tolist())


def test_a_model_that_looks_at_nothing_else_is_found_by_the_majority(many: Many) -> None:
    [whole, *_] = rows(
        many(12, "all", label="owl", prediction="toad", region="background"), CHOICES
    )
    assert whole.p_value == pytest.approx(0.5**12)
    assert "never looks at an object" in statement(whole, whole.tally)


def test_a_factor_is_news_only_where_it_differs() -> None:
    whole = Tally(images=40, errors=30, background=20, background_errors=15, fine_errors=0)
    group = Tally(images=12, errors=10, background=10, background_errors=9, fine_errors=0)
    exact = fisher_exact([[9, 1], [6, 14]], alternative="greater").pvalue
    assert contrast_p_value(group, whole) == pytest.approx(exact)
    alike = Tally(images=12, errors=10, background=6, background_errors=5, fine_errors=0)
    assert (contrast_p_value(alike, whole) or 0) > 0.5
    assert contrast_p_value(whole, whole) is None
    row = Row("background|size=small", None, group, exact)
    assert statement(row, whole) == (
        "Where the images have {feature}, 9 of 10 wrong answers come from the background. "
        "Elsewhere 6 of 20 do."
    )


@pytest.mark.parametrize(
    ("given", "is_finding"),
    [({}, True), ({"min_bg_er": 0.9}, False), ({"fdr": 1e-6}, False), ({"min_bg_er": 0.85}, True)],
)
def test_the_rule_of_a_finding(
    leaning: list[AnswerSource], given: dict[str, float], is_finding: bool
) -> None:
    of_report, _ = scored(leaning, **given)
    headline = value(of_report, "bg_er")
    assert headline.finding is is_finding
    assert (headline.statement is not None) is is_finding


def test_where_the_background_does_no_harm_there_is_no_finding(many: Many) -> None:
    of_report, _ = scored(
        [
            *many(10, "fw", label="toad"),
            *many(10, "fr"),
            *many(10, "br", region="background"),
            *many(9, "bw", label="toad", region="background"),
        ]
    )
    assert value(of_report, "bg_er").value == pytest.approx(9 / 19)
    assert not any(score.finding for score in of_report)


def test_no_errors_is_missing_not_zero(many: Many) -> None:
    of_report, _ = scored(many(4, "a") + many(4, "b", region="background"))
    bg_er = value(of_report, "bg_er")
    assert (bg_er.value, bg_er.low, bg_er.high, bg_er.n) == (None, None, None, 4)
    assert value(of_report, "accuracy_gap").value == 0


def test_the_statement_has_the_numbers(leaning: list[AnswerSource]) -> None:
    [whole, *_] = rows(leaning, CHOICES)
    assert statement(whole, whole.tally) == (
        "Wrong answers come from {feature} in 12 of 14 cases. Where the model looks at the "
        "background, it is right 25% of the time. Where it looks at an object, it is right 90% "
        "of the time."
    )


def test_findings_come_first_and_the_whole_data_set_before_its_parts(
    leaning: list[AnswerSource], many: Many
) -> None:
    """One error of one counts for less than twelve of twelve."""
    alone = many(1, "x", label="hawk", prediction="owl", region="background")
    of_report, _ = scored([*leaning, *alone])
    order = [(s.label, s.finding) for s in of_report if s.metric == "bg_er"]
    assert order[0] == (None, True)
    assert [label for label, _ in order[1:]] == ["toad", "hawk", "owl"]  # 1 of 12, 1 of 1, 0 of 2


# ----------------------------------------------------------------------------- table and the notes


def test_the_table_has_the_shares_of_each_group(leaning: list[AnswerSource]) -> None:
    table = error_table(rows(leaning, CHOICES), 0.95)
    assert table.rows[0] == {
        "group": "all images",
        "wrong": "14 of 36",
        "BG-Er %": "86 [60, 96]",
        "FG-Er %": "14 [4, 40]",
        "Fine-Er %": "7 [1, 31]",
    }
    assert [row["group"] for row in table.rows] == ["all images", "owl", "toad"]
    assert set(table.columns) == set(table.rows[0])


def test_the_notes_tell_what_was_left_out(leaning: list[AnswerSource], many: Many) -> None:
    _, audit = scored([*leaning, *many(2, "none", region=None), *many(1, "bare", label=None)])
    assert audit.notes["accuracy"] == "63.2% of 38 images"  # 22 and the two without a region
    assert audit.notes["left out"].startswith("3 images")
    _, audit = scored(many(2, "bare", label=None))
    assert "no labels" in audit.notes["error sources"]


def test_errors_that_have_nothing_to_do_with_the_background_are_found_as_rarely_as_promised(
    many: Many,
) -> None:
    """Of 200 draws at a false discovery rate of 0.2, at most 0.2 are expected to find anything."""
    rng = np.random.default_rng(8)
    pool = {
        (label, wrong, region): many(
            1,
            f"{label}-{wrong}-{region}",
            label=label,
            region=region,
            prediction="hawk" if wrong else label,
        )[0]
        for label in ("owl", "toad")
        for wrong in (False, True)
        for region in ("foreground", "background")
    }
    found_any = 0
    for _ in range(200):
        draw = [
            pool[
                ("owl", "toad")[rng.integers(2)],
                bool(rng.random() < 0.4),
                ("foreground", "background")[rng.integers(2)],
            ]
            for _ in range(80)
        ]
        q_values = benjamini_hochberg([row.p_value for row in rows(draw, CHOICES)])
        found_any += any(q is not None and q <= 0.2 for q in q_values)
    assert 0 < found_any <= 0.2 * 200 + 2 * np.sqrt(200 * 0.2 * 0.8)
