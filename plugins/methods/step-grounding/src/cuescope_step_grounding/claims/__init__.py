"""What the steps of a trace claim of a video."""

from cuescope_step_grounding.claims.parser import Parser, parser
from cuescope_step_grounding.claims.steps import StepClaims, claims_of, claims_of_steps, read_steps
from cuescope_step_grounding.claims.times import Clock

__all__ = ["Clock", "Parser", "StepClaims", "claims_of", "claims_of_steps", "parser", "read_steps"]
