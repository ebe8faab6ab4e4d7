"""The claims of one parsed sentence: by kind, where things are, and what comes before what."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.english import clauses
from cuescope_step_grounding.claims.english.clauses import Clause, about
from cuescope_step_grounding.claims.english.counts import counts, is_counted
from cuescope_step_grounding.claims.english.denial import (
    is_any,
    is_denied,
    is_known,
    is_left_out,
    polarity,
)
from cuescope_step_grounding.claims.english.hedging import is_question, unreported_words
from cuescope_step_grounding.claims.english.lexicon import AGENT, ORDERS, VERBS, WORDS
from cuescope_step_grounding.claims.english.phrases import (
    View,
    heads,
    is_actor,
    is_agent,
    is_nameable,
    name_of,
    referents,
)
from cuescope_step_grounding.claims.english.places import (
    places_of_clause,
    places_of_nouns,
    relations_between,
)
from cuescope_step_grounding.claims.english.tree import Tree, UntimedClaim, Word


def untimed_claims(view: View) -> list[UntimedClaim]:
    """All that a sentence claims, the things first; nothing of one about the question or answer."""
    tree = view.tree
    if is_question(tree):
        return []
    plans = unreported_words(tree)
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
    claims += places_of_nouns(view, skipped) + list(_states_of_fragment(view))
    claims += counts(view, plans)
    # What is denied at a place may well be elsewhere.
    placed = {claim.subject for claim in claims if claim.kind == "relation" and claim.negated}
    claims = [
        claim
        for claim in claims
        if not (claim.kind == "entity" and claim.negated and claim.subject in placed)
    ]
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
        and not is_agent(view.tree, word)
        and not (is_denied(view.tree, word) and not is_known(view.tree, word))
        and heads(view.tree, word)[0] is word
        and not is_any(view.tree, word)
        and not is_left_out(view.tree, word)
    ]


def claims_of_clause(view: View, clause: Clause) -> list[UntimedClaim]:
    """What a clause says of its subject: its state, its action, or the camera's motion."""
    verb, lemma = clause.verb, clause.verb.lemma
    agent = AGENT in clause.subjects
    if agent and (direction := clauses.camera_motion(view.tree, verb)):
        if clause.negated and (lemma, direction) == ("move", "move forward"):  # "does not move"
            return [UntimedClaim(verb, "ego-motion", "", "stop")]
        return [UntimedClaim(verb, "ego-motion", "", direction, None, clause.negated)]
    if lemma in WORDS["beginning"] | WORDS["failing"] and _has_part(view.tree, verb):
        return list(_results(view, clause))
    if clause.passive and lemma in {"leave", "keep"} and (states := [*_results(view, clause)]):
        return states  # "is left open"
    if lemma == "be" or (lemma in WORDS["linking"] and view.tree.kids(verb, "acomp", "oprd")):
        return list(_attributes(view, clause))
    if is_state(view, clause):
        things = [
            thing for thing in clause.objects if lemma not in WORDS["nowhere"] and thing != AGENT
        ]
        # "painted green": green is what it is
        how = [kid.text for kid in view.tree.kids(verb, "oprd", "acomp") if kid.tag[:2] == "JJ"]
        return [
            UntimedClaim(verb, "attribute", thing, state, None, clause.denies(thing))
            for thing in things
            for state in how or [verb.text]
        ]
    if lemma == "make" and clause.passive and (of := _material(view, verb)):
        return [
            UntimedClaim(verb, "attribute", thing, f"made of {of}", None, clause.denies(thing))
            for thing in clause.objects
        ]
    if lemma == "surround" and clause.passive:
        return relations_between(verb, clause.subjects, "around", clause.objects, clause.negated)
    if is_holding(clause):
        return [
            claim
            for thing in clause.objects
            for claim in relations_between(
                verb, [thing], "inside", clause.subjects, clause.denies(thing)
            )
        ]
    # "Has" says too little to be seen, and what the camera's holder plans is no event.
    if lemma in WORDS["causing"] - {"see", "watch", "hear", "help"} and view.tree.kids(
        verb, "ccomp"
    ):
        return []
    if agent and lemma in WORDS["filming"]:
        return []
    if lemma in {"look", "act"} and _is_as_if(view.tree, verb):
        return []
    if lemma in {"say", "read"} and not any(map(is_actor, clause.subjects)):
        return []  # "the sign says"
    if verb.text in WORDS["results"] and view.tree.head(verb).lemma in {"have", "leave", "keep"}:
        return []  # "have their books open" says how the books are
    if lemma == "have":
        return list(_results(view, clause))
    if any(noun.lemma in WORDS["out_of_nowhere"] for noun in _nouns_after(view.tree, verb)):
        return []  # "comes into view"
    if agent and lemma in WORDS["planning"]:
        return []
    return [*_actions(view, clause), *_results(view, clause)]


def _has_part(tree: Tree, verb: Word) -> bool:
    """Whether what follows is what begins or ends: "stops walking", but not "stops to look"."""
    parts = tree.kids(verb, "xcomp")
    if verb.lemma == "stop":
        return any(kid.tag == "VBG" for kid in parts)
    return bool(parts)


