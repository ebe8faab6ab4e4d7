"""A cue as an object: examples with it and without it, what recognises it, and its file."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.cues._candidates import (
        Candidate as Candidate,
        choose_candidate as choose_candidate,
        common_wrong_answers as common_wrong_answers,
        drawing_answers as drawing_answers,
        found_features as found_features,
    )
    from cuescope_sdk.cues._cue import (
        MOST_EXAMPLES as MOST_EXAMPLES,
        Box as Box,
        Cue as Cue,
        LinearRecogniser as LinearRecogniser,
    )
    from cuescope_sdk.cues._embedded import Embedded as Embedded, embed as embed
    from cuescope_sdk.cues._learning import (
        LinearLogOdds as LinearLogOdds,
        Origin as Origin,
        Shown as Shown,
        cue_of as cue_of,
        learn as learn,
        learn_log_odds as learn_log_odds,
        make_cue as make_cue,
        unlearned_cue as unlearned_cue,
        within_labels as within_labels,
    )
    from cuescope_sdk.cues._recognition import Recognition as Recognition
    from cuescope_sdk.cues._refining import refine_cue as refine_cue
    from cuescope_sdk.cues._texts import text_directions as text_directions

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._candidates": [
            "Candidate",
            "choose_candidate",
            "common_wrong_answers",
            "drawing_answers",
            "found_features",
        ],
        "._cue": ["MOST_EXAMPLES", "Box", "Cue", "LinearRecogniser"],
        "._embedded": ["Embedded", "embed"],
        "._learning": [
            "LinearLogOdds",
            "Origin",
            "Shown",
            "cue_of",
            "learn",
            "learn_log_odds",
            "make_cue",
            "unlearned_cue",
            "within_labels",
        ],
        "._recognition": ["Recognition"],
        "._refining": ["refine_cue"],
        "._texts": ["text_directions"],
    },
)
