"""Noun phrases: what a sentence names, by which words, and what its pronouns mean."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.english.tokens import (
    SUBJECTS,
    Doc,
    Token,
    clause_of,
    first_of_list,
    is_noun,
    kids,
    texts,
)
from cuescope_step_grounding.claims.english.words import AGENT, WORDS

_PART_OF_NAME = ("amod", "compound", "nmod")
_REFLEXIVE = ("self", "selves")
_MAIN = (*SUBJECTS, "attr", "ROOT", "dobj")


def modifiers(noun: Token) -> Iterator[str]:
    """The adjectives and nouns before a noun, in order."""
    for kid in noun.lefts:
        named = kid.dep_ in _PART_OF_NAME and kid.lower_ not in WORDS.no_adjectives
        if named and kid.text[0].isalpha():
            # "dark green bottle": "dark" hangs on "green"
            yield from modifiers(kid)
            yield kid.lower_


def heads(noun: Token) -> list[Token]:
    """The nouns that a phrase stands for: each of "a cup and a plate", the chairs of "a row of
    chairs"."""
    inner = [kid for kid in kids(noun, "prep") if kid.lower_ == "of"]
    of = [kid for prep in inner for kid in kids(prep, "pobj")]
    nouns = of if of and noun.lemma_.lower() in WORDS.parts else [noun]
    for kid in kids(noun, "conj", "appos"):
        if is_noun(kid) or kid.lower_ in WORDS.pronouns:
            nouns = [*nouns, *heads(kid)]
    return nouns


def is_person(phrase: str) -> bool:
    return head_noun(phrase) in WORDS.people or phrase == AGENT


def is_actor(phrase: str) -> bool:
    """True if a phrase names one who acts: a person, an animal, the agent."""
    return is_person(phrase) or head_noun(phrase) in WORDS.animals


def is_agent(noun: Token) -> bool:
    """True if a word means who holds the camera: "I", "the robot", not "the humanoid robot"."""
    return noun.lower_ in WORDS.agents and not kids(noun, *_PART_OF_NAME)


def is_nameable(noun: Token) -> bool:
    """True if a word can name something that is seen."""
    if noun.lower_ in WORDS.anyone:
        return True
    # "from red to green", "stands in line"
    bare = noun.lower_ in WORDS.bare and not kids(noun, "det", *_PART_OF_NAME)
    return is_noun(noun) and not (bare or {noun.lemma_, noun.lower_} & WORDS.unseen)


def name_of(noun: Token) -> str:
    """A noun in the singular with its adjectives and the nouns before it: "red chair", "kitchen
    counter"; a person for "someone"."""
    if noun.lower_ in WORDS.anyone:
        return "person"
    plural = noun.tag_ == "NNS" and noun.lower_ not in WORDS.plural_only
    return " ".join([*modifiers(noun), noun.lemma_.lower() if plural else noun.lower_])


@dataclass(frozen=True)
class Mention:
    """A phrase that was used: in which clause, and whether as its subject or object (`main`);
    `group` are the phrases named with it."""

    phrase: str
    place: tuple[int, int]  # sentence and word
    clause: tuple[int, int]  # sentence and verb
    main: bool
    plural: bool
    group: tuple[str, ...]


@dataclass
class Story:
    """What a trace has named so far, for its pronouns."""

    mentions: list[Mention] = field(default_factory=list)
    sentence: int = 0

    def read(self, words: Doc) -> None:
        """Takes note of what a sentence names."""
        self.sentence += 1
        for word in words:
            # "no cup" leaves nothing that "it" could mean
            named = is_nameable(word) and "no" not in texts(word, "det")
            if named and word.dep_ not in _PART_OF_NAME and not is_agent(word):
                self.mentions.append(self._mention(word))

    def _before(self, word: Token) -> list[Mention]:
        return [m for m in self.mentions if m.place < (self.sentence, word.i)]

    def _mention(self, word: Token) -> Mention:
        first = first_of_list(word)
        return Mention(
            phrase=name_of(word),
            place=(self.sentence, word.i),
            clause=(self.sentence, clause_of(word).i),
            main=first.dep_ in _MAIN,
            plural=word.tag_ in {"NNS", "NNPS"} or bool(kids(word, "nummod")),
            group=tuple(name_of(noun) for noun in heads(first) if is_nameable(noun)),
        )

    def referents(self, noun: Token) -> list[str]:
        """What a noun or pronoun means; [] where it means nothing that is seen."""
        if is_agent(noun):
            return [AGENT]
        # "the left one" is a thing
        if noun.lower_ in {"one", "ones"}:
            things = [m for m in self._before(noun) if not is_person(m.phrase)]
            return [
                " ".join([*modifiers(noun), head_noun(thing.phrase)])
                for thing in things[-1:]
            ]
        if noun.lower_ in WORDS.pronouns:
            return self.resolve(noun)
        return [name_of(noun)] if is_nameable(noun) else []

    def actor(self) -> str:
        """Who is meant where nobody is named: "Opens the fridge"."""
        people = [m.phrase for m in self.mentions if m.main and is_person(m.phrase)]
        return people[-1] if people else "person"

    def resolve(self, pronoun: Token) -> list[str]:
        """What a pronoun means: the nearest fitting phrase before it, of another clause.

        A plain pronoun is free within its own clause (Chomsky's principle B). A person who was
        never named is "person".
        """
        text = pronoun.lower_
        verb = clause_of(pronoun)
        if text.endswith(_REFLEXIVE):
            subjects = kids(verb, "nsubj") or kids(verb.head, "nsubj")
            plain = [word for word in subjects if not word.lower_.endswith(_REFLEXIVE)]
            return [name for word in plain for name in self.referents(word)]
        clause = (self.sentence, verb.i)
        others = {m.phrase for m in self.mentions if m.clause == clause and m.main}
        free = [m for m in self._before(pronoun) if m.phrase not in others]
        acts = pronoun.dep_ in SUBJECTS
        if text in WORDS.plural_pronouns:
            return _several(free, acts)
        person = text != "it"
        free = [m for m in free if is_person(m.phrase) == person]
        if text == "it":
            free = [m for m in free if not m.plural] or free
        if acts and person and not free:  # "When he sits, the man ..."
            later = [m for m in self.mentions if m.main]
            free = [m for m in later if is_person(m.phrase) == person][-1:]
        if not free:
            return ["person"] * person
        # of the last sentence a subject or object wins over what stands in prepositions
        last = [m for m in free if m.clause[0] == free[-1].clause[0]]
        main = [m for m in last if m.main] or last
        same = [m for m in main if m.clause == main[-1].clause]
        return [same[0].phrase if acts and person else main[-1].phrase]


def _several(free: Sequence[Mention], acts: bool) -> list[str]:
    """Those named together, or the plural that was named last; who acts is a person."""
    people = [m for m in free if acts and is_person(m.phrase)]
    for mention in reversed(people or free):
        if len(mention.group) > 1 or mention.plural:
            return list(mention.group or [mention.phrase])
    return [m.phrase for m in (people or free)[-1:]] or ["person"] * acts
