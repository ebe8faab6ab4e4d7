"""Contrastive families beside CLIP and SigLIP: answers as the library's own, hiding, refusals."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import hiding_checks
import numpy as np
import pytest
import torch
import transformers

from cuescope_sdk import Context, Frame, Sample, Trial, UserError
from cuescope_transformers import Transformers, TransformersOptions
from cuescope_transformers.kinds import KINDS

sys.path.insert(0, str(Path(__file__).parent))

import tiny_towers

LABELS = ("bird", "boat", "cow")
BOTH = frozenset({"logits", "embedding"})
OPEN = [kind for kind in tiny_towers.FAMILIES if KINDS[kind].closed is None]
CLOSED = [kind for kind in tiny_towers.FAMILIES if KINDS[kind].closed is not None]
PADS = ("tipsv2", "videoprism")
Opened = Callable[[str], Transformers]


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("towers")
    return cache(lambda kind: tiny_towers.write(kind, root / kind))


@pytest.fixture(scope="module")
def opened(folder_of: Callable[[str], Path]) -> Opened:
    """The plugin on a family."""

    def build(kind: str, planning: bool = False) -> Transformers:
        options = TransformersOptions(model=str(folder_of(kind)), templates="raw")
        return Transformers(options, Context(device="cpu", planning=planning))

    return cache(build)


@torch.inference_mode()
def answer_of_library(kind: str, folder: Path, frames: tuple[Frame, ...]) -> Any:
    """Logits of the labels by a network that this package never touched."""
    network = tiny_towers.network_class(kind).from_pretrained(folder).eval()
    words = transformers.AutoTokenizer.from_pretrained(folder)
    padding = "max_length" if kind in PADS else True
    texts = words(
        list(LABELS),
        padding=padding,
        truncation=True,
        max_length=tiny_towers.CONTEXT,
        return_tensors="pt",
    )
    images = [frame.load() for frame in frames]
    if kind == "videoprism":
        looks = transformers.AutoVideoProcessor.from_pretrained(folder)
        shown = looks(images, do_sample_frames=False, return_tensors="pt")
        output = network(**shown, **texts)
        # the library tells exponentials of the cosines
        return (output.video_embeds @ output.text_embeds.T)[0]
    looks = transformers.AutoImageProcessor.from_pretrained(folder)
    shown = looks(images, return_tensors="pt")
    if kind == "blip":
        return network(**shown, **texts, use_itm_head=False).itm_score[0]
    return network(**shown, **texts).logits_per_image[0]


@pytest.mark.parametrize("kind", tiny_towers.FAMILIES)
def test_a_family_answers_as_the_library_does(
    opened: Opened,
    folder_of: Callable[[str], Path],
    kind: str,
    frames: tuple[Frame, ...],
) -> None:
    shown = frames[0:8:2] if kind == "videoprism" else frames[:1]
    sample = Sample(key="one", frames=shown, choices=LABELS)
    [answer] = opened(kind).respond([Trial(sample=sample, outputs=BOTH)])
    expected = answer_of_library(kind, folder_of(kind), shown)
    np.testing.assert_allclose(answer.logits, expected, atol=1e-5)
    assert np.ptp(answer.logits) > 1e-3
    assert np.isfinite(answer.embedding).all()


@pytest.mark.parametrize(
    "check", hiding_checks.CHECKS, ids=lambda check: check.__name__
)
@pytest.mark.parametrize("kind", OPEN)
def test_an_open_family_hides(
    opened: Opened, kind: str, check: hiding_checks.Check, frames: tuple[Frame, ...]
) -> None:
    check(opened(kind).image_tower, frames)
    assert opened(kind).image_tower.heads == 2


@pytest.mark.parametrize("kind", CLOSED)
def test_a_closed_family_is_refused_in_the_plan(opened: Opened, kind: str) -> None:
    capabilities = opened(kind, planning=True).capabilities
    assert not capabilities.edits
    assert "choices" in capabilities.exposes
    for name in ("hide-tokens", "patches", "image-tower"):
        assert KINDS[kind].closed in capabilities.why_not(name)
        assert name not in capabilities.exposes


def test_a_blip_that_captions_is_no_model_of_images_and_texts(tmp_path: Path) -> None:
    config, looks = tiny_towers.FAMILIES["blip"]()
    transformers.BlipForConditionalGeneration(config).save_pretrained(tmp_path)
    looks.save_pretrained(tmp_path)
    with pytest.raises(UserError, match="use transformers-vlm"):
        Transformers(TransformersOptions(model=str(tmp_path)), Context(device="cpu"))
