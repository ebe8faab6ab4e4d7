"""The sdk's contract suite on a tiny language model."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cuescope_testing import ToolContract
from cuescope_transformers.writing import TransformersWriter


class TestWriter(ToolContract):
    plugin = TransformersWriter
    device = "cpu"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, writer_folder: Callable[[str], Path]) -> None:
        cls.options = {"model": str(writer_folder("llama")), "max_new_tokens": 6}
