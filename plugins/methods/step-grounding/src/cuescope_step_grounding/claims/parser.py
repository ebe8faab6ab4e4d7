"""Which parser reads the steps: spaCy's dependency parser, or rules where its model is absent."""

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError, nearest
from cuescope_step_grounding.claims.rules import analysed
from cuescope_step_grounding.claims.words import Analysis

MODEL = "en_core_web_sm"
INSTALL = "python -m spacy download"
# Precision and recall on the annotated steps (`annotated`), which the rules were made with.
FOUND = {
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
        return Parser(f"rules: {FOUND['rules']}", _by_rules)
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
        return Parser(f"rules, {missing}: {FOUND['rules']}", _by_rules)
    for pipe in [pipe for pipe in nlp.pipe_names if pipe not in _USED]:
        nlp.disable_pipe(pipe)
    about = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
    found = f": {FOUND[MODEL]}" if about.startswith(MODEL) else ""
    return Parser(f"spaCy {about}{found}", _Spacy(nlp))


@dataclass(frozen=True)
class _Spacy:
    nlp: Any

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[list[Analysis]]:
        doc = importlib.import_module("spacy.tokens").Doc
        shown = (doc(self.nlp.vocab, words=list(words)) for words in sentences)
        return [list(_analyses(parsed)) for parsed in self.nlp.pipe(shown, batch_size=256)]


def _analyses(parsed: Any) -> Iterator[Analysis]:
    for token in parsed:
        yield Analysis(token.lemma_.lower(), token.tag_, token.dep_, token.head.i)


def _by_rules(sentences: Sequence[Sequence[str]]) -> list[list[Analysis]]:
    return [analysed(words) for words in sentences]
