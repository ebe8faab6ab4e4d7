"""The sdk's contract suite on a tiny video model and a tiny image model."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cuescope_testing import ModelContract
from cuescope_transformers.generative import TransformersVLM


class _Tiny(ModelContract):
    """The suite on the model folder of a family."""

    plugin = TransformersVLM
    device = "cpu"
    family: ClassVar[str]
    count = 4

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, folder_of: Callable[[str], Path]) -> None:
        cls.options = {"model": str(folder_of(cls.family)), "max_new_tokens": 3}
        cls.other_options = {**cls.options, "scoring": "letters"}


class TestVideo(_Tiny):
    family = "llava-next-video"


@pytest.mark.long
class TestImage(_Tiny):
    family = "paligemma"
    data_options: ClassVar[dict[str, Any]] = {"frames": 1}
