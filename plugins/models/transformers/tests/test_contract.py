"""The sdk's contract suite on tiny models of each family."""

from pathlib import Path
from typing import Any, ClassVar

import pytest

from cuescope_testing import ModelContract
from cuescope_transformers import Transformers


class _Tiny(ModelContract):
    """The suite on the model folder named `family`."""

    plugin = Transformers
    device = "cpu"
    family: ClassVar[str]
    count = 4

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, folders: dict[str, Path]) -> None:
        cls.options = {"model": str(folders[cls.family])}
        cls.other_options = {**cls.options, "logit_scale": 2.0}


class TestCLIP(_Tiny):
    family = "clip"


@pytest.mark.long
class TestHalfPrecision(_Tiny):
    family = "clip"
    dtype = "bfloat16"


@pytest.mark.long
class TestSigLIP(_Tiny):
    family = "siglip"


@pytest.mark.long
class TestSigLIP2(_Tiny):
    family = "siglip2"
    data_options: ClassVar[dict[str, Any]] = {"frames": 1}


class TestXCLIP(_Tiny):
    family = "xclip"
    data_options: ClassVar[dict[str, Any]] = {"frames": 4}


class TestImageTowerAlone(_Tiny):
    family = "clip-vision"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, folders: dict[str, Path], table: Path) -> None:
        cls.options = {"model": str(folders[cls.family]), "class_embeddings": table}
        cls.other_options = {**cls.options, "logit_scale": 2.0}
