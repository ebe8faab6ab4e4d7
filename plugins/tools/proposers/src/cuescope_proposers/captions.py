"""Nouns of English captions, by what stands around them."""

import re
import tomllib
from functools import cache
from importlib.resources import files

import simplemma

from cuescope_sdk.language import clean_name, singular

# any mark ends a clause, but not within a word: t-shirt, child's
_CLAUSE = re.compile(r"[^\w\s'-]+")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_LISTS = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
_STOP = frozenset(_LISTS["ends"].split())
_NO_VERBS = frozenset(_LISTS["nouns_in_ing"].split())


def nouns(caption: str) -> set[str]:
    """The last word of each noun phrase, and its last two, in the singular.

    A phrase ends where a preposition, a verb, an adjective of a short list or a mark stands, so
    that "A man riding a wave on his white surf board" gives man, wave, board and surf board.
    """
    phrases = set[str]()
    for clause in _CLAUSE.split(caption.lower()):
        phrase: list[str] = []
        # an article ends every clause, so that its last phrase ends too
        for word in [*_WORD.findall(clause), "a"]:
            if not _ends_phrase(word):
                phrase.append(word)
            elif phrase:
                phrases |= {phrase[-1], " ".join(phrase[-2:])}
                phrase = []
    return {singular(name) for text in phrases if (name := clean_name(text))}


@cache
def _ends_phrase(word: str) -> bool:
    """A word of the list, or a verb: riding and parked are; building and bed are not."""
    if word in _STOP or len(word) == 1:  # single letters are typos and the like
        return True
    if word.endswith("ing"):
        return word not in _NO_VERBS
    # "parked" is a form of "park"; "bed" and "shed" are words of their own
    return word.endswith("ed") and simplemma.lemmatize(word, lang="en") != word
