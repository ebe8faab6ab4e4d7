"""How large models are opened: spread out, with fewer bits, with another attention."""

from collections.abc import Callable
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Trial, UserError
from cuescope_transformers import options as options_module
from cuescope_transformers.generative import TransformersVLM

Build = Callable[..., TransformersVLM]
MakeTrial = Callable[..., Trial]
KIND = "qwen2-vl"


@pytest.fixture
def opened(
    folder_of: Callable[[str], Path], build: Build
) -> Callable[..., TransformersVLM]:
    """A model of its own: opened anew, with these options."""
    return lambda **options: build(str(folder_of(KIND)), **options)


def logits(model: TransformersVLM, trial: Trial) -> Any:
    (response,) = model.respond([trial])
    return response.logits


def test_layers_that_are_spread_out_answer_the_same(
    opened: Build, build: Build, trial: MakeTrial
) -> None:
    spread = opened(device_map="auto")
    assert np.array_equal(logits(spread, trial()), logits(build(KIND), trial()))
    assert spread.fingerprint == build(KIND).fingerprint
    assert spread.facts["device_map"] == "auto"


def test_another_attention_is_another_model_without_edits(
    opened: Build, build: Build, trial: MakeTrial
) -> None:
    eager = opened(attn_implementation="eager")
    np.testing.assert_allclose(
        logits(eager, trial()), logits(build(KIND), trial()), atol=1e-4
    )
    assert eager._model.network.config._attn_implementation == "eager"
    assert eager.fingerprint != build(KIND).fingerprint
    assert not eager.capabilities.edits
    with pytest.raises(UserError, match="Leave attn_implementation out"):
        _ = eager.fusion


def test_weights_of_fewer_bits(opened: Build, build: Build, trial: MakeTrial) -> None:
    """bitsandbytes' own layers answer, a little differently."""
    pytest.importorskip(
        "bitsandbytes", reason="needs pip install bitsandbytes accelerate"
    )
    eight = opened(quantization="8bit")
    own, whole = logits(eight, trial()), logits(build(KIND), trial())
    assert not np.array_equal(own, whole)
    np.testing.assert_allclose(own, whole, atol=0.5)
    # on the CPU it has no kernel for layers so small
    four = opened(quantization="4bit")
    for model, layer in ((eight, "Linear8bitLt"), (four, "Linear4bit")):
        assert layer in {
            type(module).__name__ for module in model._model.files.network.modules()
        }
    assert len({model.fingerprint for model in (eight, four, build(KIND))}) == 3


def test_what_is_not_installed_is_named(
    opened: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = {"accelerate", "bitsandbytes", "flash_attn"}
    present = util.find_spec
    monkeypatch.setattr(
        options_module,
        "find_spec",
        lambda name: None if name in absent else present(name),
    )
    for options, words in (
        ({"device_map": "auto"}, "device_map=auto needs accelerate"),
        ({"quantization": "4bit"}, "quantization=4bit needs bitsandbytes"),
        ({"attn_implementation": "flash_attention_2"}, "pip install flash-attn"),
    ):
        with pytest.raises(UserError) as caught:
            opened(**options)
        assert words in str(caught.value)
