"""What the steps of a trace claim of a video."""

from cuescope_step_grounding.claims.english.spacy_parser import (
    Parser,
    find_model,
    parser,
    require_model,
)
from cuescope_step_grounding.claims.readers import ParserReader, WrittenReader
from cuescope_step_grounding.claims.steps import read_steps
from cuescope_step_grounding.claims.times import Clock

__all__ = [
    "Clock",
    "Parser",
    "ParserReader",
    "WrittenReader",
    "find_model",
    "parser",
    "read_steps",
    "require_model",
]
