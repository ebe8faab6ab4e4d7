"""The claims of one parsed sentence: by kind, where things are, and what comes before what."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from cuescope_sdk.grounding import Claim, ClaimKind
from cuescope_step_grounding.claims.english.clauses import (
    Clause,
    Marks,
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
    is_agent,
    is_nameable,
    is_person,
    name_of,
)
from cuescope_step_grounding.claims.english.tokens import (
    SUBJECTS,
    Doc,
    Token,
    first_of_list,
    is_definite,
    is_verb,
    kids,
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


def untimed_claims(sentence: Doc, story: Story, marks: Marks) -> list[UntimedClaim]:
    """All that a sentence claims, the things first."""
    # a question reports nothing; a quotation mark may follow its own
    if "?" in {word.text for word in sentence[-2:]}:
        return []
    unreported = _unreported(sentence, marks)
    words = [word for word in sentence if word.i not in unreported]
    claims: list[UntimedClaim] = []
    for verb in filter(is_verb, words):
        clause = read_clause(story, verb, marks)
        claims += _claims_of_clause(story, clause, marks)
        claims += _places_of_clause(story, clause, marks)
    nouns = list(filter(is_nameable, words))
    for noun in nouns:
        claims += _places_of_noun(story, noun, marks)
        claims += _count(noun, marks)
    # what is denied at a place may well be elsewhere
    denied = {c.subject for c in claims if c.negated and c.kind == "relation"}
    claims = [c for c in claims if c.kind != "entity" or c.subject not in denied]
    absent = {c.subject for c in claims if c.negated and c.kind == "entity"}
    things = [noun for noun in nouns if _is_there(noun, marks)]
    named = [UntimedClaim(noun, "entity", name_of(noun)) for noun in things]
    return [*(thing for thing in named if thing.subject not in absent), *claims]


def _unreported(sentence: Doc, marks: Marks) -> set[int]:
    """The words of clauses that tell of nothing that was seen; a thing that is known is there."""
    unreported = {w.i for index in marks["unreported"] for w in sentence[index].subtree}
    for index in marks["planned"] | marks["guessed"]:
        word = sentence[index]
        # "cannot open", "can see": that is so
        if index in marks["denied"] or word.lemma_ in WORDS.seeing:
            continue
        apart = [kid for kid in kids(word, "conj", "advcl") if is_verb(kid)]
        there = {inner.i for kid in apart for inner in kid.subtree}
        known = kids(word, *SUBJECTS) if index in marks["guessed"] else word.subtree
        there |= {noun.i for noun in filter(is_nameable, known) if is_definite(noun)}
        unreported |= {inner.i for inner in word.subtree} - there
    return unreported


def _is_there(noun: Token, marks: Marks) -> bool:
    """True if a noun names a thing that is there, each as it is called."""
    # the "kitchen" of "kitchen counter" is part of that name, and "a row of chairs" names chairs
    part = noun.dep_ in {"compound", "amod", "nmod"} or heads(noun)[0] != noun
    absent = _is_denied(noun, marks) and not is_definite(noun)
    return not (part or is_agent(noun) or absent)


def _is_denied(noun: Token, marks: Marks) -> bool:
    """True of "no hat", and of the hat of "nobody wears a hat", "does not wear a hat"."""
    first = first_of_list(noun)
    said = {noun.i, first.i}
    if first.dep_ in {"dobj", "attr"} and not is_definite(noun):
        said |= {word.i for word in (first.head, *kids(first.head, "nsubj"))}
    return bool(said & marks["denied"])


# ------------------------------------------------------------------------- what a clause says


def _claims_of_clause(
    story: Story, clause: Clause, marks: Marks
) -> Iterator[UntimedClaim]:
    """What a clause says of its subject: its state, its action, or the camera's motion."""
    verb = clause.verb
    lemma = verb.lemma_.lower()
    agent = AGENT in {phrase.name for phrase in clause.subjects}
    motion = camera_motion(verb) if agent else None
    if motion:
        # "does not move"
        stops = clause.negated and lemma == "move"
        denied = clause.negated and not stops
        said = "stop" if stops else motion
        yield UntimedClaim(verb, "ego-motion", "", said, None, denied)
    elif lemma in WORDS.holding and clause.subjects and not clause.acts:
        yield from _related(
            verb, clause.objects, "inside", clause.subjects, clause.negated
        )
    elif is_sight(clause):
        yield from _absences(story, clause, marks)
    elif _is_silent(clause):
        return
    elif lemma == "be" or (lemma in WORDS.linking and kids(verb, "acomp", "oprd")):
        yield from _attributes(clause, marks)
    elif _is_state(clause, marks):
        # "painted green": green is what it is
        states = [kid.lower_ for kid in kids(verb, "oprd", "acomp")] or [verb.lower_]
        for thing, state in product(clause.objects, states):
            denied = clause.denies(thing)
            yield UntimedClaim(verb, "attribute", thing.name, state, None, denied)
    elif lemma != "have":
        yield from _actions(story, clause, marks)


