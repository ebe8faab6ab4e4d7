"""A placebo of `swap` puts another sample's cue where the sample has its own."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from cuescope_confirm.cases import PairMaker
from cuescope_confirm.locating.places import LocatedCue
from cuescope_interventions.mixing import Swap
from cuescope_sdk import Context, Frame, Sample
from cuescope_sdk.interventions import Place

SIDE = 40
RED = np.array([255, 0, 0], np.uint8)


def _target(count: int) -> Any:
    """Grey samples, of which every second one has a red square somewhere."""
    rng = np.random.default_rng(0)
    samples = {}
    places = {}
    for number in range(count):
        key = f"{number:03}"
        pixels = np.full((SIDE, SIDE, 3), 90 + number, np.uint8)
        if number % 2:
            row, col = rng.integers(0, SIDE - 8, 2)
            mask = np.zeros((SIDE, SIDE), bool)
            mask[row : row + 8, col : col + 8] = True
            pixels[mask] = RED
            places[key] = Place((mask,), (0,))
        samples[key] = Sample(key=key, frames=(Frame.from_array(pixels),), label="cup")
    located = LocatedCue(places, samples.keys() - places.keys(), "learned", auroc=0.9)
    return SimpleNamespace(
        samples=samples,
        located=located,
        cue=SimpleNamespace(id="square", kind="cluster"),
        by_label=False,
        is_judged=lambda sample: True,
    )


def test_a_cue_that_stands_elsewhere_is_moved_onto_the_samples_own() -> None:
    """So the placebo keeps the cue, and every sample has one; the change takes it out."""
    target = _target(40)
    swap = Swap(Swap.Options(), Context())
    maker = PairMaker(target, target.located, swap, np.random.default_rng(0))
    pairs = list(maker.pairs())
    assert len(pairs) == 20
    for pair in pairs:
        [mask] = pair.case.place.masks
        changed, placebo = (
            np.asarray(trial.sample.frames[0].load())[mask]
            for trial in swap.intervene([pair.case, pair.placebo], {})
        )
        assert not (changed == RED).all(axis=-1).any()
        assert (placebo == RED).all()
