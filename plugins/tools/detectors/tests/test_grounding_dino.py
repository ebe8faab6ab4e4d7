"""Grounding DINO against the library's own processor, forward and post-processing."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from cuescope_detectors.grounding_dino import make_captions, pack
from cuescope_sdk import Detection, Frame, UserError

KINDS = ("grounding-dino", "mm-grounding-dino")
NAMES = ("cat", "red cat", "caterpillar", "dog")
ALL = {"threshold": 0.0, "overlap": 1.0}
Build = Callable[..., Any]


def of(found: Sequence[Detection], name: str) -> np.ndarray:
    """Score and box of a name's detections, best first."""
    return np.array([(d.score, *d.box) for d in found if d.name == name])


def best_scores(found: Sequence[Sequence[Detection]]) -> np.ndarray:
    """The highest score of each name in each image, 0 without a box."""
    best = np.zeros((len(found), len(NAMES)))
    for row, boxes in enumerate(found):
        for box in boxes:
            column = NAMES.index(box.name)
            best[row, column] = max(best[row, column], box.score)
    return best


def library(
    folder: Path, frame: Frame, names: Sequence[str]
) -> tuple[Any, np.ndarray, Any]:
    """The library's boxes in pixels, its token scores, and where the words of its caption lie."""
    model = transformers.AutoModelForZeroShotObjectDetection.from_pretrained(
        folder
    ).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder)
    image = frame.load()
    given = processor(images=image, text=[list(names)], return_tensors="pt")
    with torch.no_grad():
        said = model(**given)
    (boxes,) = processor.post_process_grounded_object_detection(
        said, threshold=-1, target_sizes=[image.size[::-1]]
    )
    caption = ". ".join(names) + "."
    places = processor.tokenizer(caption, return_offsets_mapping=True).offset_mapping
    return boxes["boxes"].numpy(), said.logits[0].sigmoid().numpy(), places


@pytest.mark.parametrize(
    "kind",
    ["grounding-dino", pytest.param("mm-grounding-dino", marks=pytest.mark.long)],
)
def test_boxes_are_the_librarys_and_scores_those_of_a_names_own_tokens(
    kind: str, build: Build, frames: list[Frame], folders: dict[str, Path]
) -> None:
    detector = build(kind, **ALL)
    for frame, found in zip(frames, detector.detect(frames, NAMES), strict=True):
        boxes, scores, places = library(folders[kind], frame, NAMES)
        boxes = boxes.clip(0, (*frame.load().size, *frame.load().size))
        there = (boxes[:, 0] < boxes[:, 2]) & (boxes[:, 1] < boxes[:, 3])
        start = 0
        for name in NAMES:
            span = range(start, start + len(name))
            ours = [i for i, (a, b) in enumerate(places) if a in span and a < b]
            best = scores[:, ours].max(axis=1)[there]
            order = np.argsort(-best, kind="stable")
            expected = np.column_stack((best, boxes[there]))[order]
            np.testing.assert_allclose(of(found, name), expected, atol=1e-3)
            start += len(name) + 2
        assert len(found) == there.sum() * len(NAMES) > 0


def test_a_caption_is_the_librarys(
    folders: dict[str, Path], frames: list[Frame]
) -> None:
    processor = transformers.AutoProcessor.from_pretrained(folders["grounding-dino"])
    (caption,) = make_captions(NAMES, processor.tokenizer, 256)
    (expected,) = processor(text=[list(NAMES)], images=frames[0].load()).input_ids
    assert list(caption.ids) == list(expected)
    words = [
        processor.tokenizer.convert_ids_to_tokens([caption.ids[i] for i in places])
        for places in caption.positions.values()
    ]
    assert words == [["cat"], ["red", "cat"], ["cat", "##erpillar"], ["dog"]]


@pytest.mark.parametrize(
    ("lengths", "runs"),
    [
        ([2, 2, 2], [2, 1]),
        ([4, 1, 4], [1, 1, 1]),
        ([1] * 9, [4, 4, 1]),
        ([], []),
    ],
)
def test_names_are_packed_into_few_captions(
    lengths: list[int], runs: list[int]
) -> None:
    found = pack(lengths, 4)
    assert [len(run) for run in found] == runs
    assert [index for run in found for index in run] == list(range(len(lengths)))


def test_names_beyond_a_caption_go_into_the_next(
    build: Build, frames: list[Frame]
) -> None:
    """A caption of 16 tokens has room for 14 of names and their ends."""
    detector = build("grounding-dino", **ALL)
    fit = ("cat", "red cat", "caterpillar", "dog", "tree")
    more = (*fit, "tree branch", "bed")
    whole, first, second = (
        detector.detect(frames[:1], names)[0] for names in (more, fit, more[len(fit) :])
    )
    for name in more:
        alone = of(first if name in fit else second, name)
        ours = of(whole, name)
        assert len(alone) > 0
        np.testing.assert_allclose(ours, alone, atol=1e-5)


def test_an_image_is_judged_by_itself(build: Build, frames: list[Frame]) -> None:
    detector = build("grounding-dino", **ALL)
    for frame, found in zip(frames, detector.detect(frames, NAMES), strict=True):
        (alone,) = detector.detect([frame], NAMES)
        scores = [best_scores([said]) for said in (found, alone)]
        np.testing.assert_allclose(*scores, atol=1e-5)
        assert len(found) == len(alone)


def test_all_names_go_in_one_pass(
    build: Build, frames: list[Frame], monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []
    stock = transformers.GroundingDinoForObjectDetection
    plain = stock.forward

    def counting(self: Any, **given: Any) -> Any:
        passes.append(len(given["pixel_values"]))
        return plain(self, **given)

    monkeypatch.setattr(stock, "forward", counting)
    build("grounding-dino").detect(frames, NAMES)
    assert sorted(passes) == [1, 1, 2]  # the two images of one size together


def test_odd_names(build: Build, frames: list[Frame]) -> None:
    detector = build("grounding-dino", **ALL)
    (found,) = detector.detect(frames[:1], ("St. Bernard", "st  bernard?", "x" * 60))
    assert {d.name for d in found} == {"St. Bernard", "st  bernard?", "x" * 60}
    assert detector.detect(frames[:1], ()) == [()]
    for name in ("", "...", " ? "):
        with pytest.raises(UserError, match="a word or more"):
            detector.detect(frames[:1], [name])


@pytest.mark.parametrize("kind", KINDS)
def test_half_precision_runs(kind: str, build: Build, frames: list[Frame]) -> None:
    found = build(kind, dtype="bfloat16", **ALL).detect(frames, NAMES)
    assert all(found)
    assert np.isfinite(best_scores(found)).all()