def is_state(view: View, clause: Clause) -> bool:
    """Whether a passive says how a thing is ("is closed"), not what is done to it."""
    verb = clause.verb
    helpers = {kid.text for kid in view.tree.kids(verb, "aux", "auxpass")}
    lasting = verb.lemma in WORDS["states"] | WORDS["nowhere"] or verb.text in WORDS["states"]
    later = {kid.text for kid in view.tree.kids(verb, "advmod")} & WORDS["order"]
    done = later | helpers & {"been", "being", "get", "gets", "got"}
    return clause.passive and not clause.subjects and lasting and not done


def _material(view: View, verb: Word) -> str | None:
    """What something is made of."""
    preps = (prep for prep in view.tree.kids(verb, "prep") if prep.text in {"of", "from"})
    nouns = (noun for prep in preps for noun in view.tree.kids(prep, "pobj"))
    return next((phrase for noun in nouns for phrase in referents(view, noun)), None)


def _nouns_after(tree: Tree, verb: Word) -> Iterator[Word]:
    return (noun for prep in tree.kids(verb, "prep") for noun in tree.kids(prep, "pobj"))


def is_holding(clause: Clause) -> bool:
    """Whether a clause says what a thing has in it: "the shelf contains books"."""
    verb = clause.verb
    holds = verb.lemma in WORDS["holding"] and not clause.passive
    if verb.lemma == "hold" and (verb.tag == "VBG" or AGENT in clause.subjects):
        return False  # "the hand is holding a brush"
    grips = any(head_noun(phrase) in WORDS["grippers"] for phrase in clause.subjects)
    things = bool(clause.subjects) and not any(map(is_actor, clause.subjects))
    return holds and things and not (grips and verb.lemma == "hold")


def is_sight(view: View, clause: Clause) -> bool:
    """Whether a clause only says that something is there to be seen."""
    verb = clause.verb
    if is_holding(clause):
        return False
    watchers = [phrase for phrase in clause.subjects if phrase != AGENT and is_actor(phrase)]
    is_seen = verb.lemma in WORDS["seeing"] and not watchers
    return is_seen or _is_shown(view, verb) or bool(view.tree.kids(verb, "expl"))


def claims_of_sight(view: View, clause: Clause) -> list[UntimedClaim]:
    """Where what is seen is; what is denied without a place is not there at all."""
    tree, verb = view.tree, clause.verb
    shown = tree.kids(verb, "attr", "nsubj", "dobj") if tree.kids(verb, "expl") else []
    things = tuple(phrase for kid in shown for phrase in referents(view, kid))
    things = things or (clause.subjects if _is_shown(view, verb) else clause.objects)
    nouns = [noun for kid in shown for noun in heads(tree, kid)]
    negated = clause.negated or (bool(nouns) and all(is_denied(tree, noun) for noun in nouns))
    opposed = {
        phrase
        for noun in nouns
        if (clause.negated or is_denied(tree, noun)) != negated
        for phrase in referents(view, noun)
    }
    if negated == clause.negated:
        opposed |= clause.opposed
    seen = Clause(verb, things, (), False, negated, frozenset(opposed))
    where = places_of_clause(view, seen)
    placed = {claim.subject for claim in where}
    counted = {name_of(tree, noun) for noun in nouns or tree.words if is_counted(tree, noun)}
    return where + [
        UntimedClaim(verb, "entity", thing, negated=True)
        for thing in things
        if seen.denies(thing) and thing not in placed | counted
    ]


def _is_shown(view: View, verb: Word) -> bool:
    words = view.tree.kids(verb, "acomp", "advmod")
    return verb.lemma in {"be", "become"} and any(kid.text in WORDS["shown"] for kid in words)


def _attributes(view: View, clause: Clause) -> Iterator[UntimedClaim]:
    verb, tree = clause.verb, view.tree
    complements = tree.kids(verb, "acomp", "oprd", "advmod", "prt", "prep", "attr")
    if verb.dep == "conj" and clause.negated and verb.index >= len(tree.words) - 3:
        # "the left one is open, but the right one is not"
        complements = tree.kids(tree.head(verb), "acomp", "advmod", "prt", "prep")
    for kid in complements:
        for word in _joined_words(view, kid):
            than = [prep for prep in tree.kids(word, "prep") if prep.text == "than"]
            if than and (others := [p for n in about(tree, than[0]) for p in referents(view, n)]):
                name = _comparison(tree, word)
                for thing, other in product(clause.subjects, others):
                    yield UntimedClaim(word, "relation", thing, name, other, clause.negated)
                continue
            if _is_going_on(word):
                # "water is dripping" is no state
                for thing in clause.subjects:
                    yield UntimedClaim(
                        word, "action", thing, word.lemma, None, clause.denies(thing)
                    )
                continue
            adjective = word.tag in {"JJ", "JJR", "VBN", "VBG"} and word.dep != "advmod"
            switch = word.text in WORDS["switches"] and not about(tree, word)
            if not (adjective or switch) or (kid.head == verb.index and word.index < verb.index):
                continue
            things = clause.objects if clause.passive else clause.subjects
            for thing in [thing for thing in things if thing != AGENT]:
                kind = "action" if verb.lemma == "turn" else "attribute"
                state = f"turn {word.text}" if kind == "action" else word.text
                negated = polarity(tree, word, clause.denies(thing))
                yield UntimedClaim(verb, kind, thing, state, None, negated)


