"""What a cache holds for a readout may be of a stranger: each says what it could have read."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope_cci.trials import PatchClusters
from cuescope_mitigators.prompt_learning import LearnedPrompts
from cuescope_quag.trials import FusionSize, TokenModalities
from cuescope_quag.verify import TheoryFigures
from cuescope_sdk import Frame, Readout, Sample
from cuescope_sdk.explain import Canvas

ROOT = Path(__file__).parents[1]
SAMPLE = Sample(
    key="a", frames=(Frame.from_array(np.zeros((2, 2, 3), np.uint8)),), choices=("x",)
)
CLUSTERS = PatchClusters(k=3, metric="cosine", seed=0)
PROMPTS = LearnedPrompts(
    labels=("x", "y"),
    embeddings=np.zeros((2, 4), np.float32).tobytes(),
    targets=(0, 1),
    context=2,
    epochs=1,
    steps=1,
    balance=0,
    learning_rate=1,
    seed=0,
)


def _modules() -> Iterator[str]:
    """Those in which a package of ours defines a readout."""
    for place in ("sdk/src", "plugins"):
        for file in sorted((ROOT / place).rglob("*.py")):
            is_code = "src" in file.parts and "testing" not in file.parts
            if is_code and "(Readout)" in file.read_text(encoding="utf-8"):
                start = file.parts.index("src", len(ROOT.parts)) + 1
                yield ".".join(file.with_suffix("").parts[start:]).removesuffix(
                    ".__init__"
                )


def _readouts() -> Iterator[type[Readout]]:
    for name in _modules():
        module = importlib.import_module(name)
        for item in vars(module).values():
            is_readout = isinstance(item, type) and issubclass(item, Readout)
            if is_readout and item.__module__ == name:
                yield item


def test_every_readout_says_what_it_gives() -> None:
    readouts = list(_readouts())
    assert len(readouts) > 12
    silent = [cls.__name__ for cls in readouts if cls.gives is np.ndarray]
    assert not silent


def learned(width: float, count: int = 2 + 2 * 4 + 2 * 3 + 1) -> np.ndarray:
    return np.array([0.0] * (count - 1) + [width], np.float32)


CASES: dict[str, tuple[Readout, Any, Any]] = {
    "a cluster map without an end": (
        CLUSTERS,
        np.zeros((2, 2), np.int16),
        np.full((2, 2), 32767, np.int16),
    ),
    "clusters below zero": (
        CLUSTERS,
        np.full((2, 2), 2, np.int16),
        np.full((2, 2), -1, np.int16),
    ),
    "an empty map": (CLUSTERS, np.zeros((1, 1), np.int16), np.zeros((0, 2), np.int16)),
    "pixels of two channels": (
        Canvas(),
        np.zeros((2, 2, 3), np.uint8),
        np.zeros((2, 2, 2), np.uint8),
    ),
    "layers without an end": (
        FusionSize(),
        np.full(6, 2),
        np.full(6, 2**62),
    ),
    "a modality that is none": (
        TokenModalities(),
        np.array([0, 1, 2], np.int8),
        np.array([3], np.int8),
    ),
    "figures too few": (
        TheoryFigures(layer=0, longest=9, first=True),
        np.zeros(5),
        np.zeros(3),
    ),
    "vectors of another width": (PROMPTS, learned(3), learned(1e30)),
    "vectors of no width": (PROMPTS, learned(3), learned(0)),
    "vectors that are not there": (PROMPTS, learned(3), learned(3, count=2)),
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_that_a_readout_cannot_give_are_not_accepted(case: str) -> None:
    readout, sound, forged = CASES[case]
    trial = readout.of(SAMPLE)
    assert readout.accepts(sound, trial)
    assert not readout.accepts(forged, trial)
