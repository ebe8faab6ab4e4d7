"""The answer sheet, the pictures, and whole audits of the fakes."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from cuescope_cci import CCI
from cuescope_cci.error_source import AnswerSource
from cuescope_cci.figures import attach_examples
from cuescope_cci.verify import check_planted
from cuescope_sdk import HideTokens, Outcome, Trial, UserError
from cuescope_sdk.testing import FakeDataset, FakeModel, Setup, temporary_cache

Many = Callable[..., list[AnswerSource]]
IMAGES = {"frames": 1, "samples": 60}


def audited(data: Any = FakeDataset, **given: Any) -> Any:
    return Setup(CCI, data=data, options={"steps": 4, **given}, data_options=IMAGES).report()


# --------------------------------------------------------------------------------- answer sheet


def sheet(sources: list[AnswerSource], **misled: bool) -> Any:
    """Samples whose background is planted for "owl" where `misled` says so, by name of a group."""
    return [
        source.sample.model_copy(
            update={
                "key": source.key,
                "annotations": {
                    "cues": {"background of owl": (misled[source.key.partition("-")[0]],)}
                },
            }
        )
        for source in sources
    ]


def test_agreement_with_the_sheet_by_hand(many: Many) -> None:
    sources = [
        *many(6, "misled", label="toad", region="background"),
        *many(1, "missed", label="toad", region="foreground"),
        *many(2, "own", label="toad", region="foreground"),
        *many(1, "wrongly", label="toad", region="background"),
        *many(5, "right", label="owl", region="background"),  # no error
        *many(2, "unknown", label="owl", prediction="hawk"),  # no such line on the sheet
        *many(2, "nowhere", label="toad", region=None),
    ]
    truth = {"misled": True, "missed": True, "own": False, "wrongly": False}
    truth |= dict.fromkeys(("right", "unknown", "nowhere"), True)
    evidence = check_planted(sheet(sources, **truth), sources)
    assert evidence is not None
    assert (evidence.value, evidence.n, evidence.verdict) == (pytest.approx(0.8), 10, "refuted")
    assert "caused 7" in evidence.detail
    assert "says that 7" in evidence.detail


@pytest.mark.parametrize(("errors", "verdict"), [(4, "inconclusive"), (5, "supported")])
def test_few_errors_decide_nothing(many: Many, errors: int, verdict: str) -> None:
    sources = many(errors, "misled", label="toad", region="background")
    evidence = check_planted(sheet(sources, misled=True), sources)
    assert evidence is not None
    assert (evidence.value, evidence.verdict) == (1.0, verdict)


def test_a_background_that_misleads_by_chance_alone_decides_nothing(many: Many) -> None:
    sources = [*many(6, "a", label="toad"), *many(2, "b", label="toad", region="background")]
    evidence = check_planted(sheet(sources, a=False, b=True), sources)
    assert evidence is not None
    assert (evidence.value, evidence.verdict) == (1.0, "inconclusive")
    assert "no more than by chance" in evidence.detail


def test_no_sheet_no_evidence(many: Many) -> None:
    sources = many(8, "a", label="toad", region="background")
    samples = [source.sample.model_copy(update={"key": source.key}) for source in sources]
    assert check_planted(samples, sources) is None


# ------------------------------------------------------------------------------------- pictures


def test_a_picture_for_each_kind_that_is_there(many: Many, part_audit: Any) -> None:
    kinds = {
        "came from the background": many(3, "b", label="toad", region="background"),
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
        assert picture.caption.count("'") == (2 if words in ("Right", "without a label") else 4) * (
            min(len(group), 2)
        )
        assert picture.image[:2] == b"\xff\xd8"  # a JPEG
    audit = part_audit()
    attach_examples(audit, [source for group in kinds.values() for source in group], most=2)
    assert len(audit.attachments) == 5
    audit = part_audit()
    attach_examples(audit, kinds["Right"], most=0)
    assert not audit.attachments


# --------------------------------------------------------------------------------- whole audits


def test_each_trial_passes_respond_once() -> None:
    """With the maps of the faithfulness check, which are about images asked before."""
    passed: Counter[tuple[str, str, bytes]] = Counter()
    with temporary_cache() as cache:
        setup = Setup(CCI, options={"steps": 4, "faithfulness": 16}, data_options=IMAGES)
        session = setup.session(cache)
        respond = session.audit.respond

        def counting(trials: Iterable[Trial]) -> list[Outcome]:
            asked = list(trials)
            for trial in asked:
                if trial.readout is None and trial.sample.key.endswith("/canvas"):
                    mask = trial.edit.mask.tobytes() if isinstance(trial.edit, HideTokens) else b""
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
    assert set(passed.values()) == {1}


@pytest.fixture(scope="module")
def report() -> Any:
    chosen = {"steps": 4, "faithfulness": 16}
    return Setup(CCI, options=chosen, data_options={"frames": 1}).report()


def test_faithful_on_a_model_that_uses_two_places(report: Any) -> None:
    verdicts = {e.check.partition(" ")[0]: e for e in report.evidence}
    assert verdicts["deletion"].verdict == "supported"
    assert verdicts["deletion"].value > 0.05


def test_the_red_corner_makes_the_background_errors(report: Any) -> None:
    [headline] = [s for s in report.headlines if s.label is None]
    assert headline.finding
    assert headline.value > 0.6
    assert "the background in" in report.sentence(headline)
    assert next(table.title for table in report.tables) == "Where the errors come from"


def test_a_model_that_does_not_lean_has_no_background_errors_to_find() -> None:
    setup = Setup(
        CCI,
        options={"faithfulness": 0, "pictures": 0},
        data_options=IMAGES,
        model_options={"lean": 0.0},
    )
    assert not setup.report().findings


def test_without_masks_the_maps_are_still_checked(changing: Callable[..., Any]) -> None:
    report = audited(changing(annotations={"foreground": None}), faithfulness=8)
    assert not report.scores
    assert "no foreground masks" in report.notes["error sources"]
    assert [e.check.partition(" ")[0] for e in report.evidence] == ["deletion", "insertion"]
    assert any("Right" in picture.title for picture in report.pictures)


def test_without_labels_there_are_maps_and_no_errors(changing: Callable[..., Any]) -> None:
    report = audited(changing(label=None), faithfulness=8)
    assert not report.scores
    assert not report.evidence
    assert "no labels" in report.notes["error sources"]
    assert [picture.title for picture in report.pictures] == ["Images without a label"]


def test_true_and_text_targets_give_other_maps() -> None:
    by_target = {
        target: audited(faithfulness=0, pictures=0, target=target, **more)
        for target, more in {"predicted": {}, "true": {}, "text": {"text": "middle"}}.items()
    }
    shares = {
        target: {o.sample: o.strength for o in report.features[0].occurrences}
        for target, report in by_target.items()
    }
    assert len({str(sorted(each.items())) for each in shares.values()}) == 3
    words = {target: report.notes["maps"] for target, report in by_target.items()}
    assert words["true"].startswith("about the true class")
    assert words["text"].startswith("about 'middle'")


def test_a_text_that_is_no_choice_is_asked_alone() -> None:
    asked = []

    class Watched(FakeModel):
        def respond(self, trials: Any) -> Any:
            asked.extend(trials)
            return super().respond(trials)

    setup = Setup(
        CCI,
        Watched,
        options={"faithfulness": 0, "pictures": 0, "target": "text", "text": "pond"},
        data_options={"frames": 1, "samples": 6},
    )
    setup.report()
    alone = [trial for trial in asked if trial.sample.choices == ("pond",)]
    assert {trial.sample.key for trial in alone} == {f"val-{i:03d}/canvas" for i in range(6)}
    assert any(trial.edit is not None for trial in alone)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"target": "text"}, "target=text and text=... go together"),
        ({"text": "a pond"}, "target=text and text=... go together"),
    ],
)
def test_options_that_do_not_go_together(given: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        audited(**given)


def test_a_video_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match="expected one frame a sample, got 3 frames") as caught:
        Setup(CCI, data_options={"frames": 3}).report()
    assert "\n" not in str(caught.value)


def test_the_true_class_of_unlabelled_images(changing: Callable[..., Any]) -> None:
    with pytest.raises(UserError, match=r"'val-000' has no label: expected labelled images"):
        audited(changing(label=None), target="true")
