"""Clauses: who does what to what, whatever the way it is said; and the camera's own motion."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from cuescope_step_grounding.claims.lexicon import AGENT, LISTS, WORDS
from cuescope_step_grounding.claims.phrases import View, is_actor, referents
from cuescope_step_grounding.claims.tree import Tree, Word

_LINKS = {"xcomp", "advcl", "pcomp", "conj", "ccomp", "dep"}


@dataclass(frozen=True)
class Clause:
    """A verb with the phrases of its subjects and objects (in the active voice)."""

    verb: Word
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    passive: bool
    negated: bool


def read_clause(view: View, verb: Word) -> Clause:
    tree = view.tree
    passive = is_passive(tree, verb)
    subjects, denied = _phrases_of(view, subjects_of(tree, verb))
    objects, none = _phrases_of(view, objects_of(tree, verb))
    if passive:
        by = [kid for agent in tree.kids(verb, "agent") for kid in tree.kids(agent, "pobj")]
        objects = subjects + objects
        subjects, more = _phrases_of(view, by)
        denied = denied or more
    elif _is_command(tree, verb, subjects) or _is_dangling_motion(view, verb, subjects):
        subjects = (AGENT,)
    return Clause(verb, subjects, objects, passive, is_negated(tree, verb) or denied or none)


def subjects_of(tree: Tree, verb: Word) -> list[Word]:
    """The words that do it, or have it done to them: the verb's own subject, or the one that it
    shares with the clause or noun that it hangs on."""
    own = [kid for kid in tree.kids(verb, "nsubj", "nsubjpass") if kid.tag not in {"WDT", "WP"}]
    if own:
        return own
    head = tree.head(verb)
    # "the man who sits", "a cup standing there": the noun that the clause describes does it.
    if verb.dep in {"relcl", "acl"}:
        return [head] if head.is_noun or head.tag in {"NN", "PRP"} else []
    if verb.dep in _LINKS and head is not verb:
        while not head.is_verb and head.dep != "ROOT" and not head.is_noun:
            head = tree.head(head)
        if head.is_verb:
            # "I see a man walk": who is seen walks, not who sees.
            objects = [kid for kid in tree.kids(head, "dobj") if kid.index < verb.index]
            return objects if objects and head.lemma in WORDS["seeing"] else subjects_of(tree, head)
        return [head] if head.is_noun and verb.tag in {"VBG", "VBN"} else []
    if verb.lemma == "be":  # inverted: "beside the bed is a lamp"
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


def is_denied(tree: Tree, noun: Word) -> bool:
    """Whether a noun is denied ("no chair", "nobody")."""
    return noun.text == "nobody" or any(
        kid.text in {"no", "neither"} for kid in tree.kids(noun, "det", "neg", "preconj")
    )


def predicate(tree: Tree, clause: Clause) -> tuple[str, Word | None]:
    """What is done ("pick up", "look at"), and the preposition that is part of it."""
    verb = clause.verb
    particles = (
        kid.text
        for kid in tree.kids(verb, "prt", "advmod", "prep")
        if kid.index > verb.index and kid.text in WORDS["particles"]
        if kid.name == kid.text and not tree.kids(kid)
    )
    lemma = " ".join([verb.lemma, *islice(particles, 1)])
    # "puts the cup on the table": with an object the preposition says where, not what is done.
    if clause.objects or clause.passive:
        return lemma, None
    for prep in tree.kids(verb, "prep"):
        words = " ".join([prep.text, *(kid.text for kid in tree.kids(prep, "prep"))])
        directed = verb.lemma in WORDS["moving"] and prep.text in WORDS["directed"]
        nouns = [noun for noun in about(tree, prep) if noun.name != "each other"]
        is_own = directed or verb.lemma in LISTS["phrasal"].get(words, "").split()
        # A name unlike the text is a wordy preposition in disguise (see `sentences`): a place.
        if is_own and nouns and prep.name in {prep.text, "to"}:
            return f"{lemma} {words}", prep
    return lemma, None


def about(tree: Tree, prep: Word) -> list[Word]:
    inner = [kid for kid in tree.kids(prep, "prep") if kid.text == "of"]
    return [kid for at in (prep, *inner) for kid in tree.kids(at, "pobj")]


def planned_words(tree: Tree) -> set[int]:
    """The words that tell of plans, guesses and wishes: nothing of them was seen."""
    planned: set[int] = set()
    for verb in tree.words:
        if not verb.is_verb:
            continue
        helpers = tree.kids(verb, "aux")
        hedged = any(kid.text in WORDS["hedges"] for kid in helpers)
        modal = any(kid.tag == "MD" for kid in helpers)
        # "can be seen" reports what is on screen; "should" and "might" never do.
        sight = verb.lemma in WORDS["seeing"] or any(
            kid.text == "visible" for kid in tree.kids(verb, "acomp")
        )
        if hedged or (modal and not sight):
            planned.update(_under(tree, verb))
        if verb.lemma in WORDS["planning"] - WORDS["beginning"]:
            wanted = ("xcomp", "dobj") if verb.lemma in WORDS["wanting"] else ("xcomp",)
            for kid in tree.kids(verb, *wanted):
                planned.update(word.index for word in tree.below(kid))
        if verb.lemma == "have" and tree.kids(verb, "xcomp"):  # "has to turn left"
            planned.add(verb.index)
    return planned


def _under(tree: Tree, verb: Word) -> Iterator[int]:
    """A verb and what hangs on it, but for its subject."""
    yield verb.index
    for kid in tree.kids(verb):
        if kid.dep not in {"nsubj", "nsubjpass", "conj", "advcl"}:
            yield from (word.index for word in tree.below(kid))


def _phrases_of(view: View, words: list[Word]) -> tuple[tuple[str, ...], bool]:
    phrases = [phrase for word in words for phrase in referents(view, word)]
    return tuple(dict.fromkeys(phrases)), any(is_denied(view.tree, word) for word in words)


def _is_dangling_motion(view: View, verb: Word, subjects: tuple[str, ...]) -> bool:
    """Whether a motion is the agent's, though another word is its subject: "the chair is on my
    right after turning left", and "it turns" where the agent was named."""
    if camera_motion(view.tree, verb) is None:
        return False
    words = [kid.text for kid in subjects_of(view.tree, verb)]
    if words == ["it"]:
        return view.story.agent
    return verb.dep in {"pcomp", "advcl"} and verb.tag == "VBG" and not any(map(is_actor, subjects))


def _is_command(tree: Tree, verb: Word, subjects: tuple[str, ...]) -> bool:
    """Whether a clause without a subject is one: "turn left"; "walking on, I see ..."."""
    if subjects or subjects_of(tree, verb) or verb.lemma == "be":
        return False
    return verb.tag not in {"VBZ", "VBD"} and verb.dep in {"ROOT", *_LINKS}


def is_about_question(tree: Tree) -> bool:
    """Whether a sentence is about the question, its answer or what follows, not about the video."""
    # The first main clause decides: "The answer is B because the man sits" reports nothing.
    for verb in tree.words:
        subjects = tree.kids(verb, "nsubj", "nsubjpass")
        if subjects and verb.is_verb and verb.dep in {"ROOT", "ccomp"}:
            infers = verb.lemma in WORDS["inferring"]
            return any(
                kid.lemma in WORDS["about_question"]
                or (infers and kid.text in {"this", "that", "it", "which"})
                for kid in subjects
            )
    return False


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
