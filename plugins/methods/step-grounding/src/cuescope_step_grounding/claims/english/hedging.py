"""What a sentence does not report: questions, plans, guesses, conditions, talk of the answer."""

from collections.abc import Iterable, Iterator

from cuescope_step_grounding.claims.english.denial import is_definite
from cuescope_step_grounding.claims.english.lexicon import WORDS
from cuescope_step_grounding.claims.english.roles import SUBJECTS
from cuescope_step_grounding.claims.english.tree import Word, Words, text_of

_POINTING = {"this", "that", "it", "which"}


def is_about_question(words: Words) -> bool:
    """Whether a sentence is about the question, its answer or what follows, not about the video."""
    # The first main clause decides: "The answer is B" reports nothing.
    for verb in words:
        subjects = verb.kids(*SUBJECTS)
        if subjects and verb.is_verb and verb.dep in {"ROOT", "ccomp"}:
            infers = verb.lemma in WORDS.inferring and verb.has(_POINTING, *SUBJECTS)
            return infers or any(kid.lemma in WORDS.about_question for kid in subjects)
    return False


def unreported_words(words: Words) -> set[int]:
    """The words that tell of plans, guesses and wishes: nothing of them was seen."""
    unreported: set[int] = set()
    if is_about_question(words):
        unreported.update(range(len(words)))
        for verb in words:
            # "The answer is B because the man sits": what follows "because" was seen.
            if verb.is_verb and verb.dep == "advcl" and verb.has(WORDS.reasons, "mark"):
                unreported.difference_update(_below([verb]))
    unreported.update(_unreal_condition(words))
    for verb in words:
        if verb.is_verb:
            unreported.update(
                _guess(verb),
                _plan(verb),
                _condition(verb),
                _inference(verb),
            )
    return unreported


def _below(words: Iterable[Word]) -> Iterator[int]:
    """The words and all that hangs on them."""
    for word in words:
        for inner in word.below():
            yield inner.index


def _guess(verb: Word) -> Iterator[int]:
    """ "might open", "perhaps he sits"; but "cannot open" and "can be seen" report what is so."""
    texts = verb.texts("aux") - {"do", "does", "did"}
    hedged = not texts.isdisjoint(WORDS.hedges)
    modal = "MD" in verb.tags("aux")
    sight = verb.lemma in WORDS.seeing or verb.has({"visible"}, "acomp")
    denied = verb.has(WORDS.negations, "neg", "advmod")
    unable = denied and not texts.isdisjoint({"can", "ca", "could"})
    # "could not have opened it" is a guess
    guessed = unable and not sight and "have" in texts
    # what cannot be done is not done
    if not unable:
        guessed = hedged or (modal and not sight)
    if guessed or verb.has(WORDS.doubting, "advmod"):
        yield from _with_subject(verb)


def _plan(verb: Word) -> Iterator[int]:
    """ "tries to open the door": the opening is not seen, but the door is."""
    if verb.has(WORDS.intending, "acomp", "oprd", "advmod"):
        yield from _words_of_intention(
            verb,
            verb.grandkids("acomp", "xcomp") + verb.kids("xcomp"),
        )
    # who begins, stops or fails to do something is seen to
    if verb.lemma in WORDS.planning - WORDS.beginning - WORDS.failing:
        # "wants a drink": nor is what is wanted seen
        wanted = ("xcomp", "dobj") if verb.lemma in WORDS.wanting else ("xcomp",)
        yield from _words_of_intention(verb, verb.kids(*wanted))
        if verb.lemma in WORDS.telling:
            yield from _below(verb.kids_after("ccomp"))
    if verb.lemma == "have" and verb.kids("xcomp"):  # "has to turn left"
        yield verb.index


def _unreal_condition(words: Words) -> Iterable[int]:
    """ "Had he braked, the car would have stopped": the words up to the comma."""
    texts = list(map(text_of, words))
    unreal = texts[:1] in (["had"], ["were"], ["should"])
    if unreal and "," in texts and not WORDS.hedges.isdisjoint(texts[1:]):
        return range(texts.index(","))
    return ()


def _words_of_intention(verb: Word, clauses: list[Word]) -> Iterator[int]:
    """The words of what is intended, but for the things that are there already."""
    ours = _has_agent(verb)
    for clause in clauses:
        if not verb.kids("dobj"):
            yield verb.index
        for word in clause.below():
            if ours or not (word.is_noun and is_definite(word) and clause.is_verb):
                yield word.index


def _has_agent(verb: Word) -> bool:
    return any(kid.lemma in WORDS.agents for kid in verb.kids("nsubj"))


def _condition(verb: Word) -> Iterator[int]:
    """ "if he falls, she laughs": neither was seen; "if we look closely" says nothing."""
    real = False
    for mark in verb.kids("mark"):
        # "as if" says how it seems
        unsure = mark.text in {"if", "unless", "whether"}
        real = real or (unsure and mark.before != "as")
    asked = verb.has(WORDS.questioning, "nsubj", "dobj", "advmod", "nsubjpass", "attr")
    if not real and not (asked and verb.dep in {"ccomp", "pcomp"}):
        return
    yield from _below([verb])
    # "if we look closely, a cup is there": the cup was seen
    if real and verb.dep == "advcl" and not _has_agent(verb):
        yield from _with_subject(verb.head)


def _inference(verb: Word) -> Iterator[int]:
    """ "..., suggesting that he is a chef"."""
    if verb.lemma in WORDS.inferring:
        yield verb.index
        yield from _below(verb.kids("ccomp", "xcomp"))
        # "this suggests a party"
        if verb.has(_POINTING, "nsubj"):
            yield from _below(verb.kids("dobj"))
    if verb.lemma in WORDS.reporting and not _is_ours(verb):
        yield from _below(verb.kids_after("ccomp"))


def _is_ours(verb: Word) -> bool:
    subjects = verb.texts("nsubj")
    return _has_agent(verb) or not subjects or "it" in subjects


def _with_subject(verb: Word) -> Iterator[int]:
    """A verb and what hangs on it, but for a subject that is known to be there."""
    yield verb.index
    for kid in verb.kids():
        present = kid.dep in SUBJECTS and is_definite(kid)
        # a joined clause is read by itself, with its own hedges
        if kid.dep not in {"conj", "advcl"} and not present:
            yield from _below([kid])
