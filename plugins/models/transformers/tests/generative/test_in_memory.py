"""A generative model in memory answers as the same model from its files."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from cuescope_sdk import Context, Trial, UserError
from cuescope_transformers import Transformers
from cuescope_transformers.generative import TransformersVLM, VLMOptions


def test_it_answers_as_from_its_files(
    folder_of: Callable[[str], Path],
    build: Callable[..., TransformersVLM],
    trial: Callable[..., Trial],
) -> None:
    folder = folder_of("qwen2-vl")
    whole = transformers.AutoModelForImageTextToText.from_pretrained(
        folder, dtype=torch.float32
    )
    item = whole.eval(), transformers.AutoProcessor.from_pretrained(folder)
    assert TransformersVLM.takes(item)
    assert not Transformers.takes(item)
    options = VLMOptions(model="held", max_new_tokens=4)
    context = Context(device="cpu", batch_size=8)
    memory, files = (
        TransformersVLM.from_object(item, options, context),
        build("qwen2-vl"),
    )
    asked = [trial(outputs=frozenset({"logits", "text"})), trial(frames=2, first=5)]
    for here, there in zip(memory.respond(asked), files.respond(asked), strict=True):
        assert here.logits is not None
        assert np.array_equal(here.logits, there.logits)
        assert here.text == there.text
    # edits switch the attention of the network: it is the same model still
    assert (
        TransformersVLM.from_object(item, options, context).fingerprint
        == memory.fingerprint
    )
    with pytest.raises(UserError, match=r"expected model=\(model, processor\)"):
        TransformersVLM.from_object(item[0], options, context)
