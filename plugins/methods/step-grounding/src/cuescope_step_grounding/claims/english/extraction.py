"""The claims of one parsed sentence: by kind, where things are, and what comes before what."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise, product

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
from cuescope_step_grounding.claims.english.hedging import unreported_words
from cuescope_step_grounding.claims.english.lexicon import AGENT, ORDERS, VERBS, WORDS
from cuescope_step_grounding.claims.english.names import (
    heads,
    is_actor,
    is_agent,
    is_nameable,
    name_of,
)
from cuescope_step_grounding.claims.english.phrases import (
    View,
    all_referents,
    referents_of,
)
from cuescope_step_grounding.claims.english.places import (
    places_of_clause,
    places_of_nouns,
    relations_between,
)
from cuescope_step_grounding.claims.english.tree import (
    UntimedClaim,
    Word,
    Words,
    text_of,
)


def untimed_claims(view: View) -> list[UntimedClaim]:
    """All that a sentence claims, the things first; nothing of one about the question or answer."""
    # a question reports nothing; a quotation mark may follow its own
    if "?" in map(text_of, view.words[-2:]):
        return []
    plans = unreported_words(view.words)
    claims: list[UntimedClaim] = []
    absent: set[str] = set()
    skipped = set(plans)
    for verb in view.words:
        if not verb.is_verb or verb.index in plans:
            continue
        clause = clauses.read_clause(view, verb)
        if is_sight(clause):
            seen = claims_of_sight(view, clause)
            claims += seen
            absent.update(claim.subject for claim in seen if claim.negated)
            # "There is a cup on the table": the clause has told where; its noun must not again.
            skipped.update(kid.index for kid in verb.kids("attr"))
        else:
            claims += claims_of_clause(view, clause)
            claims += places_of_clause(view, clause)
    claims += places_of_nouns(view, skipped)
    claims += _states_of_fragment(view.words)
    claims += counts(view, plans)
    # What is denied at a place may well be elsewhere.
    denied = [claim for claim in claims if claim.negated]
    placed = {claim.subject for claim in denied if claim.kind == "relation"}
    for claim in denied:
        if claim.kind == "entity" and claim.subject in placed:
            claims.remove(claim)
    # What a sentence denies is not also claimed as being there.
    named = [item for item in entities(view, plans) if item.subject not in absent]
    return named + claims


def entities(view: View, plans: set[int]) -> Iterator[UntimedClaim]:
    """The things that are named, each as it is called."""
    for word in view.words:
        # the "kitchen" of "kitchen counter" is part of that name
        part = word.dep in {"compound", "amod", "nmod"}
        if part or word.index in plans or not is_nameable(word) or is_agent(word):
            continue
        denied = is_denied(word) and not is_known(word)
        absent = denied or is_any(word) or is_left_out(word)
        # "a row of chairs" names the chairs
        if heads(word)[0] is word and not absent:
            yield UntimedClaim(word, "entity", name_of(word))


def claims_of_clause(view: View, clause: Clause) -> list[UntimedClaim]:
    """What a clause says of its subject: its state, its action, or the camera's motion."""
    verb = clause.verb
    lemma = verb.lemma
    agent = AGENT in clause.subjects
    direction = clauses.camera_motion(verb) if agent else None
    if direction:
        denied = clause.negated
        # "does not move"
        if denied and (lemma, direction) == ("move", "move forward"):
            direction = "stop"
            denied = False
        return [UntimedClaim(verb, "ego-motion", "", direction, None, denied)]
    results = list(_results(view, clause))
    # "stops walking" ends it, "stops to look" does not
    ended = [kid for kid in verb.kids("xcomp") if lemma != "stop" or kid.tag == "VBG"]
    if ended and lemma in WORDS.beginning | WORDS.failing:
        return results
    # "is left open"
    if results and clause.passive and lemma in {"leave", "keep"}:
        return results
    # "feels soft" is a state, "feels the wall" is none
    if lemma == "be" or (lemma in WORDS.linking and verb.kids("acomp", "oprd")):
        return list(_attributes(view, clause))
    if is_state(clause):
        return list(_states(clause))
    if lemma == "make" and clause.passive:
        for material in all_referents(view, verb.nouns_of({"of", "from"}))[:1]:
            made_of = f"made of {material}"
            return [_attribute(clause, verb, p, made_of) for p in clause.objects]
    if lemma == "surround" and clause.passive:
        return list(
            relations_between(
                verb,
                clause.subjects,
                "around",
                clause.objects,
                clause.negated,
            )
        )
    if is_holding(clause):
        claims: list[UntimedClaim] = []
        for phrase in clause.objects:
            claims += relations_between(
                verb,
                [phrase],
                "inside",
                clause.subjects,
                clause.denies(phrase),
            )
        return claims
    if _is_no_event(clause):
        return []
    if lemma == "have":
        return results
    places = {noun.lemma for noun in verb.grandkids("prep", "pobj")}
    # "comes into view"
    if places & WORDS.out_of_nowhere or (agent and lemma in WORDS.planning):
        return []
    return _actions(view, clause) + results


