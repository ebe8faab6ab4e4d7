"""What the subjects and objects of a sentence mean: a name, or what a pronoun stands for."""

from dataclasses import dataclass

from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.english.lexicon import AGENT, WORDS
from cuescope_step_grounding.claims.english.names import (
    heads as heads,
    is_actor as is_actor,
    is_agent as is_agent,
    is_nameable as is_nameable,
    is_person as is_person,
    modifiers,
    name_of as name_of,
)
from cuescope_step_grounding.claims.english.pronouns import Story as Story
from cuescope_step_grounding.claims.english.tree import Tree, Word


@dataclass(frozen=True, slots=True)
class View:
    """A sentence, and the story that it continues."""

    tree: Tree
    story: Story


def referents(view: View, word: Word) -> list[str]:
    """The phrases that a subject or object means; [] where it means nothing that is seen."""
    return [phrase for noun in heads(view.tree, word) for phrase in referents_of(view, noun)]


def referents_of(view: View, noun: Word) -> list[str]:
    """What a single noun or pronoun means."""
    tree = view.tree
    if is_agent(tree, noun):
        return [AGENT]
    if noun.text in {"one", "ones"} and tree.kids(noun, "det", "amod"):
        return noun_of_one(view, noun)
    if noun.text in WORDS["pronouns"] and noun.name != "each other":
        return view.story.resolve(tree, noun)
    return [name_of(tree, noun)] if is_nameable(tree, noun) else []


def noun_of_one(view: View, pronoun: Word) -> list[str]:
    """ "the middle one": the adjectives of this, the noun of which several were named last."""
    here = (view.story.sentence, pronoun.index)
    earlier = [
        mention
        for mention in view.story.mentions
        if (mention.sentence, mention.index) < here and not is_person(mention.phrase)
    ]
    for mention in ([m for m in earlier if m.plural] or earlier)[-1:]:
        return [" ".join([*modifiers(view.tree, pronoun), head_noun(mention.phrase)])]
    return []
