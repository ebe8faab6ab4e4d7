"""English word lists: how steps name verbs, things, places, people, views, plans and motions."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files

from cuescope_sdk.language import IDEAS, MENTAL

LISTS = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))


def word_set(name: str) -> frozenset[str]:
    """A list of `words.toml`."""
    return frozenset(LISTS[name].split())


def by_word(table: str) -> dict[str, str]:
    """Each word of a table of `words.toml`, with the name of the list that it is in."""
    return {word: name for name, words in LISTS[table].items() for word in words.split()}


_IRREGULAR: Mapping[str, Sequence[str]] = {
    forms.split()[0]: forms.split()[1:] for forms in LISTS["irregular"].split(",")
}
_DOUBLED = word_set("doubled")


def _forms(lemma: str) -> Iterator[tuple[str, str]]:
    """Each form of a verb with its Penn tag."""
    yield lemma, "VB"
    ending = lemma.endswith(("s", "sh", "ch", "x", "z", "o"))
    soft = lemma.endswith("y") and lemma[-2] not in "aeiou"
    yield (f"{lemma[:-1]}ies" if soft else f"{lemma}es" if ending else f"{lemma}s"), "VBZ"
    if lemma in _IRREGULAR:
        yield from zip(_IRREGULAR[lemma], ("VBD", "VBN", "VBG"), strict=True)
        return
    stem = lemma + lemma[-1] if lemma in _DOUBLED else lemma
    mute = lemma.endswith("e") and not lemma.endswith("ee")
    yield (f"{lemma[:-1]}ied" if soft else f"{stem}d" if lemma[-1] == "e" else f"{stem}ed"), "VBD"
    yield (f"{lemma[:-1]}ing" if mute else f"{stem}ing"), "VBG"


# Form -> lemma and tag; a past form is also a participle.
VERBS: Mapping[str, tuple[str, str]] = {
    form: (lemma, tag)
    for lemma in (*sorted(_IRREGULAR), *sorted(word_set("regular") - _IRREGULAR.keys()))
    for form, tag in _forms(lemma)
}

# -------------------------------------------------------------------------------------- nouns

PEOPLE = word_set("people")
SHE = word_set("she")
HE = word_set("he")
ANYONE = word_set("anyone")
AGENTS = word_set("agents")
ANIMALS = word_set("animals")
AGENT = "agent"  # who holds the camera
# What is spoken about rather than seen.
UNSEEN = IDEAS | word_set("unseen")
# "a pair of scissors", "the top of the stairs": what counts is what follows "of".
PARTS = word_set("parts")
PLURAL_ONLY = word_set("plural_only")
NO_ADJECTIVES = word_set("no_adjectives")
CLOTHES = word_set("clothes")

# -------------------------------------------------------------------------------- prepositions

# Prepositions of one word with their relation; those of several words are in `sentences`.
RELATIONS = by_word("relations")
# Where a person is who does something to a thing; elsewhere the thing is meant.
ROOMS = word_set("rooms")
TOWARDS = frozenset({"onto", "into"})  # true only once the motion is over
# Verbs after which a thing is where the preposition says.
PLACING = word_set("placing")
MOVING = word_set("moving")
PASSED = frozenset({"between", "under", "above", "around", "behind", "across from"})
POSTURES = word_set("postures")
PARTICLES = word_set("particles")
DIRECTED = word_set("directed")
# Prepositions with the verbs that they are one with.
PHRASAL: Mapping[str, frozenset[str]] = {
    preposition: frozenset(verbs.split()) for preposition, verbs in LISTS["phrasal"].items()
}

# --------------------------------------------------------------------------------------- verbs

LINKING = word_set("linking")
SEEING = word_set("seeing")
SHOWN = word_set("shown")
BEGINNING = word_set("beginning")
PLANNING = MENTAL | word_set("planning")
WANTING = word_set("wanting")
HEDGES = word_set("hedges")
INFERRING = word_set("inferring")
ABOUT_QUESTION = word_set("about_question")
# "is closed": how a thing is, not what is done to it.
STATES = word_set("states")
NOWHERE = word_set("nowhere")  # says only where
SWITCHES = word_set("switches")  # "the light is off"

# -------------------------------------------------------------------------------- time and order

ORDER = word_set("order")
ORDERS = by_word("orders")

# ----------------------------------------------------------------------------------- ego-motion

TURNS = word_set("turns")
TAKES = word_set("takes")
STAYS = word_set("stays")
STOPS = word_set("stops")
WALKS = word_set("walks")
ARRIVES = word_set("arrives")

# Words by which a text is read as English; verbs that other languages have as words are none.
ENGLISH = word_set("common") | VERBS.keys() - word_set("foreign")
