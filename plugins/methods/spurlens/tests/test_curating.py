"""From raw names to cues, each rejection with its reason."""

from collections.abc import Sequence

from cuescope_spurlens.curating import (
    DETECTABLE,
    FILTERS,
    SPURIOUS,
    Rejection,
    filter_proposals,
    shared_word,
)


class Judge:
    """Answers each filter as wanted, but for some (cue, place of the filter): what is said."""

    def __init__(self, otherwise: dict[tuple[str, int], str]) -> None:
        self.otherwise = otherwise
        self.asked: list[list[str]] = []

    def generate(self, prompts: Sequence[str]) -> list[str]:
        self.asked.append(list(prompts))
        place = len(self.asked) - 1
        wanted = "Yes." if FILTERS[place].wanted else "No."
        said = {cue: text for (cue, at), text in self.otherwise.items() if at == place}
        return [
            next((text for cue, text in said.items() if f'"{cue}"' in prompt), wanted)
            for prompt in prompts
        ]


def test_words_in_common_with_the_class() -> None:
    assert shared_word("neck tie", ["tie"]) == "tie"
    assert shared_word("ski pole", ["skis"]) == "ski"
    assert shared_word("glasses", ["wine glass"]) == "glasses"
    assert shared_word("hot sauce", ["hot-dog"]) == "hot"
    assert shared_word("knot", ["tie", "Windsor knot"]) == "knot"
    assert shared_word("box of pens", ["can of beans"]) is None
    assert shared_word("catfish", ["cat"]) is None


def test_without_a_generator_names_are_cleaned_and_set_apart() -> None:
    raw = [
        "Trees",
        "the tree",
        "Neck ties",
        "I cannot say",
        "Windsor knots",
        "sunlight",
    ]
    kept, rejected = filter_proposals(raw, "tie", synonyms=["Windsor knot"])
    assert kept == ["tree", "sunlight"]
    assert rejected == [
        Rejection("the tree", "is there already, as 'tree'"),
        Rejection("I cannot say", "is not a name"),
        Rejection("neck tie", "has 'tie' in common with the class"),
        Rejection("windsor knot", "has 'windsor' in common with the class"),
    ]


def test_each_filter_rejects_with_its_reason_and_asks_no_more() -> None:
    names = ["shirt", "suit", "collar", "clip", "daylight", "label", "office", "riddle"]
    judge = Judge(
        {
            ("shirt", 0): "No, never.",
            ("suit", 1): "**Yes**",
            ("collar", 2): "yes",
            ("clip", 3): "Yes",
            ("daylight", 4): "No.",
            ("label", 5): "Yes, sewn on",
            ("riddle", 1): "I know it is not",
        }
    )
    kept, rejected = filter_proposals(names, "tie", judge)
    assert kept == ["office"]
    assert {one.name: one.reason for one in rejected} == {
        "shirt": "is not without 'tie'",
        "suit": "is in almost all images of 'tie'",
        "riddle": "no yes or no to whether it is in almost all images of 'tie'",
        "collar": "is part of 'tie'",
        "clip": "almost all of it has 'tie'",
        "daylight": "is hard to detect",
        "label": "is physically part of 'tie'",
    }
    assert [len(prompts) for prompts in judge.asked] == [8, 7, 5, 4, 3, 2]
    assert all("tie" in prompt for prompts in judge.asked[:4] for prompt in prompts)
    assert len(kept) + len(rejected) == len(names)


def test_repetitions_are_dropped_before_anything_is_asked() -> None:
    judge = Judge({})
    kept, _ = filter_proposals(
        ["rope", "Ropes", "a rope", "rope."], "tree", judge, filters=SPURIOUS
    )
    assert kept == ["rope"]
    assert [len(prompts) for prompts in judge.asked] == [1] * len(SPURIOUS)
    assert (SPURIOUS + DETECTABLE, len(SPURIOUS)) == (FILTERS, 4)


def test_nothing_left_asks_nothing() -> None:
    judge = Judge({})
    assert filter_proposals([], "tie", judge) == ([], [])
    assert filter_proposals(["tie"], "tie", judge)[0] == []
    assert judge.asked == []
