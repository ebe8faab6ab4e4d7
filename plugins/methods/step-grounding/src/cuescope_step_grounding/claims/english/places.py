"""Where things are: the prepositions of a clause, and those of a noun."""

from collections.abc import Iterable, Iterator, Sequence

from cuescope_step_grounding.claims.english import clauses
from cuescope_step_grounding.claims.english.clauses import Clause, about
from cuescope_step_grounding.claims.english.denial import is_any, is_denied, polarity
from cuescope_step_grounding.claims.english.lexicon import RELATIONS, WORDS
from cuescope_step_grounding.claims.english.phrases import (
    View,
    heads,
    is_nameable,
    is_person,
    name_of,
    referents,
)
from cuescope_step_grounding.claims.english.roles import conjuncts, objects_of
from cuescope_step_grounding.claims.english.tree import UntimedClaim, Word

_PASSED = frozenset({"between", "under", "above", "around", "behind", "across from"})
# "cuts the apple into pieces", "turns the shirt into a bag": what it becomes, not where it goes.
_MAKING = WORDS["making"]


def relation(prep: Word, placed: bool = False) -> str | None:
    """The relation that a preposition says; "into" says one only of what was put there."""
    if prep.name != prep.text:  # the parser was shown another word: the name is the relation
        return None if prep.name == "to" else prep.name
    return None if prep.text in WORDS["towards"] and not placed else RELATIONS.get(prep.text)


def places_of_clause(view: View, clause: Clause) -> list[UntimedClaim]:
    """Where a clause says that its subject is, or the object that it puts somewhere."""
    verb = clause.verb
    placed = _is_placing(clause)
    # "looks at the cup": the preposition is part of the action and says nothing of a place.
    _, own = clauses.predicate(view.tree, clause)
    words = [verb, *view.tree.kids(verb, "acomp", "oprd", "prt", "advmod", "attr")]
    return [
        claim
        for word in words
        if not (word.dep == "attr" and word.is_noun and not view.tree.kids(verb, "expl"))
        for prep in _prepositions(view, word)
        if not (clause.passive and prep.text == "by")
        if prep is not own and not (verb.lemma in WORDS["moving"] and relation(prep) in _PASSED)
        if not (placed and prep.text == "at")
        for claim in _places_of(view, clause, prep)
    ]


def _is_placing(clause: Clause) -> bool:
    return clause.verb.lemma in WORDS["placing"]


def _is_put_into(clause: Clause, prep: Word) -> bool:
    """ "scrapes the peel into the bin": whatever the verb, what it is done to ends up there."""
    handled = bool(clause.objects) and clause.verb.lemma not in _MAKING
    return handled and prep.text in WORDS["towards"] and prep.name == prep.text


def _says_where(view: View, prep: Word) -> bool:
    return view.tree.head(prep).lemma == "be" and relation(prep) is not None


def _places_of(view: View, clause: Clause, prep: Word) -> list[UntimedClaim]:
    """The relations that a clause's preposition tells: of the object of what is put somewhere or
    handled, but of who does it where the place is a room or a seat."""
    rooms = any(noun.lemma in WORDS["rooms"] for noun in about(view.tree, prep))
    put = clause.passive or _is_placing(clause) or _is_put_into(clause, prep)
    things, negated = clause.subjects, clause.negated
    if (clause.objects and _is_of_object(view, clause, prep)) or (put and clause.objects):
        things = clause.objects
    elif clause.objects and prep.text in {"in", "on", "under"} and not rooms:
        things, negated = clause.objects, False
    placed = _is_placing(clause) or _is_put_into(clause, prep)
    if put and things is clause.subjects and view.tree.kids(clause.verb, "dobj"):
        return []  # "hid the pieces under the rug": the pieces are no thing that could be meant
    if clause.verb.lemma in WORDS["covering"] and prep.text == "in":  # "covered in dust"
        return []
    return [
        claim
        for thing in things
        for claim in _relations_of(
            view, [thing], prep, negated == clause.opposed.isdisjoint([thing]), placed
        )
    ]


def _is_of_object(view: View, clause: Clause, prep: Word) -> bool:
    """Whether a side stands straight after an object: "takes the one on the left"."""
    if not prep.name.endswith(("left of", "right of")):
        return False
    return any(kid.index == prep.index - 1 for kid in objects_of(view.tree, clause.verb))


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
        things = _names_in_list(view, noun) or things
        for prep in _prepositions(view, noun):
            clothes = _clothes_of(view, things, prep)
            denied = is_denied(view.tree, noun) or is_any(view.tree, noun)
            claims += clothes or _relations_of(view, things, prep, denied)
    return claims


def _names_in_list(view: View, noun: Word) -> list[str]:
    """All of a list whose last noun has the place: "puts a cup and a fork on the table"."""
    words = conjuncts(view.tree, noun)
    verb = view.tree.head(words[0])
    shown = verb.lemma in WORDS["seeing"] | WORDS["placing"] | {"be"}
    if noun is not words[-1] or words[0].dep not in {"attr", "dobj", "nsubj"} or not shown:
        return []
    placed = [any(map(relation, view.tree.kids(word, "prep"))) for word in words[:-1]]
    nouns = [noun for word in words for noun in _nouns_of_part(view, word)]
    return [] if any(placed) else [name_of(view.tree, noun) for noun in nouns]


def _nouns_of_part(view: View, word: Word) -> list[Word]:
    """The word, or the whole that it is a part of, without what it is joined to."""
    joined = {inner for kid in view.tree.kids(word, "conj") for inner in heads(view.tree, kid)}
    nouns = (noun for noun in heads(view.tree, word) if noun not in joined)
    return [noun for noun in nouns if is_nameable(view.tree, noun)]


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
    nouns = about(view.tree, prep)
    negated = polarity(view.tree, prep, negated) or any(
        is_denied(view.tree, noun) for noun in nouns
    )
    others = [phrase for noun in nouns for phrase in referents(view, noun)]
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
        # "is on the counter next to the stove", but not "on the wall behind the sofa is a clock"
        if _says_where(view, prep) and prep.index > word.index:
            for noun in about(view.tree, prep):
                yield from view.tree.kids(noun, "prep")
