"""What a trace believes step by step, and what its successive beliefs rest on (section 3.3).

The belief of a step is the step's own claims. Steps that claim nothing leave the belief as it was,
so transitions join steps that claim something.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from cuescope_sdk import SentenceEncoder
from cuescope_sdk.grounding import Claim
from cuescope_step_grounding.wording import belief


@dataclass(frozen=True)
class Transition:
    """From b_i to b_i+1; `kept` and `new` are their claims at the time of step i+1."""

    before: str
    after: str
    kept: tuple[Claim, ...]
    new: tuple[Claim, ...]


def transitions(claims: Sequence[Sequence[Claim]]) -> list[Transition]:
    """Those of one trace, from its claims by step."""
    held = [tuple(step) for step in claims if step]
    return [
        Transition(belief(one), belief(two), at(one, when(two)), at(two, when(two)))
        for one, two in pairwise(held)
    ]


def when(step: Sequence[Claim]) -> tuple[int, ...] | None:
    """The time of a step: the frames that any of its claims means; None where none says."""
    frames = {frame for claim in step for frame in claim.frames or ()}
    return tuple(sorted(frames)) or None


def at(claims: Sequence[Claim], frames: tuple[int, ...] | None) -> tuple[Claim, ...]:
    """The claims as of another time. An order of events is of the whole video and stays."""
    return tuple(
        claim if claim.kind == "temporal" else claim.model_copy(update={"frames": frames})
        for claim in claims
    )


def similarities(
    pairs: Sequence[tuple[str, str]], encoder: SentenceEncoder
) -> Float[np.ndarray, " pair"]:
    """Cosine of each pair of texts; each text is encoded once."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    if not texts:
        return np.zeros(0)
    rows = np.asarray(encoder.encode(texts), dtype=np.float64)
    place = {text: row for row, text in enumerate(texts)}
    one, other = (rows[[place[pair[side]] for pair in pairs]] for side in (0, 1))
    return np.asarray((one * other).sum(axis=1))
