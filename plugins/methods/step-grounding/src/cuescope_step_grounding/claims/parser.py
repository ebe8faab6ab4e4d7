"""Which parser reads the steps: spaCy's dependency parser, or rules where its model is absent."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError, nearest
from cuescope_step_grounding.claims.lexicon import VERBS, WORDS
from cuescope_step_grounding.claims.rules import analyse
from cuescope_step_grounding.claims.tree import Analysis

MODEL = "en_core_web_sm"
INSTALL = "python -m spacy download"
# Precision and recall on the annotated steps (`annotated`), which the rules were made with.
QUALITY = {
    MODEL: "precision 96%, recall 96% on 212 annotated steps",
    "rules": "precision 95%, recall 93% on 212 annotated steps of our own, less on other text",
}
_USED = {"tok2vec", "transformer", "tagger", "parser", "attribute_ruler", "lemmatizer"}


@dataclass(frozen=True)
class Parser:
    """A parser: words of many sentences in, an analysis of each word out.

    `title` says in a report what it is, what was missing, and how good it is.
    """

    title: str
    analyse: Callable[[Sequence[Sequence[str]]], list[list[Analysis]]]


def parser(name_or_path: str = MODEL) -> Parser:
    """spaCy's parser with an installed model or one in a folder; "rules" for the rules.

    The rules stand in for the default alone, and say so in their title; raises UserError for
    another model that cannot be loaded.
    """
    if name_or_path == "rules":
        return Parser(f"rules: {QUALITY['rules']}", analyse)
    try:
        nlp = importlib.import_module("spacy").load(Path(name_or_path).expanduser().as_posix())
    except (ImportError, OSError):
        if name_or_path != MODEL:
            raise UserError(
                f"step-grounding: no parser '{name_or_path}'",
                expected="an installed model of spaCy, a folder with one, or rules",
                remedy=nearest(name_or_path, [MODEL, "rules"]),
            ) from None
        missing = f"in place of spaCy's, which `{INSTALL} {MODEL}` brings"
        return Parser(f"rules, {missing}: {QUALITY['rules']}", analyse)
    for pipe in [pipe for pipe in nlp.pipe_names if pipe not in _USED]:
        nlp.disable_pipe(pipe)
    name = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
    quality = f": {QUALITY[MODEL]}" if name.startswith(MODEL) else ""
    return Parser(f"spaCy {name}{quality}", partial(_analyse_with_spacy, nlp))


def _analyse_with_spacy(nlp: Any, sentences: Sequence[Sequence[str]]) -> list[list[Analysis]]:
    doc = importlib.import_module("spacy.tokens").Doc
    shown = (doc(nlp.vocab, words=list(words)) for words in sentences)
    return [
        [Analysis(token.lemma_.lower(), token.tag_, token.dep_, token.head.i) for token in parsed]
        for parsed in nlp.pipe(shown, batch_size=256)
    ]


_SUBJECTS = WORDS["people"] | WORDS["agents"]


def repair(words: Sequence[str], analyses: Sequence[Analysis]) -> list[Analysis]:
    """The analyses with verbs that were taken for nouns as verbs, and the like."""
    corrected = list(analyses)
    lower = [word.lower() for word in words]
    # In order, and each on the corrected ones before it: a repaired verb is what the next hangs on.
    for index, word in enumerate(lower):
        analysis = corrected[index]
        head = corrected[analysis.head]
        if analysis.tag == "VBN" and analysis.dep == "conj" and head.tag == "JJ":
            corrected[index] = analysis._replace(tag="JJ")  # "narrow, dimly lit and empty"
        elif analysis.tag == "JJ" and analysis.dep in {"pobj", "dobj", "nsubj"}:
            corrected[index] = analysis._replace(tag="NN")  # "in the safe"
        elif word in {"left", "right"} and analysis.tag[:2] in {"VB", "NN"} and index:
            before = [corrected[i].lemma for i in range(max(0, index - 2), index)]
            if (WORDS["turns"] | WORDS["walks"]) & set(before):
                corrected[index] = analysis._replace(tag="RB", dep="advmod")  # "turn slightly left"
        elif analysis.tag.startswith("NN") and word in VERBS and index:
            _repair_verb(lower, corrected, index)
    return corrected


def _repair_verb(words: Sequence[str], analyses: list[Analysis], index: int) -> None:
    """A noun that is a verb: "goes down and waits", "a woman types on"."""
    noun, (lemma, tag) = analyses[index], VERBS[words[index]]
    kids = [i for i, other in enumerate(analyses) if other.head == index and i != index]
    verbs = [
        i for i in range(index) if analyses[i].tag[:2] == "VB" and not _hangs_on(analyses, i, index)
    ]
    if words[index - 1] in {"and", "then", ","} and noun.dep in {"conj", "dep", "appos", "dobj"}:
        modified = any(i < index and analyses[i].dep in {"det", "amod", "poss"} for i in kids)
        if verbs and not modified and (tag != "VB" or analyses[verbs[-1]].tag in {"VB", "VBP"}):
            analyses[index] = Analysis(lemma, tag, "conj", verbs[-1])
        return
    subject = index - 1
    if subject in kids and words[subject] in _SUBJECTS and tag != "VB":
        root = noun
        if noun.dep == "nsubj":  # "the camera pans right and reveals": what it was the subject of
            root = analyses[noun.head]
            analyses[noun.head] = root._replace(dep="conj", head=index)
        head = index if root.dep == "ROOT" else root.head
        analyses[index] = Analysis(lemma, tag, root.dep, head)
        analyses[subject] = analyses[subject]._replace(tag="NN", dep="nsubj", head=index)
        for i in kids:
            if i < subject:
                analyses[i] = analyses[i]._replace(head=subject)


def _hangs_on(analyses: Sequence[Analysis], index: int, other: int) -> bool:
    """Whether a word hangs, by whatever way, on another."""
    while index != other and analyses[index].head != index:
        index = analyses[index].head
    return index == other
