"""A model in memory answers as the same model from its files, and is known by what it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import nn

from cuescope_sdk import Context, Frame, Sample, Trial, UserError
from cuescope_transformers import Transformers, TransformersOptions
from cuescope_transformers.generative import TransformersVLM

LABELS = ("bird", "boat", "cow")
OUTPUTS = frozenset({"logits", "embedding"})


class Processor:
    """What a processor of transformers is here: the two parts that are used of it."""

    def __init__(self, folder: Path) -> None:
        self.image_processor = transformers.AutoImageProcessor.from_pretrained(folder)
        if "vision" not in folder.name:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)


def parts(folder: Path) -> tuple[Any, Any]:
    """Model and processor, as a user of transformers has them."""
    whole = (
        transformers.AutoModel
        if folder.name != "clip-vision"
        else (transformers.CLIPVisionModelWithProjection)
    )
    return whole.from_pretrained(folder, dtype=torch.float32).eval(), Processor(folder)


def held(item: Any, **options: Any) -> Transformers:
    return Transformers.from_object(
        item, TransformersOptions(model="held", **options), Context(device="cpu")
    )


@pytest.mark.parametrize("kind", ["clip", "siglip", "siglip2", "xclip"])
def test_it_answers_as_from_its_files(
    kind: str,
    folders: dict[str, Path],
    build: Callable[..., Transformers],
    frames: tuple[Frame, ...],
) -> None:
    memory, files = held(parts(folders[kind])), build(kind)
    sample = Sample(key="clip", frames=frames[:4], choices=LABELS, label="bird")
    (here,) = memory.respond([Trial(sample=sample, outputs=OUTPUTS)])
    (there,) = files.respond([Trial(sample=sample, outputs=OUTPUTS)])
    assert here.logits is not None
    assert np.array_equal(here.logits, there.logits)
    assert np.array_equal(here.embedding, there.embedding)
    assert memory.facts["weights"] == "held"
    assert memory.facts["logit scale"] == files.facts["logit scale"]


def test_what_changes_an_answer_changes_the_fingerprint(
    folders: dict[str, Path],
) -> None:
    item = network, processor = parts(folders["clip"])
    first = held(item).fingerprint
    assert held(item).fingerprint == first
    processor.image_processor.image_mean = [0.0, 0.0, 0.0]
    second = held(item).fingerprint
    with torch.no_grad():
        network.visual_projection.weight[0, 0] += 1e-3
    third = held(item).fingerprint
    network.vision_model.encoder.layers[0].self_attn.scale *= 2  # no tensor says so
    assert len({first, second, third, held(item).fingerprint}) == 4


def test_takes_its_own_and_nothing_else(folders: dict[str, Path]) -> None:
    item = parts(folders["siglip-vision"])
    assert Transformers.takes(item)
    assert Transformers.takes(item[0])
    assert not TransformersVLM.takes(item)
    assert not any(
        map(Transformers.takes, ((), "clip", nn.Linear(2, 2), item[::-1], None))
    )


def test_mistakes_are_told(folders: dict[str, Path]) -> None:
    network, processor = parts(folders["clip"])
    with pytest.raises(UserError, match=r"expected model=\(model, processor\)"):
        held(network)
    with pytest.raises(UserError, match="expected one that reads images and texts"):
        held((network, processor.image_processor))
    with pytest.raises(UserError, match=r"Call model.eval\(\) first"):
        held((network.train(), processor))