def _attribute(clause: Clause, word: Word, phrase: str, state: str) -> UntimedClaim:
    return UntimedClaim(word, "attribute", phrase, state, None, clause.denies(phrase))


def _states(clause: Clause) -> Iterator[UntimedClaim]:
    """How things are, of a passive ("is closed")."""
    verb = clause.verb
    if verb.lemma in WORDS.nowhere:
        return
    # "painted green": green is what it is
    states = [kid.text for kid in verb.kids("oprd", "acomp") if kid.tag[:2] == "JJ"]
    for phrase in clause.objects:
        if phrase != AGENT:
            for state in states or [verb.text]:
                yield _attribute(clause, verb, phrase, state)


def _is_no_event(clause: Clause) -> bool:
    """Whether a clause says too little to be seen ("has"), or what the camera's holder plans."""
    verb = clause.verb
    causing = WORDS.causing - {"see", "watch", "hear", "help"}
    if verb.lemma in causing and verb.kids("ccomp"):
        return True
    # "I zoom in" tells of the filming alone
    if AGENT in clause.subjects and verb.lemma in WORDS.filming:
        return True
    # "looks as if he were asleep" says how it seems
    marks = verb.grandkids("advcl", "mark") + verb.grandkids("ccomp", "mark")
    seems = any(mark.text in {"if", "though", "like"} for mark in marks)
    if verb.lemma in {"look", "act"} and seems:
        return True
    # "the sign says"
    if verb.lemma in {"say", "read"} and not any(map(is_actor, clause.subjects)):
        return True
    # "have their books open" says how the books are
    left = verb.head.lemma in {"have", "leave", "keep"}
    return left and verb.text in WORDS.results


def is_state(clause: Clause) -> bool:
    """Whether a passive says how a thing is ("is closed"), not what is done to it."""
    verb = clause.verb
    lasting = {verb.lemma, verb.text} & WORDS.states or verb.lemma in WORDS.nowhere
    if not clause.passive or clause.subjects or not lasting:
        return False
    # "is being closed" and "is then closed" tell of an event
    done = verb.has({"been", "being", "get", "gets", "got"}, "aux", "auxpass")
    return not done and not verb.has(WORDS.order, "advmod")


def is_holding(clause: Clause) -> bool:
    """Whether a clause says what a thing has in it: "the shelf contains books"."""
    verb = clause.verb
    if verb.lemma not in WORDS.holding or clause.passive or not clause.subjects:
        return False
    # "a man holds a cup": who acts does not have it inside
    if any(map(is_actor, clause.subjects)):
        return False
    if verb.lemma != "hold":
        return True
    grips = any(head_noun(phrase) in WORDS.grippers for phrase in clause.subjects)
    return verb.tag != "VBG" and not grips  # "the hand is holding a brush"


def is_sight(clause: Clause) -> bool:
    """Whether a clause only says that something is there to be seen."""
    verb = clause.verb
    if is_holding(clause):
        return False
    watched = any(phrase != AGENT and is_actor(phrase) for phrase in clause.subjects)
    sees = verb.lemma in WORDS.seeing and not watched
    return sees or _is_shown(verb) or bool(verb.kids("expl"))


