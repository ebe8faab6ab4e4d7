"""A second look at sentences in which a parser found no verb where one stands.

Short steps have few articles ("Dog chases squirrel"), and small parsers read them as one long
noun. Such a sentence is parsed again with a plain verb in the place of the doubtful word, and with
an article before a bare noun; the tree of the second look is taken where it has the verb.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cuescope_step_grounding.claims.english.lemmas import singular
from cuescope_step_grounding.claims.english.lexicon import VERBS, WORDS
from cuescope_step_grounding.claims.english.tree import Analysis

Analyse = Callable[[Sequence[Sequence[str]]], list[list[Analysis]]]

_FINITE = frozenset({"VBZ", "VBP", "VBD", "MD"})
_OF_NOUNS = frozenset({"pobj", "compound", "amod", "appos"})
_BREAKS = frozenset(
    [
        ",",
        "and",
        "but",
        "then",
        "while",
        "as",
        "when",
        "before",
        "after",
        "because",
        "who",
        "which",
        "that",
        "where",
        "until",
        "so",
        "or",
    ]
)
_RELATIVE = frozenset({"that", "which", "who"})
_JOINING = frozenset({"and", "then", ",", "but"})
_PHRASE = ("DT", "PRP", "CD", "JJ", "NN", "WP")  # how a noun phrase begins
# A plain verb with an object, and one without, in each form.
_PLAIN = {"VBZ": ("holds", "sits"), "VB": ("hold", "sit")}


@dataclass(frozen=True)
class Look:
    """What is shown instead, and which word of it stands for a doubtful one."""

    words: tuple[str, ...]
    verbs: tuple[int, ...]  # in the sentence itself
    article: bool  # whether an article was put before the first word


def look_again(
    analyse: Analyse, sentences: Sequence[Sequence[str]], parsed: Sequence[list[Analysis]]
) -> list[list[Analysis]]:
    """The analyses, and those of the second look where it found what was missing."""
    looks = {
        index: look
        for index, (words, analyses) in enumerate(zip(sentences, parsed, strict=True))
        if (look := second_look(words, analyses)) is not None
    }
    result = list(parsed)
    for (index, look), analyses in zip(
        looks.items(), analyse([look.words for look in looks.values()]), strict=True
    ):
        plain = _without_article(analyses) if look.article else analyses
        if plain is not None and all(plain[verb].tag.startswith("VB") for verb in look.verbs):
            result[index] = _as_written(sentences[index], look.verbs, plain)
    return result


def second_look(words: Sequence[str], analyses: Sequence[Analysis]) -> Look | None:
    """What to show a parser instead; None where nothing is doubtful."""
    lower = [word.lower() for word in words]
    verbs = tuple(index for index in range(len(words)) if _is_doubtful(lower, analyses, index))
    article = analyses[0].tag[:2] in {"NN", "JJ"} and lower[1:2] != [","] and 0 not in verbs
    if not verbs:
        return None
    shown = [*words]
    for index in verbs:
        following = analyses[index + 1].tag if index + 1 < len(words) else ""
        shown[index] = _PLAIN[_form(lower[index])][not following.startswith(_PHRASE)]
    if article:
        shown = ["The", lower[0], *shown[1:]]
    return Look(tuple(shown), verbs, article)


def _form(word: str) -> str:
    return "VBZ" if word not in VERBS or VERBS[word][1] == "VBZ" else "VB"


def _is_doubtful(words: Sequence[str], analyses: Sequence[Analysis], index: int) -> bool:
    """Whether a noun stands where a verb is missing."""
    word, analysis = words[index], analyses[index]
    if _is_unknown_verb(words, analyses, index):
        return True
    if word not in VERBS or not (
        analysis.tag.startswith(("NN", "JJ")) or analysis.dep in _OF_NOUNS
    ):
        return False
    if index == 0:  # "Types the password"
        following = analyses[1].tag if len(analyses) > 1 else ""
        finite = any(map(_is_finite, analyses))
        return VERBS[word][1] == "VBZ" and not finite and following.startswith(_PHRASE)
    before = analyses[index - 1]
    form = VERBS[word][1]
    start, end = _clause(words, index)
    plural = any(analyses[i].tag in {"NNS", "NNPS"} for i in range(start, index))
    plural = plural or _is_counted(words, analyses, index - 1) or _is_joined(words, analyses, start)
    caused = any(analyses[i].lemma in WORDS["causing"] for i in range(start, index - 1))
    if form not in {"VBZ", "VB"} or (form == "VB" and not plural and not caused):
        return False
    # "the cat that is black sleeps": the verb of "that" is not the one that is missing
    described = words[start - 1] in _RELATIVE and not any(
        _is_finite(analyses[i]) for i in range(start)
    )
    if described and form == "VBZ" and start < index and before.tag[:2] in {"JJ", "NN", "VB", "RB"}:
        return any(_is_finite(analyses[i]) for i in range(start, index))
    if not (caused and form == "VB") and any(
        _is_finite(analyses[i]) for i in range(start, end) if i != index
    ):
        return False
    if start == index:  # "falls off the table and shatters"
        joined = words[index - 1] in _JOINING and form == "VBZ"
        return joined and any(analyses[i].tag == "VBZ" for i in range(index))
    return before.tag.startswith("NN") or before.tag in {"RB", "CD", "PRP"}


def _is_unknown_verb(words: Sequence[str], analyses: Sequence[Analysis], index: int) -> bool:
    """Whether a plural stands between a noun and an article, and no verb anywhere: "a chemist
    pipettes a liquid"."""
    inside = 0 < index < len(words) - 1 and words[index] not in VERBS
    return (
        inside
        and analyses[index].tag == "NNS"
        and analyses[index - 1].tag.startswith("NN")
        and analyses[index + 1].tag in {"DT", "PRP$"}
        and not any(map(_is_finite, analyses))
    )


def _is_joined(words: Sequence[str], analyses: Sequence[Analysis], start: int) -> bool:
    """Whether a clause is the last of several that do it: "a glove and a cup lie ..."."""
    return start > 1 and words[start - 1] == "and" and analyses[start - 2].tag.startswith("NN")


def _is_finite(analysis: Analysis) -> bool:
    """Whether a verb heads a clause: not one that hangs on a preposition."""
    return analysis.tag in _FINITE and analysis.dep not in _OF_NOUNS


def _is_counted(words: Sequence[str], analyses: Sequence[Analysis], index: int) -> bool:
    """Whether a noun follows a number: "three deer"."""
    before = words[max(index - 2, 0) : index]
    return any(analyses[i].tag == "CD" for i in range(max(index - len(before), 0), index)) or (
        words[index] in WORDS["anyone"]
    )


def _clause(words: Sequence[str], index: int) -> tuple[int, int]:
    start, end = index, index + 1
    while start > 0 and words[start - 1] not in _BREAKS:
        start -= 1
    while end < len(words) and words[end] not in _BREAKS:
        end += 1
    return start, end


def _without_article(analyses: Sequence[Analysis]) -> list[Analysis] | None:
    """The tree without its first word; None where something hangs on it."""
    if any(analysis.head == 0 for analysis in analyses):
        return None
    return [analysis._replace(head=analysis.head - 1) for analysis in analyses[1:]]


def _as_written(
    words: Sequence[str], verbs: Sequence[int], analyses: Sequence[Analysis]
) -> list[Analysis]:
    """The tree with the words that were written in it."""
    written = list(analyses)
    for index in verbs:
        word = words[index].lower()
        lemma = VERBS[word][0] if word in VERBS else singular(word)
        written[index] = written[index]._replace(lemma=lemma)
    return written
