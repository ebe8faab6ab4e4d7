"""The claims of one parsed sentence: by kind, where things are, and what comes before what."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product

from cuescope_sdk.grounding import Claim, ClaimKind
from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.english.clauses import (
    Clause,
    Phrase,
    about,
    camera_motion,
    phrases,
    predicate,
    read_clause,
)
from cuescope_step_grounding.claims.english.nouns import (
    Story,
    heads,
    is_actor,
    is_agent,
    is_nameable,
    is_person,
    name_of,
)
from cuescope_step_grounding.claims.english.tokens import (
    Doc,
    Token,
    grandkids,
    has,
    is_any,
    is_definite,
    is_denied,
    is_left_out,
    is_negated,
    is_noun,
    is_verb,
    kids,
    nouns_of,
    polarity,
    texts,
)
from cuescope_step_grounding.claims.english.words import (
    AGENT,
    NUMBERS,
    ORDERS,
    RELATIONS,
    WORDS,
)
from cuescope_step_grounding.claims.times import Frames

_PASSED = {"between", "under", "above", "around", "behind", "across from"}


@dataclass(frozen=True)
class UntimedClaim:
    """A claim as it is said; `word` is the word that says it."""

    word: Token
    kind: str
    subject: str = ""
    predicate: str | None = None
    object: str | None = None
    negated: bool = False

    @property
    def happens(self) -> bool:
        """True if it can come before or after something else."""
        return ClaimKind.declared[self.kind].happens

    def claim(self, text: str, frames: Frames | None) -> Claim:
        return Claim(
            kind=self.kind,
            text=text,
            subject=self.subject,
            predicate=self.predicate,
            object=self.object,
            negated=self.negated,
            frames=frames,
        )


def untimed_claims(
    sentence: Doc, story: Story, unreported: set[int]
) -> list[UntimedClaim]:
    """All that a sentence claims, the things first."""
    # a question reports nothing; a quotation mark may follow its own
    if "?" in {word.text for word in sentence[-2:]}:
        return []
    claims: list[UntimedClaim] = []
    shown: set[int] = set()  # nouns whose place their clause has told
    for verb in filter(is_verb, sentence):
        if verb.i in unreported:
            continue
        clause = read_clause(story, verb)
        if _is_sight(clause):
            claims += _claims_of_sight(story, clause)
            shown.update(kid.i for kid in kids(verb, "attr"))
        else:
            claims += _claims_of_clause(story, clause)
            claims += _places_of_clause(story, clause)
    for noun in filter(is_nameable, sentence):
        if noun.i not in unreported | shown:
            claims += _places_of_noun(story, noun)
    claims += _counts(sentence, unreported)
    # what is denied at a place may well be elsewhere
    denied = [claim for claim in claims if claim.negated]
    placed = {claim.subject for claim in denied if claim.kind == "relation"}
    absent = {claim.subject for claim in denied if claim.kind == "entity"}
    claims = [c for c in claims if c.kind != "entity" or c.subject not in placed]
    things = _entities(sentence, unreported)
    return [*(thing for thing in things if thing.subject not in absent), *claims]


def _entities(sentence: Doc, unreported: set[int]) -> Iterator[UntimedClaim]:
    """The things that are named, each as it is called."""
    for word in sentence:
        # the "kitchen" of "kitchen counter" is part of that name
        part = word.dep_ in {"compound", "amod", "nmod"}
        if part or word.i in unreported or not is_nameable(word) or is_agent(word):
            continue
        known = has(word, {"neither"}, "det") or is_definite(word)
        absent = (is_denied(word) and not known) or is_any(word) or is_left_out(word)
        # "a row of chairs" names the chairs
        if heads(word)[0] == word and not absent:
            yield UntimedClaim(word, "entity", name_of(word))


# ------------------------------------------------------------------------- what a clause says


def _claims_of_clause(story: Story, clause: Clause) -> list[UntimedClaim]:
    """What a clause says of its subject: its state, its action, or the camera's motion."""
    verb = clause.verb
    lemma = verb.lemma_.lower()
    agent = AGENT in {phrase.name for phrase in clause.subjects}
    motion = camera_motion(verb) if agent else None
    if motion:
        # "does not move"
        stops = clause.negated and (lemma, motion) == ("move", "move forward")
        denied = clause.negated and not stops
        return [
            UntimedClaim(
                verb, "ego-motion", "", "stop" if stops else motion, None, denied
            )
        ]
    # "stops walking" ends it, "stops to look" does not
    ended = [kid for kid in kids(verb, "xcomp") if lemma != "stop" or kid.tag_ == "VBG"]
    if ended and lemma in WORDS.beginning | WORDS.failing:
        return []
    # "feels soft" is a state, "feels the wall" is none
    results = list(_results(story, clause))
    # "is left open"
    if lemma == "have" or (results and clause.passive and lemma in {"leave", "keep"}):
        return results
    if lemma == "be" or (lemma in WORDS.linking and kids(verb, "acomp", "oprd")):
        return list(_attributes(clause))
    if _is_state(clause):
        # "painted green": green is what it is
        adjectives = [
            kid for kid in kids(verb, "oprd", "acomp") if kid.tag_[:2] == "JJ"
        ]
        states = [] if lemma in WORDS.nowhere else (adjectives or [verb])
        of = [phrase for phrase in clause.objects if phrase.name != AGENT]
        return [
            UntimedClaim(
                verb, "attribute", thing.name, state.lower_, None, clause.denies(thing)
            )
            for thing, state in product(of, states)
        ]
    if _is_holding(clause):
        return list(_related(clause, verb, clause.objects, "inside", clause.subjects))
    seems = texts_of_marks(verb) & {"if", "though", "like"}
    says = lemma in {"say", "read"} and not any(
        is_actor(p.name) for p in clause.subjects
    )
    causes = lemma in WORDS.causing and bool(kids(verb, "ccomp"))
    films = agent and lemma in WORDS.filming | WORDS.planning
    # "comes into view"
    places = {noun.lemma_ for noun in grandkids(verb, "prep", "pobj")}
    nothing = bool(places & WORDS.out_of_nowhere)
    if (seems and lemma in {"look", "act"}) or says or causes or films or nothing:
        return []
    return _actions(story, clause) + results


