"""Where things are: the spatial relations that prepositions tell."""

from collections.abc import Iterable, Iterator, Sequence

from cuescope_step_grounding.claims.clauses import Clause, about, has_none, predicate
from cuescope_step_grounding.claims.found import Found
from cuescope_step_grounding.claims.lexicon import (
    CLOTHES,
    MOVING,
    PASSED,
    PLACING,
    RELATIONS,
    ROOMS,
    TOWARDS,
)
from cuescope_step_grounding.claims.phrases import called, heads, is_named, is_person
from cuescope_step_grounding.claims.story import View, refers
from cuescope_step_grounding.claims.words import Word


def relation(prep: Word, placed: bool = False) -> str | None:
    """The relation that a preposition says; "into" says one only of what was put there."""
    if prep.name != prep.text:
        return None if prep.name == "to" else prep.name
    return None if prep.text in TOWARDS and not placed else RELATIONS.get(prep.text)


def of_clause(view: View, clause: Clause) -> list[Found]:
    """Where a clause says that its subject is, or the object that it puts somewhere."""
    verb = clause.verb
    placed = verb.lemma in PLACING
    own = predicate(view.tree, clause).prep
    words = [verb, *view.tree.kids(verb, "acomp", "oprd", "prt", "advmod", "attr")]
    return [
        found
        for word in words
        if not (word.dep == "attr" and word.is_noun and not view.tree.kids(verb, "expl"))
        for prep in _prepositions(view, word)
        if prep is not own and not (verb.lemma in MOVING and relation(prep) in PASSED)
        if not (placed and prep.text == "at")
        for found in _placed(view, clause, prep)
    ]


def _says_where(view: View, prep: Word) -> bool:
    return view.tree.head(prep).lemma == "be" and relation(prep) is not None


def _placed(view: View, clause: Clause, prep: Word) -> list[Found]:
    """The relations that a clause's preposition tells: of the object of what is put somewhere or
    handled, but of who does it where the place is a room or a seat."""
    rooms = any(noun.lemma in ROOMS for noun in about(view.tree, prep))
    put = clause.passive or clause.verb.lemma in PLACING
    things, negated = clause.subjects, clause.negated
    if put and clause.objects:
        things = clause.objects
    elif view.tree.kids(clause.verb, "dobj") and prep.text in {"in", "on", "under"} and not rooms:
        things, negated = clause.objects, False
    return _related(view, things, prep, negated, placed=clause.verb.lemma in PLACING)


def of_nouns(view: View, skipped: set[int]) -> list[Found]:
    """Where a noun's own prepositions say that it is ("the cup on the table")."""
    found = []
    for noun in view.tree.words:
        if noun.index in skipped or not (noun.is_noun and is_named(view.tree, noun)):
            continue
        if noun.dep == "pobj" and _says_where(view, view.tree.head(noun)):
            continue
        things = [
            called(view.tree, one) for one in heads(view.tree, noun) if is_named(view.tree, one)
        ]
        for prep in _prepositions(view, noun):
            worn = _worn(view, things, prep)
            denied = has_none(view.tree, noun)
            found += worn or _related(view, things, prep, denied)
    return found


def pairs(
    word: Word, ones: Iterable[str], name: str, others: Sequence[str], negated: bool
) -> list[Found]:
    """The relation of each to each; between two things is one."""
    if name == "between":
        others = [" and ".join(others)]
    return [
        Found(word, "relation", one, name, other, negated)
        for one in ones
        for other in others
        if one != other
    ]


def _related(
    view: View, things: Iterable[str], prep: Word, negated: bool, placed: bool = False
) -> list[Found]:
    name = relation(prep, placed)
    negated = negated or bool(view.tree.kids(prep, "neg"))
    others = [phrase for noun in about(view.tree, prep) for phrase in refers(view, noun)]
    return pairs(prep, things, name, others, negated) if name and others else []


def _worn(view: View, things: list[str], prep: Word) -> list[Found]:
    """ "a man in a blue shirt" wears it."""
    if prep.text != "in" or not any(map(is_person, things)):
        return []
    clothes = [called(view.tree, noun) for noun in about(view.tree, prep) if noun.text in CLOTHES]
    return [Found(prep, "action", one, "wear", worn) for one in things for worn in clothes]


def _prepositions(view: View, word: Word) -> Iterator[Word]:
    for prep in view.tree.kids(word, "prep"):
        yield prep
        yield from view.tree.kids(prep, "conj")
        if _says_where(view, prep):  # "is on the counter next to the stove"
            for noun in about(view.tree, prep):
                yield from view.tree.kids(noun, "prep")
