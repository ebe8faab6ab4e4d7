"""The sdk's contract suite on a tiny model."""

from pathlib import Path

import pytest

from cuescope_open_clip import OpenCLIP
from cuescope_testing import ModelContract


class TestContract(ModelContract):
    plugin = OpenCLIP
    device = "cpu"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, folder: Path) -> None:
        cls.options = {"model": str(folder)}
        cls.other_options = {**cls.options, "logit_scale": 2.0}


class TestHalfPrecision(TestContract):
    dtype = "bfloat16"


class TestTable(ModelContract):
    plugin = OpenCLIP
    device = "cpu"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, folder: Path, image_tower: Path, fake_table: Path) -> None:
        cls.options = {
            "model": str(folder),
            "checkpoint": image_tower,
            "class_embeddings": fake_table,
        }
        cls.other_options = {**cls.options, "logit_scale": 2.0}
