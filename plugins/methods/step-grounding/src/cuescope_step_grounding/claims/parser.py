"""Which parser reads the steps: spaCy's dependency parser, or rules where its model is absent."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError, nearest
from cuescope_step_grounding.claims.lemmas import lemma_of
from cuescope_step_grounding.claims.rules import analyse
from cuescope_step_grounding.claims.second_look import look_again
from cuescope_step_grounding.claims.tree import Analysis

MODEL = "en_core_web_sm"
INSTALL = "python -m spacy download"
# Precision and recall with the intervals of 95%, by step, on the labelled steps that were sealed
# while the parsers were made (`sealed_steps.jsonl`).
SEALED = "223 steps of our own in the style of several models, kept apart while it was made"
QUALITY = {
    MODEL: f"precision 93% (91% to 95%), recall 93% (91% to 95%) on {SEALED}",
    "rules": f"precision 83% (80% to 87%), recall 84% (81% to 87%) on {SEALED}",
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
    return Parser(f"spaCy {name}{quality}", partial(_analyse_twice, nlp))


def _analyse_twice(nlp: Any, sentences: Sequence[Sequence[str]]) -> list[list[Analysis]]:
    analyse_once = partial(_analyse_with_spacy, nlp)
    return look_again(analyse_once, sentences, analyse_once(sentences))


def _analyse_with_spacy(nlp: Any, sentences: Sequence[Sequence[str]]) -> list[list[Analysis]]:
    doc = importlib.import_module("spacy.tokens").Doc
    shown = (doc(nlp.vocab, words=list(words)) for words in sentences)
    return [
        [
            Analysis(
                lemma_of(token.lower_, token.tag_, token.lemma_.lower()),
                token.tag_,
                token.dep_,
                token.head.i,
            )
            for token in parsed
        ]
        for parsed in nlp.pipe(shown, batch_size=256)
    ]
