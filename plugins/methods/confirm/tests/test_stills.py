"""Cues that have no place: samples are matched to others, where that takes a part of the cue."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.cases import PairMaker
from cuescope_confirm.locating.places import LocatedCue
from cuescope_sdk import Frame, Sample, Trial
from cuescope_sdk.interventions import Case, Intervention, Place, change_frames


class Matching(Intervention):
    """All of the frame as in its donor."""

    title = "as in a sample without it"
    needs = "still"
    placebo = "other donor"

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        trials = []
        for case in cases:
            donor: Any = case.donor
            name = f"{type(self).__name__} {donor.frames[0].key}"
            paint = partial(self.paint, case)
            trials.append(change_frames(case.sample, case.place, name, paint))
        return trials

    @abstractmethod
    def match(self, donor: np.ndarray, own: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """The sample's own pixels, changed."""

    def paint(self, case: Case, number: int) -> Any:
        donor: Any = case.donor
        pixels = np.asarray(donor.frames[0].load()).astype(float)
        return partial(self.match, pixels)


class Contrast(Matching):
    def match(self, donor: np.ndarray, own: np.ndarray, mask: np.ndarray) -> np.ndarray:
        changed = (own - own.mean()) * donor.std() / own.std() + own.mean()
        return np.rint(changed.clip(0, 255)).astype(np.uint8)


COUNT = 60
PLAIN = Place()


def picture(seed: int, share: float) -> Frame:
    """Noise of one brightness and contrast of its own, at a share of its contrast."""
    rng = np.random.default_rng(seed)
    pixels = rng.uniform(90, 160) + rng.uniform(15, 30) * rng.normal(size=(16, 16, 3))
    pixels = pixels.mean() + share * (pixels - pixels.mean())
    return Frame.from_array(np.rint(pixels.clip(0, 255)).astype(np.uint8))


def target(share: float) -> Any:
    """Samples of two labels, of which every second one shows a cue: contrast that is a share."""
    samples = {}
    places = {}
    for number in range(COUNT):
        key = f"{number:03}"
        is_shown = number % 2 == 0
        frame = picture(number, share if is_shown else 1.0)
        label = "cup" if number % 3 else "plate"
        samples[key] = Sample(key=key, frames=(frame,), label=label)
        if is_shown:
            places[key] = PLAIN
    located = LocatedCue(places, samples.keys() - places.keys(), "learned", auroc=0.9)
    cue = SimpleNamespace(id="weak contrast")
    return SimpleNamespace(
        samples=samples,
        located=located,
        cue=cue,
        role="finding",
        is_judged=lambda sample: True,
    )


@pytest.mark.parametrize("effect", ["removes", "inserts"])
def test_donors_are_of_the_samples_label_and_the_placebos_of_its_side(
    effect: Any,
) -> None:
    given = target(0.4)
    contrast = Contrast(Contrast.Options(), None)  # type: ignore[arg-type]
    maker = PairMaker(given, given.located, contrast, np.random.default_rng(0))
    pairs = list(maker.stills(effect))
    assert len(pairs) == COUNT / 2
    for pair in pairs:
        placebo: Any = pair.placebo
        sample, other, alike = pair.case.sample, pair.case.donor, placebo.donor
        shown = [some.key in given.located.places for some in (sample, other, alike)]
        removes = effect == "removes"
        assert shown == [removes, not removes, removes]
        assert sample.label == other.label == alike.label
        assert alike.key != sample.key
        assert pair.case.place.area == 1.0


def test_a_still_is_known_where_samples_differ_in_the_cue() -> None:
    with_it, without = {"a": PLAIN}, frozenset("b")
    assert "still" in LocatedCue(with_it, without, "learned").known
    assert "still" not in LocatedCue(with_it, frozenset(), "learned").known
    for place in (Place(spans=((0, 3),)), Place(modality="text")):
        assert "still" not in LocatedCue({"a": place}, without, "words").known


def test_a_cue_of_some_frames_is_put_into_these_alone() -> None:
    frames = tuple(picture(seed, 1.0) for seed in range(3))
    samples = {key: Sample(key=key, frames=frames, label="cup") for key in "abcd"}
    shown = Place(frames=(0,))
    located = LocatedCue({"a": shown, "b": shown}, frozenset("cd"), "learned")
    given: Any = SimpleNamespace(samples=samples, is_judged=lambda _: True)
    contrast = Contrast(Contrast.Options(), None)  # type: ignore[arg-type]
    maker = PairMaker(given, located, contrast, np.random.default_rng(0))
    for pair in maker.stills("inserts"):
        changed = [bool(mask.any()) for mask in pair.case.place.masks]
        assert changed == [True, False, False]
