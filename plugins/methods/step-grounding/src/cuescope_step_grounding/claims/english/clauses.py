"""Clauses: who does what to what, whatever the way it is said; and the camera's own motion."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from cuescope_step_grounding.claims.english.nouns import (
    Story,
    heads,
    is_actor,
    is_nameable,
)
from cuescope_step_grounding.claims.english.tokens import (
    SUBJECTS,
    Token,
    grandkids,
    has,
    infinitive,
    is_denied,
    is_negated,
    is_noun,
    is_verb,
    kids,
    nouns_of,
    polarity,
    texts,
)
from cuescope_step_grounding.claims.english.words import AGENT, LISTS, WORDS

_LINKS = {"xcomp", "advcl", "pcomp", "conj", "ccomp", "dep"}
_RELATIVE = {"WDT", "WP"}


@dataclass(frozen=True)
class Phrase:
    """What a word means; `opposed` where the clause says the opposite of it: "but no plate"."""

    name: str
    opposed: bool = False


@dataclass(frozen=True)
class Clause:
    """A verb with the phrases of its subjects and objects (in the active voice)."""

    verb: Token
    subjects: tuple[Phrase, ...]
    objects: tuple[Phrase, ...]
    passive: bool
    negated: bool

    def denies(self, *phrases: Phrase) -> bool:
        """True if it denies something of these phrases."""
        return self.negated != any(phrase.opposed for phrase in phrases)


def read_clause(story: Story, verb: Token) -> Clause:
    passive = is_passive(verb)
    doers = subjects_of(verb)
    things = objects_of(verb)
    # "the cup is lifted by a man": what stands as the subject is what is lifted
    if passive:
        things = doers + things
        doers = grandkids(verb, "agent", "pobj")
    negated = is_negated(verb)
    subjects = phrases(story, doers, negated)
    objects = phrases(story, things, negated)
    if not passive and (
        _is_command(verb, doers) or _is_own_motion(story, verb, subjects)
    ):
        subjects = (Phrase(AGENT),)
    elif not passive and not doers and verb.tag_ == "VBZ" and verb.doc[0].tag_ == "VBZ":
        subjects = (Phrase(story.actor()),)  # "Opens the fridge"
    return Clause(verb, subjects, objects, passive, negated)


def phrases(story: Story, words: Iterable[Token], negated: bool) -> tuple[Phrase, ...]:
    """What subjects or objects of a clause mean; () where they mean nothing that is seen."""
    said = []
    for noun in chain.from_iterable(map(heads, words)):
        opposed = (polarity(noun, negated) or is_denied(noun)) != negated
        said += [Phrase(name, opposed) for name in story.referents(noun)]
    return tuple(dict.fromkeys(said))


def subjects_of(verb: Token) -> list[Token]:
    """The words that do it, or have it done to them: the verb's own subject, or the one that it
    shares with the clause or noun that it hangs on."""
    head = verb.head
    # "uses a hammer to drive a nail": who uses it drives, not the hammer
    if head.lemma_ == "use" and verb.dep_ in {"xcomp", "advcl"}:
        return subjects_of(head)
    own = [kid for kid in kids(verb, *SUBJECTS) if kid.tag_ not in _RELATIVE]
    if own:
        return own
    if verb.dep_ in {"relcl", "acl"} and (is_noun(head) or head.tag_ == "PRP"):
        return _doer_beside_noun(verb, head)
    if verb.dep_ in _LINKS and head is not verb:
        while not is_verb(head) and head.dep_ != "ROOT" and not is_noun(head):
            head = head.head
        if not is_verb(head):
            return [head] if verb.tag_ in {"VBG", "VBN"} else []
        # "I see a man walk": who is seen walks, not who sees
        seen = [kid for kid in kids(head, "dobj") if kid.i < verb.i]
        if head.lemma_ in WORDS.seeing and seen and verb.tag_ in {"VBG", "VBN", "VB"}:
            return seen
        return subjects_of(head)
    if verb.lemma_ == "be" and not kids(verb, "expl"):
        return kids(verb, "attr")  # inverted: "beside the bed is a lamp"
    return []


def _doer_beside_noun(verb: Token, noun: Token) -> list[Token]:
    """Who does what is said of a noun: "the man who sits", "a cup standing there"."""
    place = noun.lemma_ in WORDS.rooms | WORDS.clothes
    # "enters the building carrying an axe", "waits at the kerb to cross": no building carries
    if not is_actor(noun.lemma_) and (
        verb.tag_ == "VB" or (place and verb.tag_ == "VBG")
    ):
        above = next(filter(is_verb, noun.ancestors), None)
        doers = subjects_of(above) if above is not None and noun.dep_ != "nsubj" else []
        if any(is_actor(doer.lemma_) or doer.tag_ == "PRP" for doer in doers):
            return doers[:1]
    if has(verb, {"who"}, *SUBJECTS):  # "a woman in sunglasses who talks"
        nouns = [noun, *filter(is_noun, noun.ancestors)]
        return [word for word in nouns if is_actor(word.lemma_)][:1] or [noun]
    return [noun]


def objects_of(verb: Token) -> list[Token]:
    """What it is done to; of a relative clause without an object of its own, the noun before it."""
    own = [kid for kid in kids(verb, "dobj") if kid.tag_ not in _RELATIVE]
    if len(own) > 1 and own[0].lower_ in WORDS.pronouns:
        own = own[1:]  # "hand them cups"
    own += [noun for prep in _separated(verb) for noun in kids(prep, "pobj")]
    if own or verb.dep_ != "relcl" or not kids(verb, "nsubj"):
        return own
    subjects = [kid for kid in kids(verb, *SUBJECTS) if kid.tag_ in _RELATIVE]
    of_preps = [noun for noun in grandkids(verb, "prep", "pobj") if noun.tag_ == "WDT"]
    return [] if subjects or of_preps else [verb.head]


def _separated(verb: Token) -> list[Token]:
    """The particle that a parser took for a preposition: "turn on the light"."""
    after = [prep for prep in kids(verb, "prep") if prep.i == verb.i + 1]
    return [
        prep
        for prep in after
        if verb.lemma_ in LISTS["separable"].get(prep.lower_, "").split()
    ]


def is_passive(verb: Token) -> bool:
    if kids(verb, "nsubjpass", "auxpass"):
        return True
    bare = verb.tag_ == "VBN" and not kids(verb, "aux")
    joined = verb.dep_ == "conj" and is_verb(verb.head) and is_passive(verb.head)
    followed = verb.dep_ == "advcl" and bool(kids(verb, "agent"))
    return bare and (verb.dep_ == "acl" or joined or followed)


def predicate(clause: Clause) -> tuple[str, Token | None]:
    """What is done ("pick up", "look at"), and the preposition that is part of it."""
    verb = clause.verb
    for particle in _separated(verb):
        return f"{infinitive(verb)} {particle.lower_}", particle
    lemma = f"{infinitive(verb)} {_particle(verb)}".rstrip()
    # "puts the cup on the table": with an object the preposition says where, not what is done
    if clause.objects or clause.passive:
        return lemma, None
    # "walks from the sofa to the shelf": whither before whence
    for prep in sorted(kids(verb, "prep"), key=lambda prep: prep.lower_ == "from"):
        words = " ".join([prep.lower_, *(kid.lower_ for kid in kids(prep, "prep"))])
        directed = infinitive(verb) in WORDS.moving and prep.lower_ in WORDS.directed
        # "weaves past the cones": a preposition of a path is part of what is done
        of_path = words in WORDS.paths or words == "out of"
        phrasal = infinitive(verb) in LISTS["phrasal"].get(words, "").split()
        named = any(map(_is_meant, about(prep)))
        wordy = prep.i in prep.doc.user_data  # "in front of": a place
        if named and not wordy and (directed or of_path or phrasal):
            return f"{lemma} {words}", prep
    return lemma, None


def _is_meant(noun: Token) -> bool:
    return is_nameable(noun) or noun.lower_ in WORDS.pronouns | WORDS.agents


def _particle(verb: Token) -> str:
    """The first particle after a verb, before any preposition."""
    for kid in verb.rights:
        side = kid.i == verb.i + 1 and kid.lower_ in {"left", "right"}
        bare = side or (kid.dep_ in {"prt", "advmod", "prep"} and not kids(kid))
        if kid.lower_ in WORDS.particles and bare:
            return str(kid.lower_)
        if kid.dep_ == "prep":
            break
    return ""


def about(prep: Token) -> list[Token]:
    """The nouns that a preposition is about: of "in front of the car" too."""
    return kids(prep, "pobj") + nouns_of(prep, {"of"})


def _is_own_motion(story: Story, verb: Token, subjects: tuple[Phrase, ...]) -> bool:
    """True if the agent moves though another word is the subject: "the chair is on my right after
    turning left", "it turns left" where the agent was named."""
    if camera_motion(verb) is None:
        return False
    if texts(verb, "nsubj") == {"it"}:
        return story.agent
    dangling = verb.dep_ in {"pcomp", "advcl"} and verb.tag_ == "VBG"
    above = next(filter(is_verb, verb.ancestors), verb)
    idle = not any(is_actor(phrase.name) for phrase in subjects)
    return dangling and above.lemma_ == "be" and idle


