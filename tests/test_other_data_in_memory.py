"""Cues of a run on data in memory are tested and fixed on other data in memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import cuescope
from cuescope import UserError

LABELS = ("cow", "dog")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache and working folder of their own."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def pictures(seed: int, count: int = 160) -> tuple[list[Image.Image], list[str]]:
    """Bright or dark pictures; the red corner of three in ten is taken for a cow."""
    rng = np.random.default_rng(seed)
    images, labels = [], []
    for number in range(count):
        low = 150 if number % 2 else 20
        pixels = rng.integers(low, low + 60, (16, 16, 3), dtype=np.uint8)
        if rng.random() < 0.3:
            pixels[:8, :8] = (250, 10, 10)
        images.append(Image.fromarray(pixels))
        labels.append(LABELS[number % 2])
    return images, labels


def model(images: Sequence[Image.Image]) -> np.ndarray:
    rows = []
    for image in images:
        pixels = np.asarray(image, dtype=float)
        red = (pixels[:8, :8, 0] - pixels[:8, :8, 1]).mean() > 100
        bright = pixels[8:].mean() > 110
        rows.append([0.9, 0.1] if red or not bright else [0.1, 0.9])
    return np.array(rows)


def audit(data: Any) -> Any:
    return cuescope.audit(
        "trove",
        model=cuescope.Classifier(model, embed="pixels", name="m"),
        data=data,
        progress=False,
    )


def test_confirm_takes_other_pictures_in_memory() -> None:
    report = audit(pictures(0))
    assert report.findings
    tested = cuescope.confirm(report, on=pictures(1), progress=False)
    # the run itself is the search: nothing is made anew
    assert not (tested.folder / "found").exists()
    assert tested.provenance.data.spec.startswith("images-")
    assert tested.provenance.samples == 160
    # the same pictures are no other data
    with pytest.raises(UserError, match="were looked at by the run"):
        cuescope.confirm(report, on=pictures(0), out="again", progress=False)
    # of a few that both have, the rest is tested
    images, labels = pictures(2)
    seen, their = pictures(0, 20)
    mixed = cuescope.confirm(
        report, on=(images + seen, labels + their), out="mixed", progress=False
    )
    assert mixed.notes["left out"].startswith("20 samples")


def test_mitigate_takes_other_pictures_in_memory() -> None:
    report = audit(pictures(0))
    fixed = cuescope.mitigate(report, "last-layer", on=pictures(1, 400), progress=False)
    assert fixed.provenance.data.spec.startswith("images-")
    assert not (fixed.folder / "found").exists()
    with pytest.raises(UserError, match="are among those in which the cues were found"):
        cuescope.mitigate(
            report, "last-layer", on=pictures(0), out="again", progress=False
        )