def claims_of_sight(view: View, clause: Clause) -> list[UntimedClaim]:
    """Where what is seen is; what is denied without a place is not there at all."""
    verb = clause.verb
    # "there is a cup": the thing stands behind the verb
    shown = verb.kids("attr", "nsubj", "dobj") if verb.kids("expl") else []
    phrases = tuple(all_referents(view, shown))
    phrases = phrases or (clause.subjects if _is_shown(verb) else clause.objects)
    nouns = list(chain.from_iterable(map(heads, shown)))
    negated = clause.negated or (bool(nouns) and all(map(is_denied, nouns)))
    opposed = set()
    for noun in nouns:
        if (clause.negated or is_denied(noun)) != negated:
            opposed.update(referents_of(view, noun))
    if negated == clause.negated:
        opposed |= clause.opposed
    seen = Clause(verb, phrases, (), False, negated, frozenset(opposed))
    claims = places_of_clause(view, seen)
    told = {claim.subject for claim in claims}
    # "there are not three cups" denies the number: some may be there
    told |= {name_of(noun) for noun in nouns or view.words if is_counted(noun)}
    for phrase in phrases:
        if seen.denies(phrase) and phrase not in told:
            claims.append(UntimedClaim(verb, "entity", phrase, negated=True))
    return claims


def _is_shown(verb: Word) -> bool:
    shown = verb.has(WORDS.shown, "acomp", "advmod")
    return shown and verb.lemma in {"be", "become"}


def _attributes(view: View, clause: Clause) -> Iterator[UntimedClaim]:
    verb = clause.verb
    complements = verb.kids("acomp", "oprd", "advmod", "prt", "prep", "attr")
    if verb.dep == "conj" and clause.negated and verb.index >= len(view.words) - 3:
        # "the left one is open, but the right one is not"
        complements = verb.head.kids("acomp", "advmod", "prt", "prep")
    for kid in complements:
        for word in _joined_words(kid):
            inverted = kid.head is verb and word.index < verb.index
            others = _compared_with(view, word)
            if others:
                yield from _comparisons(clause, word, others)
            elif _is_happening(word):
                for subject in clause.subjects:
                    yield UntimedClaim(
                        word,
                        "action",
                        subject,
                        word.lemma,
                        None,
                        clause.denies(subject),
                    )
            elif _is_said_of_subject(word) and not inverted:
                yield from _qualities(clause, word)


def _compared_with(view: View, word: Word) -> list[str]:
    """What follows "than"."""
    for prep in word.kids("prep"):
        if prep.text == "than":
            return all_referents(view, about(prep))
    return []


def _comparisons(
    clause: Clause,
    word: Word,
    others: Sequence[str],
) -> Iterator[UntimedClaim]:
    """ "taller than", "more colourful than"."""
    degree = sorted(word.texts("advmod") & {"more", "less"})
    name = " ".join([*degree, word.text, "than"])
    for subject, other in product(clause.subjects, others):
        yield UntimedClaim(word, "relation", subject, name, other, clause.negated)


def _is_happening(word: Word) -> bool:
    """Whether a complement tells of an event: "water is dripping", but not "is missing"."""
    verb = word.text in VERBS and word.text not in WORDS.adjectives
    return verb and word.tag == "VBG" and word.dep == "acomp"


def _is_said_of_subject(word: Word) -> bool:
    adjective = word.tag in {"JJ", "JJR", "VBN", "VBG"} and word.dep != "advmod"
    return adjective or (word.text in WORDS.switches and not about(word))


def _qualities(clause: Clause, word: Word) -> Iterator[UntimedClaim]:
    """What a complement says of a clause's things: "is open", "turned off"."""
    turns = clause.verb.lemma == "turn"
    kind = "action" if turns else "attribute"
    state = f"turn {word.text}" if turns else word.text
    for phrase in clause.objects if clause.passive else clause.subjects:
        if phrase != AGENT:
            yield UntimedClaim(
                clause.verb,
                kind,
                phrase,
                state,
                None,
                polarity(word, clause.denies(phrase)),
            )


