"""A tiny stock open_clip model with seeded random weights, as files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import save_file

from cuescope_open_clip import OpenCLIP, OpenCLIPOptions
from cuescope_sdk import Context, Frame, Sample

VISION = {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8}
TEXT = {"context_length": 32, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1}
MEAN = [0.2, 0.4, 0.6]
LABELS = ("bird", "boat", "cow")


def _write_folder(folder: Path, **config: Any) -> Path:
    """A model folder as on the hub: configuration and weights."""
    folder.mkdir()
    model_cfg = {"embed_dim": 16, "vision_cfg": VISION, "text_cfg": TEXT, **config}
    content = {
        "model_cfg": model_cfg,
        "preprocess_cfg": {"mean": MEAN, "std": [0.5, 0.5, 0.5]},
    }
    (folder / "open_clip_config.json").write_text(json.dumps(content))
    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = open_clip.create_model(f"local-dir:{folder}")
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    return folder


@pytest.fixture(scope="session")
def write_folder() -> Callable[..., Path]:
    """`write_folder(folder, **config)`: a tiny model of another configuration."""
    return _write_folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _write_folder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def stock(folder: Path) -> Any:
    """open_clip's own model and transform on the same files."""
    model, transform = open_clip.create_model_from_pretrained(f"local-dir:{folder}")
    return model.eval(), transform


@pytest.fixture(scope="session")
def image_tower(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights of the image tower alone."""
    from safetensors.torch import load_file

    tensors = load_file(folder / "open_clip_model.safetensors")
    path = tmp_path_factory.mktemp("tower") / "visual.safetensors"
    save_file(
        {name: t for name, t in tensors.items() if name.startswith("visual.")}, path
    )
    return path


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Class embeddings of three names; their rows are not unit."""
    rows = np.random.default_rng(3).normal(size=(3, 16)).astype(np.float32)
    path = tmp_path_factory.mktemp("table") / "classes.npz"
    np.savez(path, names=np.array(LABELS), embeddings=rows)
    return path


@pytest.fixture(scope="session")
def build(folder: Path) -> Callable[..., OpenCLIP]:
    """`build(checkpoint=..., dtype=...)`: the plugin on the tiny model."""

    def make(
        *,
        dtype: str = "float32",
        batch_size: int = 64,
        dataset: Any = None,
        planning: bool = False,
        **options: Any,
    ) -> OpenCLIP:
        context = Context(
            device="cpu",
            dtype=dtype,
            batch_size=batch_size,
            dataset=dataset,
            planning=planning,
        )
        return OpenCLIP(OpenCLIPOptions(**{"model": str(folder), **options}), context)

    return make


@pytest.fixture(scope="session")
def frames() -> tuple[Frame, ...]:
    pixels = np.random.default_rng(5).integers(0, 256, (7, 40, 52, 3), dtype=np.uint8)
    return tuple(Frame.from_array(image) for image in pixels)


@pytest.fixture(scope="session")
def clip(frames: tuple[Frame, ...]) -> Sample:
    return Sample(key="clip", frames=frames[:4], choices=LABELS, label="bird")


@pytest.fixture(scope="session")
def fake_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Class embeddings of the labels of the sdk's fake data set."""
    from cuescope_testing import FakeDataset

    labels = FakeDataset(FakeDataset.Options(), Context()).labels
    rows = np.random.default_rng(4).normal(size=(len(labels), 16)).astype(np.float32)
    path = tmp_path_factory.mktemp("fake-table") / "classes.npz"
    np.savez(path, names=np.array(labels), embeddings=rows)
    return path