def _is_silent(clause: Clause) -> bool:
    """True if a clause only leads to another ("begins to"), or says what is written or meant."""
    verb = clause.verb
    leads = kids(verb, "xcomp", "ccomp") and not clause.objects
    says = verb.lemma_ in WORDS.saying and not clause.acts
    return bool(says or (leads and verb.lemma_ in WORDS.idle))


def is_sight(clause: Clause) -> bool:
    """True if a clause only says that something is there to be seen."""
    verb = clause.verb
    watched = any(is_person(p.name) and p.name != AGENT for p in clause.subjects)
    sees = verb.lemma_ in WORDS.seeing and not watched
    shown = verb.lemma_ == "be" and texts(verb, "acomp", "advmod") & WORDS.shown
    return bool(sees or shown or kids(verb, "expl"))


def _seen(story: Story, clause: Clause, marks: Marks) -> tuple[Phrase, ...]:
    """What a clause of sight shows."""
    verb = clause.verb
    # "there is a cup": the thing stands behind the verb
    nouns = kids(verb, "attr", "nsubj", "dobj") if kids(verb, "expl") else []
    return phrases(story, nouns, marks) or clause.objects or clause.subjects


def _absences(story: Story, clause: Clause, marks: Marks) -> Iterator[UntimedClaim]:
    """What is denied to be seen is not there at all."""
    # "there are not three cups" denies the number: some may be there
    counted = any(kid.dep_ == "nummod" for kid in clause.verb.subtree)
    for thing in _seen(story, clause, marks):
        if clause.denies(thing) and not counted:
            yield UntimedClaim(clause.verb, "entity", thing.name, negated=True)


def _is_state(clause: Clause, marks: Marks) -> bool:
    """True if a passive says how a thing is ("is closed"), not what is done to it."""
    verb = clause.verb
    lasting = {verb.lemma_, verb.lower_} & WORDS.states
    state = clause.passive and lasting and verb.i not in marks["event"]
    return bool(state) and not clause.subjects


def _attributes(clause: Clause, marks: Marks) -> Iterator[UntimedClaim]:
    """What a complement says of a clause's things: "is open", "turned off"."""
    verb = clause.verb
    for kid in kids(verb, "acomp", "oprd", "advmod", "prt", "prep"):
        for word in (kid, *kid.conjuncts):
            adjective = (
                word.tag_ in {"JJ", "JJR", "VBN", "VBG"} and kid.dep_ != "advmod"
            )
            switch = word.lower_ in WORDS.switches and not about(word)
            intends = word.lower_ in WORDS.intending
            if word.i > verb.i and (adjective or switch) and not intends:
                for thing in clause.objects if clause.passive else clause.subjects:
                    denied = clause.denies(thing) or word.i in marks["denied"]
                    turns = verb.lemma_ == "turn"
                    kind = "action" if turns else "attribute"
                    said = f"turn {word.lower_}" if turns else word.lower_
                    if thing.name != AGENT:
                        yield UntimedClaim(verb, kind, thing.name, said, None, denied)


def _actions(story: Story, clause: Clause, marks: Marks) -> Iterator[UntimedClaim]:
    verb = clause.verb
    action, preposition = predicate(clause)
    # "The lamp stands on the desk" says where it is; "the man stands on the desk" also acts.
    posture = verb.lemma_ in WORDS.postures and kids(verb, "prep") and not clause.acts
    if posture or not (clause.subjects or clause.objects):
        return
    objects = clause.objects
    if preposition is not None:
        objects = phrases(story, about(preposition), marks)
    nothing = (Phrase(""),)
    # a passive need not say who does it
    for one, other in product(clause.subjects or nothing, objects or nothing):
        denied = clause.denies(one, other)
        yield UntimedClaim(verb, "action", one.name, action, other.name or None, denied)


# ---------------------------------------------------------------------------- where things are


