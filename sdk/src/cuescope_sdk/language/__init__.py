"""What is done with words: yes or no, names and lists in replies, proposals of cues."""

from cuescope_sdk.language._bag_of_words import BagOfWords
from cuescope_sdk.language._proposing.agreeing import THRESHOLDS, proposal_agreement
from cuescope_sdk.language._proposing.asking import ANGLES, EACH, proposal_prompts
from cuescope_sdk.language._proposing.curating import filter_proposals
from cuescope_sdk.language._proposing.listing import parse_list
from cuescope_sdk.language._proposing.naming import clean_name, singular
from cuescope_sdk.language._text_memory import TextMemory
from cuescope_sdk.language._words import (
    IDEAS,
    IN_SIGHT,
    MENTAL,
    OUT_OF_SIGHT,
    head_noun,
    is_name_of,
    normalise_words,
)
from cuescope_sdk.language._yes_no import parse_yes_no, strip_thinking

__all__ = [
    "BagOfWords",
    "THRESHOLDS",
    "proposal_agreement",
    "ANGLES",
    "EACH",
    "proposal_prompts",
    "filter_proposals",
    "parse_list",
    "clean_name",
    "singular",
    "TextMemory",
    "IDEAS",
    "IN_SIGHT",
    "MENTAL",
    "OUT_OF_SIGHT",
    "head_noun",
    "is_name_of",
    "normalise_words",
    "parse_yes_no",
    "strip_thinking",
]
