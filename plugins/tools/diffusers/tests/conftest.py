"""Tiny pipelines, saved once for all tests."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from cuescope_sdk import Frame, ImageEdit, generator

sys.path.insert(0, str(Path(__file__).parent))

FolderOf = Callable[[str], Path]


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> FolderOf:
    """The folder of a tiny pipeline by its name."""
    from tiny_pipelines import save_pipeline

    root, saved = tmp_path_factory.mktemp("pipelines"), dict[str, Path]()

    def folder(name: str) -> Path:
        if name not in saved:
            saved[name] = save_pipeline(name, root / name)
        return saved[name]

    return folder


@pytest.fixture(scope="session")
def small_qwen() -> Iterator[None]:
    """Qwen-Image-Edit works at 1024 x 1024 whatever it is told: here at 32 x 32."""
    from cuescope_sdk.torch import quiet

    with pytest.MonkeyPatch.context() as patch, quiet():
        from diffusers.pipelines.qwenimage import (
            pipeline_qwenimage_edit_inpaint as module,
        )

        full = module.calculate_dimensions
        patch.setattr(
            module, "calculate_dimensions", lambda _, ratio: full(32 * 32, ratio)
        )
        yield


@pytest.fixture(scope="session")
def edits() -> list[ImageEdit]:
    """Two images of 44 x 36 pixels; most of each may change."""
    mask = np.zeros((36, 44), dtype=bool)
    mask[4:30, 6:44] = True
    pixels = generator(0, "images").integers(0, 256, (2, 36, 44, 3), dtype=np.uint8)
    return [
        ImageEdit(Frame.from_array(image), "a snowy field", mask, seed)
        for seed, image in enumerate(pixels)
    ]
