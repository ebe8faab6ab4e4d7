"""The claims of one parsed sentence, by kind; the temporal ones are in `order`."""

from collections.abc import Iterable, Iterator

from cuescope_step_grounding.claims import places
from cuescope_step_grounding.claims.clauses import (
    Clause,
    about,
    clause,
    has_none,
    is_negated,
    is_spoken_of,
    planned,
    predicate,
)
from cuescope_step_grounding.claims.found import Found
from cuescope_step_grounding.claims.lexicon import (
    AGENT,
    AGENTS,
    BEGINNING,
    LINKING,
    NOWHERE,
    ORDER,
    PLANNING,
    POSTURES,
    SEEING,
    SHOWN,
    STATES,
    SWITCHES,
)
from cuescope_step_grounding.claims.motion import motion
from cuescope_step_grounding.claims.phrases import acts, called, heads, is_named, is_person
from cuescope_step_grounding.claims.story import View, refers
from cuescope_step_grounding.claims.words import Tree, Word


def found_in(view: View) -> list[Found]:
    """All that a sentence claims, the things first; nothing of one about the question or answer."""
    tree = view.tree
    if is_spoken_of(tree):
        return []
    plans = planned(tree)
    told: list[Found] = []
    absent: list[Found] = []
    skipped = set(plans)
    for verb in tree.words:
        if verb.is_verb and verb.index not in plans:
            one = clause(view, verb)
            if is_sight(view, one):
                told += (seen := sights(view, one))
                absent += [found for found in seen if found.negated]
                skipped.update(kid.index for kid in tree.kids(verb, "attr"))
            else:
                told += says(view, one) + places.of_clause(view, one)
    told += places.of_nouns(view, skipped)
    gone = {found.subject for found in absent}
    things = [found for found in entities(view, plans) if found.subject not in gone]
    return things + told


def entities(view: View, plans: set[int]) -> list[Found]:
    """The things that are named, each as it is called."""
    return [
        Found(word, "entity", called(view.tree, word))
        for word in view.tree.words
        if is_named(view.tree, word)
        and word.dep not in {"compound", "amod", "nmod"}
        and word.index not in plans
        and word.lemma not in AGENTS
        and not has_none(view.tree, word)
        and heads(view.tree, word)[0] is word
        and not _is_any(view.tree, word)
    ]


def _is_any(tree: Tree, noun: Word) -> bool:
    """Whether no thing in particular is denied: "does not wear a hat"."""
    verb = tree.head(noun)
    indefinite = any(kid.text in {"a", "an", "any"} for kid in tree.kids(noun, "det"))
    return noun.dep == "dobj" and indefinite and is_negated(tree, verb)


def says(view: View, one: Clause) -> list[Found]:
    """What a clause says of its subject: its state, its action, or the camera's motion."""
    verb, lemma = one.verb, one.verb.lemma
    agent = AGENT in one.subjects
    if agent and (way := motion(view.tree, verb)):
        if one.negated and (lemma, way) == ("move", "move forward"):  # "does not move"
            return [Found(verb, "ego-motion", "", "stop")]
        return [Found(verb, "ego-motion", "", way, None, one.negated)]
    if lemma in BEGINNING and view.tree.kids(verb, "xcomp"):
        return []
    if lemma == "be" or (lemma in LINKING and view.tree.kids(verb, "acomp", "oprd")):
        return list(_attributes(view, one))
    if is_state(view, one):
        said = () if lemma in NOWHERE else one.objects
        return [Found(verb, "attribute", thing, verb.text, None, one.negated) for thing in said]
    if lemma == "surround" and one.passive:
        return places.pairs(verb, one.subjects, "around", one.objects, one.negated)
    if lemma in {"contain", "hold"} and not any(map(acts, one.subjects)) and one.subjects:
        return places.pairs(verb, one.objects, "inside", one.subjects, one.negated)
    if lemma == "have" or (agent and lemma in PLANNING):
        return []
    return _actions(view, one)


def is_state(view: View, one: Clause) -> bool:
    """Whether a passive says how a thing is ("is closed"), not what is done to it."""
    helpers = {kid.text for kid in view.tree.kids(one.verb, "aux", "auxpass")}
    lasting = one.verb.lemma in STATES or one.verb.text in STATES or one.verb.lemma in NOWHERE
    later = {kid.text for kid in view.tree.kids(one.verb, "advmod")} & ORDER
    done = later | helpers & {"been", "being", "get", "gets", "got"}
    return one.passive and not one.subjects and lasting and not done


def is_sight(view: View, one: Clause) -> bool:
    """Whether a clause only says that something is there to be seen."""
    verb = one.verb
    seen = verb.lemma in SEEING and not any(map(is_person, one.subjects))
    return seen or _is_shown(view, verb) or bool(view.tree.kids(verb, "expl"))


def sights(view: View, one: Clause) -> list[Found]:
    """Where what is seen is; what is denied without a place is not there at all."""
    tree, verb = view.tree, one.verb
    shown = tree.kids(verb, "attr", "nsubj", "dobj") if tree.kids(verb, "expl") else []
    things = tuple(phrase for kid in shown for phrase in refers(view, kid))
    things = things or (one.subjects if _is_shown(view, verb) else one.objects)
    negated = one.negated or any(has_none(tree, kid) for kid in shown)
    where = places.of_clause(view, Clause(verb, things, (), False, negated))
    if not negated or where:
        return where
    return [Found(verb, "entity", thing, negated=True) for thing in things]


def _is_shown(view: View, verb: Word) -> bool:
    said = view.tree.kids(verb, "acomp", "advmod")
    return verb.lemma in {"be", "become"} and any(kid.text in SHOWN for kid in said)


def _attributes(view: View, one: Clause) -> Iterator[Found]:
    verb, tree = one.verb, view.tree
    for kid in tree.kids(verb, "acomp", "oprd", "advmod", "prt", "prep", "attr"):
        for word in _joined(view, kid):
            adjective = word.tag in {"JJ", "JJR", "VBN", "VBG"} and word.dep != "advmod"
            switch = word.text in SWITCHES and not about(tree, word)
            if not (adjective or switch) or word.index < verb.index:
                continue
            for thing in one.objects if one.passive else one.subjects:
                if verb.lemma == "turn":
                    yield Found(verb, "action", thing, f"turn {word.text}", None, one.negated)
                else:
                    yield Found(verb, "attribute", thing, word.text, None, one.negated)


def _joined(view: View, word: Word) -> Iterator[Word]:
    yield word
    for other in view.tree.kids(word, "conj"):
        yield from _joined(view, other)


def _actions(view: View, one: Clause) -> list[Found]:
    said = predicate(view.tree, one)
    posture = one.verb.lemma in POSTURES and not any(map(acts, one.subjects))
    if (posture and view.tree.kids(one.verb, "prep")) or not (one.subjects or one.objects):
        return []
    things: Iterable[str | None] = one.objects or (None,)
    if said.prep is not None:
        about_ = [thing for noun in about(view.tree, said.prep) for thing in refers(view, noun)]
        things = about_ or (None,)
    return [
        Found(one.verb, "action", subject, said.verb, thing, one.negated)
        for subject in one.subjects or ("",)
        for thing in things
    ]
