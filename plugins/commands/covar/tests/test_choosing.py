"""A text generator chooses classes and writes backgrounds; its words are read, not trusted."""

from collections.abc import Sequence

import pytest

from cuescope_covar_build.choosing import choose_by_words, write_backgrounds
from cuescope_sdk import UserError

KINDS = {
    "hen": "Bird",
    "owl": "bird.",
    "zebra": "Mammal",
    "stove": "appliance",
    "jay": "bird",
}


class Writer:
    """Says yes about what has a kind, and names two places a question."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def generate(self, prompts: Sequence[str]) -> list[str]:
        self.asked += prompts
        return [self.reply(prompt) for prompt in prompts]

    def reply(self, prompt: str) -> str:
        if prompt.startswith("A study"):
            turn = sum(asked.startswith("A study") for asked in self.asked)
            return f"1. a beach at low tide\n2. a street at night {'abcdef'[turn]}"
        label = prompt.split('"')[1]
        if prompt.startswith("Which kind"):
            return KINDS[label]
        return (
            "Hard to say."
            if label == "fog"
            else "Yes, it is."
            if label in KINDS
            else "No."
        )


def test_every_kind_has_its_turn() -> None:
    chosen = choose_by_words([*KINDS, "fog", "lakeside"], Writer(), 3)
    assert chosen.classes == ("hen", "stove", "zebra")
    assert (chosen.asked, chosen.fitting, chosen.kinds, chosen.unclear) == (7, 5, 3, 1)
    assert set(choose_by_words([*KINDS], Writer(), 99).classes) == set(KINDS)
    with pytest.raises(UserError, match="no about 1, neither about 1"):
        choose_by_words(["fog", "lakeside"], Writer(), 3)


def test_backgrounds_are_asked_for_until_there_are_enough() -> None:
    writer = Writer()
    assert len(set(write_backgrounds(writer, 3))) == 3
    assert "Not again: beach at low tide" in writer.asked[1]
    with pytest.raises(UserError, match="expected 9 different ones, got 4"):
        write_backgrounds(Writer(), 9)
