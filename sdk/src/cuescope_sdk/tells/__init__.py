"""Tells: what answers a question without a look at its video."""

from cuescope_sdk.tells._tell import Tell, held_out_strengths

__all__ = ["Tell", "held_out_strengths"]
