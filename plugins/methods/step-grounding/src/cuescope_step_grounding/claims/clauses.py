"""Clauses: who does what to what, whatever the way it is said."""

from collections.abc import Iterator
from dataclasses import dataclass

from cuescope_step_grounding.claims.lexicon import (
    AGENT,
    BEGINNING,
    DIRECTED,
    HEDGES,
    INFERRING,
    MOVING,
    PARTICLES,
    PHRASAL,
    PLANNING,
    SEEING,
    SPOKEN_OF,
    WANTING,
)
from cuescope_step_grounding.claims.motion import motion
from cuescope_step_grounding.claims.phrases import acts
from cuescope_step_grounding.claims.story import View, refers
from cuescope_step_grounding.claims.words import Tree, Word

_LINKS = {"xcomp", "advcl", "pcomp", "conj", "ccomp", "dep"}


@dataclass(frozen=True)
class Clause:
    """A verb with the phrases of its subjects and objects (in the active voice)."""

    verb: Word
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    passive: bool
    negated: bool


def clause(view: View, verb: Word) -> Clause:
    """The clause of a verb."""
    tree = view.tree
    passive = is_passive(tree, verb)
    subjects, denied = _named(view, subjects_of(tree, verb))
    objects, none = _named(view, objects_of(tree, verb))
    if passive:
        by = [kid for agent in tree.kids(verb, "agent") for kid in tree.kids(agent, "pobj")]
        objects = subjects + objects
        subjects, more = _named(view, by)
        denied = denied or more
    elif _commands(tree, verb, subjects) or _dangles(view, verb, subjects):
        subjects = (AGENT,)
    return Clause(verb, subjects, objects, passive, is_negated(tree, verb) or denied or none)


def subjects_of(tree: Tree, verb: Word) -> list[Word]:
    """The words that do it, or have it done to them: the verb's own subject, or the one that it
    shares with the clause or noun that it hangs on."""
    own = [kid for kid in tree.kids(verb, "nsubj", "nsubjpass") if kid.tag not in {"WDT", "WP"}]
    if own:
        return own
    head = tree.head(verb)
    if verb.dep in {"relcl", "acl"}:
        return [head] if head.is_noun or head.tag in {"NN", "PRP"} else []
    if verb.dep in _LINKS and head is not verb:
        while not head.is_verb and head.dep != "ROOT" and not head.is_noun:
            head = tree.head(head)
        if head.is_verb:
            seen = [kid for kid in tree.kids(head, "dobj") if kid.index < verb.index]
            return seen if seen and head.lemma in SEEING else subjects_of(tree, head)
        return [head] if head.is_noun and verb.tag in {"VBG", "VBN"} else []
    if verb.lemma == "be":  # "beside the bed is a lamp"
        return [kid for kid in tree.kids(verb, "attr") if not tree.kids(verb, "expl")]
    return []


def objects_of(tree: Tree, verb: Word) -> list[Word]:
    """What it is done to; of a relative clause without an object of its own, the noun before it."""
    own = [kid for kid in tree.kids(verb, "dobj") if kid.tag not in {"WDT", "WP"}]
    relative = any(kid.tag in {"WDT", "WP"} for kid in tree.kids(verb, "nsubj", "nsubjpass"))
    if verb.dep == "relcl" and not own and not relative and tree.kids(verb, "nsubj"):
        return [tree.head(verb)]
    return own


def is_passive(tree: Tree, verb: Word) -> bool:
    """Whether a verb is in the passive voice."""
    if tree.kids(verb, "nsubjpass", "auxpass"):
        return True
    if verb.tag != "VBN" or tree.kids(verb, "aux"):
        return False
    return verb.dep == "acl" or (verb.dep == "conj" and is_passive(tree, tree.head(verb)))


def is_negated(tree: Tree, verb: Word) -> bool:
    """Whether a verb is denied ("not", "never", "without")."""
    words = tree.kids(verb, "neg", "advmod", "preconj")
    return any(kid.dep == "neg" or kid.text in {"not", "never"} for kid in words) or (
        verb.dep == "pcomp" and tree.head(verb).text == "without"
    )


def has_none(tree: Tree, noun: Word) -> bool:
    """Whether a noun is denied ("no chair", "nobody")."""
    return noun.text == "nobody" or any(
        kid.text in {"no", "neither"} for kid in tree.kids(noun, "det", "neg", "preconj")
    )


@dataclass(frozen=True, slots=True)
class Predicate:
    """A verb's lemma with its particle, or with the preposition that belongs to it."""

    verb: str
    prep: Word | None = None


