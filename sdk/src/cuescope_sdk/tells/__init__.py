"""Tells: what answers a question without a look at its video."""

from cuescope_sdk.tells._tell import Tell

__all__ = ["Tell"]
