"""Printed intervals hold the truth as often as they say: the benchmark, on drawn answers."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk import Frame, Sample

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import headlines

LABELS = ("north", "east", "south", "west")
DRAWN = 0  # the label whose answer the cue draws
SAMPLES, DIM = 400, 16
SHARE = np.array([0.95, 0.1, 0.15, 0.2])  # of each label, that shows the cue
# how often each label is answered correctly without it, and with it
RIGHT = np.array([[0.6, 0.95, 0.9, 0.95], [0.98, 0.1, 0.35, 0.5]])
CHANCE = 0.001


def drawn_audit(seed: int) -> headlines.Asked:
    """Embeddings that a cue shifts, and answers that it draws to one label."""
    rng = np.random.default_rng(seed)
    label = np.arange(SAMPLES) % len(LABELS)
    shows = rng.random(SAMPLES) < SHARE[label]
    looks = 8 * rng.standard_normal((len(LABELS), DIM))
    shift = rng.standard_normal(DIM)
    shift *= 6 / np.linalg.norm(shift)
    points = looks[label] + rng.standard_normal((SAMPLES, DIM)) + shows[:, None] * shift
    is_right = rng.random(SAMPLES) < RIGHT[shows.astype(int), label]
    wrong = np.where(shows & (label != DRAWN), DRAWN, (label + 1) % len(LABELS))
    logits = 3 * np.eye(len(LABELS))[np.where(is_right, label, wrong)]
    frame = Frame.from_array(np.zeros((4, 4, 3), np.uint8))
    samples = [
        Sample(key=f"{row:03d}", frames=(frame,), choices=LABELS, label=LABELS[code])
        for row, code in enumerate(label)
    ]
    return headlines.Asked(
        samples, LABELS, logits, logits[:, None], points[:, None], shows, label
    )


def require_coverage(rows: headlines.Rows) -> None:
    """Fail where fewer intervals hold the truth than chance allows for 95% ones."""
    held = sum(map(headlines.holds, rows))
    assert held >= stats.binom.ppf(CHANCE, len(rows), 0.95)


def test_changes_of_accuracy_hold_those_of_the_population() -> None:
    everyone = np.arange(SAMPLES)
    rows = []
    large = told = 0
    for seed in range(4):
        asked = drawn_audit(seed)
        sheet = asked.sheet(everyone, RIGHT[1] - RIGHT[0], DRAWN)
        graded = headlines.graded(asked.audit(everyone, "trove", seed), sheet)
        rows += graded["rows"]
        large += graded["large"]
        told += graded["large told"]
    assert len(rows) >= 12
    assert told >= 0.8 * large
    require_coverage(rows)


def test_figures_of_a_draw_hold_those_of_a_large_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headlines, "CACHE", tmp_path)
    small = replace(headlines.STUDIES["blind"], population=600)
    monkeypatch.setitem(headlines.STUDIES, "blind", small)
    headlines.population.cache_clear()
    rows = [
        row for seed in range(2) for row in headlines.study("blind", 60, seed)["rows"]
    ]
    headlines.population.cache_clear()
    assert len(rows) >= 12
    require_coverage(rows)
