"""What a sentence denies: verbs, nouns, and one thing beside another ("green, not blue")."""

from cuescope_step_grounding.claims.english.lexicon import WORDS
from cuescope_step_grounding.claims.english.tree import Tree, Word

_NOT = frozenset({"not", "n't", "never"})
_NONE = frozenset({"none", "neither", "nobody"})
_JOINED = frozenset({"or", "nor", "and"})


def is_negated(tree: Tree, verb: Word) -> bool:
    """Whether a verb is denied: "not", "never", "without", "fails to", "at no point", "nor"."""
    head = tree.head(verb)
    if _has_not(tree, verb) or _is_never(tree, verb):
        return True
    if verb.dep == "pcomp":
        return head.text == "without" or head.lemma in WORDS["failing"]
    if verb.dep in {"xcomp", "ccomp"} and head is not verb:
        # "is unable to open": the adjective stands between
        verbs = [word for word in (head, tree.head(head)) if word.is_verb]
        fails = head.lemma in WORDS["failing"]
        # "is unable to": the adjective may stand beside
        fails = fails or any(kid.text in WORDS["failing"] for kid in tree.kids(head, "acomp"))
        bound = head.lemma in WORDS["beginning"] or not head.is_verb
        return fails != (bound and any(is_negated(tree, above) for above in verbs[:1]))
    if verb.dep == "conj" and head is not verb:
        joint = {kid.text for kid in (*tree.kids(head, "cc"), *tree.kids(verb, "cc"))}
        if "nor" in joint or "or" in joint:
            return is_negated(tree, head)
    return any(
        kid.text == "nor" for kid in tree.kids(verb, "cc", "preconj") if kid.index < verb.index
    )


def is_denied(tree: Tree, noun: Word) -> bool:
    """Whether a noun is denied: "no chair", "nobody", "a bus but no taxi", "no cup or plate"."""
    if noun.text in _NONE or noun.text == "nothing":
        return True
    words = tree.kids(noun, "det", "neg", "preconj", "advmod", "predet")
    if any(kid.text in {"no", "neither", "not", "hardly", "barely"} for kid in words):
        return True
    if (
        noun.dep == "pobj"
        and tree.head(noun).text == "of"
        and tree.head(tree.head(noun)).text in _NONE
    ):
        return True
    return _shares_denial(tree, noun) and is_denied(tree, tree.head(noun))


def is_known(tree: Tree, noun: Word) -> bool:
    """Whether a noun that is denied is there: "none of the children", "neither player"."""
    chosen = any(kid.text == "neither" for kid in tree.kids(noun, "det"))
    return chosen or is_definite(tree, noun)


def is_any(tree: Tree, noun: Word) -> bool:
    """Whether no thing in particular is denied: "does not wear a hat"."""
    first = noun
    while first.dep == "conj" and tree.head(first).is_noun:
        first = tree.head(first)
    verb = tree.head(first)
    if first.dep not in {"dobj", "attr"} or not verb.is_verb or is_definite(tree, noun):
        return False
    denied = any(is_denied(tree, kid) for kid in tree.kids(verb, "nsubj", "nsubjpass"))
    return polarity(tree, noun, is_negated(tree, verb) or denied)


def is_left_out(tree: Tree, noun: Word) -> bool:
    """Whether a noun is named as what is not there: "without a coat", "lacks windows"."""
    head = tree.head(noun)
    if noun.dep == "conj" and head.is_noun:
        return is_left_out(tree, head)
    if noun.dep == "pobj" and head.text in {"without", "except", "unlike"}:
        return head.text != "except" and not is_definite(tree, noun)
    return noun.dep == "dobj" and head.lemma in WORDS["lacking"] and not is_definite(tree, noun)


def is_definite(tree: Tree, noun: Word) -> bool:
    """Whether a noun names something known: "the door", "his keys"."""
    return any(
        kid.dep == "poss" or kid.text in {"the", "this", "that", "these", "those"}
        for kid in tree.kids(noun, "det", "poss")
    )


def polarity(tree: Tree, word: Word, negated: bool) -> bool:
    """Whether something is denied of a word, or by it, in a clause that is `negated` or not: "not
    the man but the woman", "red, not blue"."""
    if word.dep == "conj":
        head = tree.head(word)
        joint = {kid.text for kid in tree.kids(head, "cc") if kid.index < word.index}
        if negated and "but" in joint:
            return False
        if _shares_denial(tree, word) and polarity(tree, head, negated):
            return True
    return negated or _has_not(tree, word)


def _shares_denial(tree: Tree, word: Word) -> bool:
    """Whether a word is joined to the one before it by "or" or "nor"."""
    if word.dep != "conj":
        return False
    head = tree.head(word)
    joint = [kid.text for kid in tree.kids(head, "cc")] + [
        kid.text for kid in tree.kids(word, "cc")
    ]
    # "no people, animals or vehicles": the last conjunct has the "or"
    inner = tree.kids(word, "conj")
    return (bool(_JOINED & set(joint)) and "but" not in joint) or (
        not joint and any(_shares_denial(tree, kid) for kid in inner)
    )


def _has_not(tree: Tree, word: Word) -> bool:
    words = tree.kids(word, "neg", "advmod", "preconj", "cc")
    return any(
        kid.text in _NOT or (kid.text == "neither" and kid.index < word.index) for kid in words
    )


def _is_never(tree: Tree, verb: Word) -> bool:
    """ "at no point", "in no frame", "under no circumstances"."""
    return any(
        noun.lemma in WORDS["unseen"] and any(kid.text == "no" for kid in tree.kids(noun, "det"))
        for prep in tree.kids(verb, "prep")
        for noun in tree.kids(prep, "pobj")
    )
