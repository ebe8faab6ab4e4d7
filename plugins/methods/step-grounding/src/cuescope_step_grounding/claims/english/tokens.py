"""What is asked of spaCy's tokens: what hangs on a word, and what a sentence denies."""

import re
from collections.abc import Collection
from typing import Any

from cuescope_step_grounding.claims.english.words import WORDS

# spaCy's Token and Doc; spaCy is imported only where claims are read
Token = Any
Doc = Any

SUBJECTS = ("nsubj", "nsubjpass")
_SHORT_STEM = re.compile(r"^[^aeiou]*[aeiou][bdgklmnprtv]$")
_NO_CLAUSE = {"aux", "auxpass", "amod", "compound", "nmod"}  # verbs that head none
_NONE = {"none", "neither", "nobody", "nothing"}


def kids(token: Token, *deps: str) -> list[Token]:
    """The words that hang on it, of these dependencies (none: all)."""
    return [kid for kid in token.children if not deps or kid.dep_ in deps]


def grandkids(token: Token, dep: str, *deps: str) -> list[Token]:
    """The kids of dependencies `deps` of its kids of the dependency `dep`."""
    return [inner for kid in kids(token, dep) for inner in kids(kid, *deps)]


def texts(token: Token, *deps: str) -> set[str]:
    """The texts of its kids of these dependencies."""
    return {kid.lower_ for kid in kids(token, *deps)}


def has(token: Token, words: Collection[str], *deps: str) -> bool:
    """True if a kid of these dependencies is one of the words."""
    return not texts(token, *deps).isdisjoint(words)


def nouns_of(token: Token, preps: Collection[str]) -> list[Token]:
    """The nouns that it is joined to by one of these prepositions."""
    nouns = grandkids(token, "prep", "pobj")
    return [noun for noun in nouns if noun.head.lower_ in preps]


def is_noun(token: Token) -> bool:
    return bool(token.tag_.startswith("NN"))


def is_verb(token: Token) -> bool:
    """True of a verb that heads a clause."""
    # "moving left": a side after a verb is no form of "leave", but "is left" is one
    before = token.nbor(-1) if token.i else token
    side = (
        token.lower_ == "left" and before.tag_.startswith("VB") and before.head != token
    )
    return not side and token.tag_.startswith("VB") and token.dep_ not in _NO_CLAUSE


def infinitive(verb: Token) -> str:
    """The lemma of a verb, with the mute "e" that spaCy drops of some.

    English doubles a short stem's consonant before an ending: "riding" is of "ride", not of "rid".
    """
    lemma = verb.lemma_.lower()
    endings = {f"{lemma}ing", f"{lemma}ed", f"{lemma}es"}
    return (
        f"{lemma}e" if verb.lower_ in endings and _SHORT_STEM.search(lemma) else lemma
    )


def clause_of(token: Token) -> Token:
    """The verb that a word hangs on, or the root."""
    for above in token.ancestors:
        token = above
        if is_verb(above):
            return above
    return token


def is_definite(noun: Token) -> bool:
    """True if a noun names something known: "the door", "his keys"."""
    return bool(kids(noun, "poss")) or has(noun, WORDS.definite, "det")


def is_negated(verb: Token) -> bool:
    """True if a verb is denied: "not", "never", "without", "fails to", "at no point", "nor"."""
    head = verb.head
    never = [
        noun for noun in grandkids(verb, "prep", "pobj") if has(noun, {"no"}, "det")
    ]
    if _has_not(verb) or any(noun.lemma_ in WORDS.unseen for noun in never):
        return True
    if verb.dep_ == "pcomp":
        return head.lower_ == "without" or head.lemma_ in WORDS.failing
    if verb.dep_ in {"xcomp", "ccomp"}:
        fails = head.lemma_ in WORDS.failing or has(head, WORDS.failing, "acomp")
        # two denials cancel out: who does not fail to open a door opens it
        return fails != (head.lemma_ in WORDS.beginning and is_negated(head))
    # "does not sit or stand" denies both
    joint = texts(head, "cc") | texts(verb, "cc", "preconj")
    if verb.dep_ == "conj" and not joint.isdisjoint({"nor", "or"}):
        return is_negated(head)
    return False


def is_denied(noun: Token) -> bool:
    """True if a noun is denied: "no chair", "nobody", "a bus but no taxi", "no cup or plate"."""
    if noun.lower_ in _NONE:
        return True
    before = [kid for kid in noun.lefts if kid.lower_ in WORDS.denying]
    if before or is_corrected(noun):
        return True
    # "none of the chairs"
    of = noun.dep_ == "pobj" and noun.head.lower_ == "of"
    if of and noun.head.head.lower_ in _NONE:
        return True
    return _shares_denial(noun) and is_denied(noun.head)


def is_any(noun: Token) -> bool:
    """True if no thing in particular is denied: "does not wear a hat"."""
    first = first_of_list(noun)
    verb = first.head
    if first.dep_ not in {"dobj", "attr"} or not is_verb(verb) or is_definite(noun):
        return False
    return polarity(
        noun, is_negated(verb) or any(map(is_denied, kids(verb, *SUBJECTS)))
    )


def is_left_out(noun: Token) -> bool:
    """True if a noun is named as what is not there: "without a coat", "lacks windows"."""
    first = first_of_list(noun)
    without = first.dep_ == "pobj" and first.head.lower_ in {"without", "unlike"}
    lacks = first.dep_ == "dobj" and first.head.lemma_ in WORDS.lacking
    # "without the coat": a coat that is known is elsewhere, not missing
    return (without or lacks) and not is_definite(noun)


def first_of_list(noun: Token) -> Token:
    """The noun that a list begins with."""
    while noun.dep_ == "conj" and is_noun(noun.head):
        noun = noun.head
    return noun


def polarity(word: Token, negated: bool) -> bool:
    """True if something is denied of a word, in a clause that is `negated` or not: "not the man
    but the woman", "red, not blue"."""
    if word.dep_ == "conj":
        before = {kid.lower_ for kid in kids(word.head, "cc") if kid.i < word.i}
        if negated and "but" in before:
            return False
        if _shares_denial(word) and polarity(word.head, negated):
            return True
    return negated or _has_not(word)


def _shares_denial(word: Token) -> bool:
    """True if a word is joined to the one before it by "or" or "nor"."""
    if word.dep_ != "conj":
        return False
    joint = texts(word.head, "cc") | texts(word, "cc")
    if joint:
        return bool(WORDS.joining & joint) and "but" not in joint
    # "no people, animals or vehicles": the last conjunct has the "or"
    return any(map(_shares_denial, kids(word, "conj")))


def _has_not(word: Token) -> bool:
    negations = WORDS.negations | {"neither", "nor"}
    for kid in kids(word, "neg", "advmod", "preconj"):
        # "grabs the screwdriver, not the hammer": that "not" is the hammer's
        if kid.lower_ in negations and not (kid.i and kid.nbor(-1).text == ","):
            return True
    return is_corrected(word)


def is_corrected(word: Token) -> bool:
    """True of the hammer of "the screwdriver, not the hammer"."""
    before = word.doc[max(word.left_edge.i - 2, 0) : word.i]
    return ", not" in " ".join(other.lower_ for other in before)
