"""The sdk's contract suite of edits: averaging and hiding on models of unlike shape."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_sdk import HideTokens
from cuescope_sdk.fusion import AverageAttention, AverageTokens
from cuescope_testing import EditContract
from cuescope_transformers.generative import TransformersVLM

FRAMES = 2
CORNER = np.zeros((FRAMES, 4, 4), dtype=bool)
CORNER[:, :2, :2] = True
AVERAGES = (
    AverageAttention(quadrants=frozenset({"VT", "TV"})),
    AverageAttention(quadrants=frozenset({"VV", "VT", "TV", "TT"}), layers=(0,)),
    AverageTokens(modalities=frozenset({"video", "text"})),
    AverageTokens(modalities=frozenset({"video"}), size_term="multiply"),
)


class _Tiny(EditContract):
    """The suite on the model folder of a family."""

    model = TransformersVLM
    device = "cpu"
    family: ClassVar[str]
    data_options: ClassVar[dict[str, Any]] = {"frames": FRAMES}
    count = 2
    nothing = AverageAttention(quadrants=frozenset())
    # layers count from 0, and tiny models have two or three
    beyond = AverageAttention(quadrants=frozenset({"VV"}), layers=(1, 4))

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, folder_of: Callable[[str], Path]) -> None:
        folder = str(folder_of(cls.family))
        cls.model_options = {"model": folder, "max_new_tokens": 2}


class TestVideo(_Tiny):
    family = "qwen2-vl"
    edits = (*AVERAGES, HideTokens.from_mask(CORNER))


class TestCrossAttention(_Tiny):
    family = "mllama"
    edits = (*AVERAGES, HideTokens.from_mask(CORNER))


@pytest.mark.long
class TestEncoderDecoder(_Tiny):
    family = "florence2"
    data_options: ClassVar[dict[str, Any]] = {"frames": 1}
    edits = (*AVERAGES, HideTokens.from_mask(CORNER[:1]))
