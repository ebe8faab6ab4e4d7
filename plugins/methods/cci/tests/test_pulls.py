"""Pulls: there when planted, rare under nulls, and figures by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cuescope_cci.backgrounds import Backgrounds, measure_backgrounds
from cuescope_cci.error_source import AnswerSource
from cuescope_cci.error_source.regions import Apart
from cuescope_cci.options import CCIOptions
from cuescope_sdk import Audit, Context

Many = Callable[..., list[AnswerSource]]
CLASSES = tuple("abcdefgh")


def measured(sources: list[AnswerSource], **options: Any) -> Backgrounds:
    audit = Audit(
        labels=CLASSES,
        options=CCIOptions(**options),
        respond=lambda _: [],
        context=Context(),
    )
    known = measure_backgrounds(audit, audit.options, sources)
    assert known is not None
    return known


def simulated(many: Many, seed: int, pull: float, noise: float) -> list[AnswerSource]:
    """192 images: objects of logit 3, and backgrounds that disturb, and pull to their own class."""
    rng = np.random.default_rng(seed)
    sources = []
    for number, made in enumerate(many(192, f"s{seed}")):
        label, place = number % 8, int(rng.integers(8))
        objects = rng.normal(size=8)
        objects[label] += 3
        ground = rng.normal(scale=noise, size=8)
        ground[place] += pull
        sample = replace(made.sample, choices=CLASSES, label=CLASSES[label])
        source = replace(
            made,
            sample=sample,
            logits=objects + ground,
            apart=Apart(ground, objects),
            factors={"place": str(place)},
        )
        sources.append(source)
    return sources


def test_what_is_planted_is_found(many: Many) -> None:
    known = measured(simulated(many, 0, pull=3.0, noise=0.3))
    found = known.found(0.05)
    pairs = {(row.feature[-1], CLASSES.index(row.label)) for row in found}
    assert len(pairs) >= 6
    assert all(int(place) == label for place, label in pairs)
    shown = found[0]
    assert shown.low <= shown.here - shown.elsewhere <= shown.high
    assert shown.value == pytest.approx(shown.here - shown.elsewhere, abs=0.05)


def test_backgrounds_that_only_disturb_draw_nothing(many: Many) -> None:
    found = [
        measured(simulated(many, seed, pull=0.0, noise=1.5)).found(0.05)
        for seed in range(5)
    ]
    assert not any(found)


def test_a_pull_that_could_be_found_is_told(many: Many) -> None:
    sources = simulated(many, 1, pull=0.0, noise=1.0)
    share, limit = measured(sources).smallest_findable(
        0.05, np.random.default_rng(0)
    ) or (0.0, None)
    assert share == pytest.approx(1 / 8, abs=0.05)
    assert limit is not None
    assert 0 < limit < 1
    still = [replace(source, logits=source.apart.objects) for source in sources]  # type: ignore[union-attr]
    assert measured(still).smallest_findable(0.05, np.random.default_rng(0)) is None
