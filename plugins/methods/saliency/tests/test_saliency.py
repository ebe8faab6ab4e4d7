"""The method from end to end: the contract, planted backgrounds, masks, refusals."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from pydantic import NonNegativeFloat

from cuescope_open_clip import OpenCLIP, OpenCLIPOptions
from cuescope_saliency import Saliency
from cuescope_sdk import Context, Frame, Plugin, Sample, UserError
from cuescope_testing import (
    FakeDataset,
    MethodContract,
    Setup,
    run_audit,
    temporary_cache,
)

LABELS = ("red", "green", "blue")


class RandomOptions(OpenCLIPOptions):
    """The fake model's options, which a model of random weights has no use for."""

    model: str = ""
    lean: NonNegativeFloat = 1.0
    noise: NonNegativeFloat = 1.0


@pytest.fixture(scope="session", autouse=True)
def weights(model: Any) -> None:
    """Where RandomClip finds its files."""
    RandomClip.folder = model.options.model


class RandomClip(OpenCLIP):
    Options = RandomOptions
    folder: ClassVar[str]

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options.model_copy(update={"model": self.folder}), context)


class Masked(FakeDataset):
    """The fake data with its green patch as the foreground."""

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        green = np.asarray(sample.frames[0].load())[..., 1] == 220
        annotations = {**sample.annotations, "foreground": green}
        return replace(sample, annotations=annotations)


class TestContract(MethodContract):
    """A random map knows nothing of the masks: findings come at the promised rate."""

    plugin = Saliency
    model = RandomClip
    data = Masked
    options: ClassVar[Mapping[str, Any]] = {
        "explainer": "random",
    }
    data_options: ClassVar[Mapping[str, Any]] = {"frames": 1, "samples": 24}
    finds_planted_cue = False


class Patches(Plugin):
    """Pictures of two coloured patches; the label is that of the first."""

    labels = LABELS
    facts: ClassVar[dict[str, str]] = {}
    fingerprint = "patches"
    draw: ClassVar[Any] = None

    def __len__(self) -> int:
        return 24

    def __getitem__(self, index: int) -> Sample:
        pixels, patches = type(self).draw(np.random.default_rng(index))
        first, _ = patches
        row, col = (8 * part for part in divmod(patches[first], 4))
        mask = np.zeros((32, 32), dtype=bool)
        mask[row : row + 8, col : col + 8] = True
        return Sample(
            key=f"{index:03d}",
            frames=(Frame.from_array(pixels),),
            choices=LABELS,
            label=first,
            annotations={"foreground": mask} | self.more(),
        )

    def more(self) -> dict[str, Any]:
        return {}


class Swapped(Patches):
    """The mask is the half of the picture without the patch that the label speaks of."""

    fingerprint = "swapped"

    def __len__(self) -> int:
        return 48  # of 24 images the model's two in five are no better than chance

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        left = sample.annotations["foreground"][:, :16].any()
        mask = np.zeros((32, 32), dtype=bool)
        mask[:, 16 if left else 0 :][:, :16] = True
        return replace(sample, annotations={"foreground": mask})


@pytest.fixture
def hand_written(planted: Any, draw: Any) -> type[Any]:
    """The planted model as a class, and the drawing in its place."""
    Patches.draw = staticmethod(draw)

    class HandWritten(OpenCLIP):
        class Options(OpenCLIPOptions):
            model: str = ""

        def __init__(self, options: Any, context: Context) -> None:
            super().__init__(planted.options, context)

    return HandWritten


def rows(report: Any, metric: str) -> dict[str, Any]:
    return {s.label: s for s in report.scores if s.metric == metric}


def test_maps_on_the_object_are_no_finding(hand_written: Any) -> None:
    report = run_audit(
        Saliency,
        hand_written,
        Patches,
        target="true",
        explainer="grad-eclip",
    )
    assert not report.findings
    assert {f.name for f in report.features} == {
        f"regions that speak for '{x}'" for x in LABELS
    }
    for label in LABELS:
        assert rows(report, "foreground_share")[label].value > 0.4
        assert rows(report, "iou")[label].value > 0.6
        assert rows(report, "background_lean")[label].value < -0.3
        # of these 24 images the model's answers are no better than chance
        assert rows(report, "background_lean")[label].q_value is None
    assert report.notes["result"].startswith("Nothing is tested")


