"""From names that were proposed to cues of a class, each rejection with its reason."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from cuescope_sdk import TextGenerator
from cuescope_sdk.language import clean_name, parse_yes_no, singular

_SETTINGS = tomllib.loads(
    files(__package__).joinpath("questions.toml").read_text("utf-8")
)
LIGHT = frozenset(_SETTINGS["light"].split())
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Filter:
    """A yes/no question about a {cue} and a {label}; any other answer than `wanted` rejects.

    `reason` says of a rejected cue what is wrong with it.
    """

    question: str
    wanted: bool
    reason: str

    def prompt(self, cue: str, label: str) -> str:
        """The prompt."""
        return f"{self.question.format(cue=cue, label=label)} {_SETTINGS['form_of_answer']}"

    def objection(self, reply: str, label: str) -> str | None:
        """What a reply says against the cue."""
        answer = parse_yes_no(reply)
        reason = self.reason.format(label=label)
        if answer is None:  # not taken for a no: half of the filters want one
            return f"no yes or no to whether it {reason}"
        return None if answer is self.wanted else reason


SPURIOUS = tuple(Filter(**row) for row in _SETTINGS["spurious"])
DETECTABLE = tuple(Filter(**row) for row in _SETTINGS["detectable"])
FILTERS = (*SPURIOUS, *DETECTABLE)


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
    names = list[str]()
    rejected = list[Rejection]()

    def sift(names: Sequence[str], objections: Iterable[str | None]) -> list[str]:
        """The names without an objection; the others are rejected."""
        kept = []
        for name, objection in zip(names, objections, strict=True):
            if objection is None:
                kept.append(name)
            else:
                rejected.append(Rejection(name, objection))
        return kept

    for text in raw:
        cleaned = clean_name(text)
        name = cleaned and singular(cleaned)
        if name is None:
            rejected.append(Rejection(text, "is not a name"))
        elif name in names:
            rejected.append(Rejection(text, f"is there already, as '{name}'"))
        else:
            names.append(name)
    # before the generator: words are free, questions are not
    shared = [shared_word(name, (label, *synonyms)) for name in names]
    names = sift(
        names, [word and f"has '{word}' in common with the class" for word in shared]
    )
    if generator is None:
        return names, rejected
    for question in filters:
        if names:
            replies = generator.generate(
                [question.prompt(name, label) for name in names]
            )
            names = sift(names, [question.objection(reply, label) for reply in replies])
    return names, rejected


def shared_word(name: str, others: Iterable[str]) -> str | None:
    """The first word of a name that is also one of `others`'s, in singular or plural."""
    theirs: set[str] = set()
    for other in _words(" ".join(others)):
        theirs |= _forms(other)
    return next((word for word in _words(name) if theirs & _forms(word)), None)


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in LIGHT]


def _forms(word: str) -> set[str]:
    """The word as it stands, and what it is a form of."""
    import simplemma

    # the paper lemmatises before it looks for words in common
    return {word, singular(word), simplemma.lemmatize(word, lang="en").lower()}
