"""Cues by name: asked of a language model, read off its replies, and sifted. Extra `language`.

raw = [name for reply in generator.generate(angles("toaster")) for name in listed(reply)]
kept, rejected = curated(raw, "toaster", generator)
"""

from cuescope_sdk.language._proposing.agreeing import proposal_agreement
from cuescope_sdk.language._proposing.asking import (
    DETECTABLE,
    EACH,
    FILTERS,
    SPURIOUS,
    Filter,
    proposal_prompts,
)
from cuescope_sdk.language._proposing.curating import Rejection, filter_proposals
from cuescope_sdk.language._proposing.listing import parse_list
from cuescope_sdk.language._proposing.naming import clean_name, shared_word, singular

__all__ = [
    "DETECTABLE",
    "EACH",
    "FILTERS",
    "SPURIOUS",
    "Filter",
    "Rejection",
    "proposal_agreement",
    "proposal_prompts",
    "filter_proposals",
    "parse_list",
    "clean_name",
    "shared_word",
    "singular",
]