def _is_as_if(tree: Tree, verb: Word) -> bool:
    """ "looks as if he were asleep" says how it seems."""
    clauses_after = tree.kids(verb, "advcl", "ccomp")
    return any(
        kid.text in {"if", "though", "like"}
        for after in clauses_after
        for kid in tree.kids(after, "mark")
    )


def _states_of_fragment(view: View) -> Iterator[UntimedClaim]:
    """ "Lights off, drawer empty": a sentence without a verb."""
    tree = view.tree
    if any(word.tag in {"VBZ", "VBP", "VBD", "VBG", "VB", "MD"} for word in tree.words):
        return
    for noun, state in pairwise(tree.words):
        last = state.index + 1 == len(tree.words) or not tree.words[state.index + 1].text.isalpha()
        says = state.tag in {"JJ", "VBN"} or state.text in WORDS["switches"]
        if last and says and noun.is_noun and is_nameable(tree, noun):
            yield UntimedClaim(state, "attribute", name_of(tree, noun), state.text)


def _is_going_on(word: Word) -> bool:
    """ "is dripping", which a parser took for a state; but not "is missing"."""
    known = word.text in VERBS and word.text not in WORDS["adjectives"]
    return known and word.tag == "VBG" and word.dep == "acomp"


def _comparison(tree: Tree, word: Word) -> str:
    """ "taller than", "more colourful than"."""
    degree = [kid.text for kid in tree.kids(word, "advmod") if kid.text in {"more", "less"}]
    return " ".join([*degree, word.text, "than"])


def _results(view: View, clause: Clause) -> Iterator[UntimedClaim]:
    """How something is after it was handled: "pushes it open", "has her eyes closed"."""
    tree, verb = view.tree, clause.verb
    if clause.verb.lemma in WORDS["linking"] - {"keep"}:
        return
    for kid in tree.kids(verb, "acomp", "oprd", "ccomp", "xcomp", "advmod", "advcl", "prt"):
        if kid.text not in WORDS["results"] or kid.index < verb.index or tree.kids(kid, "aux"):
            continue
        own = [phrase for word in tree.kids(kid, "nsubj") for phrase in referents(view, word)]
        for thing in own or clause.objects:
            yield UntimedClaim(kid, "attribute", thing, kid.text, None, clause.denies(thing))


def _joined_words(view: View, word: Word) -> Iterator[Word]:
    yield word
    for other in view.tree.kids(word, "conj"):
        yield from _joined_words(view, other)


def _idiom(tree: Tree, verb: Word) -> tuple[str, ...]:
    """What a verb that says little by itself is said with: "pay attention", "take a bite"."""
    nouns = tree.kids(verb, "dobj") if verb.lemma in WORDS["light"] else []
    return tuple(noun.lemma for noun in nouns if noun.is_noun)


def _actions(view: View, clause: Clause) -> list[UntimedClaim]:
    action, preposition = clauses.predicate(view.tree, clause)
    # "The lamp stands on the desk" says where it is; "the man stands on the desk" also acts.
    posture = clause.verb.lemma in WORDS["postures"] and not any(map(is_actor, clause.subjects))
    if (posture and view.tree.kids(clause.verb, "prep")) or not (clause.subjects or clause.objects):
        return []
    things: Iterable[str | None] = clause.objects or _idiom(view.tree, clause.verb) or (None,)
    if preposition is not None:
        nouns = about(view.tree, preposition)
        things = [thing for noun in nouns for thing in referents(view, noun)] or (None,)
    return [
        UntimedClaim(clause.verb, "action", subject, action, thing, clause.denies(subject, thing))
        for subject in clause.subjects or ("",)
        for thing in things
    ]


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
        if _follows(tree, verb):
            earlier = [events[index] for index in sorted(events) if index < verb.index]
            earlier = [event for event in earlier if event.word.is_verb]
            before = earlier[-1] if earlier else last
            if before is not None and before is not event:
                yield before, "before", event


def _follows(tree: Tree, verb: Word) -> bool:
    """Whether "then" or the like stands with a verb, or straight before it."""
    words = tree.kids(verb, "advmod", "dep", "npadvmod")
    if verb.index and tree.words[verb.index - 1].text == "then":
        words.append(tree.words[verb.index - 1])
    return any(word.text in WORDS["order"] for word in words)


def _order_word(tree: Tree, verb: Word) -> str | None:
    """How a clause is bound to the one that it hangs on: "after he sits", "before sitting"."""
    if verb.dep == "pcomp":
        return ORDERS.get(tree.head(verb).text)
    if verb.dep != "advcl":
        return None
    marks = tree.kids(verb, "mark", "advmod")
    if {"if", "though"} & {kid.text for kid in marks}:
        return None
    return next((ORDERS[kid.text] for kid in marks if kid.text in ORDERS), None)
