"""Every intervention holds the contract, and does what its name says."""

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from cuescope_interventions import frames, mixing
from cuescope_interventions.pixels import Heal
from cuescope_sdk import Context, Frame, Sample
from cuescope_sdk.interventions import Case, Place
from cuescope_testing import InterventionContract

GROUP = "cuescope.interventions"
# read here, as what is installed may not know a new one yet
PROJECT = tomllib.loads(
    Path(__file__).parents[1].joinpath("pyproject.toml").read_text("utf-8")
)["project"]


@pytest.mark.parametrize(("name", "path"), PROJECT["entry-points"][GROUP].items())
def test_holds_the_contract(name: str, path: str) -> None:
    plugin = EntryPoint(name, path, GROUP).load()
    contract = type("Check", (InterventionContract,), {"plugin": plugin})
    failed = [
        r
        for check in contract.checks()
        if (r := contract.run_check(check)).status != "ok"
    ]
    assert not failed


def test_a_donors_object_is_not_taken_with_its_background() -> None:
    """Where the donor's object stands, the nearest of its background stands instead."""
    own, donor = np.zeros((6, 6, 3), np.uint8), np.full((6, 6, 3), 90, np.uint8)
    donor[2:4, 2:4] = (255, 0, 0)
    inside = np.ones((6, 6), bool)
    inside[2:4, 2:4] = False
    whole = np.ones((6, 6), bool)
    case = Case(
        sample=Sample(key="a", frames=(Frame.from_array(own),)),
        place=Place(masks=(whole,)),
        donor=Sample(key="b", frames=(Frame.from_array(donor),)),
        donor_place=Place(masks=(inside,)),
    )
    swap = mixing.Swap(mixing.Swap.Options(), Context())
    [trial] = swap.intervene([case], {})
    assert (np.asarray(trial.sample.frames[0].load()) == 90).all()


def test_a_region_that_vanishes_in_a_smaller_picture_takes_the_donor_as_it_is() -> None:
    shades = np.random.default_rng(0).integers(0, 255, (100, 100, 3)).astype(np.uint8)
    inside = np.zeros((100, 100), bool)
    inside[42:44, 42:44] = True
    case = Case(
        sample=Sample(
            key="a", frames=(Frame.from_array(np.zeros((10, 10, 3), np.uint8)),)
        ),
        place=Place(masks=(np.ones((10, 10), bool),)),
        donor=Sample(key="b", frames=(Frame.from_array(shades),)),
        donor_place=Place(masks=(inside,)),
    )
    swap = mixing.Swap(mixing.Swap.Options(), Context())
    [trial] = swap.intervene([case], {})
    taken = np.asarray(trial.sample.frames[0].load())
    assert len(np.unique(taken.reshape(-1, 3), axis=0)) > 50


def test_a_cast_goes_and_shapes_stay() -> None:
    """A cast of all of the frame, and the colour of a thing on black."""
    shapes = np.random.default_rng(0).integers(0, 200, (8, 8, 3)).astype(np.uint8)
    green = np.rint(0.6 * shapes + 0.4 * np.array([40, 200, 60])).astype(np.uint8)
    red, white = np.zeros((8, 8, 3), np.uint8), np.zeros((8, 8, 3), np.uint8)
    red[2:5, 2:5, 0], white[4:7, 3:6] = 230, 200
    there, elsewhere = np.zeros((2, 8, 8), bool)
    there[1:6, 1:6], elsewhere[3:8, 2:7] = True, True
    recolour = mixing.Recolour(mixing.Recolour.Options(), Context())

    def done(
        own: np.ndarray, place: np.ndarray, donor: np.ndarray, its: Place
    ) -> np.ndarray:
        sample, other = (
            Sample(key="a", frames=(Frame.from_array(a),)) for a in (own, donor)
        )
        case = Case(sample, Place(masks=(place,)), donor=other, donor_place=its)
        [trial] = recolour.intervene([case], {})
        return np.asarray(trial.sample.frames[0].load()).astype(int)

    whole = np.ones((8, 8), bool)
    assert np.abs(done(green, whole, shapes, Place()) - shapes).max() <= 4
    disc = done(red, there, white, Place(masks=(elsewhere,)))
    assert np.abs(disc[2:5, 2:5] - 200).max() <= 4
    assert disc[0].max() == 0


def test_frames_with_the_cue_give_way_to_the_nearest_without() -> None:
    shown = tuple(Frame.from_array(np.full((4, 4, 3), n, np.uint8)) for n in range(5))
    case = Case(sample=Sample(key="a", frames=shown), place=Place(frames=(1, 2)))
    [trial] = frames.Hold(frames.Hold.Options(), None).intervene([case], {})  # type: ignore[arg-type]
    assert [int(np.asarray(f.load())[0, 0, 0]) for f in trial.sample.frames] == [
        0,
        0,
        3,
        3,
        4,
    ]


def _stripe() -> tuple[np.ndarray, np.ndarray]:
    """A picture that gets lighter to the right, with a red stripe, and where the stripe is."""
    shade = np.linspace(40, 200, 32).astype(np.uint8)
    pixels = np.repeat(np.broadcast_to(shade, (24, 32))[..., None], 3, axis=2)
    mask = np.zeros((24, 32), bool)
    mask[8:14, 5:28] = True
    with_it = np.where(mask[..., None], np.array([255, 0, 0], np.uint8), pixels)
    return with_it, mask


@pytest.mark.parametrize("size", [1, 20])
def test_a_healed_region_is_as_what_is_round_it(size: int) -> None:
    """Of a large region every few pixels are solved for, and the result is the same."""
    pixels, mask = (
        np.kron(part, np.ones((size, size, *[1] * (part.ndim - 2)), part.dtype))
        for part in _stripe()
    )
    mask = mask.astype(bool)
    case = Case(Sample(key="a", frames=(Frame.from_array(pixels),)), Place((mask,)))
    heal = Heal(Heal.Options(), Context())
    [trial] = heal.intervene([case], {})
    healed = np.asarray(trial.sample.frames[0].load()).astype(int)
    # of each column what stands above the stripe
    apart = np.abs(healed - healed[:1])
    assert apart[mask].max() <= 3 * 160 / 31
    assert (healed[~mask] == pixels[~mask]).all()


def test_a_blended_region_has_the_donors_detail_on_the_samples_own_tones() -> None:
    pixels, mask = _stripe()
    darker = np.full_like(pixels, 20)
    darker[10:12, 10:20] += 50
    case = Case(
        Sample(key="a", frames=(Frame.from_array(pixels),)),
        Place((mask,)),
        donor=Sample(key="b", frames=(Frame.from_array(darker),)),
    )
    blend = mixing.Blend(mixing.Blend.Options(), Context())
    [trial] = blend.intervene([case], {})
    blended = np.asarray(trial.sample.frames[0].load()).astype(int)
    apart = blended - blended[:1]
    assert (np.abs(apart[10:12, 10:20] - 50) <= 6).all()
    detail = np.zeros_like(mask)
    detail[9:13, 9:21] = True
    assert np.abs(apart[mask & ~detail]).max() <= 6


def test_a_region_without_anything_round_it_is_grey() -> None:
    pixels, _ = _stripe()
    whole = Place((np.ones(pixels.shape[:2], bool),))
    case = Case(Sample(key="a", frames=(Frame.from_array(pixels),)), whole)
    [trial] = Heal(Heal.Options(), Context()).intervene([case], {})
    assert (np.asarray(trial.sample.frames[0].load()) == 128).all()
