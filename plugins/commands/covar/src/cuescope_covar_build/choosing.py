"""Classes and backgrounds chosen by a text generator, in words of our own (appendix A.4.2, A.4.3).

The paper asks GPT-4o for 30 to 40 of ImageNet's classes, and for 20 backgrounds, each in one
question. Here a class is asked about by itself, so that a small model can answer: whether it is an
object that can stand anywhere, and of which kind it is. Then every kind has its turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from cuescope_sdk import TextGenerator, UserError
from cuescope_sdk.language import clean_name, parse_list, parse_yes_no, strip_thinking

STANDS = (
    'Think of "{label}". Is it one object or animal of its own, with an outline, that a photo '
    "could show in front of any scenery? Say no for places, materials, scenes, worn clothes and "
    "things that come in crowds. Answer yes or no."
)
KIND = (
    'Which kind of thing is "{label}"? Answer with one general word, such as bird, reptile, '
    "vehicle, furniture, building, fruit or tool."
)
SCENES = (
    "A study puts photographed objects in front of other scenery. Write down {count} places, each "
    "in three to eight words as one would caption a photo of the empty place. No place twice in "
    "other words, no people or animals by name, nothing that belongs to one object only. Nature, "
    "towns and rooms should all be there. Write a numbered list and nothing else."
)
ROUNDS = 3  # questions for backgrounds at most


@dataclass(frozen=True)
class Choice:
    """The chosen classes, and how many were asked about and fit."""

    classes: tuple[str, ...]
    asked: int
    fitting: int
    kinds: int
    unclear: int


def choose_by_words(labels: Sequence[str], writer: TextGenerator, count: int) -> Choice:
    """So many classes that can stand anywhere, of as many kinds as there are.

    A class about which the writer says neither yes nor no is left out. Raises UserError where none
    is left.
    """
    questions = [STANDS.format(label=label) for label in labels]
    verdicts = list(map(parse_yes_no, writer.generate(questions)))
    fitting = list(compress(labels, verdicts))
    if not fitting:
        raise UserError(
            "covar: the text generator named no class that can stand anywhere",
            expected="yes about some of them",
            got=f"no about {verdicts.count(False):,}, neither about {verdicts.count(None):,}",
            remedy="Take a larger model, or write the list yourself",
        )
    replies = writer.generate([KIND.format(label=label) for label in fitting])
    by_kind: dict[str, list[str]] = {}
    for label, reply in zip(fitting, replies, strict=True):
        by_kind.setdefault(_kind(reply), []).append(label)
    chosen: list[str] = []
    # a class of every kind before a second of any
    while len(chosen) < min(count, len(fitting)):
        in_turn = [members.pop(0) for members in by_kind.values() if members]
        chosen += in_turn[: count - len(chosen)]
    return Choice(
        classes=tuple(sorted(chosen)),
        asked=len(labels),
        fitting=len(fitting),
        kinds=len(by_kind),
        unclear=verdicts.count(None),
    )


def write_backgrounds(writer: TextGenerator, count: int) -> tuple[str, ...]:
    """So many places; raises UserError where the writer names fewer in three rounds."""
    places: dict[str, None] = {}
    for turn in range(ROUNDS):
        # places that it wrote twice are still missing
        question = SCENES.format(count=count - len(places))
        if places:
            question += f" Not again: {', '.join(places)}."
        # spaces: a question that was asked before would be answered from the memory of texts
        question += " " * turn
        replies = writer.generate([question])
        places |= dict.fromkeys(parse_list(replies[0]))
        if len(places) >= count:
            return tuple(places)[:count]
    raise UserError(
        "covar: the text generator wrote too few backgrounds",
        expected=f"{count} different ones",
        got=f"{len(places)}: {', '.join(places)}",
        remedy="Take a larger model, or write the list yourself",
    )


def _kind(reply: str) -> str:
    # a model may think aloud before its answer
    words = strip_thinking(reply).strip().splitlines()
    name = clean_name(words[0]) if words else ""
    # a reply without a word is a kind too, so its class has a turn
    return name or "other"
