"""What a trace believes step by step, and what its successive beliefs rest on (section 3.3).

Steps that claim nothing leave the belief as it was, so transitions join steps that claim something.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from jaxtyping import Float

from cuescope_sdk import SentenceEncoder
from cuescope_sdk.grounding import Claim
from cuescope_step_grounding.wording import belief, words

Said = dict[str, Claim]  # by its words, so that a thing said again is one belief


@dataclass(frozen=True)
class Transition:
    """From b_i to b_i+1; `kept` and `new` are their claims at the time of step i+1."""

    before: str
    after: str
    kept: tuple[Claim, ...]
    new: tuple[Claim, ...]


def transitions(
    claims: Sequence[Sequence[Claim]], lapses: Callable[[Claim], bool] | None = None
) -> list[Transition]:
    """Those of one trace, from its claims by step.

    A belief is what its step claims, and with `lapses` also what was believed before and has not
    lapsed at the time of the step: what is not said again stands while the evidence lets it. Every
    claim that `lapses` is asked of is among the `recalled`.
    """
    found: list[Transition] = []
    held: Said = {}
    for step in (step for step in claims if step):
        time = when(step)
        said = _at(_said(step), time)
        before = {name: said.get(name, claim) for name, claim in _at(held, time).items()}
        stays = {
            name: claim for name, claim in before.items()
            if lapses is not None and name not in said and not lapses(claim)
        }  # fmt: skip
        if held:
            found.append(_transition(before, stays | said))
        held = stays | said
    return found


def recalled(claims: Sequence[Sequence[Claim]]) -> list[Claim]:
    """All that was said until each step, at the time of that step."""
    said = [_said(step) for step in claims if step]
    known = accumulate(said, lambda before, step: before | step)
    times = (when(step) for step in claims if step)
    return [c for of, time in zip(known, times, strict=True) for c in _at(of, time).values()]


def when(step: Sequence[Claim]) -> tuple[int, ...] | None:
    """The time of a step: the frames that any of its claims means; None where none says."""
    frames = {frame for claim in step for frame in claim.frames or ()}
    return tuple(sorted(frames)) or None


def _at(claims: Said, frames: tuple[int, ...] | None) -> Said:
    """The claims as of another time. An order of events is of the whole video and stays."""
    return {
        name: claim if claim.kind == "temporal" else claim.model_copy(update={"frames": frames})
        for name, claim in claims.items()
    }


def _said(step: Sequence[Claim]) -> Said:
    return {words(claim): claim for claim in step}


def _transition(before: Said, after: Said) -> Transition:
    kept, new = tuple(before.values()), tuple(after.values())
    return Transition(belief(kept), belief(new), kept, new)


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
