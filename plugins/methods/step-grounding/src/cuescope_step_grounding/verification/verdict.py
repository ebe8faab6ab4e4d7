"""What is said of the reasoning as a whole, and what the audit could have missed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from cuescope_sdk.statistics import Estimate, Groups
from cuescope_step_grounding.verification.partners import Deal
from cuescope_step_grounding.verification.swaps import (
    OPEN as UNKNOWN,
    Swaps,
    blind_p_value,
    grounded_share,
    smallest_share,
    swap_p_value,
)

BETTER = "better than random"
# the same of traces whose model could not be asked without their videos
FITS = "fits its own video"
NO_BETTER = "no better than random"
OPEN = "open"
NEAR_OPEN = "right video, place in it open"
# The verdict is the sentence that is quoted, so that it is held to more than a finding: of a
# thousand blind traces one passes it by luck.
SURE = 0.001
# p up to which "no better" is not said, however small the grounded share is
DOUBTED = 0.05
LEAST = 0.025  # grounded share; a smaller one is not called better, however sure it is
DECIDED = 0.5  # share of claims that must be decided for a verdict
# Share and number of claims that make a nearer deal tell.
TELLING = 0.1
FEWEST_TELLING = 20
BLIND_TOO = "what the model says when it is shown another video fits this one as well"
NEAR: Mapping[Deal, str] = {
    "opening": "more of it than its first frame",
    "clips": "its own clip rather than other clips of the same source",
    "moments": "the moments that it names rather than others of the same video",
}


@dataclass(frozen=True)
class Verdict:
    """One of five words, the tests behind it, and what is left open.

    `decided` is the share of claims of which anything can be said, `share` the grounded share,
    `elsewhere` how often the same claims hold in other videos of the same kind. `p_value` is of
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
    confidence: float,
) -> Verdict:
    """Better where traces fit their video far more than the model's own blind ones fit it.

    They also have to fit it better than others of the same kind of scene, and what they name in it.
    Where no blind trace could be asked for the latter decides, with more to show and a weaker word:
    what a question tells of a single video is not ruled out.

    No verdict where most claims cannot be decided. That a trace is no better has to be shown as
    well: the grounded share is less than `margin` up to the end of its interval.
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
    share = grounded_share(videos, confidence=confidence)
    blind = swaps.get("blind")
    blind_p = None if blind is None else blind_p_value(blind, rng("blind test"))
    known = (p_value, share, videos.rate_elsewhere, blind_p)
    if share is None:
        return Verdict(OPEN, decided, *known, missing=_why_untold(videos))
    decisive = p_value if blind_p is None else max(blind_p, p_value * SURE / DOUBTED)
    if decisive <= SURE and share.value >= LEAST:
        missing = _open_places(swaps, rng)
        if missing is not None:
            return Verdict(NEAR_OPEN, decided, *known, missing=missing)
        return Verdict(FITS if blind_p is None else BETTER, decided, *known)
    # of few groups an interval may be short by luck
    groups = len(np.unique(videos.group))
    if share.high < margin and p_value > DOUBTED and groups >= Groups.FEW:
        return Verdict(NO_BETTER, decided, *known)
    missing = _why_untold(videos)
    if blind_p is not None and blind_p > SURE and p_value <= SURE:
        missing = BLIND_TOO
    return Verdict(OPEN, decided, *known, missing=missing)


def _open_places(
    swaps: Mapping[Deal, Swaps],
    rng: Callable[..., Generator],
) -> str | None:
    """What nearer deals do not show, in words; None where they show all that they ask."""
    open_places = []
    for deal, words in NEAR.items():
        near = swaps.get(deal)
        if near is not None and _tells(near):
            near_p_value = swap_p_value(near, rng(f"swap test {deal}"))
            if near_p_value > SURE:
                open_places.append(words)
    return " and ".join(open_places) or None


def least_found(swaps: Mapping[Deal, Swaps], rng: Generator) -> str | None:
    """What an audit of these claims would have found, in a sentence; None without a deal."""
    videos = swaps.get("videos")
    if videos is None or videos.group.max() == 0:
        return None
    share = smallest_share(videos, rng, level=SURE)
    if share is None:
        return "not even traces with all claims grounded: add videos, or a verifier that tells more"
    # one below `LEAST` would not be called better, however sure it is
    return f"80% for a grounded share of {100 * max(share, LEAST):.0f}% of as many such claims"


def _tells(swaps: Swaps) -> bool:
    """Whether enough claims hold in some places and not in others."""
    _, decided = swaps.elsewhere
    telling = int(swaps.telling.sum())
    return telling >= max(FEWEST_TELLING, TELLING * int((decided > 0).sum()))


def _why_untold(videos: Swaps) -> str | None:
    _, sizes = np.unique(videos.block, return_counts=True)
    if (sizes == 1).all():
        return "no video has another one of the same kind of scene"
    if not (videos.own != UNKNOWN).any():
        return "every claim that could be checked names what its question names"
    if not videos.telling.any():
        return "its claims are as true, or as false, of every video"
    return None
