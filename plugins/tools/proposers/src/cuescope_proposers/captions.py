"""Nouns of English captions, by what stands around them."""

import re
from functools import cache

import simplemma

from cuescope_sdk.language import clean_name, singular

# any mark ends a clause, but not within a word: t-shirt, child's
_CLAUSE = re.compile(r"[^\w\s'-]+")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_NO_NOUNS = """
a an the this that these those some any each every both all another other others its his her their
he she it they them him who which what where when while as if than then there here not no
and or but so of in on at by to for from with without into onto over under above below behind
beside besides between past among near next along across around through against inside outside upon
off up down out toward towards during before after away together amongst atop
is are was were be been being has have had do does did can could will would may might must
one two three four five six seven eight nine ten several many few much more most lots multiple
red green blue yellow orange white black brown grey gray pink purple silver golden colorful
colourful dark bright light colored coloured big small large little tiny huge tall short long wide
narrow high low old young new empty full open closed wooden metal plastic glass brick stone
clear clean dirty wet dry busy cute nice beautiful pretty lovely happy different various same own
very just only also still close ready able half front back top bottom side left right middle center
edge end part piece pair couple bunch group lot row line set number kind type view image picture
photo photograph shot scene background foreground area
sits sit stands stand lies lays rides ride holds hold looks look shows show walks walk runs run
plays play eats eat wears wear flies hangs takes take makes make gets get goes go seen made done
ridden taken worn shown held sat stood lay cut served filled topped covered lined displayed
"""
_ING_NOUNS = """
awning bedding building ceiling clothing dressing drawing dwelling earring evening flooring frosting
icing king lighting morning painting parking pudding railing ring roofing shopping siding
sling spring string swing thing topping wedding wing wiring
"""
_STOP = frozenset(_NO_NOUNS.split())
_NO_VERBS = frozenset(_ING_NOUNS.split())


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
