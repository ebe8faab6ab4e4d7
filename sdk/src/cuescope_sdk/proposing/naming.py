"""A cue by name: cleaned of what surrounds it, in the singular, and apart from the class's own."""

import re
import unicodedata
from collections.abc import Iterable

import simplemma

MOST_WORDS, MOST_LETTERS = 4, 40
_MARKUP = re.compile(r"[*_`~\"“”„«»<>{}|\\#\[\]]")
_ASIDE = re.compile(r"\([^)]*\)?")
_REMARK = re.compile(r"[:;]|\s[-–—]+(?:\s|$)|[.!?](?:\s|$)|[。！？]")  # noqa: RUF001
_ARTICLES = re.compile(r"^(?:(?:an?|the|some|any|other|various|several|many)\s+)+")
_EDGES = " \t,.!?:;'’‘-–—/&+=•·、。"  # noqa: RUF001
_WORD = re.compile(r"[^\W_]+")
# a name has none of these; a sentence has
_SENTENCE = frozenset(
    """i i'm i've i'll me my we us our you your he she it it's they them their this that these
    those there there's here here's who what which is are was were be been has have had do does
    don't can can't cannot could may might will would should must not n't no yes ok okay sure sorry
    unable certainly please thanks none nothing n/a etc include includes including following often
    usually typically common commonly because however also such let note example""".split()
)
_PREPOSITIONS = frozenset(
    "in on at by near with without for from to of as under over behind beside between".split()
)
# what simplemma takes for verbs ("leaves") or for one of two ("trousers")
_IRREGULAR = {
    "leaves": "leaf", "shelves": "shelf", "halves": "half", "calves": "calf", "loaves": "loaf",
    "thieves": "thief", "hooves": "hoof",
}  # fmt: skip
_ALWAYS_PLURAL = frozenset(
    """glasses sunglasses eyeglasses goggles binoculars headphones earphones earbuds trousers pants
    shorts jeans leggings tights pajamas tongs pliers tweezers scissors clippers clothes groceries
    stairs crossroads woods fries blinds headquarters dice media data""".split()
)
_OTHER_PLURALS = ("men", "children", "mice", "geese", "feet", "teeth", "oxen", "cacti", "fungi")
_SMALL = frozenset("a an the of and or in on at to for with by from".split())


def named(text: str) -> str | None:
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
    head = next((i for i, word in enumerate(words) if word in _PREPOSITIONS and i), len(words)) - 1
    return " ".join([*words[:head], _singular(words[head]), *words[head + 1 :]])


def shared(name: str, others: Iterable[str]) -> str | None:
    """The first word of a name that is also one of `others`'s, in singular or plural."""
    theirs = {form for other in others for word in _words(other) for form in _forms(word)}
    return next((word for word in _words(name) if theirs & _forms(word)), None)


def _is_name(said: str) -> bool:
    words = said.split()
    return (
        0 < len(words) <= MOST_WORDS
        and len(said) <= MOST_LETTERS
        and any(letter.isalpha() for letter in said)
        and words[0] not in _PREPOSITIONS
        and _SENTENCE.isdisjoint(words)
    )


def _singular(word: str) -> str:
    if word in _ALWAYS_PLURAL or not word.endswith(("s", *_OTHER_PLURALS)):
        return word
    for plural, single in _IRREGULAR.items():
        if word.endswith(plural):
            return word.removesuffix(plural) + single
    found = simplemma.lemmatize(word, lang="en").lower()
    known = found != word or simplemma.is_known(word, lang="en")
    return found if known or word.endswith(("ss", "us", "is")) else word[:-1]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _SMALL]


def _forms(word: str) -> set[str]:
    """The word as it stands, and what it is a form of."""
    return {word, _singular(word), simplemma.lemmatize(word, lang="en").lower()}