def texts_of_marks(verb: Token) -> set[str]:
    """The words that open its subordinate clauses: "as if"."""
    marks = grandkids(verb, "advcl", "mark") + grandkids(verb, "ccomp", "mark")
    return {mark.lower_ for mark in marks}


def _is_state(clause: Clause) -> bool:
    """True if a passive says how a thing is ("is closed"), not what is done to it."""
    verb = clause.verb
    lasting = {verb.lemma_, verb.lower_} & (WORDS.states | WORDS.nowhere)
    # "is being closed" and "is then closed" tell of an event
    event = has(verb, {"been", "being", "get", "gets", "got"}, "aux", "auxpass")
    event = event or has(verb, WORDS.order, "advmod")
    return clause.passive and not clause.subjects and bool(lasting) and not event


def _is_holding(clause: Clause) -> bool:
    """True if a clause says what a thing has in it: "the shelf contains books"."""
    acts = any(is_actor(phrase.name) for phrase in clause.subjects)
    grips = any(head_noun(phrase.name) in WORDS.grippers for phrase in clause.subjects)
    holds = clause.verb.lemma_ in WORDS.holding and not clause.passive
    return holds and bool(clause.subjects) and not acts and not grips


def _is_sight(clause: Clause) -> bool:
    """True if a clause only says that something is there to be seen."""
    verb = clause.verb
    watched = any(p.name != AGENT and is_actor(p.name) for p in clause.subjects)
    sees = verb.lemma_ in WORDS.seeing and not watched and not _is_holding(clause)
    return sees or _is_shown(verb) or bool(kids(verb, "expl"))


def _is_shown(verb: Token) -> bool:
    return verb.lemma_ == "be" and has(verb, WORDS.shown, "acomp", "advmod")


def _claims_of_sight(story: Story, clause: Clause) -> list[UntimedClaim]:
    """Where what is seen is; what is denied without a place is not there at all."""
    verb = clause.verb
    # "there is a cup": the thing stands behind the verb
    nouns = kids(verb, "attr", "nsubj", "dobj") if kids(verb, "expl") else []
    things = phrases(story, nouns, clause.negated)
    things = things or (clause.subjects if _is_shown(verb) else clause.objects)
    seen = Clause(verb, things, (), False, clause.negated)
    claims = _places_of_clause(story, seen)
    told = {claim.subject for claim in claims}
    # "there are not three cups" denies the number: some may be there
    counted = {name_of(noun) for noun in verb.subtree if _number_of(noun) is not None}
    for thing in things:
        if seen.denies(thing) and thing.name not in told | counted:
            claims.append(UntimedClaim(verb, "entity", thing.name, negated=True))
    return claims


def _attributes(clause: Clause) -> Iterator[UntimedClaim]:
    """What a complement says of a clause's things: "is open", "turned off"."""
    verb = clause.verb
    complements = kids(verb, "acomp", "oprd", "advmod", "prt", "prep")
    for word in chain.from_iterable(map(_joined, complements)):
        adjective = word.tag_ in {"JJ", "JJR", "VBN", "VBG"} and word.dep_ != "advmod"
        switch = word.lower_ in WORDS.switches and not about(word)
        if word.i < verb.i or not (adjective or switch) or has(word, {"than"}, "prep"):
            continue
        turns = verb.lemma_ == "turn"
        state = f"turn {word.lower_}" if turns else word.lower_
        for phrase in clause.objects if clause.passive else clause.subjects:
            if phrase.name != AGENT:
                yield UntimedClaim(
                    verb,
                    "action" if turns else "attribute",
                    phrase.name,
                    state,
                    None,
                    polarity(word, clause.denies(phrase)),
                )


