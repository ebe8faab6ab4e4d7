"""Categories are held out by name or by lot; a turn is told by the shorter way."""

import pytest

from cuescope_sdk import UserError
from cuescope_sdk.data._episodes import held_out_categories
from cuescope_sdk.grounding._relations import turn_name

KNOWN = frozenset("abcdefgh")


def test_named_categories_are_held_out_as_they_are():
    held = held_out_categories(("b", "a", "a"), KNOWN, 3, title="mine", what="letter")
    assert held == {"a", "b"}


def test_others_are_drawn():
    drawn = [
        held_out_categories(None, KNOWN, 3, title="mine", what=what)
        for what in ("letter", "letter", "sign", "mark", "rune")
    ]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1
    assert all(len(held) == 3 and held <= KNOWN for held in drawn)


def test_what_cannot_be_held_out_is_told():
    with pytest.raises(
        UserError, match=r"mine: no letter 'A': expected one of a, b, c"
    ):
        held_out_categories(("A",), KNOWN, 3, title="mine", what="letter")
    with pytest.raises(
        UserError, match="mine: 9 held-out letters: expected 9 or more, got 8"
    ):
        held_out_categories(None, KNOWN, 9, title="mine", what="letter")


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
