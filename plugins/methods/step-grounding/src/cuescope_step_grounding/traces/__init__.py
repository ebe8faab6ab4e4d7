"""Reasoning traces (section 3.1 of the paper): from what a model wrote to steps and an answer."""

from cuescope_step_grounding.traces.answers import choice_meant, is_right
from cuescope_step_grounding.traces.reading import Trace, read_trace

__all__ = ["Trace", "choice_meant", "is_right", "read_trace"]
