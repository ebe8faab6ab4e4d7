"""What is done with words: yes or no, names and lists in replies, proposals of cues."""

from cuescope_sdk.language._proposing import (
    ANGLES,
    EACH,
    clean_name,
    filter_proposals,
    parse_list,
    proposal_prompts,
    singular,
)
from cuescope_sdk.language._text_memory import TextMemory
from cuescope_sdk.language._words import (
    IDEAS,
    IN_SIGHT,
    MENTAL,
    OUT_OF_SIGHT,
    BagOfWords,
    head_noun,
    is_name_of,
    normalise_words,
)
from cuescope_sdk.language._yes_no import parse_yes_no, strip_thinking

__all__ = [
    "BagOfWords",
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
