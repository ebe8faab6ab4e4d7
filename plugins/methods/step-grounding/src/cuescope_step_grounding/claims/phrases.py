"""Noun phrases: what a sentence names."""

from collections.abc import Iterator

from cuescope_step_grounding.claims.lexicon import (
    AGENT,
    ANIMALS,
    ANYONE,
    NO_ADJECTIVES,
    PARTS,
    PEOPLE,
    PLURAL_ONLY,
    UNSEEN,
)
from cuescope_step_grounding.claims.verbs import listed
from cuescope_step_grounding.claims.words import Tree, Word

_SHADES = frozenset({"light", "dark", "bright", "pale", "deep"})
PRONOUNS = listed("he him she her it they them himself herself itself one ones")


def singular(noun: Word) -> str:
    """A noun in the singular; what has none stays as it is."""
    if noun.text in PLURAL_ONLY or noun.tag not in {"NNS", "NNPS"}:
        return noun.text
    return "person" if noun.text == "people" else noun.lemma


def phrase(tree: Tree, noun: Word) -> str:
    """A noun with its adjectives and the nouns before it: "red chair", "kitchen counter"."""
    return " ".join([*before(tree, noun), singular(noun)])


def before(tree: Tree, noun: Word) -> Iterator[str]:
    for kid in tree.kids(noun, "amod", "compound", "nmod", "advmod"):
        if kid.index > noun.index or kid.text in NO_ADJECTIVES or not kid.text[0].isalpha():
            continue
        if kid.dep == "advmod" and kid.text not in _SHADES:
            continue
        yield from before(tree, kid)
        yield kid.text
        yield from (other.text for other in tree.kids(kid, "conj") if other.index < noun.index)


def heads(tree: Tree, noun: Word) -> list[Word]:
    """The nouns that a phrase stands for: each of "a cup and a plate", the chairs of "a row of
    chairs", no one for "no chair"."""
    found = [noun]
    if noun.lemma in PARTS:
        of = [kid for prep in tree.kids(noun, "prep") if prep.text == "of"
              for kid in tree.kids(prep, "pobj")]  # fmt: skip
        found = [head for kid in of for head in heads(tree, kid)] or found
    return found + [head for kid in tree.kids(noun, "conj") if kid.is_noun or kid.text in PRONOUNS
                    for head in heads(tree, kid)]  # fmt: skip


def is_person(phrase: str) -> bool:
    """Whether a phrase names a person."""
    return phrase.rpartition(" ")[2] in PEOPLE


def acts(phrase: str) -> bool:
    """Whether a phrase names one who acts: a person, an animal, the agent."""
    return phrase == AGENT or is_person(phrase) or phrase.rpartition(" ")[2] in ANIMALS


def is_named(tree: Tree, noun: Word) -> bool:
    """Whether a word can name something that is seen."""
    unseen = noun.lemma in UNSEEN or noun.text in UNSEEN
    if noun.lemma == "frame":  # of a picture, not of the video
        unseen = all(kid.lemma in UNSEEN for kid in tree.kids(noun, "compound"))
    return (noun.is_noun and not unseen) or noun.text in ANYONE or noun.text == "steps"


def called(tree: Tree, noun: Word) -> str:
    """What a noun names: its phrase, or a person for "someone"."""
    return "person" if noun.text in ANYONE else phrase(tree, noun)


def clause_of(tree: Tree, word: Word) -> Word:
    """The verb that a word hangs on, or the root."""
    found = word
    for found in tree.above(word):
        if found.is_verb and found is not word:
            break
    return found
