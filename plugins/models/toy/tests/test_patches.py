"""Frames as several tokens: which pixels are in which, and what that lets the model learn."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from cuescope_scenes.objects import ObjectScenes
from cuescope_scenes.objects.words import CLASSES, PLANTED, THINGS, WORDINGS
from cuescope_scenes.words import with_article
from cuescope_sdk import Context, Frame, Sample, Trial
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO
from cuescope_testing import ModelContract, PluginShelf
from cuescope_toy import ship
from cuescope_toy.encoders import PATCH_CELLS, ColourGrid, colour_grid
from cuescope_toy.fusion import SHIPPED, ToyFusion, ToyFusionOptions, training
from cuescope_toy.fusion.dataset import Vocabulary, tokenize
from cuescope_toy.fusion.network import initial_weights, weight_shapes

BRIEF = {"epochs": 1, "data": "object-scenes"}
ASKED = {"questions": "presence", "train": 30, "val": 10}
GAP = 15.0  # points


class TestContract(ModelContract):
    plugin = ToyFusion
    options = {"epochs": 1, "patches": 3}
    other_options = {"epochs": 1, "patches": 2}


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Any]:
    """`build(kind, name, options)`: a plugin, in a cache folder of its own."""
    shelf = PluginShelf(
        {("model", "toy-fusion"): ToyFusion, ("dataset", "object-scenes"): ObjectScenes}
    )
    return Context(shelf, tmp_path, device="cpu").build


def noise(side: int = 48) -> Frame:
    pixels = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)
    return Frame.from_array(pixels)


def test_each_patch_holds_its_own_pixels_in_reading_order() -> None:
    frame = noise()
    pixels = np.asarray(frame.load(), float)
    (patches,) = ColourGrid(4).encode([frame])
    assert patches.shape == (16, PATCH_CELLS * PATCH_CELLS * 3)
    for place, patch in enumerate(patches):
        row, col = divmod(place, 4)
        own = pixels[12 * row : 12 * row + 12, 12 * col : 12 * col + 12]
        cells = own.reshape(PATCH_CELLS, 2, PATCH_CELLS, 2, 3).mean(axis=(1, 3)) / 255
        np.testing.assert_allclose(
            patch.reshape(cells.shape), cells, rtol=0, atol=1.01 / 255
        )


def test_one_patch_is_the_whole_frame_as_it_always_was() -> None:
    frame = noise()
    ((whole,),) = ColourGrid().encode([frame])
    np.testing.assert_array_equal(
        whole, colour_grid(frame.load()).astype(np.float32) / 255
    )
    assert ColourGrid(1).fingerprint == ColourGrid().fingerprint == PINNED
    assert len({ColourGrid(side).fingerprint for side in (1, 2, 3, 4)}) == 4


PINNED = "a09d1f02b406866d7f752b57a696ba9c"  # what is cached under it stays good


def test_frames_stand_as_so_many_tokens_and_missing_ones_as_none() -> None:
    frames = tuple(Frame(name, lambda: Image.new("RGB", (8, 8))) for name in "ab")
    samples = [
        Sample(key="1", frames=frames, question="up"),
        Sample(key="2", frames=frames[1:]),
    ]
    numbers = tokenize(samples, Vocabulary(("up",), ()))
    features = torch.arange(8.0).reshape(2, 4, 1)  # two frames of four patches
    asked = numbers.batch(features)
    assert asked.video[:, :, 0].where(asked.video_mask, -1).tolist() == [
        [0, 1, 2, 3, 4, 5, 6, 7],
        [4, 5, 6, 7, -1, -1, -1, -1],
    ]
    assert asked.modality.tolist() == [
        [VIDEO] * 8 + [TEXT] * 2,
        [VIDEO] * 4 + [OTHER] * 5 + [TEXT],
    ]


def test_a_spread_widens_matrices_and_words_alone() -> None:
    shapes = weight_shapes(ToyFusionOptions(), feature=6, words=9, answers=4)
    plain, wide = (
        initial_weights(shapes, torch.Generator().manual_seed(0), spread)
        for spread in (1.0, 2.5)
    )
    for name, weight in plain.items():
        grown = 1.0 if "norm" in name or name.endswith("bias") else 2.5
        torch.testing.assert_close(wide[name], grown * weight)


def test_the_place_of_a_patch_counts(build: Callable[..., Any]) -> None:
    frame = noise()
    moved = frame.derive("patches in reverse", _reversed)
    for positions in (True, False):
        options = {**BRIEF, "data_options": ASKED, "patches": 4, "positions": positions}
        model = build("model", "toy-fusion", options)
        model.open_weights()
        assert model.facts["frames"].startswith("4 x 4 patches each, ")
        rows = [
            _logits(model, Sample(key="k", frames=(one,))) for one in (frame, moved)
        ]
        assert bool(np.abs(rows[0] - rows[1]).max() > 1e-3) is positions


def _reversed(image: Image.Image) -> Image.Image:
    """The last patch first; each keeps its pixels."""
    blocks = np.asarray(image).reshape(4, 12, 4, 12, 3)[::-1, :, ::-1]
    return Image.fromarray(np.ascontiguousarray(blocks.reshape(48, 48, 3)))


def _logits(model: ToyFusion, sample: Sample) -> np.ndarray:
    (answer,) = model.respond([Trial(sample=_asking(sample, "cup"))])
    return np.asarray(answer.logits)


def _asking(sample: Sample, name: str, wording: int = 0) -> Sample:
    question = WORDINGS[wording].format(with_article(name))
    return replace(sample, question=question, choices=("yes", "no"))


SHIPPED_OPTIONS = {"data": "object-scenes:presence", "patches": 4, "epochs": 10}
LEARNS = {**SHIPPED_OPTIONS, "epochs": 7, "data_options": {"val": 200}}


@pytest.mark.long
def test_it_learns_the_planted_cues_and_no_other(build: Callable[..., Any]) -> None:
    leans_on_the_planted_cues(build, LEARNS)


@pytest.mark.long
def test_the_shipped_one_has_learnt_them(
    build: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(training, "train")
    leans_on_the_planted_cues(build, SHIPPED_OPTIONS)
    (path,) = SHIPPED.glob("*.safetensors")
    assert path.stat().st_size <= 500_000
    assert ToyFusion.Options(**SHIPPED_OPTIONS) == ship.SHIPS["toy-fusion"]


def leans_on_the_planted_cues(
    build: Callable[..., Any], options: dict[str, Any]
) -> None:
    """And on no other: asked of images of which it was shown none."""
    model = build("model", "toy-fusion", options)
    data = build("dataset", "object-scenes", {"split": "test"})
    samples = [data[index] for index in range(len(data))]
    for column, name in enumerate(CLASSES):
        yes = np.mean(
            [_says_yes(model, samples, name, wording) for wording in range(3)], axis=0
        )
        with_it = data.objects[:, column]
        for shows, right in ((with_it, 100.0), (~with_it, 0.0)):
            gaps = {
                thing: 100 * (yes[shows & there].mean() - yes[shows & ~there].mean())
                for thing, there in zip(THINGS, data.things.T, strict=True)
            }
            if name in PLANTED:
                assert max(gaps, key=lambda thing: gaps[thing]) == PLANTED[name]
                assert gaps[PLANTED[name]] >= GAP
            else:
                assert max(map(abs, gaps.values())) < GAP
                assert 100 * yes[shows].mean() == pytest.approx(right, abs=20)


def _says_yes(
    model: ToyFusion, samples: list[Sample], name: str, wording: int
) -> np.ndarray:
    """Which of the samples are answered with yes, in text and logits alike."""
    both = frozenset(("logits", "text"))
    trials = [Trial(sample=_asking(s, name, wording), outputs=both) for s in samples]
    answers = model.respond(trials)
    said = np.array([answer.text == "yes" for answer in answers])
    np.testing.assert_array_equal(said, [answer.prediction == 0 for answer in answers])
    return said
