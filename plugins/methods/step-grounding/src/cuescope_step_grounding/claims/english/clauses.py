"""Clauses: who does what to what, whatever the way it is said; and the camera's own motion."""

from dataclasses import dataclass
from itertools import islice

from cuescope_step_grounding.claims.english.denial import is_denied, is_negated, polarity
from cuescope_step_grounding.claims.english.lexicon import AGENT, LISTS, WORDS
from cuescope_step_grounding.claims.english.phrases import (
    View,
    heads,
    is_actor,
    is_nameable,
    referents,
    referents_of,
)
from cuescope_step_grounding.claims.english.roles import (
    LINKS,
    agents_of,
    is_passive,
    objects_of,
    separable,
    subjects_of,
)
from cuescope_step_grounding.claims.english.tree import Tree, Word


@dataclass(frozen=True)
class Clause:
    """A verb with the phrases of its subjects and objects (in the active voice).

    What it says of `opposed` phrases is denied where it affirms, and affirmed where it denies:
    "holds a cup but no plate".
    """

    verb: Word
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    passive: bool
    negated: bool
    opposed: frozenset[str] = frozenset()

    def denies(self, *phrases: str | None) -> bool:
        """Whether it denies something of these phrases."""
        return self.negated == self.opposed.isdisjoint(phrases)


def read_clause(view: View, verb: Word) -> Clause:
    tree = view.tree
    passive = is_passive(tree, verb)
    first, second = subjects_of(tree, verb), objects_of(tree, verb)
    doers, things = (agents_of(tree, verb), first + second) if passive else (first, second)
    nouns = [noun for word in (*doers, *things) for noun in heads(tree, word)]
    denied = is_negated(tree, verb)
    polarities = [polarity(tree, noun, denied) or is_denied(tree, noun) for noun in nouns]
    # "nobody sits" denies it of all; "holds a cup but no plate" only of the plate
    negated = denied or (bool(nouns) and all(polarities))
    opposed = {
        phrase
        for noun, denies in zip(nouns, polarities, strict=True)
        if denies != negated
        for phrase in referents_of(view, noun)
    }
    subjects, objects = _phrases_of(view, doers), _phrases_of(view, things)
    if not passive and (
        _is_command(tree, verb, subjects) or _is_dangling_motion(view, verb, subjects)
    ):
        subjects = (AGENT,)
    elif not passive and not doers and _is_terse(tree, verb):
        subjects = (view.story.actor(),)
    return Clause(verb, subjects, objects, passive, negated, frozenset(opposed))


def predicate(tree: Tree, clause: Clause) -> tuple[str, Word | None]:
    """What is done ("pick up", "look at"), and the preposition that is part of it."""
    verb = clause.verb
    particles = (
        kid.text
        for kid in tree.kids(verb, "prt", "advmod", "prep")
        if kid.index > verb.index and kid.text in WORDS["particles"]
        if kid.name == kid.text and not tree.kids(kid)
        if not any(verb.index < prep.index < kid.index for prep in tree.kids(verb, "prep"))
    )
    particle = separable(tree, verb)
    lemma = " ".join([verb.lemma, *([particle.text] if particle else islice(particles, 1))])
    if particle is not None:
        return lemma, particle
    # "puts the cup on the table": with an object the preposition says where, not what is done.
    if clause.objects or clause.passive:
        return lemma, None
    # "walks from the sofa to the shelf": whither before whence
    for prep in sorted(tree.kids(verb, "prep"), key=lambda prep: prep.text == "from"):
        words = " ".join([prep.text, *(kid.text for kid in tree.kids(prep, "prep"))])
        directed = verb.lemma in WORDS["moving"] and prep.text in WORDS["directed"]
        # "weaves past the cones": a preposition of a path is part of what is done
        directed = directed or words in WORDS["paths"] or words == "out of"
        nouns = [noun for noun in about(tree, prep) if is_nameable(tree, noun) or _is_meant(noun)]
        is_own = directed or verb.lemma in LISTS["phrasal"].get(words, "").split()
        # A name unlike the text is a wordy preposition in disguise (see `sentences`): a place.
        if is_own and nouns and prep.name in {prep.text, "to"}:
            return f"{lemma} {words}", prep
    return lemma, None


def _is_meant(noun: Word) -> bool:
    return noun.text in WORDS["pronouns"] | WORDS["agents"] and noun.name != "each other"


def about(tree: Tree, prep: Word) -> list[Word]:
    inner = [kid for kid in tree.kids(prep, "prep") if kid.text == "of"]
    return [kid for at in (prep, *inner) for kid in tree.kids(at, "pobj")]