def _related(
    word: Token,
    things: Iterable[Phrase],
    name: str,
    others: Sequence[Phrase],
    negated: bool,
) -> Iterator[UntimedClaim]:
    """The relation of each to each; between two things is one."""
    if name == "between":
        others = [Phrase(" and ".join(other.name for other in others))]
    for thing, other in product(things, others):
        denied = negated or thing.denied or other.denied
        # a pronoun may mean the very thing that it is placed by
        if thing.name != other.name:
            yield UntimedClaim(word, "relation", thing.name, name, other.name, denied)


def _relation(prep: Token, placed: bool) -> str | None:
    """The relation that a preposition says; "into" says one only of what was put there."""
    wordy = prep.doc.user_data.get(prep.i)
    towards = prep.lower_ in WORDS.towards and not placed
    return wordy or (None if towards else RELATIONS.get(prep.lower_))


def _places_of_clause(
    story: Story, clause: Clause, marks: Marks
) -> Iterator[UntimedClaim]:
    """Where a clause says that its subject is, or the object that it puts somewhere."""
    verb = clause.verb
    # "looks at the cup": the preposition is part of the action and says nothing of a place
    _, of_action = predicate(clause)
    things = clause.subjects
    if is_sight(clause):
        things = _seen(story, clause, marks)
    told = [verb, *kids(verb, "acomp", "oprd", "prt", "advmod")]
    told += kids(verb, "attr") if kids(verb, "expl") else []
    for prep in [prep for word in told for prep in kids(word, "prep")]:
        placing = verb.lemma_ in WORDS.placing
        name = _relation(prep, bool(clause.objects) or placing)
        # "is carried by a man" tells who does it
        by_whom = clause.passive and prep.lower_ == "by"
        if name and prep != of_action and not by_whom:
            denied = clause.negated or prep.i in marks["denied"]
            others = phrases(story, about(prep), marks)
            of = things
            room = any(noun.lemma_ in WORDS.rooms for noun in about(prep))
            near = placing or (prep.lower_ in WORDS.of_object and not room)
            if clause.objects and (clause.passive or near):
                of = clause.objects
            yield from _related(prep, of, name, others, denied)


def _places_of_noun(story: Story, noun: Token, marks: Marks) -> Iterator[UntimedClaim]:
    """Where a noun's own prepositions say that it is ("the cup on the table")."""
    # "there is a cup on the table": its clause has told it
    if noun.dep_ == "attr" and kids(noun.head, "expl"):
        return
    things = [Phrase(name_of(head)) for head in heads(noun) if is_nameable(head)]
    for prep in kids(noun, "prep"):
        others = phrases(story, about(prep), marks)
        clothes = [word for word in about(prep) if word.lower_ in WORDS.clothes]
        name = _relation(prep, False)
        # "a man in a blue shirt" wears it
        if prep.lower_ == "in" and clothes and is_person(noun.lemma_):
            for person, worn in product(things, others):
                yield UntimedClaim(prep, "action", person.name, "wear", worn.name)
        elif name:
            denied = prep.i in marks["denied"] or _is_denied(noun, marks)
            yield from _related(prep, things, name, others, denied)


def _count(noun: Token, marks: Marks) -> Iterator[UntimedClaim]:
    """The count that a sentence gives of things: "three cups", "only one person"."""
    for kid in kids(noun, "nummod", "amod"):
        word = kid.lower_
        number = word if word.isdecimal() else NUMBERS.get(word)
        before = kid.nbor(-1).lower_ if kid.i else ""
        # "player 7" is a name, "about three" is also true of four, "one dog" means "a dog"
        vague = before in WORDS.roughly or noun.lemma_ in WORDS.parts
        shown = bool(kids(noun.head, "expl")) or noun.dep_ == "conj"
        article = word == "one" and before not in WORDS.exactly and not shown
        if number and kid.i < noun.i and not (vague or article):
            denied = noun.head.i in marks["denied"]
            yield UntimedClaim(noun, "count", name_of(noun), number, None, denied)


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
    for verb in filter(is_verb, sentence):
        event = events.get(verb.i)
        if event is None:
            continue
        # "before sitting": the participle hangs on "before", which hangs on the other verb
        inner = verb.dep_ == "pcomp"
        marks = {verb.head.lower_} if inner else texts(verb, "mark", "advmod")
        other = events.get(verb.head.head.i if inner else verb.head.i)
        order = next(filter(None, map(ORDERS.get, sorted(marks))), None)
        if order and other is not None and verb.dep_ in {"pcomp", "advcl"}:
            yield other, order, event
        # "then" or the like stands with a verb, or straight before it
        then = texts(verb, "advmod", "dep", "npadvmod") & WORDS.order
        follows = then or (verb.i and verb.nbor(-1).lower_ == "then")
        if follows and before is not None:
            yield before, "before", event
        before = event
