"""Noun phrases: what a sentence names, and by which words."""

from collections.abc import Iterator

from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.english.lexicon import AGENT, WORDS
from cuescope_step_grounding.claims.english.tree import Tree, Word


def modifiers(tree: Tree, noun: Word) -> Iterator[str]:
    """The adjectives and nouns before a noun, in order."""
    for kid in tree.kids(noun, "amod", "compound", "nmod", "advmod"):
        if (
            kid.index > noun.index
            or kid.text in WORDS["no_adjectives"]
            or not kid.text[0].isalpha()
        ):
            continue
        # Adverbs are no part of a name, but parsers take the "light" of "light blue" for one.
        if kid.dep == "advmod" and kid.text not in WORDS["shades"]:
            continue
        yield from modifiers(tree, kid)
        yield kid.text
        yield from (other.text for other in tree.kids(kid, "conj") if other.index < noun.index)


def heads(tree: Tree, noun: Word) -> list[Word]:
    """The nouns that a phrase stands for: each of "a cup and a plate", the chairs of "a row of
    chairs", no one for "no chair"."""
    nouns = [noun]
    if noun.lemma in WORDS["parts"]:
        prepositions = [prep for prep in tree.kids(noun, "prep") if prep.text == "of"]
        wholes = [kid for prep in prepositions for kid in tree.kids(prep, "pobj")]
        nouns = [inner for whole in wholes for inner in heads(tree, whole)] or nouns
    joined = [
        kid for kid in tree.kids(noun, "conj") if kid.is_noun or kid.text in WORDS["pronouns"]
    ]
    return nouns + [inner for kid in joined for inner in heads(tree, kid)]


def is_person(phrase: str) -> bool:
    return head_noun(phrase) in WORDS["people"]


def is_actor(phrase: str) -> bool:
    """Whether a phrase names one who acts: a person, an animal, the agent."""
    return phrase == AGENT or head_noun(phrase) in WORDS["people"] | WORDS["animals"]


def is_agent(tree: Tree, noun: Word) -> bool:
    """Whether a word means who holds the camera: "I", "the robot", but not "the humanoid robot"."""
    if noun.lemma == "robot" and tree.kids(noun, "amod", "compound"):
        return False
    return noun.lemma in WORDS["agents"] or noun.text in WORDS["agents"]


def is_nameable(tree: Tree, noun: Word) -> bool:
    """Whether a word can name something that is seen."""
    unseen = noun.lemma in WORDS["unseen"] or noun.text in WORDS["unseen"]
    if noun.lemma in {"frame", "clip"}:  # of a picture, not of the video
        kinds = tree.kids(noun, "compound", "amod")
        unseen = not any(kid.text in WORDS["framed"] for kid in kinds)
    if noun.text in {"foot", "feet"}:  # of a body, not "two feet away"
        unseen = bool(tree.kids(noun, "nummod")) and not tree.kids(noun, "poss")
    if noun.lemma == "case":  # to carry things in, not "in this case", "in the case of"
        said = tree.kids(noun, "det", "amod", "compound", "poss", "nummod")
        idea = any(kid.text in {"this", "that", "any", "either", "each", "which"} for kid in said)
        unseen = idea or not said or any(kid.text == "of" for kid in tree.kids(noun, "prep"))
    if noun.text in WORDS["colours"] and all(
        kid.text in WORDS["shades"] for kid in tree.kids(noun, "det", "amod", "compound")
    ):
        return False  # "from red to green"
    if noun.text in WORDS["manner"] and not tree.kids(noun, "det", "prep", "nummod"):
        return False
    return (
        (noun.is_noun and not unseen)
        or noun.text in WORDS["anyone"]
        or (noun.text == "steps" and noun.is_noun)
    )


def name_of(tree: Tree, noun: Word) -> str:
    """A noun in the singular with its adjectives and the nouns before it: "red chair", "kitchen
    counter"; a person for "someone"."""
    if noun.text in WORDS["anyone"]:
        return "person"
    if noun.text == "glasses":
        return " ".join([*modifiers(tree, noun), _glass(tree, noun)])
    plural = noun.tag in {"NNS", "NNPS"} and noun.text not in WORDS["plural_only"]
    return " ".join([*modifiers(tree, noun), noun.lemma if plural else noun.text])


def _glass(tree: Tree, noun: Word) -> str:
    """Whether glasses are to drink from: "three glasses", "glasses of wine"."""
    counted = tree.kids(noun, "nummod") and not any(kid.text == "of" for kid in tree.kids(noun))
    filled = any(kid.text == "of" for kid in tree.kids(noun, "prep"))
    named = any(kid.text in WORDS["drinks"] for kid in tree.kids(noun, "compound", "amod"))
    return "glass" if counted or filled or named else "glasses"
