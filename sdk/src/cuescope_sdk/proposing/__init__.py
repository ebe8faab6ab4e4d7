"""Cues by name: asked of a language model, read off its replies, and sifted. Extra `language`.

raw = [name for reply in generator.generate(angles("toaster")) for name in listed(reply)]
kept, rejected = curated(raw, "toaster", generator)
"""

from cuescope_sdk.proposing.agreeing import agreement
from cuescope_sdk.proposing.asking import DETECTABLE, EACH, FILTERS, SPURIOUS, Filter, angles
from cuescope_sdk.proposing.curating import Rejected, curated
from cuescope_sdk.proposing.listing import listed
from cuescope_sdk.proposing.naming import named, shared, singular

__all__ = [
    "DETECTABLE", "EACH", "FILTERS", "SPURIOUS", "Filter", "Rejected", "agreement", "angles",
    "curated", "listed", "named", "shared", "singular",
]  # fmt: skip
