"""The probe finds what is in the embeddings, and nothing where there is nothing."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Frame, generator
from cuescope_spurlens.checks.probe import probe_rates
from cuescope_testing import Setup


def embeddings(
    lean: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Embeddings of a class and of others, with a cue that goes with the class by `lean`."""
    rng = generator(seed, "probe")
    cue = rng.random(300) < 0.5
    positives = rng.normal(size=(300, 8))
    positives[:, 0] += 0.5
    positives[:, 1] += 2 * lean * cue
    negatives = rng.normal(size=(300, 8))
    return positives, negatives, np.flatnonzero(cue)[:40], np.flatnonzero(~cue)[:40]


def test_a_cue_in_the_embedding_makes_a_gap() -> None:
    rates = probe_rates(*embeddings(1.0, 0), generator(0, "a"))
    assert rates is not None
    assert rates.gap > 0.3
    assert 0 <= rates.without < rates.with_cue <= 1


def test_no_cue_makes_none() -> None:
    rates = [
        probe_rates(*embeddings(0.0, seed), generator(0, "a")) for seed in range(5)
    ]
    gaps = [of_seed.gap for of_seed in rates if of_seed is not None]
    assert len(gaps) == 5
    assert np.mean(gaps) == pytest.approx(0, abs=0.1)


def test_too_few_images_make_no_probe() -> None:
    positives, negatives, top, bottom = embeddings(1.0, 0)
    assert (
        probe_rates(positives[:85], negatives, top[:38], bottom[:38], generator(0, "a"))
        is None
    )


def test_a_model_that_shows_its_patches_is_probed(setup: Callable[..., Setup]) -> None:
    class Open(setup().model):  # type: ignore[misc, name-defined]
        capabilities = setup().model.capabilities.model_copy(
            update={"exposes": frozenset({"patches"})}
        )

        def patch_features(self, frames: Sequence[Frame], layer: int = -1) -> list[Any]:
            return [
                np.asarray(frame.load(), dtype=np.float32) / 255 for frame in frames
            ]

    report = setup(model=Open, k=20, draws=200, probe_sweep=True).report()
    table = next(
        table for table in report.tables if table.title.startswith("Vision encoder")
    )
    assert {row["class"] for row in table.rows} == {"cup", "lamp", "clock"}
    assert any("Correlation of the gaps" in note for note in table.notes)
    sweep = next(
        t for t in report.tables if t.title.endswith("by what it is trained on")
    )
    assert "Vision encoder: the probe's gap, class by class" in {
        p.title for p in report.pictures
    }
    sizes = [(row["positives"], row["negatives a positive"]) for row in sweep.rows]
    assert sizes == [
        (share, ratio) for share in ("10%", "30%", "90%") for ratio in (1, 2, 5)
    ]
    trained = [float(str(row["images trained on"])) for row in sweep.rows]
    assert trained == sorted(trained[:3]) + sorted(trained[3:6]) + sorted(trained[6:])
    right = [
        float(str(row["accuracy"]))
        for row in sweep.rows[::3]
        if row["accuracy"] is not None
    ]
    assert min(right) > 55, "the brightness of all rows tells something of one"
