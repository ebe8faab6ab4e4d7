"""cuescope finds the cues that a vision-language model is really using."""

__version__ = "0.1.0"
