"""Noun phrases: what a sentence names, by which words, and what its pronouns mean."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.english.tokens import (
    SUBJECTS,
    Doc,
    Token,
    clause_of,
    first_of_list,
    has,
    is_corrected,
    is_noun,
    kids,
    nouns_of,
)
from cuescope_step_grounding.claims.english.words import AGENT, WORDS

_MAN = {"he", "him", "himself"}
_WOMAN = {"she", "her", "herself"}
_REFLEXIVE = {"himself", "herself", "itself", "themselves"}
_ROLES = dict.fromkeys(("nsubj", "nsubjpass", "attr", "ROOT"), "subject") | {
    "dobj": "object"
}
_PART_OF_NAME = ("amod", "compound", "nmod")


def modifiers(noun: Token) -> Iterator[str]:
    """The adjectives and nouns before a noun, in order."""
    for kid in noun.lefts:
        named = kid.dep_ in _PART_OF_NAME and kid.lower_ not in WORDS.no_adjectives
        # Adverbs are no part of a name, but parsers take the "light" of "light blue" for one.
        shade = kid.dep_ == "advmod" and kid.lower_ in WORDS.shades
        if (named or shade) and kid.text[0].isalpha():
            # "dark green bottle": "dark" hangs on "green"
            yield from modifiers(kid)
            yield kid.lower_
            yield from (other.lower_ for other in kids(kid, "conj") if other.i < noun.i)


def heads(noun: Token) -> list[Token]:
    """The nouns that a phrase stands for: each of "a cup and a plate", the chairs of "a row of
    chairs"."""
    nouns: list[Token] = []
    if noun.lemma_.lower() in WORDS.parts:
        nouns += chain.from_iterable(map(heads, nouns_of(noun, {"of"})))
    nouns = nouns or [noun]
    for kid in kids(noun, "conj", "appos"):
        joined = kid.dep_ == "conj" or is_corrected(kid)
        if joined and (is_noun(kid) or kid.lower_ in WORDS.pronouns):
            nouns += heads(kid)
    return nouns


def is_person(phrase: str) -> bool:
    return head_noun(phrase) in WORDS.people


def is_actor(phrase: str) -> bool:
    """True if a phrase names one who acts: a person, an animal, the agent."""
    return phrase == AGENT or is_person(phrase) or head_noun(phrase) in WORDS.animals


def is_agent(noun: Token) -> bool:
    """True if a word means who holds the camera: "I", "the robot", not "the humanoid robot"."""
    if noun.lower_ == "robot" and kids(noun, "amod", "compound"):
        return False
    return noun.lower_ in WORDS.agents


def is_nameable(noun: Token) -> bool:
    """True if a word can name something that is seen."""
    if noun.lower_ in WORDS.anyone:
        return True
    unseen = noun.lemma_ in WORDS.unseen or noun.lower_ in WORDS.unseen
    if noun.lower_ in {"foot", "feet"}:  # of a body, not "two feet away"
        unseen = bool(kids(noun, "nummod"))
    # "from red to green"; "stands in line" tells how, and names no line
    quality = noun.lower_ in WORDS.colours and not kids(noun, "det", "amod", "compound")
    manner = noun.lower_ in WORDS.manner and not kids(noun, "det", "prep", "nummod")
    return is_noun(noun) and not (unseen or quality or manner)


def name_of(noun: Token) -> str:
    """A noun in the singular with its adjectives and the nouns before it: "red chair", "kitchen
    counter"; a person for "someone"."""
    if noun.lower_ in WORDS.anyone:
        return "person"
    plural = noun.tag_ in {"NNS", "NNPS"} and noun.lower_ not in WORDS.plural_only
    return " ".join([*modifiers(noun), noun.lemma_.lower() if plural else noun.lower_])


@dataclass(frozen=True)
class Mention:
    """A phrase that was used: in which clause, there as its subject, its object or neither (""),
    and the phrases named with it (`group`)."""

    phrase: str
    place: tuple[int, int]  # sentence and word
    clause: int
    role: str
    plural: bool
    group: tuple[str, ...]


