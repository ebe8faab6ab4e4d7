"""Answers made by hand, data sets that lack something, and a tiny stock model."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_cci.error_source import AnswerSource
from cuescope_cci.error_source.regions import Apart
from cuescope_cci.scores import Region
from cuescope_sdk import Frame, Outcome, Response, Sample, Trial
from cuescope_testing import FakeDataset

CHOICES = ("owl", "toad", "hawk")
TINY = {
    "embed_dim": 16,
    "vision_cfg": {
        "image_size": 32,
        "layers": 2,
        "width": 32,
        "head_width": 16,
        "patch_size": 8,
    },
    "text_cfg": {
        "context_length": 77,
        "vocab_size": 49408,
        "width": 16,
        "heads": 2,
        "layers": 1,
    },
}


def _source(
    key: str = "a",
    label: str | None = "owl",
    prediction: str = "owl",
    region: Region | None = "foreground",
    alike: bool | None = False,
    apart: tuple[str, str] | None = None,
    group: str | None = None,
    columns: int = 4,
    **factors: str,
) -> AnswerSource:
    pixels = np.random.default_rng(list(key.encode())).integers(0, 256, (8, 8, 3))
    frame = Frame.from_array(pixels.astype(np.uint8))
    sample = Sample(
        key=f"{key}/canvas", frames=(frame,), choices=CHOICES, label=label, group=group
    )
    foreground = np.zeros((8, 8), dtype=bool)
    foreground[:, :columns] = True
    logits = _logits(prediction)
    return AnswerSource(
        sample=sample,
        cluster=np.array([[0, 1], [0, 1]]),
        logits=logits,
        drops=np.zeros((2, 3)),
        importance=np.array([[1.0, 3.0], [1.0, 3.0]]),
        foreground=foreground,
        region=region,
        alike=alike,
        factors=factors,
        apart=apart and Apart(*map(_logits, apart)),
        outcomes=[Outcome(Trial(sample=sample), Response(logits=logits))],
    )


def _logits(prediction: str) -> np.ndarray:
    return np.array([choice == prediction for choice in CHOICES], dtype=np.float64)


@pytest.fixture(scope="session")
def source() -> Callable[..., AnswerSource]:
    """`source(key, label, prediction, region, alike, apart, group, columns, **factors)`.

    The foreground is the left half, or so many of 8 `columns`. `apart` has the answers to the
    background and to the objects.
    """
    return _source


@pytest.fixture(scope="session")
def many() -> Callable[..., list[AnswerSource]]:
    """`many(count, name, **about)`: the same answer to several pictures."""

    def make(count: int, name: str, **about: Any) -> list[AnswerSource]:
        return [_source(f"{name}-{index}", **about) for index in range(count)]

    return make


@pytest.fixture(scope="session")
def part_audit() -> Callable[..., Any]:
    """`part_audit(samples, **tools)`: as much of an audit as a judge or a check looks at."""

    def make(samples: tuple[Sample, ...] = (), **tools: Any) -> Any:
        attachments: list[Any] = []
        return SimpleNamespace(
            samples=samples,
            labels=CHOICES,
            tools=tools,
            attachments=attachments,
            attach=attachments.append,
        )

    return make


@pytest.fixture(scope="session")
def changing() -> Callable[..., type[FakeDataset]]:
    """`changing(only, **fields)`: the fake data with other fields in its samples, or in one.

    Annotations join those that a sample has.
    """

    def make(only: int | None = None, **fields: Any) -> type[FakeDataset]:
        class Changed(FakeDataset):
            def __getitem__(self, index: int) -> Sample:
                sample = super().__getitem__(index)
                if only not in (None, index):
                    return sample
                notes = {**sample.annotations, **fields.get("annotations", {})}
                return replace(sample, **{**fields, "annotations": notes})

        return Changed

    return make


@pytest.fixture(scope="session")
def tiny_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a stock open_clip model of seeded random weights, 4 x 4 patches."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    folder = tmp_path_factory.mktemp("models") / "tiny"
    folder.mkdir()
    content = {
        "model_cfg": TINY,
        "preprocess_cfg": {"mean": [0.5] * 3, "std": [0.25] * 3},
    }
    (folder / "open_clip_config.json").write_text(json.dumps(content))
    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = open_clip.create_model(f"local-dir:{folder}")
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    return folder
