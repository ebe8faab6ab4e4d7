"""OWLv2 and OWL-ViT against the library's own forward and post-processing."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import cuescope_detectors
from cuescope_sdk import Detection, Frame, UserError

KINDS = ("owlv2", "owlvit")
NAMES = ("cat", "red cat", "caterpillar", "tree branch")
ALL = {"threshold": 0.0, "overlap": 1.0}
Build = Callable[..., Any]


def figures(found: Sequence[Detection]) -> np.ndarray:
    return np.array([(d.score, *d.box) for d in found]).reshape(-1, 5)


def best_scores(found: Sequence[Sequence[Detection]]) -> np.ndarray:
    """The highest score of each name in each image, 0 without a box."""
    best = np.zeros((len(found), len(NAMES)))
    for row, boxes in enumerate(found):
        for box in boxes:
            column = NAMES.index(box.name)
            best[row, column] = max(best[row, column], box.score)
    return best


def library(
    folder: Path, frame: Frame, names: Sequence[str], threshold: float
) -> list[list[Detection]]:
    """What the library says of each name asked alone, boxes clipped, best first."""
    model = transformers.AutoModelForZeroShotObjectDetection.from_pretrained(
        folder
    ).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder)
    image = frame.load()
    found = []
    for name in names:
        given = processor(text=[[name]], images=image, return_tensors="pt")
        with torch.no_grad():
            (said,) = processor.post_process_grounded_object_detection(
                model(**given), threshold=threshold, target_sizes=[image.size[::-1]]
            )
        boxes = said["boxes"].numpy().clip(0, (*image.size, *image.size))
        kept = [
            Detection(name=name, score=score, box=tuple(box))
            for score, box in zip(said["scores"].tolist(), boxes.tolist(), strict=True)
            if box[0] < box[2] and box[1] < box[3]
        ]
        found.append(sorted(kept, key=lambda d: -d.score))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_boxes_are_the_librarys_in_pixels_of_the_image(
    kind: str, build: Build, frames: list[Frame], folders: dict[str, Path]
) -> None:
    threshold = 0.3
    got = build(kind, threshold=threshold, overlap=1.0).detect(frames, NAMES)
    counts = []
    for frame, found in zip(frames, got, strict=True):
        for name, expected in zip(
            NAMES, library(folders[kind], frame, NAMES, threshold), strict=True
        ):
            ours = [d for d in found if d.name == name]
            assert len(ours) == len(expected)
            np.testing.assert_allclose(figures(ours), figures(expected), atol=1e-4)
            counts.append(len(ours))
        assert list(found) == sorted(found, key=lambda d: -d.score)
    assert 0 < np.mean(counts) < 16  # of the 16 cells some pass, some do not


@pytest.mark.parametrize(
    "kind", [pytest.param("owlv2", marks=pytest.mark.long), "owlvit"]
)
def test_a_name_and_an_image_are_judged_by_themselves(
    kind: str, build: Build, frames: list[Frame]
) -> None:
    detector = build(kind, **ALL)
    together = detector.detect(frames, NAMES)
    for frame, found in zip(frames, together, strict=True):
        for name in NAMES:
            (alone,) = build(kind, **ALL).detect([frame], [name])
            ours = [d for d in found if d.name == name]
            np.testing.assert_allclose(
                figures(alone), figures(ours), atol=1e-5, rtol=1e-5
            )
    assert (
        len({figures([d for d in together[0] if d.name == n]).tobytes() for n in NAMES})
        == 4
    )


def test_an_image_is_encoded_once_and_a_name_is_read_once(
    build: Build, frames: list[Frame], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    read: list[int] = []
    vision = transformers.models.owlv2.modeling_owlv2.Owlv2VisionTransformer
    text = transformers.models.owlv2.modeling_owlv2.Owlv2TextTransformer
    for tower, counts, given in (
        (vision, seen, "pixel_values"),
        (text, read, "input_ids"),
    ):
        plain = tower.forward

        def counting(
            self: Any,
            *args: Any,
            _plain: Any = plain,
            _counts: list[int] = counts,
            _given: str = given,
            **kwargs: Any,
        ) -> Any:
            _counts.append(len(kwargs[_given]))
            return _plain(self, *args, **kwargs)

        monkeypatch.setattr(tower, "forward", counting)
    monkeypatch.setattr(cuescope_detectors, "IMAGES_AT_ONCE", 3)
    detector = build("owlv2")
    detector.detect(frames, ("cat", "dog", "Cat"))
    assert (seen, read) == ([3, 1], [2])
    detector.detect(frames[:1], ("dog", "tree", "cat"))
    assert (seen, read) == ([3, 1, 1], [2, 1])


def test_names_in_any_case_and_twice(build: Build, frames: list[Frame]) -> None:
    (found,) = build("owlv2").detect(frames[:1], ("Red  Cat", "red cat", "red cat"))
    named = [[d for d in found if d.name == name] for name in ("Red  Cat", "red cat")]
    np.testing.assert_array_equal(*map(figures, named))
    assert len(found) == 2 * len(named[0]) > 0
    assert build("owlv2").detect(frames[:2], ()) == [(), ()]
    with pytest.raises(UserError, match="expected a word or more, got ''"):
        build("owlv2").detect(frames[:1], ("cat", ""))


def test_the_prompt_is_what_is_searched_for(build: Build, frames: list[Frame]) -> None:
    prompted, plain = build("owlv2", prompt="a {name}"), build("owlv2")
    (one,), (other,) = (
        prompted.detect(frames[:1], ["cat"]),
        plain.detect(frames[:1], ["a cat"]),
    )
    np.testing.assert_array_equal(figures(one), figures(other))
    assert prompted.fingerprint != plain.fingerprint
    with pytest.raises(ValueError, match=r"expected \{name\} in it"):
        build("owlv2", prompt="a cat")


def test_a_long_name_is_cut_at_its_end(build: Build, frames: list[Frame]) -> None:
    detector = build("owlv2", **ALL)
    (long,), (cut,) = (detector.detect(frames[:1], ["x" * n]) for n in (40, 14))
    np.testing.assert_allclose(figures(long)[:, 1:], figures(cut)[:, 1:], atol=1e-5)


def test_thresholds_and_overlap_drop_the_weaker(
    build: Build, frames: list[Frame]
) -> None:
    everything = build("owlvit", **ALL).detect(frames, NAMES)
    strict = build("owlvit", threshold=0.7, overlap=1.0).detect(frames, NAMES)
    assert strict == [tuple(d for d in found if d.score > 0.7) for found in everything]
    assert 0 < sum(map(len, strict)) < sum(map(len, everything))
    apart = build("owlvit", threshold=0.0, overlap=0.0).detect(frames, NAMES)
    assert sum(map(len, apart)) < sum(map(len, everything))
    np.testing.assert_array_equal(best_scores(apart), best_scores(everything))


@pytest.mark.parametrize("kind", KINDS)
def test_half_precision_says_about_the_same(
    kind: str, build: Build, frames: list[Frame]
) -> None:
    half, full = build(kind, dtype="bfloat16", **ALL), build(kind, **ALL)
    scores = [best_scores(detector.detect(frames, NAMES)) for detector in (half, full)]
    np.testing.assert_allclose(*scores, atol=0.03)
    assert half.fingerprint != full.fingerprint
