"""What the steps of a trace claim of a video."""

from cuescope_step_grounding.claims.parser import Parser, parser
from cuescope_step_grounding.claims.steps import StepClaims, read_steps
from cuescope_step_grounding.claims.times import Clock
from cuescope_step_grounding.claims.written import ParserReader, WrittenReader

__all__ = ["Clock", "Parser", "ParserReader", "StepClaims", "WrittenReader", "parser", "read_steps"]