def _phrases_of(view: View, words: list[Word]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(phrase for word in words for phrase in referents(view, word)))


def _is_terse(tree: Tree, verb: Word) -> bool:
    """Whether a sentence leaves out who does it: "Opens the fridge, takes out an egg"."""
    first = next((word for word in tree.words if word.tag != "RB"), verb)
    bare = not any(tree.kids(word, "nsubj", "nsubjpass", "expl") for word in (verb, first))
    return bare and verb.tag == "VBZ" and first.tag == "VBZ" and verb.lemma != "be"


def _is_dangling_motion(view: View, verb: Word, subjects: tuple[str, ...]) -> bool:
    """Whether a motion is the agent's, though another word is its subject: "the chair is on my
    right after turning left", and "it turns" where the agent was named."""
    if camera_motion(view.tree, verb) is None:
        return False
    words = [kid.text for kid in subjects_of(view.tree, verb)]
    if words == ["it"]:
        return view.story.agent
    head = next((word for word in view.tree.above(view.tree.head(verb)) if word.is_verb), verb)
    dangling = verb.dep in {"pcomp", "advcl"} and verb.tag == "VBG" and head.lemma == "be"
    return dangling and not any(map(is_actor, subjects))


def _is_command(tree: Tree, verb: Word, subjects: tuple[str, ...]) -> bool:
    """Whether a clause without a subject is one: "turn left"; "walking on, I see ..."."""
    if subjects or subjects_of(tree, verb) or verb.lemma == "be":
        return False
    if any(kid.text in {"does", "did"} for kid in tree.kids(verb, "aux")):
        return False  # "..., but does not turn" is said of somebody
    heading = verb.tag == "VBG" and verb.dep == "ROOT" and not tree.kids(verb, "dobj")
    return not heading and verb.tag not in {"VBZ", "VBD"} and verb.dep in {"ROOT", *LINKS}


def camera_motion(tree: Tree, verb: Word) -> str | None:
    """The motion of an agent's verb; None where it does something else."""
    # Read off the words in a row and not off the tree: small parsers attach "left" at random.
    direction = _direction_words(tree, verb)
    stairs = [word.text for word in tree.below(verb) if word.text in WORDS["stairs"]]
    lemma, first = verb.lemma, next(iter(direction), "")
    side = next((word for word in direction if word in {"left", "right"}), None)
    if lemma in WORDS["stops"] or (lemma in WORDS["stays"] and first == "still"):
        return "stop"
    if lemma in WORDS["turns"] or (lemma in WORDS["takes"] and (side or "turn" in direction)):
        if side:
            return f"turn {side}"
        around = {"around", "180", "round", "u-turn"} & set(direction)
        return "turn around" if around else None
    if lemma in {"look", "tilt"} and first in {"up", "down", "left", "right"}:
        return f"look {first}" if first in {"up", "down"} else f"turn {first}"
    if lemma in {"ascend", "climb"}:
        return "go up"
    if lemma == "descend":
        return "go down"
    back = first in {"back", "backward", "backwards"}
    if lemma in {"back", "reverse", "retreat"} or (lemma in WORDS["walks"] and back):
        return "move backward"
    if lemma not in WORDS["walks"] or (
        lemma in {"leave", "follow"} and _leaves_something(tree, verb)
    ):
        return None
    # Stairs before sides: "go up the stairs on the left" climbs.
    for way in ("up", "down"):
        if f"{way}stairs" in direction or (way in direction and stairs):
            return f"go {way}"
    if side and lemma not in WORDS["arrives"] and "forward" not in direction:
        return f"turn {side}"
    if lemma == "keep" and not direction:
        return None
    return "move forward"


def _direction_words(tree: Tree, verb: Word) -> list[str]:
    """The words straight after a verb that can say a direction."""
    words: list[str] = []
    for word in tree.words[verb.index + 1 : verb.index + 6]:
        tells = word.text in WORDS["direction_words"] or word.text.isdigit()
        if word.name != word.text or not (
            tells or (not words and word.tag[:2] in {"RB", "JJ", "VB"})
        ):
            break
        words.append(word.text)
    return words


def _leaves_something(tree: Tree, verb: Word) -> bool:
    """Whether a thing is left somewhere ("leaves the cup on the table")."""
    return bool(tree.kids(verb, "dobj")) and any(
        prep.text in {"on", "in"} for prep in tree.kids(verb, "prep")
    )
