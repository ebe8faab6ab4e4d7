"""The claims of one parsed sentence: by kind, where things are, and what comes before what."""

from collections.abc import Iterable, Iterator, Sequence

from cuescope_sdk.grounding import ClaimKind
from cuescope_step_grounding.claims import clauses
from cuescope_step_grounding.claims.clauses import Clause, about, is_denied
from cuescope_step_grounding.claims.lexicon import AGENT, ORDERS, RELATIONS, WORDS
from cuescope_step_grounding.claims.phrases import (
    View,
    heads,
    is_actor,
    is_nameable,
    is_person,
    name_of,
    referents,
)
from cuescope_step_grounding.claims.tree import Tree, UntimedClaim, Word

_PASSED = frozenset({"between", "under", "above", "around", "behind", "across from"})


def untimed_claims(view: View) -> list[UntimedClaim]:
    """All that a sentence claims, the things first; nothing of one about the question or answer."""
    tree = view.tree
    if clauses.is_about_question(tree):
        return []
    plans = clauses.planned_words(tree)
    claims: list[UntimedClaim] = []
    absent: list[UntimedClaim] = []
    skipped = set(plans)
    for verb in tree.words:
        if verb.is_verb and verb.index not in plans:
            clause = clauses.read_clause(view, verb)
            if is_sight(view, clause):
                claims += (sights := claims_of_sight(view, clause))
                absent += [claim for claim in sights if claim.negated]
                # "There is a cup on the table": the clause has told where; its noun must not again.
                skipped.update(kid.index for kid in tree.kids(verb, "attr"))
            else:
                claims += claims_of_clause(view, clause) + places_of_clause(view, clause)
    claims += places_of_nouns(view, skipped)
    # What a sentence denies is not also claimed as being there.
    gone = {claim.subject for claim in absent}
    things = [claim for claim in entities(view, plans) if claim.subject not in gone]
    return things + claims


def entities(view: View, plans: set[int]) -> list[UntimedClaim]:
    """The things that are named, each as it is called."""
    return [
        UntimedClaim(word, "entity", name_of(view.tree, word))
        for word in view.tree.words
        if is_nameable(view.tree, word)
        and word.dep not in {"compound", "amod", "nmod"}
        and word.index not in plans
        and word.lemma not in WORDS["agents"]
        and not is_denied(view.tree, word)
        and heads(view.tree, word)[0] is word
        and not _is_any(view.tree, word)
    ]


def _is_any(tree: Tree, noun: Word) -> bool:
    """Whether no thing in particular is denied: "does not wear a hat"."""
    verb = tree.head(noun)
    indefinite = any(kid.text in {"a", "an", "any"} for kid in tree.kids(noun, "det"))
    return noun.dep == "dobj" and indefinite and clauses.is_negated(tree, verb)


def claims_of_clause(view: View, clause: Clause) -> list[UntimedClaim]:
    """What a clause says of its subject: its state, its action, or the camera's motion."""
    verb, lemma = clause.verb, clause.verb.lemma
    agent = AGENT in clause.subjects
    if agent and (direction := clauses.camera_motion(view.tree, verb)):
        if clause.negated and (lemma, direction) == ("move", "move forward"):  # "does not move"
            return [UntimedClaim(verb, "ego-motion", "", "stop")]
        return [UntimedClaim(verb, "ego-motion", "", direction, None, clause.negated)]
    if lemma in WORDS["beginning"] and view.tree.kids(verb, "xcomp"):
        return []
    if lemma == "be" or (lemma in WORDS["linking"] and view.tree.kids(verb, "acomp", "oprd")):
        return list(_attributes(view, clause))
    if is_state(view, clause):
        things = () if lemma in WORDS["nowhere"] else clause.objects
        return [
            UntimedClaim(verb, "attribute", thing, verb.text, None, clause.negated)
            for thing in things
        ]
    if lemma == "surround" and clause.passive:
        return relations_between(verb, clause.subjects, "around", clause.objects, clause.negated)
    if lemma in {"contain", "hold"} and not any(map(is_actor, clause.subjects)) and clause.subjects:
        return relations_between(verb, clause.objects, "inside", clause.subjects, clause.negated)
    # "Has" says too little to be seen, and what the camera's holder plans is no event.
    if lemma == "have" or (agent and lemma in WORDS["planning"]):
        return []
    return _actions(view, clause)


def is_state(view: View, clause: Clause) -> bool:
    """Whether a passive says how a thing is ("is closed"), not what is done to it."""
    verb = clause.verb
    helpers = {kid.text for kid in view.tree.kids(verb, "aux", "auxpass")}
    lasting = verb.lemma in WORDS["states"] | WORDS["nowhere"] or verb.text in WORDS["states"]
    later = {kid.text for kid in view.tree.kids(verb, "advmod")} & WORDS["order"]
    done = later | helpers & {"been", "being", "get", "gets", "got"}
    return clause.passive and not clause.subjects and lasting and not done


