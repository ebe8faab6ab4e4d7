"""Which region decided an answer, and where the masks come from."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from cuescope_cci import CCI
from cuescope_cci.error_source.regions import answers_apart, hidden_region
from cuescope_cci.failures import masks_table
from cuescope_cci.trials import AnsweredImage
from cuescope_sdk import (
    Audit,
    Context,
    Frame,
    Outcome,
    Response,
    Sample,
    Trial,
    UserError,
)
from cuescope_testing import FakeDataset, FakeSegmenter, Setup, temporary_cache

# --------------------------------------------------------------------------- where masks come from


def setup(data: Any = FakeDataset, **fields: Any) -> Setup:
    small = {"frames": 1, "samples": 30}
    return Setup(CCI, data=data, data_options=small, **fields)


def test_the_segmenter_takes_the_place_of_the_annotation() -> None:
    """The fake one outlines nothing that it is asked for here, so that no answer has a region."""
    report = setup(tools={"segmenter": FakeSegmenter}).report()
    assert not report.features
    assert report.notes["left out"].startswith("30 images")


def test_the_segmenter_is_asked_once_for_each_image_and_by_name() -> None:
    prompts: list[tuple[str, ...]] = []

    class RightHalf(FakeSegmenter):
        def segment(self, frames: Any, names: Any) -> list[np.ndarray]:
            prompts.append(tuple(names))
            mask = np.zeros((len(names), 8, 8), dtype=bool)
            mask[0, :, 3:8] = True  # as the annotation has it
            return [mask for _ in frames]

    report = setup(tools={"segmenter": RightHalf}).report()
    assert len(prompts) == 30
    assert set(prompts) == {
        (label, "foreground objects") for label in ("top", "middle", "bottom")
    }
    assert report.scores == setup().report().scores


def test_the_segmenters_masks_beside_the_datas_own() -> None:
    """Appendix A.3: of five annotated columns it finds four, everywhere."""

    class Narrow(FakeSegmenter):
        def segment(self, frames: Any, names: Any) -> list[np.ndarray]:
            mask = np.zeros((len(names), 8, 8), dtype=bool)
            mask[0, :, 4:8] = True
            return [mask for _ in frames]

    with temporary_cache() as cache:
        table = masks_table(
            setup(tools={"segmenter": Narrow}).session(cache).audit, "narrow"
        )
        assert masks_table(setup().session(cache).audit, "none") is None
    assert table is not None
    assert table.rows == (
        {"segmenter": "narrow", "images": 30, "mean IoU": pytest.approx(0.8)},
    )


def test_some_masks_missing_is_refused_in_one_line(
    changing: Callable[..., Any],
) -> None:
    holes = changing(only=3, annotations={"foreground": None})
    with pytest.raises(
        UserError, match=r"'val-003' has no foreground mask.*segmenter=SPEC"
    ):
        setup(holes).report()


def test_a_mask_of_another_size_is_refused_in_one_line(
    changing: Callable[..., Any],
) -> None:
    wrong = changing(annotations={"foreground": np.ones((5, 9), dtype=bool)})
    with pytest.raises(
        UserError, match=r"as large as the frame, got bool of shape \(5, 9\) in sample"
    ):
        setup(wrong).report()


# ----------------------------------------------------------------------------- regions hidden whole


CHOICES = ("owl", "toad")
CLUSTER = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]])
# bottom right, in pixels
OBJECT = np.kron(CLUSTER == 3, np.ones((4, 4), bool)).astype(bool)


def answered(says: Any, choices: tuple[str, ...] = CHOICES) -> AnsweredImage:
    frame = Frame.from_array(np.zeros((16, 16, 3), np.uint8))
    sample = Sample(key="x/canvas", frames=(frame,), choices=choices)
    whole = np.asarray(says(np.ones((4, 4), bool)), dtype=np.float64)
    return AnsweredImage(sample, CLUSTER, whole, np.zeros((4, len(choices))))


def audit_of(says: Any) -> Audit:
    """An audit whose model sees which patches are left."""

    def respond(trials: Iterable[Trial]) -> list[Outcome]:
        return [Outcome(t, Response(logits=np.asarray(says(_left(t))))) for t in trials]

    return Audit(labels=CHOICES, options=None, respond=respond, context=Context())


def _left(trial: Trial) -> np.ndarray:
    return np.ones((4, 4), bool) if trial.edit is None else ~trial.edit.mask[0]  # type: ignore[union-attr]


def any_background(left: np.ndarray) -> Sequence[float]:
    """One visible background patch is enough for "toad": no cluster alone is missed."""
    return (0.0, 5.0 if (left & (CLUSTER != 3)).any() else 0.0)


def any_object(left: np.ndarray) -> Sequence[float]:
    return (0.0, 5.0 if (left & (CLUSTER == 3)).any() else 0.0)


def anything(left: np.ndarray) -> Sequence[float]:
    """All choices gain alike from whatever is on the background."""
    patches = float((left & (CLUSTER != 3)).sum())
    return (3 * patches, 3 * patches + float((left & (CLUSTER == 3)).any()))


@pytest.mark.parametrize(
    ("says", "region"),
    [
        (any_background, "background"),
        (any_object, "foreground"),
        (anything, "foreground"),
    ],
)
def test_an_answer_leans_on_the_region_whose_absence_costs_more(
    says: Any, region: str
) -> None:
    image = answered(says)
    [apart] = answers_apart(audit_of(says), [image], [OBJECT])
    assert hidden_region(image, "toad", apart) == region


def test_nothing_is_said_of_a_mask_of_one_region() -> None:
    audit, image = audit_of(any_background), answered(any_background)
    for mask in (np.zeros((16, 16), bool), np.ones((16, 16), bool)):
        assert answers_apart(audit, [image], [mask]) == [None]
        assert hidden_region(image, "toad", None) is None


def test_a_text_of_its_own_has_no_choices_to_be_compared_with() -> None:
    def heat(left: np.ndarray) -> Sequence[float]:
        return (float((left & (CLUSTER != 3)).any()),)

    image = answered(heat, choices=("a pond",))
    [apart] = answers_apart(audit_of(heat), [image], [OBJECT])
    assert hidden_region(image, "a pond", apart) == "background"


def test_the_background_and_the_objects_are_each_asked_alone() -> None:
    [apart] = answers_apart(
        audit_of(any_background), [answered(any_background)], [OBJECT]
    )
    assert apart is not None
    assert apart.background.tolist() == [0.0, 5.0]
    assert apart.objects.tolist() == [0.0, 0.0]
    assert apart.embedding is None  # a model without embeddings is not asked for any
