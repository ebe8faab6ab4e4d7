"""A trial that a model does not declare is refused in words; one that it declares is not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Capabilities, Frame, HideTokens, Sample, Trial, UserError
from cuescope_sdk.fusion import AverageTokens
from cuescope_sdk.models._refusals import refuse_unanswerable

FRAME = Frame.from_array(np.zeros((4, 4, 3), np.uint8))
SAMPLE = Sample(key="s", frames=(FRAME,), choices=("a", "b"))
HIDE = HideTokens.from_mask(np.zeros((1, 2, 2), bool))
CAPABLE = Capabilities(
    outputs=frozenset({"logits", "embedding"}), edits=frozenset({"hide-tokens"})
)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"edit": AverageTokens(modalities=frozenset({"text"}))},
            "expected hide-tokens, got the",
        ),
        (
            {"outputs": frozenset({"text"})},
            "m gives no text: expected outputs embedding or logits",
        ),
        ({"sample": replace(SAMPLE, choices=())}, "'s' has no choices"),
    ],
)
def test_what_is_not_declared_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        refuse_unanswerable("m", CAPABLE, [Trial(**({"sample": SAMPLE} | changes))])


def test_what_is_declared_is_not_refused() -> None:
    refuse_unanswerable("m", CAPABLE, [Trial(sample=SAMPLE, edit=HIDE)])
    open_ended = replace(SAMPLE, choices=())
    refuse_unanswerable(
        "m", CAPABLE, [Trial(sample=open_ended, outputs=frozenset({"embedding"}))]
    )