def is_sight(view: View, clause: Clause) -> bool:
    """Whether a clause only says that something is there to be seen."""
    verb = clause.verb
    is_seen = verb.lemma in WORDS["seeing"] and not any(map(is_person, clause.subjects))
    return is_seen or _is_shown(view, verb) or bool(view.tree.kids(verb, "expl"))


def claims_of_sight(view: View, clause: Clause) -> list[UntimedClaim]:
    """Where what is seen is; what is denied without a place is not there at all."""
    tree, verb = view.tree, clause.verb
    shown = tree.kids(verb, "attr", "nsubj", "dobj") if tree.kids(verb, "expl") else []
    things = tuple(phrase for kid in shown for phrase in referents(view, kid))
    things = things or (clause.subjects if _is_shown(view, verb) else clause.objects)
    negated = clause.negated or any(is_denied(tree, kid) for kid in shown)
    where = places_of_clause(view, Clause(verb, things, (), False, negated))
    if not negated or where:
        return where
    return [UntimedClaim(verb, "entity", thing, negated=True) for thing in things]


def _is_shown(view: View, verb: Word) -> bool:
    words = view.tree.kids(verb, "acomp", "advmod")
    return verb.lemma in {"be", "become"} and any(kid.text in WORDS["shown"] for kid in words)


def _attributes(view: View, clause: Clause) -> Iterator[UntimedClaim]:
    verb, tree = clause.verb, view.tree
    for kid in tree.kids(verb, "acomp", "oprd", "advmod", "prt", "prep", "attr"):
        for word in _joined_words(view, kid):
            adjective = word.tag in {"JJ", "JJR", "VBN", "VBG"} and word.dep != "advmod"
            switch = word.text in WORDS["switches"] and not about(tree, word)
            if not (adjective or switch) or word.index < verb.index:
                continue
            for thing in clause.objects if clause.passive else clause.subjects:
                kind: ClaimKind = "action" if verb.lemma == "turn" else "attribute"
                state = f"turn {word.text}" if kind == "action" else word.text
                yield UntimedClaim(verb, kind, thing, state, None, clause.negated)


def _joined_words(view: View, word: Word) -> Iterator[Word]:
    yield word
    for other in view.tree.kids(word, "conj"):
        yield from _joined_words(view, other)


def _actions(view: View, clause: Clause) -> list[UntimedClaim]:
    action, preposition = clauses.predicate(view.tree, clause)
    # "The lamp stands on the desk" says where it is; "the man stands on the desk" also acts.
    posture = clause.verb.lemma in WORDS["postures"] and not any(map(is_actor, clause.subjects))
    if (posture and view.tree.kids(clause.verb, "prep")) or not (clause.subjects or clause.objects):
        return []
    things: Iterable[str | None] = clause.objects or (None,)
    if preposition is not None:
        nouns = about(view.tree, preposition)
        things = [thing for noun in nouns for thing in referents(view, noun)] or (None,)
    return [
        UntimedClaim(clause.verb, "action", subject, action, thing, clause.negated)
        for subject in clause.subjects or ("",)
        for thing in things
    ]


def relation(prep: Word, placed: bool = False) -> str | None:
    """The relation that a preposition says; "into" says one only of what was put there."""
    if prep.name != prep.text:  # the parser was shown another word: the name is the relation
        return None if prep.name == "to" else prep.name
    return None if prep.text in WORDS["towards"] and not placed else RELATIONS.get(prep.text)


def places_of_clause(view: View, clause: Clause) -> list[UntimedClaim]:
    """Where a clause says that its subject is, or the object that it puts somewhere."""
    verb = clause.verb
    placed = verb.lemma in WORDS["placing"]
    # "looks at the cup": the preposition is part of the action and says nothing of a place.
    _, own = clauses.predicate(view.tree, clause)
    words = [verb, *view.tree.kids(verb, "acomp", "oprd", "prt", "advmod", "attr")]
    return [
        claim
        for word in words
        if not (word.dep == "attr" and word.is_noun and not view.tree.kids(verb, "expl"))
        for prep in _prepositions(view, word)
        if prep is not own and not (verb.lemma in WORDS["moving"] and relation(prep) in _PASSED)
        if not (placed and prep.text == "at")
        for claim in _places_of(view, clause, prep)
    ]


def _says_where(view: View, prep: Word) -> bool:
    return view.tree.head(prep).lemma == "be" and relation(prep) is not None


