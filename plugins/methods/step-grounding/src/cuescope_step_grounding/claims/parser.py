"""Which parser reads the steps: spaCy's dependency parser, or rules where its model is absent."""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuescope_step_grounding.claims.rules import analysed
from cuescope_step_grounding.claims.words import Analysis

MODEL = "en_core_web_sm"
INSTALL = f"python -m spacy download {MODEL}"
_USED = {"tok2vec", "transformer", "tagger", "parser", "attribute_ruler", "lemmatizer"}


@dataclass(frozen=True)
class Parser:
    """A parser: words of many sentences in, an analysis of each word out.

    `title` says in a report what it is, `facts` what it was made of and what was missing.
    """

    title: str
    analyse: Callable[[Sequence[Sequence[str]]], list[list[Analysis]]]
    facts: Mapping[str, str] = field(default_factory=dict)


def parser(name_or_path: str = MODEL) -> Parser:
    """spaCy's parser with an installed model or one in a folder; where there is none, the rules.

    The rules say in their title that they stand in. "rules" asks for them.
    """
    if name_or_path == "rules":
        return Parser("rules", _by_rules)
    try:
        nlp = importlib.import_module("spacy").load(Path(name_or_path).expanduser().as_posix())
    except (ImportError, OSError):
        return Parser(
            f"rules (in place of spaCy's {Path(name_or_path).name}, which is not installed)",
            _by_rules,
            {"parser": f"rules: less exact; for the dependency parser run `{INSTALL}`"},
        )
    for pipe in [pipe for pipe in nlp.pipe_names if pipe not in _USED]:
        nlp.disable_pipe(pipe)
    about = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
    return Parser(f"spaCy {about}", _Spacy(nlp), {"parser": f"spaCy dependency parser, {about}"})


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
