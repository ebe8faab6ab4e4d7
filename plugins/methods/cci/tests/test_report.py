"""From answers to counts, scores, findings and the table; every figure by hand."""

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from scipy.stats import binomtest

from cuescope_cci.backgrounds import measure_backgrounds
from cuescope_cci.error_source import (
    BACKGROUND,
    AnswerSource,
    factor_words,
    features,
    groups,
    wrong_answers,
)
from cuescope_cci.figures import attach_evidence
from cuescope_cci.options import CCIOptions
from cuescope_cci.report import error_table, rows, scores, share_of
from cuescope_sdk import Audit, Context, Contrast, Detection, Finding, Score

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
        *many(
            12, "bw", label="toad", prediction="owl", region="background", alike=True
        ),
    ]


@pytest.fixture
def pulled(many: Many) -> list[AnswerSource]:
    """In the sky toads and hawks are owls, and without the sky they are what they are."""
    sea = {"place": "sea", "apart": ("toad", "hawk")}
    return [
        *many(
            12, "to", label="toad", prediction="owl", apart=("owl", "toad"), place="sky"
        ),
        *many(
            12, "ho", label="hawk", prediction="owl", apart=("owl", "hawk"), place="sky"
        ),
        *many(
            12, "oo", label="owl", prediction="owl", apart=("owl", "owl"), place="sky"
        ),
        *many(
            12,
            "tt",
            label="toad",
            prediction="toad",
            **sea | {"apart": ("toad", "toad")},
        ),
        *many(12, "hh", label="hawk", prediction="hawk", **sea),
        *many(
            12, "o", label="owl", prediction="owl", **sea | {"apart": ("toad", "owl")}
        ),
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
        s
        for s in all_scores
        if (s.feature, s.label, s.metric) == (BACKGROUND, label, metric)
    ]
    return score


# ---------------------------------------------------------------------------------------- counts


def test_counts_by_hand(leaning: list[AnswerSource]) -> None:
    wrong = wrong_answers(leaning)
    assert len(wrong) == 14
    assert sum(source.on_background for source in leaning) == 16
    assert sum(source.on_background for source in wrong) == 12
    assert sum(source.on_object for source in wrong) == 2
    # a look-alike on the background is no fine-grained error
    assert share_of(wrong, lambda source: source.fine_grained, 0.95).value == 1 / 14


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
    assert not wrong_answers([bare])


def test_background_share_is_that_of_the_positive_importance(
    source: Callable[..., AnswerSource],
) -> None:
    assert source().background_share == 11 / 16  # columns 1 1 1.25 1.75 | 2.25 2.75 3 3


# ---------------------------------------------------------------------------------------- groups


def test_groups_are_all_images_then_each_value_of_a_factor_that_varies(
    many: Many,
) -> None:
    sources = [
        *many(2, "a", size="small", light="day"),
        *many(3, "b", size="large", light="day"),
        *many(1, "c"),
    ]
    sizes = {name: len(group) for name, group in groups(sources).items()}
    assert sizes == {
        "background": 6,
        "background|size=large": 3,
        "background|size=small": 2,
    }


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


def test_shares_by_hand(leaning: list[AnswerSource]) -> None:
    families = {"family": "bird"}  # without any no look-alike is known
    of_report, _ = scored(
        [replace(s, sample=replace(s.sample, annotations=families)) for s in leaning]
    )
    bg_er, fine_er = value(of_report, "bg_er"), value(of_report, "fine_er")
    assert (bg_er.value, bg_er.n) == (pytest.approx(12 / 14), 14)
    exact = binomtest(12, 14).proportion_ci(0.95, method="exact")
    assert (bg_er.low, bg_er.high) == (
        pytest.approx(exact.low),
        pytest.approx(exact.high),
    )
    assert fine_er.value == pytest.approx(1 / 14)
    assert bg_er.p_value is None  # a share alone is no cue
    assert not any(score.finding for score in of_report)


def test_no_errors_is_missing_not_zero(many: Many) -> None:
    of_report, _ = scored(many(4, "a") + many(4, "b", region="background"))
    bg_er = value(of_report, "bg_er")
    assert (bg_er.value, bg_er.low, bg_er.high, bg_er.n) == (None, None, None, 0)


def test_a_kind_of_background_that_draws_an_answer_is_found(
    pulled: list[AnswerSource],
) -> None:
    of_report, audit = scored(pulled)
    [found] = [s for s in of_report if s.finding]
    assert (found.feature, found.label, found.n) == ("background|place=sky", "owl", 36)
    # two of three labels are drawn, and no owl: it is one without the sky as well
    assert found.value == pytest.approx(2 / 3, abs=0.1)
    assert (found.low or 0) > 0.4
    assert (found.statement or "").startswith(
        "Of 36 images with {feature} 36 are answered 'owl', 24 of them only while the background "
        "is there. Elsewhere a background draws this answer in "
    )
    [cue] = [a for a in audit.attachments if isinstance(a, Finding)]
    assert cue.claim == '{feature} draws the answer "owl"'
    assert "power" not in audit.notes


def test_several_kinds_that_draw_answers_are_one_cue(
    pulled: list[AnswerSource], many: Many
) -> None:
    night = {"label": "owl", "prediction": "toad", "place": "night"}
    sources = [*pulled, *many(20, "n", apart=("toad", "owl"), **night)]
    of_report, audit = scored(sources)
    first, *pairs = [s for s in of_report if s.finding]
    assert (first.feature, first.label) == (BACKGROUND, None)
    assert (first.value, first.n) == (pytest.approx(44 / 92), 92)
    assert "44 of 92 answers are others without it" in (first.statement or "")
    assert {(s.feature[-3:], s.label) for s in pairs} == {
        ("sky", "owl"),
        ("ght", "toad"),
    }
    [cue] = [a for a in audit.attachments if isinstance(a, Finding)]
    assert (cue.feature, cue.claim) == (BACKGROUND, "{feature} decides the answer")
    assert cue.impact is not None