def _places_of(view: View, clause: Clause, prep: Word) -> list[UntimedClaim]:
    """The relations that a clause's preposition tells: of the object of what is put somewhere or
    handled, but of who does it where the place is a room or a seat."""
    rooms = any(noun.lemma in WORDS["rooms"] for noun in about(view.tree, prep))
    put = clause.passive or clause.verb.lemma in WORDS["placing"]
    things, negated = clause.subjects, clause.negated
    if put and clause.objects:
        things = clause.objects
    elif view.tree.kids(clause.verb, "dobj") and prep.text in {"in", "on", "under"} and not rooms:
        things, negated = clause.objects, False
    return _relations_of(view, things, prep, negated, placed=clause.verb.lemma in WORDS["placing"])


def places_of_nouns(view: View, skipped: set[int]) -> list[UntimedClaim]:
    """Where a noun's own prepositions say that it is ("the cup on the table")."""
    claims = []
    for noun in view.tree.words:
        if noun.index in skipped or not (noun.is_noun and is_nameable(view.tree, noun)):
            continue
        if noun.dep == "pobj" and _says_where(view, view.tree.head(noun)):
            continue
        things = [
            name_of(view.tree, head)
            for head in heads(view.tree, noun)
            if is_nameable(view.tree, head)
        ]
        for prep in _prepositions(view, noun):
            clothes = _clothes_of(view, things, prep)
            denied = is_denied(view.tree, noun)
            claims += clothes or _relations_of(view, things, prep, denied)
    return claims


def relations_between(
    word: Word, subjects: Iterable[str], name: str, objects: Sequence[str], negated: bool
) -> list[UntimedClaim]:
    """The relation of each to each; between two things is one."""
    if name == "between":  # one relation to both, not one to each
        objects = [" and ".join(objects)]
    return [
        UntimedClaim(word, "relation", subject, name, object_, negated)
        for subject in subjects
        for object_ in objects
        if subject != object_
    ]


def _relations_of(
    view: View, things: Iterable[str], prep: Word, negated: bool, placed: bool = False
) -> list[UntimedClaim]:
    name = relation(prep, placed)
    negated = negated or bool(view.tree.kids(prep, "neg"))
    others = [phrase for noun in about(view.tree, prep) for phrase in referents(view, noun)]
    return relations_between(prep, things, name, others, negated) if name and others else []


def _clothes_of(view: View, things: list[str], prep: Word) -> list[UntimedClaim]:
    """ "a man in a blue shirt" wears it."""
    if prep.text != "in" or not any(map(is_person, things)):
        return []
    clothes = [
        name_of(view.tree, noun) for noun in about(view.tree, prep) if noun.text in WORDS["clothes"]
    ]
    return [
        UntimedClaim(prep, "action", thing, "wear", garment)
        for thing in things
        for garment in clothes
    ]


def _prepositions(view: View, word: Word) -> Iterator[Word]:
    for prep in view.tree.kids(word, "prep"):
        yield prep
        yield from view.tree.kids(prep, "conj")
        if _says_where(view, prep):  # "is on the counter next to the stove"
            for noun in about(view.tree, prep):
                yield from view.tree.kids(noun, "prep")


Order = tuple[UntimedClaim, str, UntimedClaim]  # event, "before" | "after" | "while", event


def orders_of(
    view: View, claims: Sequence[UntimedClaim], last: UntimedClaim | None
) -> Iterator[Order]:
    """The pairs whose order is told; "then" looks back to what happened last, `last` before this
    sentence."""
    tree = view.tree
    # Reversed, so that of several claims of a word the first stays.
    events = {event.word.index: event for event in reversed(claims) if event.happens}
    for verb in tree.words:
        event = events.get(verb.index)
        if event is None:
            continue
        if order := _order_word(tree, verb):
            # "before sitting": the participle hangs on "before", which hangs on the other verb.
            head = tree.head(tree.head(verb)) if verb.dep == "pcomp" else tree.head(verb)
            if (other_event := events.get(head.index)) is not None:
                yield other_event, order, event
        if any(kid.text in WORDS["order"] for kid in tree.kids(verb, "advmod", "dep", "npadvmod")):
            earlier = [events[index] for index in sorted(events) if index < verb.index]
            before = earlier[-1] if earlier else last
            if before is not None and before is not event:
                yield before, "before", event


def _order_word(tree: Tree, verb: Word) -> str | None:
    """How a clause is bound to the one that it hangs on: "after he sits", "before sitting"."""
    if verb.dep == "pcomp":
        return ORDERS.get(tree.head(verb).text)
    if verb.dep != "advcl":
        return None
    marks = tree.kids(verb, "mark", "advmod")
    return next((ORDERS[kid.text] for kid in marks if kid.text in ORDERS), None)
