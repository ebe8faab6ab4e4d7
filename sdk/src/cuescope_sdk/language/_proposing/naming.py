"""A cue by name: cleaned of what surrounds it, in the singular, and apart from the class's own."""

import re
import unicodedata
from collections.abc import Iterable

from cuescope_sdk.language._proposing.words import (
    ALWAYS_PLURAL,
    IN_SENTENCES,
    IRREGULAR,
    LIGHT,
    PLURALS_WITHOUT_S,
    PREPOSITIONS,
)

MOST_WORDS, MOST_LETTERS = 4, 40
_MARKUP = re.compile(r"[*_`~\"“”„«»<>{}|\\#\[\]]")
_ASIDE = re.compile(r"\([^)]*\)?")
_REMARK = re.compile(r"[:;]|\s[-–—]+(?:\s|$)|[.!?](?:\s|$)|[。！？]")  # noqa: RUF001
_ARTICLES = re.compile(r"^(?:(?:an?|the|some|any|other|various|several|many)\s+)+")
_EDGES = " \t,.!?:;'’‘-–—/&+=•·、。"  # noqa: RUF001
_WORD = re.compile(r"[^\W_]+")


def clean_name(text: str) -> str | None:
    """The name in a piece of text, lower case; None where there is none, or a sentence.

    Markup, remarks after a dash, a colon or in parentheses, and articles are dropped.
    """
    said = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    said = "".join(" " if unicodedata.category(letter)[0] == "C" else letter for letter in said)
    said = _ASIDE.sub(" ", _MARKUP.sub(" ", said.replace("’", "'"))).strip(_EDGES)  # noqa: RUF001
    said = " ".join(_REMARK.split(said, maxsplit=1)[0].split()).strip(_EDGES)
    said = _ARTICLES.sub("", said).strip(_EDGES)
    return said if _is_name(said) else None


def singular(name: str) -> str:
    """A cleaned name with its head, the last word before a preposition, in the singular.

    Only plurals are changed, by simplemma's English dictionary: a "painting" is no verb here.
    """
    words = name.split()
    head = next((i for i, word in enumerate(words) if word in PREPOSITIONS and i), len(words)) - 1
    return " ".join([*words[:head], _singular(words[head]), *words[head + 1 :]])


def shared_word(name: str, others: Iterable[str]) -> str | None:
    """The first word of a name that is also one of `others`'s, in singular or plural."""
    theirs = {form for other in others for word in _words(other) for form in _forms(word)}
    return next((word for word in _words(name) if theirs & _forms(word)), None)


def _is_name(said: str) -> bool:
    words = said.split()
    return (
        0 < len(words) <= MOST_WORDS
        and len(said) <= MOST_LETTERS
        and any(letter.isalpha() for letter in said)
        and (len(said) > 1 or not said.isascii())
        and words[0] not in PREPOSITIONS
        and IN_SENTENCES.isdisjoint(words)
    )


def _singular(word: str) -> str:
    if word in ALWAYS_PLURAL or not word.endswith(("s", *PLURALS_WITHOUT_S)):
        return word
    for plural, single in IRREGULAR.items():
        if word.endswith(plural):
            return word.removesuffix(plural) + single
    import simplemma  # an extra: the word lists take a moment to read

    found = simplemma.lemmatize(word, lang="en").lower()
    known = found != word or simplemma.is_known(word, lang="en")
    return found if known or word.endswith(("ss", "us", "is")) else word[:-1]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in LIGHT]


def _forms(word: str) -> set[str]:
    """The word as it stands, and what it is a form of."""
    import simplemma

    return {word, _singular(word), simplemma.lemmatize(word, lang="en").lower()}
