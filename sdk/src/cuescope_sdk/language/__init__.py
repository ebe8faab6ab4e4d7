"""What is done with words: yes or no, names and lists in replies, cues, ways of asking."""

from cuescope_sdk.language._asking import (
    WORDINGS as WORDINGS,
    WayOfAsking as WayOfAsking,
    add_description as add_description,
    add_guidance as add_guidance,
    add_warning as add_warning,
    description_request as description_request,
    shorten_description as shorten_description,
)
from cuescope_sdk.language._proposing import (
    ANGLES as ANGLES,
    EACH as EACH,
    clean_name as clean_name,
    filter_proposals as filter_proposals,
    parse_list as parse_list,
    proposal_prompts as proposal_prompts,
    singular as singular,
)
from cuescope_sdk.language._text_memory import TextMemory as TextMemory
from cuescope_sdk.language._words import (
    IDEAS as IDEAS,
    IN_SIGHT as IN_SIGHT,
    MENTAL as MENTAL,
    OUT_OF_SIGHT as OUT_OF_SIGHT,
    BagOfWords as BagOfWords,
    head_noun as head_noun,
    is_name_of as is_name_of,
    normalise_words as normalise_words,
)
from cuescope_sdk.language._yes_no import (
    parse_yes_no as parse_yes_no,
    strip_thinking as strip_thinking,
)
