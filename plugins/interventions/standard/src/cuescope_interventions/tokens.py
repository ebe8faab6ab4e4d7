"""Changes inside the model: the cue's tokens are absent, or a modality is averaged."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from cuescope_sdk import HideTokens, Requirements, Trial
from cuescope_sdk.fusion import AverageAttention
from cuescope_sdk.interventions import Case, Intervention

Quadrant = Literal["VV", "VT", "TV", "TT"]


class Hide(Intervention):
    """The visual tokens under the cue's region are absent from every layer."""

    title = "its tokens are hidden inside the model"
    needs = "region"
    requires = Requirements(outputs=frozenset(), edits=frozenset({"hide-tokens"}))

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The samples as they are, with an edit."""
        return [
            Trial(sample=case.sample, edit=HideTokens.from_mask(np.stack(case.place.masks)))
            for case in cases
        ]


class Average(Intervention):
    """All attention to the modality is averaged: what it says of this sample is lost.

    QUAG's short-circuit (Rawal et al., 2024, section 2). Nothing in the model is like a modality
    and is none, so there is no placebo, and alone it confirms nothing.
    """

    title = "attention to its modality is averaged"
    needs = "modality"
    placebo = "none"
    requires = Requirements(outputs=frozenset(), edits=frozenset({"average-attention"}))

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The samples as they are, with an edit."""
        quadrants: dict[str | None, frozenset[Quadrant]] = {
            "video": frozenset({"VV", "TV"}),
            "text": frozenset({"VT", "TT"}),
        }
        return [
            Trial(
                sample=case.sample, edit=AverageAttention(quadrants=quadrants[case.place.modality])
            )
            for case in cases
        ]
