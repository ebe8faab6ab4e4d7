"""Cues that have no place: samples are matched to others, where that takes a part of the cue."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.asking import Direction
from cuescope_confirm.cases import PairMaker
from cuescope_confirm.locating.places import LocatedCue
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.scores import Effect, Ruling
from cuescope_confirm.testimony import votes
from cuescope_confirm.testimony.manipulation import only_telling
from cuescope_confirm.testimony.votes import (
    Kind,
    cases_of,
    jointly_telling,
    kinds_of,
    one_of_each_kind,
    suffice,
)
from cuescope_confirm.testimony.witnesses import Answers, Witness
from cuescope_confirm.verdicts.row import Row
from cuescope_confirm.verdicts.sentences import statement
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


class Fake(SimpleNamespace):
    """A key by itself, as witnesses are."""

    __hash__ = object.__hash__


def witness(spec: str, **plugin: Any) -> Witness:
    """Of a finding, with enough pairs to be tested."""
    traits: dict[str, Any] = {"needs": "region", "placebo": "elsewhere"}
    traits |= {"effect": "removes", "changes": None}
    acting: Any = SimpleNamespace(**{**traits, "partial": False, **plugin})
    pair: Any = SimpleNamespace(control=False)
    trial: Any = SimpleNamespace(edit=None)
    answers = Answers.unknown([pair] * 20, [(trial, trial, trial)] * 20)
    return Witness(FOUND, spec, acting, answers=answers)


def study(shares: Mapping[str, float | None]) -> Any:
    """In which pictures show so much of the cue go, by what each change is called."""
    return SimpleNamespace(
        audit=SimpleNamespace(once=lambda _, study, witness: shares[witness.spec]),
        options=SimpleNamespace(least=10),
    )


FOUND: Any = SimpleNamespace(located=SimpleNamespace(is_sure=True))


@pytest.mark.parametrize(("share", "asked"), [(0.3, 30), (0.2, 0), (None, 0)])
def test_only_what_takes_a_part_of_the_cue_is_asked_about(
    share: float | None, asked: int
) -> None:
    given = target(0.4)
    contrast = Contrast(Contrast.Options(), None)  # type: ignore[arg-type]
    maker = PairMaker(given, given.located, contrast, np.random.default_rng(0))
    pairs = list(maker.stills("removes"))
    changed = contrast.intervene([pair.case for pair in pairs], {})
    trials = [
        (Trial(sample=pair.case.sample), trial, None)
        for pair, trial in zip(pairs, changed, strict=True)
    ]
    still = Witness(given, "contrast", contrast, answers=Answers.unknown(pairs, trials))
    telling = only_telling(study({"contrast": share}), still)
    assert len(telling.answers.pairs) == asked


def asked(witnesses: Sequence[Witness]) -> dict[str, list[str]]:
    """What is asked about, and what may be asked about in its place."""
    return {
        chosen.spec: [other.spec for other in chosen.instead]
        for chosen in witnesses
        if chosen.reason is None
    }


def test_of_a_kind_one_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least change of those that take about as much of the cue as any."""
    levels = {"blank": 30.0, "heal": 12.0, "blur": 20.0, "swap": 9.0, "recolour": 9.0}
    monkeypatch.setattr(votes, "change_made", lambda witness: levels[witness.spec])
    donor = {"placebo": "other donor"}
    witnesses = [
        witness("blank"),
        witness("heal"),
        witness("blur"),
        witness("swap", **donor),
        witness("recolour", **donor, partial=True),
    ]
    shares = {"blank": 1.0, "heal": 0.7, "blur": 0.92, "swap": 0.6, "recolour": 0.8}
    # two kinds take all of the cue: what takes a part is not needed
    assert asked(one_of_each_kind(study(shares), witnesses)) == {
        "blur": ["blank", "heal"],
        "swap": [],
    }
    shares |= {"swap": 0.3, "heal": 0.91}
    assert asked(one_of_each_kind(study(shares), witnesses)) == {
        "heal": ["blur", "blank"],
        "recolour": ["swap"],
    }
    chosen = one_of_each_kind(study(dict.fromkeys(shares)), witnesses)
    assert list(asked(chosen)) == list(shares)


def still(spec: str, **plugin: Any) -> Witness:
    """Of a change of whole pictures, as `match-light`, and of the property that it changes."""
    direction, _, name = spec.partition("-")
    effect = "inserts" if direction == "impose" else "removes"
    traits = {"needs": "still", "placebo": "other donor", "changes": name}
    return witness(spec, **traits, effect=effect, **plugin)