def test_maps_on_the_background_are_found(hand_written: Any) -> None:
    report = run_audit(
        Saliency, hand_written, Swapped, target="true", explainer="grad-eclip"
    )
    assert {score.label for score in report.findings} == set(LABELS)
    score = report.findings[0]
    assert score.q_value is not None
    assert score.q_value < 0.05
    assert score.value == pytest.approx(
        1 / 2 - rows(report, "foreground_share")[score.label].value
    )
    assert "50% of the picture" in (report.sentence(score) or "")
    assert report.accuracy is not None
    assert report.accuracy.above_chance
    assert report.accuracy.answered == 48
    assert {(c.feature, c.label) for c in report.contrasts} == {
        (found.feature, found.label) for found in report.findings
    }
    most, least = report.contrasts[
        0
    ].sides  # all maps lean, so halves stand beside each other
    n = int(score.n or 0)
    half, of, right = re.findall(
        r"(\d+) of (\d+) images: \d+% of (\d+) right", most.title
    )[0]
    assert (int(of), half) == (n, right)
    assert f"{n - int(half)} of {n} images" in least.title

    def on_background(exhibit: Any) -> int:
        return int(re.match(r"(\d+)% of the map", exhibit.words)[1])  # type: ignore[index]

    assert min(map(on_background, most.exhibits)) >= max(
        map(on_background, least.exhibits)
    )
    assert all(
        exhibit.drawing[:2] == b"\xff\xd8"
        for exhibit in most.exhibits
        if exhibit.drawing
    )
    assert most.exhibits[0].drawing
    assert "Few groups" in (report.sentence(score) or "")


def test_any_text_is_explained_in_every_image(hand_written: Any) -> None:
    report = run_audit(
        Saliency,
        hand_written,
        Patches,
        text="blue",
        explainer="grad-eclip",
    )
    (feature,) = report.features
    assert len(feature.occurrences) == 24
    strengths = [occurrence.strength for occurrence in feature.occurrences]
    assert max(strengths) < 1  # probabilities of "blue" among the choices
    with pytest.raises(UserError, match="'violet'"):
        run_audit(Saliency, hand_written, Patches, text="violet")


def test_groups_by_the_label_that_is_explained(hand_written: Any) -> None:
    samples = [Patches({}, Context())[index] for index in range(24)]
    report = run_audit(Saliency, hand_written, Patches, target="true")
    counts = {label: score.n for label, score in rows(report, "accuracy").items()}
    assert counts == {label: sum(s.label == label for s in samples) for label in LABELS}
    report = run_audit(Saliency, hand_written, Patches, target="predicted")
    right = sum(s.n * s.value for s in rows(report, "accuracy").values())
    assert report.accuracy is not None
    assert report.accuracy.correct == round(right)
    assert 0.3 < right / 24 < 0.9  # the other patch's colour is the answer in the rest


class Odd(Patches):
    """Masks that say nothing: empty, full, missing."""

    fingerprint = "odd"

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        kinds = [np.zeros((32, 32), bool), np.ones((32, 32), bool), None]
        mask = (kinds * 2)[index] if index < 6 else sample.annotations["foreground"]
        annotations = {} if mask is None else {"foreground": mask}
        return replace(sample, annotations=annotations)


def test_leaves_out_masks_that_say_nothing(hand_written: Any) -> None:
    report = run_audit(Saliency, hand_written, Odd, target="true")
    assert report.notes["foreground"].startswith(
        "left out: 2 images without a mask, 4 whose mask"
    )
    assert sum(s.n for s in rows(report, "iou").values()) == 18
    assert sum(s.n for s in rows(report, "accuracy").values()) == 24