def test_answers_that_stay_without_the_background_are_no_pull(many: Many) -> None:
    """Wrong labels, and birds that are owls with and without the sky behind them."""
    sources = [
        *many(
            12, "sky", label="toad", prediction="owl", apart=("owl", "owl"), place="sky"
        ),
        *many(
            12,
            "sea",
            label="toad",
            apart=("toad", "toad"),
            prediction="toad",
            place="sea",
        ),
        *many(12, "owl", label="owl", apart=("toad", "owl"), place="sea"),
    ]
    of_report, audit = scored(sources)
    assert not any(score.finding for score in of_report)
    assert audit.notes["kinds of backgrounds"].startswith("none could be compared")
    assert audit.notes["power"].startswith("none")


class Finder:
    """Finds an owl in every image."""

    def detect(self, frames: Any, names: Any) -> Any:
        box = Detection(name="owl", score=0.9, box=(0.0, 0.0, 1.0, 1.0))
        return [(box,) for _ in frames]


@pytest.mark.parametrize("told", ["objects", "boxes", "a detector"])
def test_a_thing_of_the_class_answered_is_no_background(
    pulled: list[AnswerSource], told: str
) -> None:
    """Owls are on screen where the sky seems to make one."""
    tools = {}
    if told == "a detector":
        tools["detector"] = Finder()
    else:
        box = Detection(name="Owl", score=1.0, box=(0.0, 0.0, 1.0, 1.0))
        note = {told: ("owl",) if told == "objects" else (box,)}
        pulled = [
            replace(s, sample=replace(s.sample, annotations=note)) for s in pulled
        ]
    audit = Audit(
        labels=CHOICES,
        options=CCIOptions(),
        respond=lambda trials: [],
        context=Context(),
        tools=tools,
    )
    assert not any(s.finding for s in scores(audit, audit.options, pulled))
    assert audit.notes["things beside"].startswith("24 answers")


def test_a_contrast_shows_what_a_background_draws(pulled: list[AnswerSource]) -> None:
    _, audit = scored(pulled)
    known = audit.once(measure_backgrounds, audit, audit.options, pulled)
    attach_evidence(audit, pulled, known, audit.options.fdr)
    [shown] = [c for c in audit.attachments if isinstance(c, Contrast)]
    left, right = shown.sides
    assert left.title == "place: sky draws the answer 'owl': 24 images"
    assert right.title == "others: 36 images"
    # and no owl in the sky
    assert {e.occurrence.sample[:2] for e in left.exhibits} == {"to", "ho"}
    assert {e.occurrence.sample[:2] for e in right.exhibits} == {"tt", "hh"}
    first = left.exhibits[0]
    assert (first.prediction, first.correct, first.occurrence.frame) == (
        "owl",
        False,
        0,
    )
    assert first.words == f"background alone: 'owl'; objects alone: '{first.label}'"
    assert first.drawing is not None
    assert Image.open(BytesIO(first.drawing)).size == (256, 128)


def test_whole_groups_count_not_images(pulled: list[AnswerSource], many: Many) -> None:
    """The same answers, but two sources of images a place: nothing is proved."""
    videos = [
        source
        for label in ("toad", "hawk")
        for place, answer in (("sky", "owl"), ("sea", label))
        for source in many(
            20,
            f"{label}-{place}",
            label=label,
            prediction=answer,
            apart=(answer, label),
            place=place,
            group=f"{label}-{place}",
        )
    ]
    of_report, _audit = scored(videos)
    assert not any(score.finding for score in of_report)
    whole = value(of_report, "bg_er")
    assert whole.low is not None
    assert whole.high is not None


def test_one_group_a_group_of_two_labels_and_missing_groups(many: Many) -> None:
    about = {"prediction": "owl", "apart": ("owl", "toad")}
    one = [
        *many(9, "a", label="toad", group="v", place="sky", **about),
        *many(9, "b", label="owl", group="v", place="sea", **about),
    ]
    of_report, _ = scored(one)
    assert not any(score.finding for score in of_report)
    some = [*one, *many(9, "c", label="toad", place="sea", **about)]
    of_report, _audit = scored(some)
    assert not any(score.finding for score in of_report)


# ----------------------------------------------------------------------------- table and the notes


def test_the_table_has_the_shares_of_each_group(leaning: list[AnswerSource]) -> None:
    table = error_table(rows(leaning, CHOICES), 0.95, is_alike_known=True)
    assert table.rows[0] == {
        "group": "all images",
        "wrong": "14 of 36",
        "on background %": "86 [57, 98] few",
        "on an object %": "14 [2, 43] few",
        "look-alike %": "7 [0, 34] few",
    }
    assert [row["group"] for row in table.rows] == ["all images", "owl", "toad"]
    assert set(table.columns) == set(table.rows[0])


def test_without_kinds_nothing_was_tested_and_that_is_said(many: Many) -> None:
    moved = many(12, "b", label="toad", apart=("owl", "toad"), prediction="owl")
    of_report, audit = scored(moved)
    assert not any(score.finding for score in of_report)
    assert audit.notes["kinds of backgrounds"].startswith("none could be compared")
    assert audit.notes["power"] == "none: nothing could be tested"


def test_the_notes_tell_what_was_left_out(
    leaning: list[AnswerSource], many: Many
) -> None:
    _, audit = scored(
        [*leaning, *many(2, "none", region=None), *many(1, "bare", label=None)]
    )
    assert audit.notes["left out"].startswith("3 images")
    _, audit = scored(many(2, "bare", label=None))
    assert "no labels" in audit.notes["error sources"]
