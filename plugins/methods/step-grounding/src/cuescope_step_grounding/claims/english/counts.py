"""How many: the numbers of a sentence that count what can be seen."""

from collections.abc import Iterator

from cuescope_step_grounding.claims.english.denial import is_negated
from cuescope_step_grounding.claims.english.lexicon import NUMBERS, WORDS
from cuescope_step_grounding.claims.english.phrases import View, is_nameable, name_of, noun_of_one
from cuescope_step_grounding.claims.english.tree import Tree, UntimedClaim, Word

_EXACT = frozenset({"only", "just", "exactly", "precisely"})


def counts(view: View, unreported: set[int]) -> Iterator[UntimedClaim]:
    """The counts that a sentence gives of things: "three cups", "only one person"."""
    for noun in view.tree.words:
        if noun.index in unreported:
            continue
        number = _number_of(view.tree, noun)
        name = _name(view, noun) if number is not None else None
        if name is not None:
            yield UntimedClaim(noun, "count", name, str(number), None, _is_denied(view.tree, noun))


def is_counted(tree: Tree, noun: Word) -> bool:
    return any(number_in(kid.text) is not None for kid in tree.kids(noun, "nummod"))


def number_in(word: str) -> int | None:
    """The number that a word stands for; None of one that is not whole."""
    return int(word) if word.isdecimal() else NUMBERS.get(word)


def _name(view: View, noun: Word) -> str | None:
    if noun.text == "ones":
        return next(iter(noun_of_one(view, noun)), None)
    return name_of(view.tree, noun) if is_nameable(view.tree, noun) else None


def _number_of(tree: Tree, noun: Word) -> int | None:
    if noun.lemma in WORDS["parts"] and any(kid.text == "of" for kid in tree.kids(noun, "prep")):
        return None  # "two slices of bread"
    for kid in tree.kids(noun, "nummod", "amod", "det", "compound"):
        number = 1 if kid.text == "single" else number_in(kid.text)
        before = tree.words[kid.index - 1].text if kid.index else ""
        if number is None or kid.index > noun.index or before in WORDS["roughly"]:
            continue
        if kid.text == "single" and (not tree.kids(noun, "det") or _is_denied(tree, noun)):
            continue
        if kid.text != "one" or before in _EXACT or _is_listed(tree, noun):
            return number
    return None


def _is_listed(tree: Tree, noun: Word) -> bool:
    """Whether "one" is a number and no article: "there is one dog", "two cats and one dog"."""
    if any(word.text in {"other", "another"} for word in tree.words):
        return False
    head = tree.head(noun)
    if noun.dep == "conj":
        return is_counted(tree, head)
    shown = bool(tree.kids(head, "expl")) or head.lemma in WORDS["seeing"]
    return shown and noun.dep in {"attr", "dobj", "nsubj"}


def _is_denied(tree: Tree, noun: Word) -> bool:
    head = tree.head(noun)
    return head.is_verb and noun.dep in {"attr", "dobj", "nsubj"} and is_negated(tree, head)