def predicate(tree: Tree, clause: Clause) -> Predicate:
    """What is done: "pick up", "look at", "walk through"."""
    verb = clause.verb
    lemma = " ".join([verb.lemma, *_particles(tree, verb)[:1]])
    if clause.objects or clause.passive:
        return Predicate(lemma)
    for prep in tree.kids(verb, "prep"):
        words = " ".join([prep.text, *(kid.text for kid in tree.kids(prep, "prep"))])
        directed = verb.lemma in MOVING and prep.text in DIRECTED
        told = [noun for noun in about(tree, prep) if noun.name != "each other"]
        own = directed or verb.lemma in PHRASAL.get(words, ())
        if own and told and prep.name in {prep.text, "to"}:
            return Predicate(f"{lemma} {words}", prep)
    return Predicate(lemma)


def _particles(tree: Tree, verb: Word) -> list[str]:
    kids = (kid for kid in tree.kids(verb, "prt", "advmod", "prep") if kid.index > verb.index)
    return [
        kid.text
        for kid in kids
        if kid.text in PARTICLES and kid.name == kid.text and not tree.kids(kid)
    ]


def about(tree: Tree, prep: Word) -> list[Word]:
    """What a preposition is about."""
    inner = [kid for kid in tree.kids(prep, "prep") if kid.text == "of"]
    return [kid for at in (prep, *inner) for kid in tree.kids(at, "pobj")]


def planned(tree: Tree) -> set[int]:
    """The words that tell of plans, guesses and wishes: nothing of them was seen."""
    found: set[int] = set()
    for verb in tree.words:
        if not verb.is_verb:
            continue
        modals = [kid for kid in tree.kids(verb, "aux") if kid.tag == "MD" or kid.text in HEDGES]
        hedged = any(kid.text in HEDGES for kid in modals)
        if hedged or (modals and not _seeing(tree, verb)):
            found.update(_under(tree, verb))
        if verb.lemma in PLANNING - BEGINNING:
            wanted = ("xcomp", "dobj") if verb.lemma in WANTING else ("xcomp",)
            for kid in tree.kids(verb, *wanted):
                found.update(word.index for word in tree.below(kid))
        if verb.lemma == "have" and tree.kids(verb, "xcomp"):
            found.add(verb.index)
    return found


def _under(tree: Tree, verb: Word) -> Iterator[int]:
    """A verb and what hangs on it, but for its subject."""
    yield verb.index
    for kid in tree.kids(verb):
        if kid.dep not in {"nsubj", "nsubjpass", "conj", "advcl"}:
            yield from (word.index for word in tree.below(kid))


def _seeing(tree: Tree, verb: Word) -> bool:
    return verb.lemma in SEEING or any(kid.text == "visible" for kid in tree.kids(verb, "acomp"))


def _named(view: View, words: list[Word]) -> tuple[tuple[str, ...], bool]:
    found = [phrase for word in words for phrase in refers(view, word)]
    return tuple(dict.fromkeys(found)), any(has_none(view.tree, word) for word in words)


def _dangles(view: View, verb: Word, subjects: tuple[str, ...]) -> bool:
    """Whether a motion is the agent's, though another word is its subject: "the chair is on my
    right after turning left", and "it turns" where the agent was named."""
    if motion(view.tree, verb) is None:
        return False
    words = [kid.text for kid in subjects_of(view.tree, verb)]
    if words == ["it"]:
        return view.story.agent
    return verb.dep in {"pcomp", "advcl"} and verb.tag == "VBG" and not any(map(acts, subjects))


def _commands(tree: Tree, verb: Word, subjects: tuple[str, ...]) -> bool:
    """Whether a clause without a subject is one: "turn left"; "walking on, I see ..."."""
    if subjects or subjects_of(tree, verb) or verb.lemma == "be":
        return False
    return verb.tag not in {"VBZ", "VBD"} and verb.dep in {"ROOT", *_LINKS}


def is_spoken_of(tree: Tree) -> bool:
    """Whether a sentence is about the question, its answer or what follows, not about the video."""
    for verb in tree.words:
        subjects = tree.kids(verb, "nsubj", "nsubjpass")
        if subjects and verb.is_verb and verb.dep in {"ROOT", "ccomp"}:
            infers = verb.lemma in INFERRING
            return any(
                kid.lemma in SPOKEN_OF or (infers and kid.text in {"this", "that", "it", "which"})
                for kid in subjects
            )
    return False
