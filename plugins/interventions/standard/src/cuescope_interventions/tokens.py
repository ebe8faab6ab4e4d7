"""Changes inside the model: the cue's tokens are absent, or a modality is averaged."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from cuescope_interventions.case_by_case import CaseByCase
from cuescope_sdk import HideTokens, Requirements, Trial
from cuescope_sdk.fusion import AverageAttention
from cuescope_sdk.interventions import Case

Quadrant = Literal["VV", "VT", "TV", "TT"]
# query first ("TV" is text looking at video): the second letter is looked at
QUADRANTS: Mapping[str | None, frozenset[Quadrant]] = {
    "video": frozenset({"VV", "TV"}),
    "text": frozenset({"VT", "TT"}),
}


class Hide(CaseByCase):
    """The visual tokens under the cue's region are absent from every layer."""

    title = "its tokens are hidden inside the model"
    needs = "region"
    requires = Requirements(outputs=frozenset(), edits=frozenset({"hide-tokens"}))

    def change(self, case: Case) -> Trial:
        """The sample as it is, with an edit."""
        mask = np.stack(case.place.masks)
        edit = HideTokens.from_mask(mask)
        return Trial(sample=case.sample, edit=edit)


class Average(CaseByCase):
    """All attention to the modality is averaged: what it says of this sample is lost.

    QUAG's short-circuit (Rawal et al., 2024, section 2). Nothing in the model is like a modality
    and is none, so there is no placebo, and alone it confirms nothing.
    """

    title = "attention to its modality is averaged"
    needs = "modality"
    placebo = "none"
    requires = Requirements(outputs=frozenset(), edits=frozenset({"average-attention"}))

    def change(self, case: Case) -> Trial:
        """The sample as it is, with an edit."""
        quadrants = QUADRANTS[case.place.modality]
        edit = AverageAttention(quadrants=quadrants)
        return Trial(sample=case.sample, edit=edit)
