"""What a sentence does not report: questions, plans, guesses, conditions, talk of the answer."""

from collections.abc import Iterator

from cuescope_step_grounding.claims.english.denial import is_definite
from cuescope_step_grounding.claims.english.lexicon import WORDS
from cuescope_step_grounding.claims.english.tree import Tree, Word

_QUESTIONING = frozenset({"what", "which", "who", "whom", "whose", "where", "when", "why", "how"})
_DENIED = frozenset({"not", "n't", "never"})
_POINTING = frozenset({"this", "that", "it", "which"})


def is_question(tree: Tree) -> bool:
    return bool(tree.words) and any(word.text == "?" for word in tree.words[-2:])


def is_about_question(tree: Tree) -> bool:
    """Whether a sentence is about the question, its answer or what follows, not about the video."""
    # The first main clause decides: "The answer is B" reports nothing.
    for verb in tree.words:
        subjects = tree.kids(verb, "nsubj", "nsubjpass")
        if subjects and verb.is_verb and verb.dep in {"ROOT", "ccomp"}:
            infers = verb.lemma in WORDS["inferring"]
            return any(
                kid.lemma in WORDS["about_question"] or (infers and kid.text in _POINTING)
                for kid in subjects
            )
    return False


def unreported_words(tree: Tree) -> set[int]:
    """The words that tell of plans, guesses and wishes: nothing of them was seen."""
    unreported: set[int] = set()
    if is_about_question(tree):
        unreported.update(word.index for word in tree.words)
        for reason in _reasons(tree):
            unreported.difference_update(word.index for word in tree.below(reason))
    unreported.update(_unreal_condition(tree))
    for verb in tree.words:
        if verb.is_verb:
            unreported.update(_guess(tree, verb))
            unreported.update(_plan(tree, verb))
            unreported.update(_condition(tree, verb))
            unreported.update(_inference(tree, verb))
    return unreported


def _reasons(tree: Tree) -> Iterator[Word]:
    """ "The answer is B because the man sits": what follows "because" was seen."""
    for verb in tree.words:
        marks = {kid.text for kid in tree.kids(verb, "mark")}
        if verb.is_verb and verb.dep == "advcl" and marks & {"because", "since", "as"}:
            yield verb


def _guess(tree: Tree, verb: Word) -> Iterator[int]:
    """ "might open", "perhaps he sits"; but "cannot open" and "can be seen" report what is so."""
    helpers = [kid for kid in tree.kids(verb, "aux") if kid.text not in {"do", "does", "did"}]
    hedged = any(kid.text in WORDS["hedges"] for kid in helpers)
    modal = any(kid.tag == "MD" for kid in helpers)
    denied = any(kid.text in _DENIED for kid in tree.kids(verb, "neg", "advmod"))
    able = any(kid.text in {"can", "ca", "could"} for kid in helpers)
    sight = verb.lemma in WORDS["seeing"] or any(
        kid.text == "visible" for kid in tree.kids(verb, "acomp")
    )
    doubted = any(kid.text in WORDS["doubting"] for kid in tree.kids(verb, "advmod"))
    perfect = any(kid.text == "have" for kid in helpers)
    if doubted or (able and denied and not sight and perfect):
        yield from _with_subject(tree, verb)
    elif able and denied:
        return  # what cannot be done is not done
    elif hedged or (modal and not sight):
        yield from _with_subject(tree, verb)


def _plan(tree: Tree, verb: Word) -> Iterator[int]:
    """ "tries to open the door": the opening is not seen, but the door is."""
    inner = [kid for adjective in tree.kids(verb, "acomp") for kid in tree.kids(adjective, "xcomp")]
    if any(kid.text in WORDS["intending"] for kid in tree.kids(verb, "acomp", "oprd", "advmod")):
        inner += tree.kids(verb, "xcomp")
        yield from _words_of_intention(tree, verb, inner)
    if verb.lemma in WORDS["planning"] - WORDS["beginning"] - WORDS["failing"]:
        wanted = ("xcomp", "dobj") if verb.lemma in WORDS["wanting"] else ("xcomp",)
        yield from _words_of_intention(tree, verb, tree.kids(verb, *wanted))
        told = _following(tree, verb) if verb.lemma in WORDS["telling"] else []
        yield from (word.index for clause in told for word in tree.below(clause))
    if verb.lemma == "have" and tree.kids(verb, "xcomp"):  # "has to turn left"
        yield verb.index


def _unreal_condition(tree: Tree) -> Iterator[int]:
    """ "Had he braked, the car would have stopped": the words up to the comma."""
    words = [word.text for word in tree.words]
    if words[:1] in (["had"], ["were"], ["should"]) and WORDS["hedges"] & set(words[1:]):
        yield from range(words.index(",") if "," in words else 0)


def _words_of_intention(tree: Tree, verb: Word, clauses: list[Word]) -> Iterator[int]:
    """The words of what is intended, but for the things that are there already."""
    ours = any(kid.lemma in WORDS["agents"] for kid in tree.kids(verb, "nsubj"))
    for clause in clauses:
        if not tree.kids(verb, "dobj"):
            yield verb.index
        for word in tree.below(clause):
            if ours or not (word.is_noun and is_definite(tree, word) and clause.is_verb):
                yield word.index


def _condition(tree: Tree, verb: Word) -> Iterator[int]:
    """ "if he falls, she laughs": neither was seen; "if we look closely" says nothing."""
    marks = [kid for kid in tree.kids(verb, "mark") if kid.text in {"if", "unless", "whether"}]
    real = [kid for kid in marks if not (kid.index and tree.words[kid.index - 1].text == "as")]
    asked = any(
        kid.text in _QUESTIONING
        for kid in tree.kids(verb, "nsubj", "dobj", "advmod", "nsubjpass", "attr")
    )
    if not real and not (asked and verb.dep in {"ccomp", "pcomp"}):
        return
    yield from (word.index for word in tree.below(verb))
    ours = any(kid.lemma in WORDS["agents"] for kid in tree.kids(verb, "nsubj"))
    if real and verb.dep == "advcl" and not ours:
        yield from _with_subject(tree, tree.head(verb))


def _inference(tree: Tree, verb: Word) -> Iterator[int]:
    """ "..., suggesting that he is a chef"."""
    if verb.lemma in WORDS["inferring"]:
        yield verb.index
        thought = any(kid.text in _POINTING for kid in tree.kids(verb, "nsubj"))
        things = ("ccomp", "xcomp", "dobj") if thought else ("ccomp", "xcomp")
        for clause in tree.kids(verb, *things):
            yield from (word.index for word in tree.below(clause))
    if verb.lemma in WORDS["reporting"] and not _is_ours(tree, verb):
        for clause in _following(tree, verb):
            yield from (word.index for word in tree.below(clause))


def _following(tree: Tree, verb: Word) -> list[Word]:
    return [clause for clause in tree.kids(verb, "ccomp") if clause.index > verb.index]


def _is_ours(tree: Tree, verb: Word) -> bool:
    subjects = tree.kids(verb, "nsubj")
    return not subjects or any(kid.lemma in WORDS["agents"] or kid.text == "it" for kid in subjects)


def _with_subject(tree: Tree, verb: Word) -> Iterator[int]:
    """A verb and what hangs on it, but for a subject that is known to be there."""
    yield verb.index
    for kid in tree.kids(verb):
        subject = kid.dep in {"nsubj", "nsubjpass"}
        if kid.dep not in {"conj", "advcl"} and not (subject and is_definite(tree, kid)):
            yield from (word.index for word in tree.below(kid))
