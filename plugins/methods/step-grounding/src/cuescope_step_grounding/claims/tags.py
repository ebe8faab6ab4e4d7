"""Tags and lemmas by word lists and endings, for the parser by rules."""

from collections.abc import Sequence

from cuescope_step_grounding.claims.lexicon import ORDERS, VERBS, by_word, word_set

_CLOSED = by_word("tags")
BE = by_word("be")
_HAVE = {"has": "VBZ", "have": "VBP", "had": "VBD", "having": "VBG", "'ve": "VBP"}
_DO = {"does": "VBZ", "do": "VBP", "did": "VBD"}
_ADJECTIVES = word_set("adjectives")
_THINGS = word_set("things")  # adjectives that are things where no noun follows
# Endings of what is said of a subject.
_PREDICATIVE_ENDINGS = ("y", "ful", "less", "ous", "ive", "able")
_PLURALS = {"women": "woman", "men": "man", "children": "child", "people": "people"}
_SINGULAR = {"shelves": "shelf", "knives": "knife", "loaves": "loaf", "series": "series"}
LINKING = word_set("copulas")
_NOUN_BEFORE = frozenset({"DT", "PRP$", "JJ", "IN", "CD"})


def tags_and_lemmas(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The Penn tag and the lemma of each word, read from left to right."""
    tags: list[str] = []
    lemmas: list[str] = []
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else "."
        tag, lemma = _tag(word, tags, words[:index], following)
        tags.append(tag)
        lemmas.append(lemma)
    return tags, lemmas


def _tag(word: str, tags: list[str], before: Sequence[str], following: str) -> tuple[str, str]:
    last = tags[-1] if tags else ""
    if word in BE:
        return ("POS", word) if word == "'s" and last.startswith("NN") else (BE[word], "be")
    if word in _HAVE:
        return _HAVE[word], "have"
    if word in _DO:
        return _DO[word], "do"
    if word == "her":
        return ("PRP$" if following.isalpha() and following not in _CLOSED else "PRP"), "she"
    if word in ORDERS or word == "as":
        return "IN", word
    if word in _PLURALS:
        return "NNS", _PLURALS[word]
    # After a noun "that" opens a relative clause; before a verb it is a pronoun; else a determiner.
    if word == "that" and last.startswith("NN"):
        return "WDT", word
    if word in {"this", "that"} and _is_finite(following):
        return "PRP", word
    if word in _CLOSED:
        return _CLOSED[word], word
    if word.isdigit():
        return "CD", word
    if not word[0].isalpha():
        return ",", word
    noun_next = following[0].isalpha() and not (following in _CLOSED or _is_verb(following))
    thing = word in _THINGS and last in {"DT", "PRP$"} and not noun_next
    verb = next(
        (old for old, old_tag in zip(before[::-1], tags[::-1], strict=True) if old_tag != "RB"), ""
    )
    linked = verb in BE or VERBS.get(verb, ("",))[0] in LINKING
    if (
        word in _ADJECTIVES
        and following != "by"
        and ((linked and not thing) or noun_next or last == "JJ")
    ):
        return "JJ", word
    # A verb's form after a determiner or a noun describes ("the closed door", "a cup held by").
    if word in VERBS and not _is_noun(word, last, tags, before, following):
        lemma, tag = VERBS[word]
        if last in _NOUN_BEFORE and tag in {"VBD", "VBN", "VBG"}:
            return (tag if last == "IN" and tag == "VBG" else "JJ"), lemma
        helped = any(old in BE or old in _HAVE for old in before[-3:])
        is_participle = helped or (last.startswith("NN") and following == "by")
        return ("VBN" if tag == "VBD" and is_participle else tag), lemma
    is_predicative = (
        linked and last.startswith(("VB", "RB")) and word.endswith(_PREDICATIVE_ENDINGS)
    )
    if (
        (word in _ADJECTIVES and not thing)
        or is_predicative
        or (noun_next and word.endswith(("ed", "y", "ish")) and last in {"DT", "JJ"})
    ):
        return "JJ", word
    if word.endswith("ly"):
        return "RB", word
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return ("NNS", _singular(word)) if plural else ("NN", word)


def _is_verb(word: str) -> bool:
    return word in VERBS or word in BE or word in _HAVE or word in _DO


def _is_finite(word: str) -> bool:
    """Whether a word is a verb of one subject: "is", "has", "shows"."""
    return VERBS.get(word, ("", ""))[1] == "VBZ" or word in {"is", "was", "has", "does"}


def _of_several(word: str) -> bool:
    """Whether a word is a verb of several subjects: "are", "have", "turn"."""
    base = VERBS.get(word, ("", ""))[1] == "VB" and word not in _ADJECTIVES
    return base or word in {"are", "were", "have", "do"}


def _is_noun(word: str, last: str, tags: list[str], before: Sequence[str], following: str) -> bool:
    """Whether a word that can be a verb is a noun where it stands."""
    _, tag = VERBS[word]
    if tag == "VBZ" and last.startswith("NN") and _of_several(following):
        return True  # "the traffic lights turn"
    if tag in {"VBG", "VBN", "VBD"}:
        return False
    if last in {"DT", "PRP$", "JJ", "CD", "POS"}:
        return True
    if last == "IN":
        return before[-1] not in ORDERS
    if tag == "VB":  # a base form is one at the start, after "to", "I", a helper
        helped = last in {"MD", "TO", "RB", "CC", "PRP", ","} or not before
        plural = last == "NNS"
        return not (helped or plural)
    return any(old.startswith("VB") for old in tags[-1:])


def _singular(noun: str) -> str:
    if noun.endswith("ies") and noun not in _SINGULAR and len(noun) > 4:
        return f"{noun[:-3]}y"
    if noun.endswith(("shes", "ches", "xes", "sses")):
        return noun[:-2]
    return _SINGULAR.get(noun, noun[:-1])