def _results(story: Story, clause: Clause) -> Iterator[UntimedClaim]:
    """How something is after it was handled: "pushes it open", "has her eyes closed"."""
    for kid in clause.verb.rights:
        if kid.lower_ in WORDS.results and not kids(kid, "aux"):
            for thing in phrases(story, kids(kid, "nsubj"), False) or clause.objects:
                yield UntimedClaim(
                    kid, "attribute", thing.name, kid.lower_, None, clause.denies(thing)
                )


def _joined(word: Token) -> Iterator[Token]:
    yield word
    yield from chain.from_iterable(map(_joined, kids(word, "conj")))


def _actions(story: Story, clause: Clause) -> list[UntimedClaim]:
    verb = clause.verb
    action, preposition = predicate(clause)
    # "The lamp stands on the desk" says where it is; "the man stands on the desk" also acts.
    acts = any(is_actor(phrase.name) for phrase in clause.subjects)
    posture = verb.lemma_ in WORDS.postures and kids(verb, "prep") and not acts
    if posture or not (clause.subjects or clause.objects):
        return []
    objects = clause.objects
    if preposition is not None:
        objects = phrases(story, about(preposition), clause.negated)
    elif not objects and verb.lemma_ in WORDS.light:
        # what a verb that says little by itself is said with: "pay attention", "take a bite"
        objects = tuple(
            Phrase(noun.lemma_) for noun in filter(is_noun, kids(verb, "dobj"))
        )
    nothing = Phrase("")
    return [
        UntimedClaim(
            verb,
            "action",
            subject.name,
            action,
            other.name or None,
            clause.denies(subject, other),
        )
        # a passive need not say who does it
        for subject, other in product(
            clause.subjects or [nothing], objects or [nothing]
        )
    ]


# ---------------------------------------------------------------------------- where things are


def _relation(prep: Token, placed: bool) -> str | None:
    """The relation that a preposition says; "into" says one only of what was put there."""
    wordy = prep.doc.user_data.get(prep.i)
    towards = prep.lower_ in WORDS.towards and not placed
    return wordy or (None if towards else RELATIONS.get(prep.lower_))


def _related(
    clause: Clause | None,
    word: Token,
    things: Iterable[Phrase],
    name: str,
    others: Sequence[Phrase],
    negated: bool = False,
) -> Iterator[UntimedClaim]:
    """The relation of each to each; between two things is one."""
    if name == "between":
        others = [Phrase(" and ".join(other.name for other in others))]
    for thing, other in product(things, others):
        denied = clause.denies(thing, other) if clause else negated != other.opposed
        # a pronoun may mean the very thing that it is placed by
        if thing.name != other.name:
            yield UntimedClaim(word, "relation", thing.name, name, other.name, denied)


def _prepositions(word: Token) -> Iterator[Token]:
    for prep in kids(word, "prep"):
        yield from _joined(prep)
        # "is on the counter next to the stove"
        if word.lemma_ == "be" and prep.i > word.i:
            yield from (inner for noun in about(prep) for inner in kids(noun, "prep"))


def _places_of_clause(story: Story, clause: Clause) -> list[UntimedClaim]:
    """Where a clause says that its subject is, or the object that it puts somewhere."""
    verb = clause.verb
    # "looks at the cup": the preposition is part of the action and says nothing of a place
    _, of_action = predicate(clause)
    told = [verb, *kids(verb, "acomp", "oprd", "prt", "advmod")]
    told += kids(verb, "attr") if kids(verb, "expl") else []
    claims: list[UntimedClaim] = []
    for prep in chain.from_iterable(map(_prepositions, told)):
        # "walks behind the car" tells a path
        passed = verb.lemma_ in WORDS.moving and _relation(prep, False) in _PASSED
        by_whom = clause.passive and prep.lower_ == "by"
        if prep != of_action and not (passed or by_whom):
            claims += _place_of(story, clause, prep)
    return claims


