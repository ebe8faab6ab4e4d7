"""What is done with words: yes or no, names and lists in replies, cues, ways of asking."""

from cuescope.answer_words import normalise_answer
from cuescope_sdk.language._asking import Question
from cuescope_sdk.language._proposing import (
    clean_name,
    parse_list,
    proposal_prompts,
    singular,
)
from cuescope_sdk.language._words import (
    CLAIM_WORDS,
    BagOfWords,
    head_noun,
    is_name_of,
    normalise_words,
)
from cuescope_sdk.language._yes_no import parse_yes_no, strip_thinking

__all__ = [
    "BagOfWords",
    "CLAIM_WORDS",
    "Question",
    "clean_name",
    "head_noun",
    "is_name_of",
    "normalise_answer",
    "normalise_words",
    "parse_list",
    "parse_yes_no",
    "proposal_prompts",
    "singular",
    "strip_thinking",
]
