"""A cue as an object: examples with it and without it, what recognises it, and its file."""

from cuescope_sdk.cues._candidates import (
    Candidate,
    choose_candidate,
    common_wrong_answers,
    drawing_answers,
    found_features,
)
from cuescope_sdk.cues._cue import MOST_EXAMPLES, Box, Cue, LinearRecogniser
from cuescope_sdk.cues._embedded import Embedded, embed
from cuescope_sdk.cues._learning import (
    LinearLogOdds,
    Origin,
    Shown,
    cue_of,
    learn,
    learn_log_odds,
    make_cue,
    unlearned_cue,
)
from cuescope_sdk.cues._recognition import Recognition
from cuescope_sdk.cues._refining import refine_cue

__all__ = [
    "Box",
    "Candidate",
    "Cue",
    "Embedded",
    "LinearLogOdds",
    "LinearRecogniser",
    "MOST_EXAMPLES",
    "Origin",
    "Recognition",
    "Shown",
    "choose_candidate",
    "common_wrong_answers",
    "cue_of",
    "drawing_answers",
    "embed",
    "found_features",
    "learn",
    "learn_log_odds",
    "make_cue",
    "refine_cue",
    "unlearned_cue",
]