def _place_of(story: Story, clause: Clause, prep: Token) -> Iterator[UntimedClaim]:
    """The relations that a clause's preposition tells: of the object of what is put somewhere or
    handled, but of who does it where the place is a room or a seat."""
    verb = clause.verb
    # "scrapes the peel into the bin": whatever the verb, what it is done to ends up there; but
    # "cuts the apple into pieces" tells what it becomes, not where it goes
    handled = bool(clause.objects) and verb.lemma_ not in WORDS.making
    placed = verb.lemma_ in WORDS.placing or (handled and prep.lower_ in WORDS.towards)
    rooms = any(noun.lemma_ in WORDS.rooms for noun in about(prep))
    things = clause.subjects
    negated = clause.negated
    if clause.objects and (clause.passive or placed):
        things = clause.objects
    elif clause.objects and prep.lower_ in {"in", "on", "under"} and not rooms:
        things = clause.objects
        # "does not open the box on the table": the box is there all the same
        negated = False
    # "covered in dust"
    covering = prep.lower_ == "in" and verb.lemma_ in WORDS.covering
    name = _relation(prep, placed)
    if name and not covering:
        negated = polarity(prep, negated)
        others = phrases(story, about(prep), negated)
        of = Clause(verb, things, (), False, negated)
        yield from _related(of, prep, things, name, others)


def _places_of_noun(story: Story, noun: Token) -> Iterator[UntimedClaim]:
    """Where a noun's own prepositions say that it is ("the cup on the table")."""
    # "is on the counter next to the stove": told of the thing, not of the counter
    of_clause = noun.dep_ == "pobj" and noun.head.head.lemma_ == "be"
    if of_clause and noun.i > noun.head.head.i:
        return
    things = [Phrase(name_of(head)) for head in heads(noun) if is_nameable(head)]
    denied = is_denied(noun) or is_any(noun)
    for prep in _prepositions(noun):
        clothes = [word for word in about(prep) if word.lower_ in WORDS.clothes]
        people = [thing for thing in things if is_person(thing.name)]
        name = _relation(prep, False)
        # "a man in a blue shirt" wears it
        if prep.lower_ == "in" and clothes and people:
            for person, word in product(people, clothes):
                yield UntimedClaim(prep, "action", person.name, "wear", name_of(word))
        elif name:
            others = phrases(story, about(prep), False)
            yield from _related(
                None, prep, things, name, others, polarity(prep, denied)
            )


# --------------------------------------------------------------------------------- how many


def _counts(sentence: Doc, unreported: set[int]) -> Iterator[UntimedClaim]:
    """The counts that a sentence gives of things: "three cups", "only one person"."""
    for noun in filter(is_nameable, sentence):
        number = _number_of(noun)
        if noun.i not in unreported and number is not None:
            head = noun.head
            said = noun.dep_ in {"attr", "dobj", "nsubj"} and is_verb(head)
            denied = said and is_negated(head)
            yield UntimedClaim(noun, "count", name_of(noun), str(number), None, denied)


def _number_of(noun: Token) -> int | None:
    if noun.lemma_ in WORDS.parts and nouns_of(noun, {"of"}):
        return None  # "two slices of bread"
    for kid in kids(noun, "nummod", "amod", "det", "compound"):
        word = kid.lower_
        number = int(word) if word.isdecimal() else NUMBERS.get(word)
        before = kid.nbor(-1).lower_ if kid.i else ""
        # "player 7" is a name, and "about three" is also true of four
        if number is None or kid.i > noun.i or before in WORDS.roughly:
            continue
        # "one dog" may be no more than "a dog"
        shown = bool(kids(noun.head, "expl")) or noun.dep_ == "conj"
        other = {"other", "another"} & {inner.lower_ for inner in noun.doc}
        if word != "one" or before in WORDS.exactly or (shown and not other):
            return number
    return None


# ------------------------------------------------------------------------- what comes before what

# event, "before" | "after" | "while", event
Order = tuple[UntimedClaim, str, UntimedClaim]


def orders_of(
    sentence: Doc,
    claims: Sequence[UntimedClaim],
    last: UntimedClaim | None,
) -> Iterator[Order]:
    """The pairs whose order is told; "then" looks back to what happened last, `last` before this
    sentence."""
    # reversed, so that of several claims of a word the first stays
    events = {event.word.i: event for event in reversed(claims) if event.happens}
    before = last
    for verb in sentence:
        event = events.get(verb.i)
        if event is None:
            continue
        order = _order_word(verb)
        # "before sitting": the participle hangs on "before", which hangs on the other verb
        other = events.get(verb.head.head.i if verb.dep_ == "pcomp" else verb.head.i)
        if order and other is not None:
            yield other, order, event
        # "then" or the like stands with a verb, or straight before it
        then = has(verb, WORDS.order, "advmod", "dep", "npadvmod")
        follows = then or (verb.i and verb.nbor(-1).lower_ == "then")
        if follows and before is not None and before is not event:
            yield before, "before", event
        if is_verb(verb):
            before = event


def _order_word(verb: Token) -> str | None:
    """How a clause is bound to the one that it hangs on: "after he sits", "before sitting"."""
    if verb.dep_ == "pcomp":
        return ORDERS.get(verb.head.lower_)
    marks = texts(verb, "mark", "advmod") if verb.dep_ == "advcl" else set()
    if {"if", "though"} & marks:
        return None
    return next(filter(None, map(ORDERS.get, sorted(marks))), None)
