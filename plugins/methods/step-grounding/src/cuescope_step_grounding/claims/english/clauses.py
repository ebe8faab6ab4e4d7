"""Clauses: who does what to what, whatever the way it is said; and the camera's own motion."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cuescope_step_grounding.claims.english.nouns import (
    Story,
    heads,
    is_actor,
    is_nameable,
)
from cuescope_step_grounding.claims.english.tokens import (
    SUBJECTS,
    Token,
    clause_of,
    grandkids,
    is_noun,
    is_verb,
    kids,
)
from cuescope_step_grounding.claims.english.words import AGENT, LISTS, WORDS

_LINKS = {"xcomp", "advcl", "pcomp", "conj", "ccomp", "dep"}
_RELATIVE = {"WDT", "WP"}
_PARTS = LISTS["motion_parts"]
_MOTIONS = [
    (motion, re.compile(pattern.format(**_PARTS)))
    for motion, pattern in LISTS["motions"]
]
Marks = Mapping[str, set[int]]


@dataclass(frozen=True)
class Phrase:
    """What a word means, and whether it is denied: "no plate"."""

    name: str
    denied: bool = False


@dataclass(frozen=True)
class Clause:
    """A verb with the phrases of its subjects and objects (in the active voice)."""

    verb: Token
    subjects: tuple[Phrase, ...]
    objects: tuple[Phrase, ...]
    passive: bool
    negated: bool

    @property
    def acts(self) -> bool:
        """True if somebody is its subject."""
        return any(is_actor(phrase.name) for phrase in self.subjects)

    def denies(self, *phrases: Phrase) -> bool:
        """True if it denies something of these phrases."""
        return self.negated or any(phrase.denied for phrase in phrases)


def read_clause(story: Story, verb: Token, marks: Marks) -> Clause:
    passive = verb.i in marks["passive"]
    doers = subjects_of(verb)
    things = objects_of(verb)
    # "the cup is lifted by a man": what stands as the subject is what is lifted
    if passive:
        things = doers + things
        doers = grandkids(verb, "agent", "pobj")
    subjects = phrases(story, doers, marks)
    objects = phrases(story, things, marks)
    if not (passive or doers) and verb.lemma_ != "be":
        # "Turn left" is a command, and "Opens the fridge" is said of somebody
        if verb.tag_ == "VBZ" and verb.doc[0].tag_ == "VBZ":
            subjects = (Phrase(story.actor()),)
        elif verb.tag_ not in {"VBZ", "VBD"} and verb.dep_ in {"ROOT", *_LINKS}:
            subjects = (Phrase(AGENT),)
    return Clause(verb, subjects, objects, passive, verb.i in marks["denied"])


def phrases(story: Story, words: Iterable[Token], marks: Marks) -> tuple[Phrase, ...]:
    """What subjects or objects of a clause mean; () where they mean nothing that is seen."""
    nouns = [noun for word in words for noun in heads(word)]
    said = [
        Phrase(name, noun.i in marks["denied"])
        for noun in nouns
        for name in story.referents(noun)
    ]
    return tuple(dict.fromkeys(said))


def subjects_of(verb: Token) -> list[Token]:
    """The words that do it, or have it done to them: the verb's own subject, or the one that it
    shares with the clause or noun that it hangs on."""
    own = [kid for kid in kids(verb, *SUBJECTS) if kid.tag_ not in _RELATIVE]
    if own:
        return own
    head = verb.head
    if verb.dep_ in {"relcl", "acl"}:
        # "uses a hammer to drive a nail": who uses it drives
        return subjects_of(clause_of(head)) if verb.tag_ == "VB" else [head]
    if verb.dep_ in _LINKS and head is not verb:
        while not is_verb(head) and head.dep_ != "ROOT" and not is_noun(head):
            head = head.head
        if not is_verb(head):
            return [head] if verb.tag_ in {"VBG", "VBN"} else []
        # "I see a man walk": who is seen walks, not who sees
        seen = [kid for kid in kids(head, "dobj") if kid.i < verb.i]
        saw = head.lemma_ in WORDS.seeing and verb.tag_ in {"VBG", "VBN", "VB"}
        return seen if seen and saw else subjects_of(head)
    # inverted: "beside the bed is a lamp"
    inverted = verb.lemma_ == "be" and not kids(verb, "expl")
    return kids(verb, "attr") if inverted else []


def objects_of(verb: Token) -> list[Token]:
    """What it is done to; of a relative clause without an object of its own, the noun before it."""
    own = [kid for kid in kids(verb, "dobj") if kid.tag_ not in _RELATIVE]
    subjects = kids(verb, "nsubj")
    # "the cup that he holds", not "the man who walks"
    relative = verb.dep_ == "relcl" and subjects and subjects[0].tag_ not in _RELATIVE
    return own or [verb.head] * bool(relative)


def predicate(clause: Clause) -> tuple[str, Token | None]:
    """What is done ("pick up", "look at"), and the preposition that is part of it."""
    verb = clause.verb
    lemma = verb.lemma_.lower()
    # the first particle after a verb, before any preposition
    for kid in verb.rights:
        bare = kid.dep_ in {"prt", "advmod", "prep"} and not kids(kid)
        if kid.lower_ in WORDS.particles and (bare or kid.lower_ in {"left", "right"}):
            lemma += f" {kid.lower_}"
            break
        if kid.dep_ == "prep":
            break
    # "puts the cup on the table": with an object the preposition says where, not what is done
    if clause.objects or clause.passive:
        return lemma, None
    for prep in kids(verb, "prep"):
        words = " ".join([prep.lower_, *(kid.lower_ for kid in kids(prep, "prep"))])
        directed = verb.lemma_ in WORDS.moving and prep.lower_ in WORDS.directed
        phrasal = verb.lemma_ in LISTS["phrasal"].get(words, "").split()
        named = any(is_nameable(n) or n.tag_ == "PRP" for n in about(prep))
        along = directed or phrasal or words == "out of"
        if named and prep.i not in prep.doc.user_data and along:
            return f"{lemma} {words}", prep
    return lemma, None


def about(prep: Token) -> list[Token]:
    """The nouns that a preposition is about: of "out of the car" too."""
    return kids(prep, "pobj") + grandkids(prep, "prep", "pobj")


def camera_motion(verb: Token) -> str | None:
    """The motion of an agent's verb; None where it does something else."""
    after = verb.doc[verb.i + 1 :]
    words = " ".join([verb.lemma_.lower(), *(word.lower_ for word in after)])
    return next(
        (motion for motion, words_of in _MOTIONS if words_of.match(words)), None
    )
