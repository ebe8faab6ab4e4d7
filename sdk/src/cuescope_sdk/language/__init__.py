"""Work with words: yes or no, names and lists in replies, cues, ways of asking."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_core.answer_words import normalise_answer as normalise_answer
    from cuescope_sdk.language._asking import Question as Question
    from cuescope_sdk.language._proposing import (
        clean_name as clean_name,
        parse_list as parse_list,
        prompt_for_more as prompt_for_more,
        proposal_prompts as proposal_prompts,
        singular as singular,
    )
    from cuescope_sdk.language._words import (
        CLAIM_WORDS as CLAIM_WORDS,
        BagOfWords as BagOfWords,
        head_noun as head_noun,
        is_name_of as is_name_of,
        normalise_words as normalise_words,
    )
    from cuescope_sdk.language._yes_no import (
        parse_yes_no as parse_yes_no,
        strip_thinking as strip_thinking,
    )

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "cuescope_core.answer_words": ["normalise_answer"],
        "._asking": ["Question"],
        "._proposing": [
            "clean_name",
            "parse_list",
            "prompt_for_more",
            "proposal_prompts",
            "singular",
        ],
        "._words": [
            "CLAIM_WORDS",
            "BagOfWords",
            "head_noun",
            "is_name_of",
            "normalise_words",
        ],
        "._yes_no": ["parse_yes_no", "strip_thinking"],
    },
)
