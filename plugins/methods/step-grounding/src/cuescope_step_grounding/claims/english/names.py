"""Noun phrases: what a sentence names, and by which words."""

from collections.abc import Iterator

from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.english.lexicon import AGENT, WORDS
from cuescope_step_grounding.claims.english.tree import Word


def modifiers(noun: Word) -> Iterator[str]:
    """The adjectives and nouns before a noun, in order."""
    for kid in noun.kids("amod", "compound", "nmod", "advmod"):
        no_adjective = kid.text in WORDS.no_adjectives or not kid.text[0].isalpha()
        # Adverbs are no part of a name, but parsers take the "light" of "light blue" for one.
        adverb = kid.dep == "advmod" and kid.text not in WORDS.shades
        if kid.index > noun.index or no_adjective or adverb:
            continue
        # "dark green bottle": "dark" hangs on "green"
        yield from modifiers(kid)
        yield kid.text
        for other in kid.kids("conj"):
            if other.index < noun.index:
                yield other.text


def heads(noun: Word) -> list[Word]:
    """The nouns that a phrase stands for: each of "a cup and a plate", the chairs of "a row of
    chairs", no one for "no chair"."""
    nouns: list[Word] = []
    if noun.lemma in WORDS.parts:
        for whole in noun.nouns_of({"of"}):
            nouns += heads(whole)
    nouns = nouns or [noun]
    for kid in noun.kids("conj"):
        if kid.is_noun or kid.text in WORDS.pronouns:
            nouns += heads(kid)
    return nouns


def is_person(phrase: str) -> bool:
    return head_noun(phrase) in WORDS.people


def is_actor(phrase: str) -> bool:
    """Whether a phrase names one who acts: a person, an animal, the agent."""
    return phrase == AGENT or is_person(phrase) or head_noun(phrase) in WORDS.animals


def is_agent(noun: Word) -> bool:
    """Whether a word means who holds the camera: "I", "the robot", but not "the humanoid robot"."""
    # a robot that is described is seen: it does not hold the camera
    if noun.lemma == "robot" and noun.kids("amod", "compound"):
        return False
    return noun.lemma in WORDS.agents or noun.text in WORDS.agents


def is_nameable(noun: Word) -> bool:
    """Whether a word can name something that is seen."""
    unseen = noun.lemma in WORDS.unseen or noun.text in WORDS.unseen
    if noun.lemma in {"frame", "clip"}:  # of a picture, not of the video
        unseen = not noun.has(WORDS.framed, "compound", "amod")
    if noun.text in {"foot", "feet"}:  # of a body, not "two feet away"
        unseen = bool(noun.kids("nummod")) and not noun.kids("poss")
    if noun.lemma == "case":  # to carry things in, not "in this case", "in the case of"
        said = noun.texts("det", "amod", "compound", "poss", "nummod")
        unseen = not said or bool(said & WORDS.pointing) or noun.has({"of"}, "prep")
    if noun.text in WORDS.colours:
        said = noun.texts("det", "amod", "compound")
        if said <= WORDS.shades:
            return False  # "from red to green"
    # "stands in line" tells how, and names no line
    if noun.text in WORDS.manner and not noun.kids("det", "prep", "nummod"):
        return False
    if noun.is_noun and (noun.text == "steps" or not unseen):
        return True
    return noun.text in WORDS.anyone


def name_of(noun: Word) -> str:
    """A noun in the singular with its adjectives and the nouns before it: "red chair", "kitchen
    counter"; a person for "someone"."""
    if noun.text in WORDS.anyone:
        return "person"
    name = noun.text
    if noun.text == "glasses":
        name = "glass" if _is_to_drink_from(noun) else "glasses"
    elif noun.is_plural and noun.text not in WORDS.plural_only:
        name = noun.lemma
    return " ".join([*modifiers(noun), name])


def _is_to_drink_from(glasses: Word) -> bool:
    """ "three glasses", "glasses of wine"."""
    counted = glasses.kids("nummod") and not glasses.has({"of"})
    filled = glasses.has({"of"}, "prep")
    return bool(counted) or filled or glasses.has(WORDS.drinks, "compound", "amod")
