"""Clauses: who does what to what, whatever the way it is said; and the camera's own motion."""

from dataclasses import dataclass
from itertools import chain

from cuescope_step_grounding.claims.english.denial import (
    is_denied,
    is_negated,
    polarity,
)
from cuescope_step_grounding.claims.english.lexicon import AGENT, LISTS, WORDS
from cuescope_step_grounding.claims.english.names import heads, is_actor, is_nameable
from cuescope_step_grounding.claims.english.phrases import (
    View,
    all_referents,
    referents_of,
)
from cuescope_step_grounding.claims.english.roles import (
    LINKS,
    SUBJECTS,
    agents_of,
    is_passive,
    objects_of,
    separable,
    subjects_of,
)
from cuescope_step_grounding.claims.english.tree import Word, text_of


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
    passive = is_passive(verb)
    doers = subjects_of(verb)
    things = objects_of(verb)
    # "the cup is lifted by a man": what stands as the subject is what is lifted
    if passive:
        things = doers + things
        doers = agents_of(verb)
    nouns = list(chain.from_iterable(map(heads, doers + things)))
    denied = is_negated(verb)
    denies = {noun: polarity(noun, denied) or is_denied(noun) for noun in nouns}
    # "nobody sits" denies it of all; "holds a cup but no plate" only of the plate
    negated = denied or (bool(nouns) and all(denies.values()))
    opposed = set()
    for noun in nouns:
        if denies[noun] != negated:
            opposed.update(referents_of(view, noun))
    subjects = tuple(dict.fromkeys(all_referents(view, doers)))
    objects = tuple(dict.fromkeys(all_referents(view, things)))
    if not passive:
        if _is_command(verb, subjects) or _is_dangling_motion(view, verb, subjects):
            subjects = (AGENT,)
        elif not doers and _is_terse(verb):
            subjects = (view.story.actor(),)
    return Clause(verb, subjects, objects, passive, negated, frozenset(opposed))


def predicate(clause: Clause) -> tuple[str, Word | None]:
    """What is done ("pick up", "look at"), and the preposition that is part of it."""
    verb = clause.verb
    particle = separable(verb)
    if particle is not None:
        return f"{verb.lemma} {particle.text}", particle
    lemma = f"{verb.lemma} {_particle(verb)}".rstrip()
    # "puts the cup on the table": with an object the preposition says where, not what is done.
    if clause.objects or clause.passive:
        return lemma, None
    # "walks from the sofa to the shelf": whither before whence
    for prep in sorted(verb.kids("prep"), key=lambda prep: prep.text == "from"):
        words = " ".join([prep.text, *map(text_of, prep.kids("prep"))])
        directed = verb.lemma in WORDS.moving and prep.text in WORDS.directed
        # "weaves past the cones": a preposition of a path is part of what is done
        of_path = words in WORDS.paths or words == "out of"
        phrasal = verb.lemma in LISTS["phrasal"].get(words, "").split()
        nouns = about(prep)
        named = any(map(is_nameable, nouns)) or any(map(_is_meant, nouns))
        # A name unlike the text is a wordy preposition in disguise (see `sentences`): a place.
        said = named and prep.name in {prep.text, "to"}
        if said and (directed or of_path or phrasal):
            return f"{lemma} {words}", prep
    return lemma, None


def _is_meant(noun: Word) -> bool:
    meant = WORDS.pronouns | WORDS.agents
    return noun.text in meant and noun.name != "each other"


def _particle(verb: Word) -> str:
    """The first particle after a verb, before any preposition."""
    preps = verb.kids_after("prep")
    for kid in verb.kids_after("prt", "advmod", "prep"):
        bare = kid.name == kid.text and not kid.kids()
        first = not preps or kid.index <= preps[0].index
        if kid.text in WORDS.particles and bare and first:
            return kid.text
    return ""


def about(prep: Word) -> list[Word]:
    """The nouns that a preposition is about: of "in front of the car" too."""
    return prep.kids("pobj") + prep.nouns_of({"of"})


