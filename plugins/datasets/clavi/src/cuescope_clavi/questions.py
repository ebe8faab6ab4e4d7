"""The 19 questions of a segment, from the templates of CLAVI, appendix B.1 and B.3."""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

YES = "yes"
NO = "no"
CHOICES = (YES, NO)
# Words that join others, and say nothing of what is done to what.
_JOINING = frozenset(
    re.findall(
        r"\w+",
        "a an and at by down for from in into is it of off on onto or out over some somebody "
        "someone something somewhere that the their them then there things to under up with",
    )
)
Kind = Literal["E", "E-NC", "BE", "BA", "BA-NC"]
SUBSETS: dict[Kind, str] = {
    "E": "control",
    "E-NC": "control",
    "BE": "complement",
    "BA": "complement",
    "BA-NC": "control",
}
# The word of time at its place in a template, not where the name of an action holds it too.
_TIME = re.compile(
    r"(?<= at the )(beginning|end)(?=\?$)|(?<= happen )(before|after)(?= )"
)
WORDS = ("before", "after")
_SWAPPED = {
    "beginning": "end",
    "end": "beginning",
    "before": "after",
    "after": "before",
}


class Question(NamedTuple):
    """A question of the kind, answered in the original video as `original`."""

    kind: Kind
    text: str
    original: bool

    def answer(self, complement: bool) -> str:
        """Of the original or the complement video; only BE and BA are about the order."""
        flipped = complement and SUBSETS[self.kind] == "complement"
        return YES if self.original != flipped else NO


# What is asked about the original video, and about the complement.
QuestionPair = tuple[Sequence[Question], Sequence[Question]]


def segment_questions(first: str, second: str, negative: str) -> tuple[Question, ...]:
    """2 E, 1 E-NC, 4 BE, 4 BA and 8 BA-NC of actions in the order of the original video.

    `negative` is an action that never occurs. 6 are answered with yes and 13 with no.
    """
    order = (first, second)
    questions = [Question("E", existence(action), True) for action in order]
    questions.append(Question("E-NC", existence(negative), False))
    for action, time in product(order, ("beginning", "end")):
        questions.append(
            Question(
                "BE",
                f"Was the person {action} at the {time}?",
                (time == "beginning") == (action == first),
            )
        )
    for subject, other in (order, order[::-1]):
        for word in WORDS:
            in_order = (word == "before") == (subject == first)
            questions.append(Question("BA", relation(subject, word, other), in_order))
    for action in order:
        for subject, other in ((negative, action), (action, negative)):
            # what never occurs is neither before nor after
            questions += [
                Question("BA-NC", relation(subject, word, other), False)
                for word in WORDS
            ]
    return tuple(questions)


def relation(action: str, word: str, other: str) -> str:
    """Whether the one action happens before, or after, the other."""
    return f"Did {action} happen {word} {other}?"


def existence(action: str) -> str:
    """Whether the action occurs."""
    return f"Was someone {action}?"


def complement(question: str) -> str | None:
    """The question with its word of time turned round; None where it has none."""
    turned, count = _TIME.subn(lambda word: _SWAPPED[word[0]], question)
    return turned if count else None


def negative_controls(
    occurring: Sequence[str],
    parts: Mapping[str, frozenset[str]],
    never_asked: frozenset[str] = frozenset(),
) -> tuple[str, ...]:
    """The actions of `parts` that have no part, object or verb, in common with the occurring."""
    shared = frozenset[str]().union(*map(parts.__getitem__, occurring))
    excluded = never_asked.union(occurring)
    return tuple(
        name
        for name, of_name in parts.items()
        # what occurs excludes itself by name, even where it has no parts
        if name not in excluded and shared.isdisjoint(of_name)
    )


def word_parts(names: Sequence[str]) -> dict[str, frozenset[str]]:
    """The words of each action, where nobody says which are its object and its verb.

    Words that every name has, and those that only join others, tell no two actions apart.
    """
    words = {
        name: frozenset(re.findall(r"[a-z]+", name.lower())) - _JOINING
        for name in names
    }
    # of one action alone every word would be everywhere
    everywhere = (
        frozenset.intersection(*words.values()) if len(words) > 1 else frozenset()
    )
    return {name: of_name - everywhere for name, of_name in words.items()}


def draw_one(names: Sequence[str], rng: np.random.Generator) -> str | None:
    """One of them, each as likely; None where there is none."""
    return names[int(rng.integers(len(names)))] if names else None
