"""What the subjects and objects of a sentence mean: a name, or what a pronoun stands for."""

from dataclasses import dataclass
from functools import partial
from itertools import chain

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


def all_referents(view: View, words: list[Word]) -> list[str]:
    """What subjects or objects mean; [] where they mean nothing that is seen."""
    nouns = chain.from_iterable(map(heads, words))
    return list(chain.from_iterable(map(partial(referents_of, view), nouns)))


def referents_of(view: View, noun: Word) -> list[str]:
    """What a single noun or pronoun means."""
    if is_agent(noun):
        return [AGENT]
    # "the left one" is a thing, and "one" alone a pronoun
    if noun.text in {"one", "ones"} and noun.kids("det", "amod"):
        return noun_of_one(view, noun)
    # "each other" is shown to the parser as "himself", see `sentences.toml`
    if noun.text in WORDS.pronouns and noun.name != "each other":
        return view.story.resolve(noun)
    return [name_of(noun)] if is_nameable(noun) else []


def noun_of_one(view: View, pronoun: Word) -> list[str]:
    """ "the middle one": the adjectives of this, the noun of which several were named last."""
    here = (view.story.sentence, pronoun.index)
    earlier = []
    several = []
    for mention in view.story.mentions:
        before = (mention.sentence, mention.index) < here
        if before and not is_person(mention.phrase):
            earlier.append(mention)
            several += [mention] * mention.plural
    if not earlier:
        return []
    last = (several or earlier)[-1]
    return [" ".join([*modifiers(pronoun), head_noun(last.phrase)])]
