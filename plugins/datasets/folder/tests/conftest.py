"""Writers of tiny real files, and a folder data set that keeps its cache beside the test."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from media_files import MediaFile
from PIL import Image

from cuescope_folder import Folder, FolderOptions
from cuescope_sdk import Context


def write_image(path: Path, level: int = 100, size: tuple[int, int] = (16, 12)) -> Path:
    """A plain grey image."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (level, level, level)).save(path)
    return path


def write_gif(path: Path, frames: int) -> Path:
    """A GIF whose frame i is plain grey of level i * MediaFile.STEP."""
    path.parent.mkdir(parents=True, exist_ok=True)
    images = [
        Image.new("L", (16, 12), index * MediaFile.STEP) for index in range(frames)
    ]
    images[0].save(path, save_all=True, append_images=images[1:], duration=100)
    return path


@pytest.fixture
def image() -> Callable[..., Path]:
    return write_image


@pytest.fixture
def video() -> Callable[..., Path]:
    return MediaFile.video


@pytest.fixture
def gif() -> Callable[..., Path]:
    return write_gif


@pytest.fixture
def step() -> int:
    return MediaFile.STEP


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context(cache=tmp_path / "cache")


@pytest.fixture
def opened(data: Path, context: Context) -> Callable[..., Folder]:
    """`opened(frames=4)`: the folder `data` with these options."""

    def opened(**options: Any) -> Folder:
        return Folder(FolderOptions(**{"path": data, **options}), context)

    return opened