class Bare(Patches):
    fingerprint = "bare"

    def __getitem__(self, index: int) -> Sample:
        return replace(super().__getitem__(index), annotations={})


def test_without_masks_nothing_is_said_of_the_background(hand_written: Any) -> None:
    report = run_audit(Saliency, hand_written, Bare, maps_only=True)
    assert "no foreground masks" in report.notes["weak data"]
    assert not report.findings
    [said] = report.statements  # in place of "No cue found"
    assert said.startswith(
        "Nothing could be tested: no image has a usable foreground mask"
    )
    assert all(s.value is None for s in rows(report, "background_lean").values())
    assert sum(s.n for s in rows(report, "accuracy").values()) == 24
    assert "the data has no masks" in report.notes["foreground"]


class Misfit(Patches):
    fingerprint = "misfit"

    def more(self) -> dict[str, Any]:
        return {"foreground": np.ones((7, 9), bool)}


def test_refusals_are_one_line(hand_written: Any) -> None:
    with pytest.raises(
        UserError, match=r"as large as the frame, got bool of shape \(7, 9\) in sample"
    ):
        run_audit(Saliency, hand_written, Misfit)
    with pytest.raises(
        UserError, match=r"sequence: expected one frame a sample, got 3 frames"
    ):
        run_audit(Saliency, RandomClip, FakeDataset)
    with pytest.raises(UserError, match="Did you mean 'rollout'"):
        run_audit(Saliency, hand_written, Patches, explainer="rolout")


def test_maps_are_those_of_the_audit(hand_written: Any, planted: Any) -> None:
    from cuescope_saliency import explain
    from cuescope_sdk import Audit, Outcome, Response
    from cuescope_sdk.explain import Canvas, Explainer

    def respond(trials: Any) -> list[Outcome]:
        return [
            Outcome(t, Response(readout=t.readout.read(planted, [t])[0]))
            for t in trials
        ]

    samples = [Patches({}, Context())[index] for index in range(3)]
    audit = Audit(
        labels=LABELS, options=None, respond=respond, context=Context(), samples=()
    )
    method = Saliency(Saliency.Options(), Context())
    assert isinstance(method, Explainer)
    maps = method.maps(audit, Canvas.samples(audit, samples), ["blue"] * 3)
    for sample, importance in zip(samples, maps, strict=True):
        expected = explain(planted, sample.frames[0], "blue")
        np.testing.assert_allclose(importance, expected, atol=1e-6)


def test_no_image_is_asked_about_twice(hand_written: Any) -> None:
    """What one hook knows the next one finds again, and no trial passes `respond` a second time."""
    with temporary_cache() as cache:
        session = Setup(Saliency, hand_written, Patches, {}).session(cache)
        respond, names = session.audit.respond, []

        def log(trials: Any) -> list[Any]:
            trials = list(trials)
            names.extend((trial.sample.key, trial.readout) for trial in trials)
            return respond(trials)

        session.audit.respond = log
        assert len(session.run().pictures) == 2
    assert len(names) == len(set(names)) == 4 * 24  # canvas, answer, map and mask


def test_checks_another_method_by_maps_of_its_own(hand_written: Any) -> None:
    """As an extra verifier (--verify-with) it finds none of its own trials among the outcomes."""
    from cuescope_sdk import Audit

    with temporary_cache() as cache:
        setup = Setup(Saliency, hand_written, Patches, {"explainer": "random"})
        session = setup.session(cache)
        session.run()
        audit: Audit = session.audit
        before = len(audit.attachments)
        other = Saliency(Saliency.Options(), audit.context)
        assert not list(other.verify(audit))
    own = run_audit(Saliency, hand_written, Patches)
    assert [p.image for p in audit.attachments[before:]] == [
        p.image for p in own.pictures
    ]  # type: ignore[union-attr]


def test_a_plan_is_bounded_and_not_by_much(hand_written: Any) -> None:
    setup = Setup(Saliency, hand_written, Patches, {})
    plan, asked = setup.plan(), setup.report().cost.trials
    assert plan.more is not None
    assert asked <= plan.trials + plan.more < 2 * asked
