"""Categories are held out by name or by seed; a turn is told by the shorter way."""

import pytest

from cuescope_sdk import UserError
from cuescope_sdk.data._episodes import held_out_categories
from cuescope_sdk.grounding._relations import turn_name

KNOWN = frozenset("abcdefgh")


def drawn(seed: int, what: str = "letter") -> frozenset[str]:
    return held_out_categories(None, KNOWN, 3, seed=seed, title="mine", what=what)


def test_named_categories_are_held_out_as_they_are():
    assert held_out_categories(
        ("b", "a", "a"), KNOWN, 3, seed=0, title="mine", what="letter"
    ) == {"a", "b"}


def test_others_are_drawn_by_seed():
    assert drawn(1) == drawn(1)
    assert len({drawn(seed) for seed in range(9)}) > 3
    assert all(len(drawn(seed)) == 3 and drawn(seed) <= KNOWN for seed in range(9))
    assert any(drawn(seed) != drawn(seed, "sign") for seed in range(9))


def test_what_cannot_be_held_out_is_told():
    with pytest.raises(
        UserError, match=r"mine: no letter 'A': expected one of a, b, c"
    ):
        held_out_categories(("A",), KNOWN, 3, seed=0, title="mine", what="letter")
    with pytest.raises(
        UserError, match="mine: 9 held-out letters: expected 9 or more, got 8"
    ):
        held_out_categories(None, KNOWN, 9, seed=0, title="mine", what="letter")


@pytest.mark.parametrize(
    ("degrees", "told"),
    [
        (0, None),
        (14, None),
        (16, "turn right"),
        (-16, "turn left"),
        (134, "turn right"),
        (180, "turn around"),
        (-180, "turn around"),
        (350, None),
        (270, "turn left"),
        (-630, "turn right"),
        (725, None),
    ],
)
def test_turns_go_the_shorter_way(degrees, told):
    assert turn_name(degrees) == told