@dataclass
class Story:
    """What a trace has named so far, for its pronouns."""

    mentions: list[Mention] = field(default_factory=list)
    sentence: int = 0
    agent: bool = False  # True once the agent was named

    def read(self, words: Doc) -> None:
        """Takes note of what a sentence names."""
        self.sentence += 1
        self.agent = self.agent or any(map(is_agent, words))
        for word in words:
            denied = has(word, {"no"}, "det")  # leaves nothing that "it" could mean
            named = is_nameable(word) and not is_agent(word) and not denied
            if named and word.dep_ not in _PART_OF_NAME:
                self.mentions.append(self._mention(word))

    def _mention(self, word: Token) -> Mention:
        first = first_of_list(word)
        return Mention(
            phrase=name_of(word),
            place=(self.sentence, word.i),
            clause=clause_of(word).i,
            role=_ROLES.get(first.dep_, ""),
            plural=word.tag_ in {"NNS", "NNPS"} or bool(kids(word, "nummod")),
            group=tuple(name_of(noun) for noun in heads(first) if is_nameable(noun)),
        )

    def referents(self, noun: Token) -> list[str]:
        """What a noun or pronoun means; [] where it means nothing that is seen."""
        if is_agent(noun):
            return [AGENT]
        # "the left one" is a thing, and "one" alone a pronoun
        if noun.lower_ in {"one", "ones"} and kids(noun, "det", "amod"):
            things = [m for m in self._before(noun) if not is_person(m.phrase)]
            several = [mention for mention in things if mention.plural] or things
            return [
                " ".join([*modifiers(noun), head_noun(mention.phrase)])
                for mention in several[-1:]
            ]
        if noun.lower_ in WORDS.pronouns:
            return self.resolve(noun)
        return [name_of(noun)] if is_nameable(noun) else []

    def resolve(self, pronoun: Token) -> list[str]:
        """What a pronoun means: the nearest fitting phrase before it, of another clause.

        A plain pronoun is free within its own clause (Chomsky's principle B). A person who was
        never named is "person".
        """
        text = pronoun.lower_
        verb = clause_of(pronoun)
        if text in _REFLEXIVE:
            subjects = kids(verb, "nsubj") or kids(verb.head, "nsubj")
            subjects = [word for word in subjects if word.lower_ not in _REFLEXIVE]
            return list(chain.from_iterable(map(self.referents, subjects)))
        # "It drops the sponge" is said of something else than the sponge
        others = self._main_phrases(verb)
        # the subject that it shares with another ("sees it, picks it up") is not meant either
        while (
            pronoun.dep_ == "dobj" and not kids(verb, *SUBJECTS) and verb.dep_ == "conj"
        ):
            verb = verb.head
            others += self._main_phrases(verb, "subject")
        before = self._before(pronoun)
        free = [m for m in before if _fits(m, text) and m.phrase not in others]
        if text in WORDS.plural_pronouns:
            return _several(free, acts=pronoun.dep_ in SUBJECTS)
        if text == "it":
            free = [mention for mention in free if not mention.plural] or free
        elif not free and pronoun.dep_ in SUBJECTS:
            # "When he sits, the man ..."
            free = [m for m in self.mentions if _fits(m, text) and m.role][-1:]
        if not free:
            return ["person"] if text in _MAN | _WOMAN else []
        return [_nearest(free, pronoun).phrase]

    def _main_phrases(self, verb: Token, *roles: str) -> list[str]:
        """The subjects and objects of a clause of this sentence."""
        said = [
            m
            for m in self.mentions
            if (m.place[0], m.clause) == (self.sentence, verb.i)
        ]
        return [m.phrase for m in said if m.role in (roles or ("subject", "object"))]

    def _before(self, word: Token) -> list[Mention]:
        return [m for m in self.mentions if m.place < (self.sentence, word.i)]

    def actor(self) -> str:
        """Who is meant where nobody is named: "Opens the fridge"."""
        for mention in reversed(self.mentions):
            if mention.role and is_actor(mention.phrase):
                return mention.phrase
        return "person"


def _nearest(fits: list[Mention], pronoun: Token) -> Mention:
    """Of the last sentence a subject or object wins over what stands in prepositions: the first
    one for a subject."""
    last = [m for m in fits if m.place[0] == fits[-1].place[0]]
    main = [m for m in last if m.role]
    same = [m for m in main if main and m.clause == main[-1].clause]
    if pronoun.dep_ in SUBJECTS and pronoun.lower_ != "it" and same:
        return same[0]
    return (main or last)[-1]


def _several(fits: Sequence[Mention], acts: bool) -> list[str]:
    """Those named together, or the plural that was named last; who acts is a person."""
    people = [m for m in fits if acts and is_person(m.phrase)]
    for mention in reversed(people or fits):
        if len(mention.group) > 1 or mention.plural:
            return list(mention.group or [mention.phrase])
    if people or fits:
        return [(people or fits)[-1].phrase]
    return ["person"] if acts else []


def _fits(mention: Mention, pronoun: str) -> bool:
    head = head_noun(mention.phrase)
    if pronoun in WORDS.plural_pronouns:
        return True
    if pronoun in _MAN:
        # "person" may be either: only words for the other sex are ruled out
        return is_person(head) and head not in WORDS.she
    if pronoun in _WOMAN:
        return is_person(head) and head not in WORDS.he
    return not is_person(head)
