"""What methods find that no picture shows: it is named, and nothing is asked about it."""

from types import SimpleNamespace
from typing import Any

import pytest

from cuescope_confirm.merging import merge_cues
from cuescope_confirm.merging.modalities import NO_CUE
from cuescope_confirm.study import Cue
from cuescope_sdk import Feature, Occurrence


@pytest.mark.parametrize("merge", [True, False])
def test_tells_and_ways_to_ask_are_no_cues(merge: bool) -> None:
    seen = (Occurrence(sample="a"),)
    cues = []
    for kind in ("tell", "way to ask"):
        feature = Feature(key=kind, kind=kind, name=kind, occurrences=seen)
        cues.append(Cue(feature, f"the {kind}", run="blind"))
    notes: dict[str, str] = {}
    study: Any = SimpleNamespace(
        cues=tuple(cues),
        options=SimpleNamespace(features=(), merge=merge, top=10),
        audit=SimpleNamespace(note=notes.__setitem__),
        reports={},
        samples={},
    )
    assert merge_cues(study) == ()
    tell = "'the tell' (blind): found without looking at what pictures show."
    way = "'the way to ask' (blind): found by other ways to ask."
    assert notes[NO_CUE].startswith(tell)
    assert way in notes[NO_CUE]
    assert "question" not in notes[NO_CUE]
