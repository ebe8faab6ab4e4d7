"""From raw proposals to cues: what is kept, and why each of the others is not."""

from collections.abc import Sequence
from dataclasses import dataclass

from cuescope.capabilities import TextGenerator
from cuescope_sdk.language._proposing.asking import FILTERS, Filter
from cuescope_sdk.language._proposing.naming import clean_name, shared_word, singular
from cuescope_sdk.language._yes_no import parse_yes_no


@dataclass(frozen=True)
class Rejection:
    """A proposal that is no cue, as it was named, and why."""

    name: str
    reason: str


def filter_proposals(
    raw: Sequence[str],
    label: str,
    generator: TextGenerator | None = None,
    *,
    synonyms: Sequence[str] = (),
    filters: Sequence[Filter] = FILTERS,
) -> tuple[list[str], list[Rejection]]:
    """The cues of a label among raw names, in order, and the rejected with their reasons.

    Names are cleaned, put in the singular, and kept once; those that share a word with the label
    or one of its `synonyms` are rejected (SpurLens, section 4). With a generator those that are
    left must also get the wanted answer to each of the `filters`; each question is asked only of
    what passed the one before. An answer that is neither yes nor no rejects.
    """
    kept, rejected = _distinct(raw)
    kept, sharing = _apart(kept, (label, *synonyms))
    rejected += sharing
    if generator is not None:
        for question in filters:
            kept, failing = _passing(kept, label, generator, question)
            rejected += failing
    return kept, rejected


def _distinct(raw: Sequence[str]) -> tuple[list[str], list[Rejection]]:
    """The names, cleaned and in the singular, each once."""
    kept, rejected = list[str](), list[Rejection]()
    for text in raw:
        name = clean_name(text)
        if name is None:
            rejected.append(Rejection(text, "is not a name"))
        elif (one := singular(name)) in kept:
            rejected.append(Rejection(text, f"is there already, as '{one}'"))
        else:
            kept.append(one)
    return kept, rejected


def _apart(names: Sequence[str], classes: Sequence[str]) -> tuple[list[str], list[Rejection]]:
    """The names that have no word in common with the class."""
    words = {name: shared_word(name, classes) for name in names}
    return [name for name, word in words.items() if word is None], [
        Rejection(name, f"has '{word}' in common with the class")
        for name, word in words.items()
        if word is not None
    ]


def _passing(
    names: Sequence[str], label: str, generator: TextGenerator, question: Filter
) -> tuple[list[str], list[Rejection]]:
    """The names with the wanted answer."""
    replies = generator.generate([question.asked(name, label) for name in names]) if names else []
    kept, rejected = list[str](), list[Rejection]()
    for name, reply in zip(names, replies, strict=True):
        answer = parse_yes_no(reply)
        if answer is question.wanted:
            kept.append(name)
        elif answer is None:
            unclear = f"no yes or no to whether it {question.told(label)}"
            rejected.append(Rejection(name, unclear))
        else:
            rejected.append(Rejection(name, question.told(label)))
    return kept, rejected
