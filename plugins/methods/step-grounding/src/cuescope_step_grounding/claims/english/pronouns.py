"""What the pronouns of a trace mean: a story remembers what was named, and where."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.english.denial import first_of_list
from cuescope_step_grounding.claims.english.lexicon import WORDS
from cuescope_step_grounding.claims.english.names import (
    heads,
    is_actor,
    is_agent,
    is_nameable,
    is_person,
    name_of,
)
from cuescope_step_grounding.claims.english.roles import SUBJECTS
from cuescope_step_grounding.claims.english.tree import Word, Words

REMEMBERED = 40  # mentions that a pronoun may look back over
_MAN = {"he", "him"}
_WOMAN = {"she", "her"}
_REFLEXIVE = {"himself", "herself", "itself", "themselves"}


@dataclass(frozen=True)
class Mention:
    """A phrase that was used; `clause` is its verb's index, `main` whether it was what was done
    something to or did it; `group` the phrases named with it."""

    phrase: str
    sentence: int
    index: int
    clause: int
    main: bool
    plural: bool
    group: tuple[str, ...]


@dataclass
class Story:
    """What a trace has named so far, for its pronouns."""

    mentions: list[Mention] = field(default_factory=list)
    sentence: int = 0
    agent: bool = False  # whether the agent was named

    def read(self, words: Words) -> None:
        """Takes note of what a sentence names."""
        self.sentence += 1
        del self.mentions[:-REMEMBERED]
        for word in words:
            if is_agent(word):
                self.agent = True
            elif is_nameable(word) and word.dep not in {"compound", "amod", "nmod"}:
                determiners = word.kids("det")
                # "no chair" leaves nothing that "it" could mean
                if not determiners or determiners[0].text != "no":
                    self.mentions.append(self._mention(word))

    def _mention(self, word: Word) -> Mention:
        first = first_of_list(word)
        return Mention(
            phrase=name_of(word),
            sentence=self.sentence,
            index=word.index,
            clause=clause_of(word).index,
            main=first.dep in {"nsubj", "nsubjpass", "dobj", "attr", "ROOT"},
            plural=word.is_plural or bool(word.kids("nummod")),
            group=tuple(name_of(noun) for noun in heads(first) if is_nameable(noun)),
        )

    def resolve(self, pronoun: Word) -> list[str]:
        """What a pronoun means: the nearest fitting phrase before it, of another clause.

        One of its own clause cannot be meant; where none came before, one that follows in the
        sentence is ("When he sits, the man ..."). A person who was never named is "person".
        """
        text = pronoun.text
        verb = clause_of(pronoun)
        if text == "it" and _is_of_weather(verb):
            return []
        if text in _REFLEXIVE:
            return self._subject(pronoun)
        owner = _owner(pronoun)
        now = [m for m in self.mentions if m.sentence == self.sentence]
        earlier = self.mentions[: len(self.mentions) - len(now)]
        here = [m for m in now if m.index != owner]
        earlier += _free_mentions(pronoun, here, owner)
        subject = pronoun.dep in SUBJECTS
        if text in WORDS.plural_pronouns:
            return _plural(earlier, acts=subject)
        # "It drops the sponge" is said of something else than the sponge.
        others = set()
        for mention in here:
            if owner is None and mention.clause == verb.index and mention.main:
                others.add(mention.phrase)
        fits = [m for m in earlier if _fits(m, text) and m.phrase not in others]
        if text == "it":
            fits = [m for m in fits if not m.plural] or fits
        if not fits and subject:
            elsewhere = [m for m in here if m.clause != verb.index and _fits(m, text)]
            fits = [m for m in elsewhere if m.index > pronoun.index][:1]
        if not fits:
            return ["person"] if text in _MAN | _WOMAN else []
        return [_nearest(fits, pronoun)]

    def actor(self) -> str:
        """Who is meant where nobody is named: "Opens the fridge"."""
        for mention in reversed(self.mentions):
            if mention.main and is_actor(mention.phrase):
                return mention.phrase
        return "person"

    def _subject(self, pronoun: Word) -> list[str]:
        """ "looks at himself": whoever looks."""
        for subject in clause_of(pronoun).kids("nsubj"):
            if is_nameable(subject):
                return [name_of(subject)]
            # a reflexive one would ask for itself without end
            if subject.text not in _REFLEXIVE:
                return self.resolve(subject)
        return []


def clause_of(word: Word) -> Word:
    """The verb that a word hangs on, or the root."""
    while word.head is not word:
        word = word.head
        if word.is_verb:
            return word
    return word


def _is_of_weather(verb: Word) -> bool:
    """ "it rains", "it is dark outside"."""
    dark = verb.has(WORDS.weather_states, "acomp")
    outside = verb.has({"outside"}, "advmod", "prt")
    return dark or outside or verb.lemma in WORDS.weather


def _free_mentions(
    pronoun: Word,
    here: list[Mention],
    owner: int | None,
) -> list[Mention]:
    """The mentions before a pronoun in its own sentence that it may mean.

    Binding (Chomsky's principle B): a plain pronoun is free within its own clause, and the subject
    that it shares with another ("sees it, picks it up") cannot be meant either.
    """
    clause = clause_of(pronoun).index
    bound = set()
    if owner is None:
        bound.add(clause)
        if pronoun.dep == "dobj":
            bound |= _clauses_of_subject(pronoun)
    free = []
    for mention in here:
        subject = pronoun.sentence[mention.index].dep in SUBJECTS
        is_bound = mention.clause in bound and (mention.clause == clause or subject)
        if mention.index < pronoun.index and not is_bound:
            free.append(mention)
    return free


def _nearest(fits: list[Mention], pronoun: Word) -> str:
    """Of the nearest clause the subject or object wins over what stands in its prepositions."""
    nearest = fits[-1]
    told = [m for m in fits if m.sentence == nearest.sentence]
    main = list(filter(attrgetter("main"), told))
    # "marks the board with a pencil, and saws it"
    if main and pronoun.dep != "pobj" and not nearest.main:
        nearest = main[-1]
    last = [m for m in told if m.clause == nearest.clause]
    main = list(filter(attrgetter("main"), last))
    # The subject for a subject, the object for an object, else the last one in a main role.
    if pronoun.text in _MAN | _WOMAN and main and pronoun.dep.startswith("nsubj"):
        return main[0].phrase
    return (main or last)[-1].phrase


def _plural(earlier: Sequence[Mention], acts: bool) -> list[str]:
    """Those named together, or the plural that was named last; who acts is a person, where one was
    named ("they" may be one)."""
    people = [m for m in earlier if acts and is_person(m.phrase)]
    candidates = people or earlier
    for mention in reversed(candidates):
        if len(mention.group) > 1:
            return list(mention.group)
        if mention.plural:
            return [mention.phrase]
    if candidates:
        return [candidates[-1].phrase]
    return ["person"] if acts else []


def _clauses_of_subject(pronoun: Word) -> set[int]:
    """The clauses before a pronoun's own with the same subject: "sees the vase, picks it up"."""
    verb = clause_of(pronoun)
    clauses = set()
    while not verb.kids(*SUBJECTS) and verb.head is not verb:
        verb = verb.head
        clauses.add(verb.index)
    return clauses


def _fits(mention: Mention, pronoun: str) -> bool:
    head = head_noun(mention.phrase)
    if pronoun in _MAN:
        # "person" may be either: only words for the other sex are ruled out
        return is_person(head) and head not in WORDS.she
    if pronoun in _WOMAN:
        return is_person(head) and head not in WORDS.he
    return not is_person(head)


def _owner(pronoun: Word) -> int | None:
    """The noun that a pronoun's phrase describes ("a vase with flowers in it": the flowers), which
    it cannot mean; None where it stands in a clause of its own."""
    for word in pronoun.above():
        if word is not pronoun and (word.is_noun or word.is_verb):
            return word.index if word.is_noun else None
    return None
