"""Bad interventions fail the contract, each at the check that is about it; a good one passes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Frame, Trial
from cuescope_sdk.interventions import Case, Intervention, Place, change_frames
from cuescope_testing import InterventionContract


def black(pixels: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.zeros_like(pixels)


def grey(level: int, pixels: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.full_like(pixels, level)


class Blacken(Intervention):
    title = "black"
    needs = "region"
    made = 0

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        return [self.one(case) for case in cases]

    def one(self, case: Case) -> Trial:
        return change_frames(case.sample, case.place, "black", lambda _: black)


class Spills(Blacken):
    def one(self, case: Case) -> Trial:
        wide = tuple(np.ones_like(mask) for mask in case.place.masks)
        return change_frames(case.sample, Place(masks=wide), "black", lambda _: black)


class DoesNothing(Blacken):
    def one(self, case: Case) -> Trial:
        return Trial(sample=case.sample)


class OtherEachTime(Blacken):
    def one(self, case: Case) -> Trial:
        type(self).made += 1
        level = self.made % 256
        return change_frames(
            case.sample, case.place, f"{level}", lambda _: partial(grey, level)
        )


class SameKey(Blacken):
    def one(self, case: Case) -> Trial:
        trial = super().one(case)
        pairs = zip(case.sample.frames, trial.sample.frames, strict=True)
        frames = tuple(Frame(old.key, new.loader) for old, new in pairs)
        return Trial(sample=case.sample.with_frames(frames, "changed"))


class Backwards(Blacken):
    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        return super().intervene(cases, tools)[::-1]


class LooksAtTheLabel(Blacken):
    def one(self, case: Case) -> Trial:
        level = 9 if case.sample.label is None else 200
        return change_frames(
            case.sample, case.place, f"{level}", lambda _: partial(grey, level)
        )


class OnlyTheCorner(Blacken):
    """Blackens what is red: at a placebo it does nothing."""

    def one(self, case: Case) -> Trial:
        masks = []
        for mask, frame in zip(case.place.masks, case.sample.frames, strict=True):
            pixels = np.asarray(frame.load()).astype(int)
            masks.append(mask & (pixels[..., 0] > pixels[..., 1] + 100))
        return change_frames(
            case.sample, Place(masks=tuple(masks)), "black", lambda _: black
        )


class TalksTooMuch(Blacken):
    @classmethod
    def why_not(cls, *given: Any) -> str | None:
        return "it does not apply\nand here is a long story"


class Longer(Blacken):
    def one(self, case: Case) -> Trial:
        sample = super().one(case).sample
        return Trial(sample=replace(sample, frames=sample.frames * 2))


class TakesTheDonors(Intervention):
    """Shows what its donor shows, in frames of which the place has all."""

    title = "the donor's frames"
    needs = "still"
    placebo = "other donor"

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        return [self.one(case) for case in cases]

    def one(self, case: Case) -> Trial:
        frames = list(case.sample.frames)
        for number, mask in enumerate(case.place.masks):
            if mask.all() and case.donor is not None:
                frames[number] = case.donor.frames[number]
        key = "donor-" + "-".join(frame.key[:6] for frame in frames)
        return Trial(sample=case.sample.with_frames(tuple(frames), key))


class TakesAllFrames(TakesTheDonors):
    def one(self, case: Case) -> Trial:
        masks = tuple(np.ones_like(mask) for mask in case.place.masks)
        return super().one(replace(case, place=Place(masks=masks)))


class ForgetsItsDonor(TakesTheDonors):
    def one(self, case: Case) -> Trial:
        return change_frames(case.sample, case.place, "black", lambda _: black)


@pytest.mark.parametrize(
    ("intervention", "check"),
    [
        (TakesAllFrames, "keeps_what_lies_outside"),
        (ForgetsItsDonor, "heeds_its_donor"),
        (Spills, "keeps_what_lies_outside"),
        (DoesNothing, "changes_what_the_model_sees"),
        (OtherEachTime, "gives_the_same_twice"),
        (SameKey, "names_what_it_changed"),
        (Backwards, "answers_each_case"),
        (Longer, "answers_each_case"),
        (LooksAtTheLabel, "gives_the_same_twice"),
        (OnlyTheCorner, "as_much_at_a_placebo"),
        (TalksTooMuch, "says_what_it_is"),
    ],
)
def test_a_bad_one_fails(intervention: type[Intervention], check: str) -> None:
    contract: Any = type("Check", (InterventionContract,), {"plugin": intervention})
    [result] = contract.run_checks(check)
    assert result.status == "failed", result


class TestAGoodOne(InterventionContract):
    plugin = Blacken


class TestAGoodOneOfStills(InterventionContract):
    plugin = TakesTheDonors
