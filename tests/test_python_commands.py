"""The installed commands from Python, on a function and pictures in memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cuescope

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
COUNT = 240


def predict(images: list[Any]) -> np.ndarray:
    """Calls a red corner "bird", whatever the picture shows."""
    reds = np.array([np.asarray(image)[:8, :8, 0].mean() for image in images])
    bird = np.where(reds > 120, 0.9, 0.4)
    return np.stack([bird, 1 - bird], axis=1)


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    images = rng.integers(0, 60, (COUNT, 16, 16, 3), dtype=np.uint8)
    images[rng.random(COUNT) < 0.5, :8, :8, 0] += 180
    labels = [("bird", "boat")[number % 2] for number in range(COUNT)]
    model = cuescope.Classifier(
        predict, name="red-v1", labels=["bird", "boat"], embed="pixels"
    )
    return {"model": model, "data": (images, labels), "progress": False}


def test_a_cue_is_found_tested_and_mended_in_memory(given: dict[str, Any]) -> None:
    found = cuescope.audit("trove", **given)
    dossier = cuescope.investigate(**given, methods=["trove"], out="dossier")
    tested = cuescope.confirm(found, out="tested", progress=False)
    # both look for the cue in the same half, and test it in the other
    assert dossier.to_pandas()["value"].equals(tested.to_pandas()["value"])
    mended = cuescope.mitigate(found, "last-layer", out="mended", progress=False)
    assert mended.findings or mended.statements
    # the objects of this session are remembered, so the mitigated one is
    after = cuescope.audit(
        "trove", **{**given, "model": cuescope.Mitigated(given["model"], mended)}
    )
    assert after.folder != found.folder
    assert after.provenance.model.facts["mitigated"].startswith("by last-layer")
    for report in (dossier, tested, mended, after):
        assert report.page.is_file()
        assert "<" in report._repr_html_()
        assert str(report).splitlines()[0].endswith("red-v1 on images")
    tables = cuescope.compare(found, found.folder)
    assert any("lost" in table and not table["lost"].any() for table in tables.values())
