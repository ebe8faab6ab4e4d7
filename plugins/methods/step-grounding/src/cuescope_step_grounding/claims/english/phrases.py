"""What the subjects and objects of a sentence mean: a name, or what a pronoun stands for."""

from dataclasses import dataclass

from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.english.lexicon import AGENT, WORDS
from cuescope_step_grounding.claims.english.names import (
    heads,
    is_agent,
    is_nameable,
    is_person,
    modifiers,
    name_of,
)
from cuescope_step_grounding.claims.english.pronouns import Story
from cuescope_step_grounding.claims.english.tree import Word, Words


@dataclass(frozen=True)
class View:
    """A sentence, and the story that it continues."""

    words: Words
    story: Story


def referents(view: View, word: Word) -> list[str]:
    """The phrases that a subject or object means; [] where it means nothing that is seen."""
    return [phrase for noun in heads(word) for phrase in referents_of(view, noun)]


def all_referents(view: View, words: list[Word]) -> list[str]:
    """What several subjects or objects mean."""
    return [phrase for word in words for phrase in referents(view, word)]


def referents_of(view: View, noun: Word) -> list[str]:
    """What a single noun or pronoun means."""
    if is_agent(noun):
        return [AGENT]
    # "the left one" is a thing, and "one" alone a pronoun
    if noun.text in {"one", "ones"} and noun.kids("det", "amod"):
        return noun_of_one(view, noun)
    # "each other" is shown to the parser as "himself", see `sentences.toml`
    if noun.text in WORDS["pronouns"] and noun.name != "each other":
        return view.story.resolve(noun)
    return [name_of(noun)] if is_nameable(noun) else []


def noun_of_one(view: View, pronoun: Word) -> list[str]:
    """ "the middle one": the adjectives of this, the noun of which several were named last."""
    here = (view.story.sentence, pronoun.index)
    things = [
        mention for mention in view.story.mentions if not is_person(mention.phrase)
    ]
    earlier = [
        mention for mention in things if (mention.sentence, mention.index) < here
    ]
    if not earlier:
        return []
    several = [mention for mention in earlier if mention.plural]
    last = (several or earlier)[-1]
    return [" ".join([*modifiers(pronoun), head_noun(last.phrase)])]
