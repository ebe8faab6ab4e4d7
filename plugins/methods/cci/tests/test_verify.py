"""The answer sheet, the pictures, and whole audits of the fakes."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cuescope_cci import CCI
from cuescope_cci.backgrounds import Pull, measure_backgrounds
from cuescope_cci.error_source import AnswerSource
from cuescope_cci.error_source.regions import Apart
from cuescope_cci.figures import attach_examples
from cuescope_cci.options import CCIOptions
from cuescope_cci.verify import check_sources
from cuescope_sdk import (
    Audit,
    Context,
    HideTokens,
    Outcome,
    Trial,
    UserError,
    generator,
)
from cuescope_testing import FakeDataset, FakeModel, Setup, temporary_cache

Many = Callable[..., list[AnswerSource]]
IMAGES = {"frames": 1, "samples": 60}
PLACES = ("sky", "grass", "sea", "road", "wall", "sand", "snow", "wood")
BIRDS = ("owl", "toad", "hawk", "duck", "crow", "gull", "heron", "wren")


def audited(data: Any = FakeDataset, **given: Any) -> Any:
    return Setup(CCI, data=data, options=given, data_options=IMAGES).report()


# --------------------------------------------------------------------------------- answer sheet


def sheet(sources: list[AnswerSource], **misled: bool) -> Any:
    """Samples whose background is planted for "owl" where `misled` says so, by name of a group."""
    return [
        replace(
            source.sample,
            key=source.key,
            annotations={
                "cues": {"background of owl": (misled[source.key.partition("-")[0]],)}
            },
        )
        for source in sources
    ]


# --------------------------------------------------------------------------------- what is found


def row(feature: str, label: str) -> Pull:
    return Pull(feature, label, 30, 21, 20, 0.7, 0.1, 0.6, 0.4, 0.8, 0.001, 0.01)


def birds(pull: str, many: Many) -> list[Any]:
    """Each bird before each background. A background pulls to a bird of its own, or a film does."""
    sources = []
    for place_number, place in enumerate(PLACES):
        for number, label in enumerate(BIRDS):
            film = generator(0, label, place)
            by_film = int(film.integers(len(BIRDS)))
            target = place_number if pull == "of places" else by_film
            for made in many(3, f"{label}-{place}", place=place):
                rng = generator(0, made.key)
                objects, ground = rng.normal(scale=0.5, size=(2, len(BIRDS)))
                objects[number] += 2
                ground[target] += 3
                source = replace(
                    made,
                    sample=replace(made.sample, choices=BIRDS, label=label),
                    logits=objects + ground,
                    drops=np.zeros((2, len(BIRDS))),
                    apart=Apart(ground, objects),
                )
                sources.append(source)
    return sources


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("pull", ["of places", "of films"])
def test_images_of_a_label_and_place_may_be_of_one_film(
    many: Many, pull: str, declared: bool
) -> None:
    """Films of one bird before one background are shuffled, and nobody says which they are."""
    sources = birds(pull, many)
    if declared:
        sources = [
            replace(source, sample=replace(source.sample, group=source.key))
            for source in sources
        ]
    options = CCIOptions()
    audit = Audit(
        labels=(), options=options, respond=lambda _: [], context=Context(seed=0)
    )
    known = measure_backgrounds(audit, options, sources)
    assert known is not None
    found = known.found(options.fdr)
    assert found
    checks = list(check_sources(audit, options, known))
    doubted = {(check.feature, check.label) for check in checks if check.doubt}
    if declared:
        assert not checks
    elif pull == "of films":
        assert {(row.feature, row.label) for row in found} <= doubted
    else:
        assert not doubted


def test_a_picture_for_each_kind_that_is_there(many: Many, part_audit: Any) -> None:
    kinds = {
        "rely on the background": many(3, "b", label="toad", region="background"),
        "look-alike": many(1, "f", label="hawk", alike=True),
        "Other wrong": many(1, "o", label="toad"),
        "Right": many(1, "r"),
        "without a label": many(1, "n", label=None),
    }
    for words, group in kinds.items():
        audit = part_audit()
        attach_examples(audit, group, most=2)
        [picture] = audit.attachments
        assert words in picture.title
        assert picture.caption.count("'") == (
            2 if words in ("Right", "without a label") else 4
        ) * (min(len(group), 2))
        assert picture.image[:2] == b"\xff\xd8"  # a JPEG
    audit = part_audit()
    attach_examples(
        audit, [source for group in kinds.values() for source in group], most=2
    )
    assert len(audit.attachments) == 5
    audit = part_audit()
    attach_examples(audit, kinds["Right"], most=0)
    assert not audit.attachments


# --------------------------------------------------------------------------------- whole audits


@pytest.mark.parametrize("starts", [1, pytest.param(3, marks=pytest.mark.long)])
def test_each_trial_passes_respond_once(starts: int) -> None:
    passed: Counter[tuple[str, str, bytes]] = Counter()
    with temporary_cache() as cache:
        setup = Setup(
            CCI,
            options={"starts": starts},
            data_options=IMAGES,
        )
        session = setup.session(cache)
        respond = session.audit.respond

        def counting(trials: Iterable[Trial]) -> list[Outcome]:
            asked = list(trials)
            for trial in asked:
                if trial.readout is None and trial.sample.key.endswith("/canvas"):
                    mask = (
                        trial.edit.mask.tobytes()
                        if isinstance(trial.edit, HideTokens)
                        else b""
                    )
                    passed[trial.sample.key, trial.condition, mask] += 1
            return respond(asked)

        session.audit.respond = counting
        session.run()
    assert {condition for _, condition, _ in passed} == {
        "baseline",
        "cluster-hidden",
        "objects-hidden",
        "background-hidden",
    }
    # two starts of so few patches may have a cluster in common
    most = {"cluster-hidden": starts}
    assert all(
        count <= most.get(condition, 1) for (_, condition, _), count in passed.items()
    )


@pytest.fixture(scope="module")
def report() -> Any:
    return Setup(CCI, data_options={"frames": 1, "samples": 160}).report()


def test_the_red_corner_draws_its_class(report: Any) -> None:
    found = report.findings
    assert {pair.label for pair in found} == {"top"}
    assert "alone mostly 'top'" in report.names[found[0].feature]
    assert (found[0].value or 0) > 0.2
    assert "only while the background is there" in (report.sentence(found[0]) or "")
    shown = next(c for c in report.contrasts if c.feature == found[0].feature)
    assert "draws the answer 'top'" in shown.sides[0].title
    assert report.accuracy.answered == 160
    [bg_er] = [
        s
        for s in report.scores
        if (s.feature, s.label, s.metric) == ("background", None, "bg_er")
    ]
    assert bg_er.value > 0.6
    assert (
        next(table.title for table in report.tables) == "What the wrong answers rely on"
    )


def test_a_model_that_does_not_lean_has_no_background_errors_to_find() -> None:
    setup = Setup(
        CCI,
        data_options=IMAGES,
        model_options={"lean": 0.0},
    )
    assert not setup.report().findings


def test_images_of_one_video_prove_nothing(changing: Callable[..., Any]) -> None:
    """The red corner pulls as ever, but all images are one draw, and of several labels."""
    with pytest.raises(UserError, match=r"too few samples for any finding.* got 1"):
        audited(changing(group="one video"))


def test_without_masks_there_are_maps(changing: Callable[..., Any]) -> None:
    bare = changing(annotations={"foreground": None})
    report = audited(bare, maps_only=True)
    assert "no cue can be found" in report.notes["weak data"]
    assert not report.scores
    assert "no foreground masks" in report.notes["error sources"]
    checks = [evidence.check.partition(" ")[0] for evidence in report.evidence]
    assert checks == ["independent"]
    assert any("Right" in picture.title for picture in report.pictures)


def test_without_labels_there_are_maps_and_no_errors(
    changing: Callable[..., Any],
) -> None:
    report = audited(changing(label=None))
    assert "the data has no labels" in report.notes["weak data"]
    assert not report.scores
    assert [evidence.check for evidence in report.evidence] == ["independent samples"]
    assert "no labels" in report.notes["error sources"]
    assert [picture.title for picture in report.pictures] == ["Images without a label"]


def test_true_and_text_targets_give_other_maps() -> None:
    by_target = {
        target: audited(target=target) for target in ("predicted", "true", "middle")
    }
    shares = {
        target: {o.sample: o.strength for o in report.features[0].occurrences}
        for target, report in by_target.items()
    }
    assert len({str(sorted(each.items())) for each in shares.values()}) == 3


def test_a_text_that_is_no_choice_is_asked_alone() -> None:
    asked = []

    class Watched(FakeModel):
        def respond(self, trials: Any) -> Any:
            asked.extend(trials)
            return super().respond(trials)

    setup = Setup(
        CCI,
        Watched,
        options={"target": "pond"},
        data_options={"frames": 1, "samples": 6},
    )
    setup.report()
    alone = [trial for trial in asked if trial.sample.choices == ("pond",)]
    assert {trial.sample.key for trial in alone} == {
        f"val-{i:03d}/canvas" for i in range(6)
    }
    assert any(trial.edit is not None for trial in alone)


def test_a_video_is_refused_in_one_line() -> None:
    with pytest.raises(
        UserError, match="expected one frame a sample, got 3 frames"
    ) as caught:
        Setup(CCI, data_options={"frames": 3}).report()
    assert "\n" not in str(caught.value)


def test_the_true_class_of_unlabelled_images(changing: Callable[..., Any]) -> None:
    with pytest.raises(
        UserError, match=r"'val-000' has no label: expected labelled images"
    ):
        audited(changing(label=None), target="true")


@pytest.mark.parametrize(
    "given",
    [
        {"starts": 1},
        pytest.param({"starts": 4}, marks=pytest.mark.long),
        pytest.param({"target": "a pond"}, marks=pytest.mark.long),
    ],
)
def test_a_plan_is_bounded_and_not_by_much(given: dict[str, Any]) -> None:
    setup = Setup(CCI, options=given, data_options=IMAGES)
    plan, asked = setup.plan(), setup.report().cost.trials
    assert plan.more is not None
    assert asked <= plan.trials + plan.more < 2 * asked