def test_of_whole_pictures_the_properties_that_tell_most_are_asked_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares = {
        "match-tones": 0.8,
        "impose-tones": 0.3,
        "match-light": 0.6,
        "impose-grain": 0.9,
        "match-scale": 0.4,
        "match-blocks": 0.1,
    }
    witnesses = list(map(still, shares))
    monkeypatch.setattr(votes, "change_made", lambda _: 0.0)
    chosen = one_of_each_kind(study(shares), witnesses)
    # what takes less than a quarter is no change of this cue, and is left out before
    assert list(asked(chosen)) == [
        "match-tones",
        "impose-tones",
        "match-light",
        "impose-grain",
        "match-blocks",
    ]


def test_each_property_of_whole_pictures_is_heard_by_itself() -> None:
    shares = {"match-tones": 0.8, "impose-tones": 0.3, "match-light": 0.6}
    witnesses = list(map(still, shares))
    taken = {each: shares[each.spec] for each in witnesses}
    tones, light = cases_of(kinds_of(witnesses, taken))
    assert [kind.party[0].spec for kind in tones] == ["match-tones", "impose-tones"]
    assert [kind.party[0].spec for kind in light] == ["match-light"]
    assert jointly_telling(tones) == tones
    # what is changed at a place has no properties
    blank = witness("blank")
    [alone] = cases_of(kinds_of([blank], {blank: None}))
    assert [kind.party[0].spec for kind in alone] == ["blank"]
    assert cases_of([]) == [[]]


def test_what_is_done_inside_the_model_is_a_case_by_itself() -> None:
    blank = Kind("full", [witness("blank")], 1.0)
    inside = [Kind("inside", [witness(spec)], 0.4) for spec in ("erase", "patch")]
    # a place that was blanked in vain does not speak against it
    assert cases_of([blank, *inside]) == [[blank], inside]
    assert cases_of(inside) == [inside]


def test_what_changes_a_part_is_heard_beside_one_full_change() -> None:
    whole = still("impose-blocks")
    part = still("match-blocks")
    other = witness("swap", placebo="other donor")
    kinds = kinds_of([whole, part], {whole: 0.9, part: 0.4})
    assert len(jointly_telling(kinds)) == 2
    # two full ones need no part, and one alone is no two
    kinds = kinds_of([whole, part, other], {whole: 0.9, part: 0.4, other: 0.8})
    assert [kind.party for kind in jointly_telling(kinds)] == [[whole], [other]]
    assert not jointly_telling(kinds_of([whole], {whole: 0.9}))


@pytest.mark.parametrize(
    ("changes", "enough"),
    [
        (["all removes"], False),
        (["part removes", "part removes"], False),
        (["part removes", "part inserts"], True),
        (["all removes", "part removes"], True),
        (["all inserts", "all removes"], True),
    ],
)
def test_parts_of_one_direction_convict_no_cue(
    changes: list[str], *, enough: bool
) -> None:
    kinds = []
    for change in changes:
        how_much, effect = change.split()
        changed = witness("blur", placebo="elsewhere", effect=effect)
        standing: Any = {"all": "full", "part": "partial"}[how_much]
        kinds.append(Kind(standing, [changed], 1.0))
    assert suffice(kinds) is enough


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


@pytest.mark.parametrize(("needs", "is_told"), [("still", True), ("region", False)])
def test_of_a_cue_without_a_place_it_is_said_what_takes_it_out(
    needs: str, is_told: bool
) -> None:
    """A guess by pictures has no word for light or sharpness; the change has."""
    title = "light falls as in a sample without the cue"
    testimony: Any = SimpleNamespace(
        spec="match-light",
        plugin=SimpleNamespace(needs=needs, title=title),
        confirms=True,
        removes=True,
        effect=Effect(0.2, 0.1, 0.3, 40, 0.01),
    )
    cue = SimpleNamespace(labels=(), label=None)
    target: Any = SimpleNamespace(cue=cue, direction=Direction())
    row = Row(target, [testimony], [], [], Ruling("causes", necessary=True))
    told = statement(row, ConfirmOptions(run=Path()))
    assert "Taking it out mends them: with match-light by +20 (+10 to +30)" in told
    said = f"match-light changes all of the picture ({title}), so what else goes with the cue"
    assert (said in told) is is_told