def _is_command(verb: Token, doers: list[Token]) -> bool:
    """True of a clause without a subject that is one: "turn left"; "walking on, I see ..."."""
    if doers or verb.lemma_ == "be" or verb.tag_ in {"VBZ", "VBD"}:
        return False
    if has(verb, {"does", "did"}, "aux"):
        return False  # "..., but does not turn" is said of somebody
    if verb.tag_ == "VBG" and verb.dep_ == "ROOT":
        return bool(kids(verb, "dobj"))
    return verb.dep_ in {"ROOT", *_LINKS}


def camera_motion(verb: Token) -> str | None:
    """The motion of an agent's verb; None where it does something else."""
    direction = _direction_words(verb)
    lemma = verb.lemma_.lower()
    first = next(iter(direction), "")
    side = next((word for word in direction if word in {"left", "right"}), None)
    if lemma in WORDS.stops or (lemma in WORDS.stays and first == "still"):
        return "stop"
    takes_turn = lemma in WORDS.takes and (side or "turn" in direction)
    if takes_turn or lemma in WORDS.turns:
        around = {"around", "180", "round", "u-turn"}.intersection(direction)
        return f"turn {side}" if side else "turn around" * bool(around) or None
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
    left_behind = kids(verb, "dobj") and has(verb, {"on", "in"}, "prep")
    if lemma not in WORDS.walks or (left_behind and lemma in {"leave", "follow"}):
        return None
    # Stairs before sides: "go up the stairs on the left" climbs.
    below = {word.lower_ for word in verb.subtree}
    for way in ("up", "down"):
        if f"{way}stairs" in direction or (way in direction and below & WORDS.stairs):
            return f"go {way}"
    if side and lemma not in WORDS.arrives and "forward" not in direction:
        return f"turn {side}"
    # "keeps the cup": no word says that anybody moves
    return None if lemma == "keep" and not direction else "move forward"


def _direction_words(verb: Token) -> list[str]:
    """The words straight after a verb that can say a direction."""
    words: list[str] = []
    # Read off the words in a row and not off the tree: small parsers attach "left" at random.
    for word in verb.doc[verb.i + 1 :]:
        tells = word.lower_ in WORDS.direction_words or word.is_digit
        # "turn slowly left", "keep walking": one word may come before the direction
        begins = not words and word.tag_[:2] in {"RB", "JJ", "VB"}
        if word.i in verb.doc.user_data or not (tells or begins):
            break
        words.append(word.lower_)
    return words
