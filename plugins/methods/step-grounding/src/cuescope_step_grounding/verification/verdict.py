"""The verdict on the reasoning as a whole, and the smallest share that would be found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from cuescope_sdk.statistics import Estimate, Groups
from cuescope_step_grounding.verification.swaps import (
    OPEN as UNKNOWN,
    Deal,
    Swaps,
    grounded_share,
    least_share,
    swap_p_value,
)

BETTER = "better than random"
# the same of traces whose model could not be asked without their videos
FITS = "fits its own video"
NO_BETTER = "no better than random"
OPEN = "open"
# Section 7.3 of the paper: every model beats random reasoning at p < 0.001.
SURE = 0.001
DECIDED = 0.5  # share of claims that must be decided for a verdict: most
BLIND_TOO = "what the model says when it is shown another video fits this one as well"


@dataclass(frozen=True)
class Verdict:
    """One of four words, the tests behind it, and what is left open.

    `decided` is the share of claims of which anything can be said, `share` the grounded share,
    `elsewhere` how often the same claims hold in other videos of the stratum. `p_value` is of
    these, `blind_p_value` of the comparison with traces about another video.
    """

    word: str
    decided: float
    p_value: float | None = None
    share: Estimate[float] | None = None
    elsewhere: float | None = None
    blind_p_value: float | None = None
    missing: str | None = None


def verdict(
    swaps: Mapping[Deal, Swaps],
    decided: float,
    rng: Callable[..., Generator],
    *,
    margin: float,
    level: float,
) -> Verdict:
    """Better where traces fit their video more than the model's own blind ones, and than others.

    Where no blind trace could be asked for, the other videos of the stratum decide, with a weaker
    word: what a question tells of a single video is not ruled out. No verdict where most claims
    cannot be decided; that a trace is no better has to be shown as well.
    """
    videos = swaps.get("videos")
    if videos is None or videos.group.max() == 0:
        return Verdict(
            OPEN,
            decided,
            missing="one video alone cannot be compared with others",
        )
    if decided < DECIDED:
        return Verdict(OPEN, decided, missing="most claims could not be checked")
    p_value = swap_p_value(videos, rng("swap test videos"))
    share = grounded_share(videos)
    blind = swaps.get("blind")
    blind_p = None if blind is None else swap_p_value(blind, rng("blind test"))
    known = (p_value, share, videos.rate_elsewhere, blind_p)
    if share is None:
        return Verdict(OPEN, decided, *known, missing=_why_untold(videos))
    # both nulls have to go: intersection-union test (Berger, 1982)
    alike = p_value > level
    if not alike and (p_value if blind_p is None else blind_p) <= SURE:
        return Verdict(FITS if blind_p is None else BETTER, decided, *known)
    # of few groups an interval may be short by luck
    groups = len(np.unique(videos.group))
    if share.high < margin and alike and groups >= Groups.FEW:
        return Verdict(NO_BETTER, decided, *known)
    missing = _why_untold(videos)
    if blind_p is not None and p_value <= SURE:
        missing = BLIND_TOO
    return Verdict(OPEN, decided, *known, missing=missing)


def least_found(swaps: Mapping[Deal, Swaps], rng: Generator) -> str | None:
    """What an audit of these claims would have found, in a sentence; None without a deal."""
    videos = swaps.get("videos")
    if videos is None or videos.group.max() == 0:
        return None
    share = least_share(videos, rng, SURE)
    if share is None:
        return "not even traces with all claims grounded: add videos, or a verifier that tells more"
    return f"80% for a grounded share of {100 * share:.0f}% of as many such claims"


def _why_untold(videos: Swaps) -> str | None:
    _, sizes = np.unique(videos.block, return_counts=True)
    if (sizes == 1).all():
        return "no video has another one of the same kind of scene"
    if not (videos.own != UNKNOWN).any():
        return "every claim that could be checked names what its question names"
    if not videos.telling.any():
        return "its claims are as true, or as false, of every video"
    return None
