"""The base form of a word: of nouns the singular, of verbs the infinitive."""

from cuescope_step_grounding.claims.english.lexicon import LISTS, VERBS

_PLURALS: dict[str, str] = {}
for _pair in LISTS["plurals"].split():
    _one, _plural = _pair.split("/")
    _PLURALS[_plural] = _one
_SAME = frozenset(LISTS["same_in_plural"].split())
_SIBILANT = ("shes", "ches", "xes", "sses", "zzes")
# after these a verb ends in an "e" that its participle drops: "dicing", "carving"
_MUTE = ("c", "v", "dg", "rg", "ng", "u", "bl", "dl", "tl", "zl")


def singular(noun: str) -> str:
    """The singular of a plural noun.

    >>> [singular(noun) for noun in ("cookies", "ladies", "knives", "buses", "women", "deer")]
    ['cookie', 'lady', 'knife', 'bus', 'woman', 'deer']
    """
    if noun in _SAME:
        return noun
    if noun in _PLURALS:
        return _PLURALS[noun]
    stem, hyphen, last = noun.rpartition("-")
    if hyphen:
        return f"{stem}-{singular(last)}"
    for ending in ("women", "men", "people"):  # policewomen, craftsmen, salespeople
        if noun.endswith(ending) and noun != ending:
            return noun[: -len(ending)] + _PLURALS.get(ending, ending)
    if noun.endswith("ies"):
        # pies, ties: a short word keeps its "ie"
        return f"{noun[:-3]}y" if len(noun) > 4 else noun[:-1]
    if noun.endswith(_SIBILANT):
        return noun[:-2]
    # "glass" and "bus" are no plurals
    if noun.endswith("s") and not noun.endswith(("ss", "us")):
        return noun[:-1]  # taxis, skis
    return noun


def infinitive(form: str) -> str:
    """The infinitive of a present participle, or of a third person.

    >>> [infinitive(word) for word in ("cutting", "tying", "whisking", "trimming", "dicing")]
    ['cut', 'tie', 'whisk', 'trim', 'dice']
    """
    if form in VERBS:
        return VERBS[form][0]
    # a verb of no list loses its "s" as a plural does
    if not form.endswith("ing"):
        return singular(form)
    stem = form.removesuffix("ing")
    if stem.endswith("y") and len(stem) < 4:
        return f"{stem[:-1]}ie"
    doubled = stem[-2:-1] == stem[-1:]
    # "pressing" and "filling" double nothing
    if doubled and stem[-1:] not in {"s", "l", "z", "e", "o"}:
        return stem[:-1]
    return f"{stem}e" if stem.endswith(_MUTE) else stem


def lemma_of(word: str, tag: str, lemma: str) -> str:
    """The base form of a word with its Penn tag, given what a parser takes it for."""
    if tag in {"NNS", "NNPS"}:
        return singular(word)
    # first the lists: parsers cut letters off, see below
    if tag.startswith("VB") and word in VERBS:
        return VERBS[word][0]
    if tag.startswith("VB") and _lacks_e(word, lemma):
        return f"{lemma}e"
    return lemma


def _lacks_e(word: str, lemma: str) -> bool:
    """Whether a parser cut an "e" off: "rid" of "riding", "hop" of "hopes"; one consonant after one
    vowel would have been doubled, and got no "es"."""
    # these letters are not doubled, or take "es" without having lost an "e"
    if len(lemma) < 3 or lemma[-1] in "aeiouwxyszh" or word in {lemma, f"{lemma}s"}:
        return False
    if word == f"{lemma}es":
        return True
    one = lemma[-2] in "aeiou" and lemma[-3] not in "aeiou" and len(lemma) < 5
    return one and word in {f"{lemma}ing", f"{lemma}ed"}
