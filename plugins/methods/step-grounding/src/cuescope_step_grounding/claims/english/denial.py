"""What a sentence denies: verbs, nouns, and one thing beside another ("green, not blue")."""

from cuescope_step_grounding.claims.english.lexicon import WORDS
from cuescope_step_grounding.claims.english.tree import Word

_NONE = {"none", "neither", "nobody"}


def is_negated(verb: Word) -> bool:
    """Whether a verb is denied: "not", "never", "without", "fails to", "at no point", "nor"."""
    head = verb.head
    if _has_not(verb) or _is_never(verb):
        return True
    if verb.dep == "pcomp":
        return head.text == "without" or head.lemma in WORDS.failing
    if verb.dep in {"xcomp", "ccomp"} and head is not verb:
        # "is unable to open": the adjective stands between, or beside
        fails = head.lemma in WORDS.failing or head.has(WORDS.failing, "acomp")
        bound = head.lemma in WORDS.beginning or not head.is_verb
        above = head if head.is_verb else head.head
        # two denials cancel out: who does not fail to open a door opens it
        return fails != (bound and above.is_verb and is_negated(above))
    if verb.dep == "conj" and head is not verb:
        joint = head.texts("cc") | verb.texts("cc")
        # "does not sit or stand" denies both
        if "nor" in joint or "or" in joint:
            return is_negated(head)
    joined = verb.kids("cc", "preconj")
    return any(kid.text == "nor" and kid.index < verb.index for kid in joined)


def is_denied(noun: Word) -> bool:
    """Whether a noun is denied: "no chair", "nobody", "a bus but no taxi", "no cup or plate"."""
    if noun.text in _NONE or noun.text == "nothing":
        return True
    if noun.has(WORDS.denying, "det", "neg", "preconj", "advmod", "predet"):
        return True
    # "none of the chairs"
    if noun.dep == "pobj" and noun.head.text == "of" and noun.head.head.text in _NONE:
        return True
    return _shares_denial(noun) and is_denied(noun.head)


def is_known(noun: Word) -> bool:
    """Whether a noun that is denied is there: "none of the children", "neither player"."""
    return noun.has({"neither"}, "det") or is_definite(noun)


def first_of_list(noun: Word) -> Word:
    """The noun that a list begins with."""
    while noun.dep == "conj" and noun.head.is_noun:
        noun = noun.head
    return noun


def is_any(noun: Word) -> bool:
    """Whether no thing in particular is denied: "does not wear a hat"."""
    first = first_of_list(noun)
    verb = first.head
    if first.dep not in {"dobj", "attr"} or not verb.is_verb or is_definite(noun):
        return False
    denied = any(map(is_denied, verb.kids("nsubj", "nsubjpass")))
    return polarity(noun, is_negated(verb) or denied)


def is_left_out(noun: Word) -> bool:
    """Whether a noun is named as what is not there: "without a coat", "lacks windows"."""
    head = noun.head
    if noun.dep == "conj" and head.is_noun:
        return is_left_out(head)
    if noun.dep == "pobj" and head.text in {"without", "unlike"}:
        # "without the coat": a coat that is known is elsewhere, not missing
        return not is_definite(noun)
    lacks = noun.dep == "dobj" and head.lemma in WORDS.lacking
    return lacks and not is_definite(noun)


def is_definite(noun: Word) -> bool:
    """Whether a noun names something known: "the door", "his keys"."""
    return bool(noun.kids("poss")) or noun.has(WORDS.definite, "det")


def polarity(word: Word, negated: bool) -> bool:
    """Whether something is denied of a word, or by it, in a clause that is `negated` or not: "not
    the man but the woman", "red, not blue"."""
    if word.dep == "conj":
        before = (kid.text for kid in word.head.kids("cc") if kid.index < word.index)
        if negated and "but" in before:
            return False
        if _shares_denial(word) and polarity(word.head, negated):
            return True
    return negated or _has_not(word)


def _shares_denial(word: Word) -> bool:
    """Whether a word is joined to the one before it by "or" or "nor"."""
    if word.dep != "conj":
        return False
    joint = word.head.texts("cc") | word.texts("cc")
    if joint:
        return bool(WORDS.joining & joint) and "but" not in joint
    # "no people, animals or vehicles": the last conjunct has the "or"
    return any(map(_shares_denial, word.kids("conj")))


def _has_not(word: Word) -> bool:
    for kid in word.kids("neg", "advmod", "preconj", "cc"):
        if kid.text in WORDS.negations or (
            kid.text == "neither" and kid.index < word.index
        ):
            return True
    return False


def _is_never(verb: Word) -> bool:
    """ "at no point", "in no frame", "under no circumstances"."""
    nouns = verb.grandkids("prep", "pobj")
    return any(noun.lemma in WORDS.unseen and noun.has({"no"}, "det") for noun in nouns)
