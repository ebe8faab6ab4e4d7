"""How many: the numbers of a sentence that count what can be seen."""

from collections.abc import Iterator

from cuescope_step_grounding.claims.english.denial import is_negated
from cuescope_step_grounding.claims.english.lexicon import NUMBERS, WORDS
from cuescope_step_grounding.claims.english.names import is_nameable, name_of
from cuescope_step_grounding.claims.english.phrases import View, noun_of_one
from cuescope_step_grounding.claims.english.tree import UntimedClaim, Word

_SEEN = ("attr", "dobj", "nsubj")


def counts(view: View, unreported: set[int]) -> Iterator[UntimedClaim]:
    """The counts that a sentence gives of things: "three cups", "only one person"."""
    for noun in view.words:
        if noun.index in unreported:
            continue
        number = _number_of(noun)
        name = None if number is None else _name(view, noun)
        if name is not None:
            yield UntimedClaim(noun, "count", name, str(number), None, _is_denied(noun))


def is_counted(noun: Word) -> bool:
    return any(number_in(kid.text) is not None for kid in noun.kids("nummod"))


def number_in(word: str) -> int | None:
    """The number that a word stands for; None of one that is not whole."""
    return int(word) if word.isdecimal() else NUMBERS.get(word)


def _name(view: View, noun: Word) -> str | None:
    if noun.text == "ones":
        return next(iter(noun_of_one(view, noun)), None)
    return name_of(noun) if is_nameable(noun) else None


def _number_of(noun: Word) -> int | None:
    if noun.lemma in WORDS.parts and noun.has({"of"}, "prep"):
        return None  # "two slices of bread"
    for kid in noun.kids("nummod", "amod", "det", "compound"):
        single = kid.text == "single"
        number = 1 if single else number_in(kid.text)
        # "player 7" is a name, and "about three" is also true of four
        if number is None or kid.index > noun.index or kid.before in WORDS.roughly:
            continue
        # "a single cup" counts, "not a single cup" denies them all
        if single and (not noun.kids("det") or _is_denied(noun)):
            continue
        if kid.text != "one" or kid.before in WORDS.exactly or _is_listed(noun):
            return number
    return None


def _is_listed(noun: Word) -> bool:
    """Whether "one" is a number and no article: "there is one dog", "two cats and one dog"."""
    # "one dog sits, the other stands": here it is a pronoun
    if any(word.text in {"other", "another"} for word in noun.sentence):
        return False
    if noun.dep == "conj":
        return is_counted(noun.head)
    shown = noun.head.kids("expl") or noun.head.lemma in WORDS.seeing
    return bool(shown) and noun.dep in _SEEN


def _is_denied(noun: Word) -> bool:
    return noun.head.is_verb and noun.dep in _SEEN and is_negated(noun.head)