def _states_of_fragment(words: Words) -> Iterator[UntimedClaim]:
    """ "Lights off, drawer empty": a sentence without a verb."""
    if any(word.tag[:2] in {"VB", "MD"} for word in words):
        return
    for noun, state in pairwise(words):
        following = words[state.index + 1 : state.index + 2]
        last = not following or not following[0].text.isalpha()
        says = state.tag in {"JJ", "VBN"} or state.text in WORDS.switches
        if last and says and noun.is_noun and is_nameable(noun):
            yield UntimedClaim(state, "attribute", name_of(noun), state.text)


def _results(view: View, clause: Clause) -> Iterator[UntimedClaim]:
    """How something is after it was handled: "pushes it open", "has her eyes closed"."""
    verb = clause.verb
    if verb.lemma in WORDS.linking - {"keep"}:
        return
    for kid in verb.kids("acomp", "oprd", "ccomp", "xcomp", "advmod", "advcl", "prt"):
        before = kid.index < verb.index
        if before or kid.text not in WORDS.results or kid.kids("aux"):
            continue
        for phrase in all_referents(view, kid.kids("nsubj")) or clause.objects:
            yield _attribute(clause, kid, phrase, kid.text)


def _joined_words(word: Word) -> Iterator[Word]:
    yield word
    for other in word.kids("conj"):
        yield from _joined_words(other)


def _actions(view: View, clause: Clause) -> list[UntimedClaim]:
    verb = clause.verb
    action, preposition = clauses.predicate(clause)
    # "The lamp stands on the desk" says where it is; "the man stands on the desk" also acts.
    acts = any(map(is_actor, clause.subjects))
    posture = verb.lemma in WORDS.postures and verb.kids("prep") and not acts
    if posture or not (clause.subjects or clause.objects):
        return []
    objects: Iterable[str | None] = clause.objects
    if preposition is not None:
        objects = all_referents(view, about(preposition))
    elif not objects and verb.lemma in WORDS.light:
        # What a verb that says little by itself is said with: "pay attention", "take a bite".
        objects = [noun.lemma for noun in verb.kids("dobj") if noun.is_noun]
    claims = []
    # a passive need not say who does it
    for subject, other in product(clause.subjects or ("",), objects or (None,)):
        claims.append(
            UntimedClaim(
                verb,
                "action",
                subject,
                action,
                other,
                clause.denies(subject, other),
            )
        )
    return claims


# event, "before" | "after" | "while", event
Order = tuple[UntimedClaim, str, UntimedClaim]


def orders_of(
    view: View,
    claims: Sequence[UntimedClaim],
    last: UntimedClaim | None,
) -> Iterator[Order]:
    """The pairs whose order is told; "then" looks back to what happened last, `last` before this
    sentence."""
    # Reversed, so that of several claims of a word the first stays.
    events = {event.word: event for event in reversed(claims) if event.happens}
    before = last
    for verb in view.words:
        event = events.get(verb)
        if event is None:
            continue
        order = _order_word(verb)
        # "before sitting": the participle hangs on "before", which hangs on the other verb.
        other = events.get(verb.head.head if verb.dep == "pcomp" else verb.head)
        if order and other is not None:
            yield other, order, event
        # "then" or the like stands with a verb, or straight before it
        then = verb.has(WORDS.order, "advmod", "dep", "npadvmod")
        follows = then or verb.before == "then"
        if follows and before is not None and before is not event:
            yield before, "before", event
        if verb.is_verb:
            before = event


def _order_word(verb: Word) -> str | None:
    """How a clause is bound to the one that it hangs on: "after he sits", "before sitting"."""
    if verb.dep == "pcomp":
        return ORDERS.get(verb.head.text)
    if verb.dep != "advcl":
        return None
    marks = list(map(text_of, verb.kids("mark", "advmod")))
    if {"if", "though"} & set(marks):
        return None
    return next(filter(None, map(ORDERS.get, marks)), None)