def _is_terse(verb: Word) -> bool:
    """Whether a sentence leaves out who does it: "Opens the fridge, takes out an egg"."""
    first = next((word for word in verb.sentence if word.tag != "RB"), verb)
    bare = not any(word.kids(*SUBJECTS, "expl") for word in (verb, first))
    return bare and verb.tag == "VBZ" and first.tag == "VBZ" and verb.lemma != "be"


def _is_dangling_motion(view: View, verb: Word, subjects: tuple[str, ...]) -> bool:
    """Whether a motion is the agent's, though another word is its subject: "the chair is on my
    right after turning left", and "it turns" where the agent was named."""
    if camera_motion(verb) is None:
        return False
    if list(map(text_of, subjects_of(verb))) == ["it"]:
        return view.story.agent
    head = next((word for word in verb.head.above() if word.is_verb), verb)
    dangling = (
        verb.dep in {"pcomp", "advcl"} and verb.tag == "VBG" and head.lemma == "be"
    )
    return dangling and not any(map(is_actor, subjects))


def _is_command(verb: Word, subjects: tuple[str, ...]) -> bool:
    """Whether a clause without a subject is one: "turn left"; "walking on, I see ..."."""
    if subjects or subjects_of(verb) or verb.lemma == "be":
        return False
    # "..., but does not turn" is said of somebody
    if verb.has({"does", "did"}, "aux") or verb.tag in {"VBZ", "VBD"}:
        return False
    if verb.tag == "VBG" and verb.dep == "ROOT":
        return bool(verb.kids("dobj"))
    return verb.dep in {"ROOT", *LINKS}


def camera_motion(verb: Word) -> str | None:
    """The motion of an agent's verb; None where it does something else."""
    # Read off the words in a row and not off the tree: small parsers attach "left" at random.
    direction = _direction_words(verb)
    lemma = verb.lemma
    first = next(iter(direction), "")
    side = next((word for word in direction if word in {"left", "right"}), None)
    if lemma in WORDS.stops or (lemma in WORDS.stays and first == "still"):
        return "stop"
    takes_turn = lemma in WORDS.takes and (side or "turn" in direction)
    if takes_turn or lemma in WORDS.turns:
        if side:
            return f"turn {side}"
        around = {"around", "180", "round", "u-turn"}.intersection(direction)
        return "turn around" if around else None
    if lemma in {"look", "tilt"} and first in {"up", "down", "left", "right"}:
        # to look aside is to turn the camera
        return f"look {first}" if first in {"up", "down"} else f"turn {first}"
    if lemma in {"ascend", "climb"}:
        return "go up"
    if lemma == "descend":
        return "go down"
    back = first in {"back", "backward", "backwards"}
    if lemma in {"back", "reverse", "retreat"} or (lemma in WORDS.walks and back):
        return "move backward"
    # "leaves the cup on the table"
    behind = verb.kids("dobj") and verb.has({"on", "in"}, "prep")
    left_behind = behind and lemma in {"leave", "follow"}
    if lemma not in WORDS.walks or left_behind:
        return None
    # Stairs before sides: "go up the stairs on the left" climbs.
    below = set(map(text_of, verb.below()))
    for way in ("up", "down"):
        if f"{way}stairs" in direction or (way in direction and below & WORDS.stairs):
            return f"go {way}"
    if side and lemma not in WORDS.arrives and "forward" not in direction:
        return f"turn {side}"
    # "keeps the cup": no word says that anybody moves
    if lemma == "keep" and not direction:
        return None
    return "move forward"


def _direction_words(verb: Word) -> list[str]:
    """The words straight after a verb that can say a direction."""
    words: list[str] = []
    # "turn slowly left", "keep walking": one word may come before the direction
    for word in verb.sentence[verb.index + 1 : verb.index + 6]:
        tells = word.text in WORDS.direction_words or word.text.isdigit()
        begins = not words and word.tag[:2] in {"RB", "JJ", "VB"}
        if word.name != word.text or not (tells or begins):
            break
        words.append(word.text)
    return words
