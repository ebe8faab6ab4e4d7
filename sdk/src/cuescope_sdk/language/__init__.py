"""What is done with words: yes or no, names and lists in replies, cues, ways of asking."""

from cuescope_sdk.language._asking import (
    WayOfAsking,
    add_description,
    add_guidance,
    add_warning,
    description_request,
    shorten_description,
)
from cuescope_sdk.language._proposing import (
    ANGLES,
    EACH,
    clean_name,
    parse_list,
    proposal_prompts,
    singular,
)
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
    "ANGLES",
    "BagOfWords",
    "EACH",
    "IDEAS",
    "IN_SIGHT",
    "MENTAL",
    "OUT_OF_SIGHT",
    "WayOfAsking",
    "add_description",
    "add_guidance",
    "add_warning",
    "clean_name",
    "description_request",
    "head_noun",
    "is_name_of",
    "normalise_words",
    "parse_list",
    "parse_yes_no",
    "proposal_prompts",
    "shorten_description",
    "singular",
    "strip_thinking",
]
