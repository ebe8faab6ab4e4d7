"""English word lists: how steps name verbs, things, places, people, views, plans and motions.

`verbs.toml` and `words.toml` have them, and say what each is for.
"""

from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from cuescope_sdk.language import CLAIM_WORDS
from cuescope_step_grounding.claims.resources import read_toml

LISTS: dict[str, Any] = {}
for _file in ("verbs.toml", "words.toml"):
    LISTS |= read_toml(f"claims/english/{_file}")


class _Words(SimpleNamespace):
    """Each list by its name: `WORDS.rooms`."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> frozenset[str]: ...


WORDS = _Words()
for _name, _words in LISTS.items():
    if isinstance(_words, str):
        setattr(WORDS, _name, frozenset(_words.split()))
WORDS.unseen |= CLAIM_WORDS["ideas"]
WORDS.planning |= CLAIM_WORDS["mental"]


def by_word(table: str) -> dict[str, str]:
    """Each word of a table of `words.toml`, with the name of the list that it is in."""
    names: dict[str, str] = {}
    for name, words in LISTS[table].items():
        names |= dict.fromkeys(words.split(), name)
    return names


_IRREGULAR: dict[str, list[str]] = {}
for _forms_of_one in LISTS["irregular"].split(","):
    _lemma, *_others = _forms_of_one.split()
    _IRREGULAR[_lemma] = _others


def _forms(lemma: str) -> Iterator[tuple[str, str]]:
    """Each form of a verb with its Penn tag."""
    yield lemma, "VB"
    soft = lemma.endswith("y") and lemma[-2] not in "aeiou"
    if soft:
        yield f"{lemma[:-1]}ies", "VBZ"
    else:
        # "o" too: "goes", "does"
        sibilant = lemma.endswith(("s", "sh", "ch", "x", "z", "o"))
        yield f"{lemma}es" if sibilant else f"{lemma}s", "VBZ"
    if lemma in _IRREGULAR:
        yield from zip(_IRREGULAR[lemma], ("VBD", "VBN", "VBG"), strict=True)
        return
    stem = lemma + lemma[-1] if _doubles(lemma) else lemma
    past = f"{stem}d" if lemma.endswith("e") else f"{stem}ed"
    yield f"{lemma[:-1]}ied" if soft else past, "VBD"
    # "closing" drops its "e", "agreeing" keeps both
    mute = lemma.endswith("e") and not lemma.endswith("ee")
    yield f"{lemma[:-1]}ing" if mute else f"{stem}ing", "VBG"


def _doubles(lemma: str) -> bool:
    """Whether the last consonant is doubled: always in short words, else in those listed."""
    short = len(lemma) < 5 and sum(map(lemma.count, "aeiou")) == 1
    closed = len(lemma) > 2 and lemma[-1] not in "aeiouwxy" and lemma[-2] in "aeiou"
    return lemma in WORDS.doubled or (short and closed)


# Form -> lemma and tag; a past form is also a participle.
VERBS: dict[str, tuple[str, str]] = {}
# sorted: of a form that two verbs share the last one stays, and sets differ by process
for _lemma in (*sorted(_IRREGULAR), *sorted(WORDS.regular - _IRREGULAR.keys())):
    for _form, _tag in _forms(_lemma):
        VERBS[_form] = (_lemma, _tag)


def verb_tag(word: str) -> str:
    """The tag of a word that can be a verb; "" of any other."""
    _, tag = VERBS.get(word, ("", ""))
    return tag


def infinitive(word: str) -> str:
    """The base form of a verb; of one that is in no list without its ending."""
    lemma, _ = VERBS.get(word, ("", ""))
    return lemma or word.removesuffix("ing").removesuffix("s")


NUMBERS = dict(zip(LISTS["numbers"].split(), count(), strict=False))
NUMBERS |= dict(zip(LISTS["tens"].split(), count(20, 10), strict=False))
NUMBERS["dozen"] = 12
AGENT = "agent"  # who holds the camera
RELATIONS = by_word("relations")
ORDERS = by_word("orders")
# The verbs that each particle may follow with an object after it: "turn on the light".
SEPARABLE: dict[str, frozenset[str]] = {}
for _particles, _verbs in LISTS["separable"].items():
    SEPARABLE |= dict.fromkeys(_particles.split(), frozenset(_verbs.split()))

# Words by which a text is read as English; verbs that other languages have as words are none.
ENGLISH = WORDS.common | VERBS.keys() - WORDS.foreign
