"""Every intervention holds the contract, and does what its name says."""

from typing import Any

import numpy as np
import pytest

from cuescope_interventions import frames, mixing, pixels, tokens, words
from cuescope_sdk import Frame, Sample
from cuescope_sdk.interventions import Case, Place
from cuescope_sdk.testing import InterventionContract, checks, run_check

ALL = (
    *(tokens.Hide, tokens.Average, pixels.Blank, pixels.Blur, pixels.Inpaint, mixing.Swap),
    *(mixing.Transplant, frames.Hold, frames.Freeze, words.Name, words.Mention),
    words.SwapQuestion,
)


@pytest.mark.parametrize("plugin", ALL, ids=lambda cls: cls.__name__)
def test_holds_the_contract(plugin: Any) -> None:
    contract = type("Check", (InterventionContract,), {"plugin": plugin})
    failed = [r for name in checks(contract) if (r := run_check(contract, name)).status != "ok"]
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
    swap = mixing.Swap(mixing.Swap.Options(), None)  # type: ignore[arg-type]
    [trial] = swap.intervene([case], {})
    assert (np.asarray(trial.sample.frames[0].load()) == 90).all()


def test_frames_with_the_cue_give_way_to_the_nearest_without() -> None:
    shown = tuple(Frame.from_array(np.full((4, 4, 3), n, np.uint8)) for n in range(5))
    case = Case(sample=Sample(key="a", frames=shown), place=Place(frames=(1, 2)))
    [trial] = frames.Hold(frames.Hold.Options(), None).intervene([case], {})  # type: ignore[arg-type]
    assert [int(np.asarray(f.load())[0, 0, 0]) for f in trial.sample.frames] == [0, 0, 3, 3, 4]
