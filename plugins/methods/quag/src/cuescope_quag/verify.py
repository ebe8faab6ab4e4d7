"""Checks on the user's model: the theory, and complements; and what QUAG-attention saves."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cuescope_quag.conditions import asked, chosen_layers, fusion_shape
from cuescope_quag.sensitivity import sensitivity
from cuescope_quag.theory import theory
from cuescope_sdk import Audit, Evidence
from cuescope_sdk.fusion import TEXT, VIDEO, TokenModalities, multiplications_saved

if TYPE_CHECKING:
    from cuescope_quag import QUAG


def evidence(audit: Audit, options: "QUAG.Options") -> Iterator[Evidence]:
    """What can be seen of a model that exposes its fusion layers."""
    if "fusion" not in audit.capabilities.exposes:
        return
    if "average-tokens" in audit.capabilities.edits and options.quag_attention:
        note_saved(audit, options)
    if options.captures:
        yield from theory(audit, options)
    yield from sensitivity(audit, options)


def note_saved(audit: Audit, options: "QUAG.Options") -> None:
    """Multiplications saved in a changed layer of self-attention, at the first sample's length."""
    layer = (chosen_layers(audit, options) or (0,))[0]
    (outcome,) = audit.respond([TokenModalities(layer=layer).of(asked(audit)[0])])
    queries, keys = np.array_split(np.asarray(outcome.response.readout), 2)
    if not np.array_equal(queries, keys):
        return
    video, text = (int((keys == one).sum()) for one in (VIDEO, TEXT))
    counts = video, text, len(keys) - video - text
    shape = fusion_shape(audit)
    saved = [
        f"{words} {multiplications_saved(shape, *counts, words.split('-')):.1%}"
        for words in options.quag_attention
    ]
    audit.note(
        "multiplications saved",
        f"{', '.join(saved)} of a changed layer's ({video} video and {text} text tokens)",
    )
