"""Where things are: the prepositions of a clause, and those of a noun."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product, starmap

from cuescope_step_grounding.claims.english import clauses
from cuescope_step_grounding.claims.english.clauses import Clause, about
from cuescope_step_grounding.claims.english.denial import is_any, is_denied, polarity
from cuescope_step_grounding.claims.english.lexicon import RELATIONS, WORDS
from cuescope_step_grounding.claims.english.names import (
    heads,
    is_nameable,
    is_person,
    name_of,
)
from cuescope_step_grounding.claims.english.phrases import View, all_referents
from cuescope_step_grounding.claims.english.roles import conjuncts, objects_of
from cuescope_step_grounding.claims.english.tree import UntimedClaim, Word

_PASSED = {"between", "under", "above", "around", "behind", "across from"}


def relation(prep: Word, placed: bool = False) -> str | None:
    """The relation that a preposition says; "into" says one only of what was put there."""
    # the parser was shown another word: the name is the relation
    if prep.name != prep.text:
        return None if prep.name == "to" else prep.name
    towards = prep.text in WORDS.towards and not placed
    return None if towards else RELATIONS.get(prep.text)


def places_of_clause(view: View, clause: Clause) -> list[UntimedClaim]:
    """Where a clause says that its subject is, or the object that it puts somewhere."""
    verb = clause.verb
    # "looks at the cup": the preposition is part of the action and says nothing of a place.
    _, of_action = clauses.predicate(clause)
    claims: list[UntimedClaim] = []
    for word in (verb, *verb.kids("acomp", "oprd", "prt", "advmod", "attr")):
        # "he is a man in a coat": the noun tells its own place, see `places_of_nouns`
        if word.dep == "attr" and word.is_noun and not verb.kids("expl"):
            continue
        for prep in _prepositions(word):
            # "walks behind the car": part of the action, and yet a place too
            passed = verb.lemma in WORDS.moving and relation(prep) in _PASSED
            # "is carried by a man" names who does it
            by_whom = clause.passive and prep.text == "by"
            aimed = verb.lemma in WORDS.placing and prep.text == "at"
            if prep is not of_action and not (passed or by_whom or aimed):
                claims += _places_of(view, clause, prep)
    return claims


def _says_where(prep: Word) -> bool:
    return prep.head.lemma == "be" and relation(prep) is not None


def _places_of(view: View, clause: Clause, prep: Word) -> Iterator[UntimedClaim]:
    """The relations that a clause's preposition tells: of the object of what is put somewhere or
    handled, but of who does it where the place is a room or a seat."""
    # "scrapes the peel into the bin": whatever the verb, what it is done to ends up there; but
    # "cuts the apple into pieces" tells what it becomes, not where it goes.
    handled = bool(clause.objects) and clause.verb.lemma not in WORDS.making
    put_into = handled and prep.text in WORDS.towards and prep.name == prep.text
    placed = put_into or clause.verb.lemma in WORDS.placing
    rooms = any(noun.lemma in WORDS.rooms for noun in about(prep))
    things = clause.subjects
    negated = clause.negated
    if clause.objects and (clause.passive or placed or _is_of_object(clause, prep)):
        things = clause.objects
    elif clause.objects and prep.text in {"in", "on", "under"} and not rooms:
        things = clause.objects
        # "does not open the box on the table": the box is there all the same
        negated = False
    elif (clause.passive or placed) and clause.verb.kids("dobj"):
        return  # "hid the pieces under the rug": the pieces are no thing that could be meant
    # "covered in dust"
    if prep.text == "in" and clause.verb.lemma in WORDS.covering:
        return
    for phrase in things:
        yield from _relations_of(
            view,
            [phrase],
            prep,
            negated != (phrase in clause.opposed),
            placed,
        )


def _is_of_object(clause: Clause, prep: Word) -> bool:
    """Whether a side stands straight after an object: "takes the one on the left"."""
    if not prep.name.endswith(("left of", "right of")):
        return False
    return any(kid.index == prep.index - 1 for kid in objects_of(clause.verb))


def places_of_nouns(view: View, skipped: set[int]) -> Iterator[UntimedClaim]:
    """Where a noun's own prepositions say that it is ("the cup on the table")."""
    for noun in view.words:
        if noun.index in skipped or not (noun.is_noun and is_nameable(noun)):
            continue
        # "is on the counter next to the stove": told of the thing, not of the counter
        if noun.dep == "pobj" and _says_where(noun.head):
            continue
        names = _names_in_list(noun) or _names(heads(noun))
        denied = is_denied(noun) or is_any(noun)
        for prep in _prepositions(noun):
            clothes = _clothes_of(names, prep)
            yield from clothes or _relations_of(view, names, prep, denied)


def _names(nouns: Iterable[Word]) -> list[str]:
    return [name_of(noun) for noun in nouns if is_nameable(noun)]


def _names_in_list(noun: Word) -> list[str]:
    """All of a list whose last noun has the place: "puts a cup and a fork on the table"."""
    words = conjuncts(noun)
    verb = words[0].head
    shown = verb.lemma in WORDS.seeing | WORDS.placing | {"be"}
    has_role = words[0].dep in {"attr", "dobj", "nsubj"}
    if noun is not words[-1] or not (has_role and shown):
        return []
    names = []
    for word in words:
        # "a cup on the shelf and a fork on the table": each has its own place
        if word is not noun and any(map(relation, word.kids("prep"))):
            return []
        # The word, or the whole that it is a part of, without what it is joined to.
        joined = list(chain.from_iterable(map(heads, word.kids("conj"))))
        names += _names(inner for inner in heads(word) if inner not in joined)
    return names


def relations_between(
    word: Word,
    subjects: Iterable[str],
    name: str,
    objects: Sequence[str],
    negated: bool,
) -> Iterator[UntimedClaim]:
    """The relation of each to each; between two things is one."""
    if name == "between":  # one relation to both, not one to each
        objects = [" and ".join(objects)]
    for subject, other in product(subjects, objects):
        # a pronoun may mean the very thing that it is placed by
        if subject != other:
            yield UntimedClaim(word, "relation", subject, name, other, negated)


def _relations_of(
    view: View,
    things: Iterable[str],
    prep: Word,
    negated: bool,
    placed: bool = False,
) -> Iterator[UntimedClaim]:
    name = relation(prep, placed)
    nouns = about(prep)
    others = all_referents(view, nouns)
    if name and others:
        denied = polarity(prep, negated) or any(map(is_denied, nouns))
        yield from relations_between(prep, things, name, others, denied)


def _clothes_of(names: list[str], prep: Word) -> list[UntimedClaim]:
    """ "a man in a blue shirt" wears it."""
    if prep.text != "in" or not any(map(is_person, names)):
        return []
    clothes = [name_of(noun) for noun in about(prep) if noun.text in WORDS.clothes]
    return list(
        starmap(
            UntimedClaim,
            product([prep], ["action"], names, ["wear"], clothes),
        )
    )


def _prepositions(word: Word) -> Iterator[Word]:
    for prep in word.kids("prep"):
        yield prep
        yield from prep.kids("conj")
        # "is on the counter next to the stove", but not "on the wall behind the sofa is a clock"
        if _says_where(prep) and prep.index > word.index:
            for noun in about(prep):
                yield from noun.kids("prep")
