"""Checks of the maps: whether an order beats its reverse, and how many regions hold."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_maps.options import MapsOptions
from cuescope_maps.report import Result
from cuescope_maps.trials import draw_maps
from cuescope_sdk import Audit, Evidence
from cuescope_sdk.statistics import Groups, change_interval


def evidence(
    audit: Audit, options: MapsOptions, made: Sequence[Result]
) -> Iterator[Evidence]:
    """For each explainer, whether what it calls important is more so than what it does not."""
    drawn = audit.once(draw_maps, audit, options)
    for result in made:
        name = result.explainer
        own = [one for one in drawn if one.explainer == name]
        gaps = np.array([one.insertion - one.deletion for one in own])
        groups = Groups.of([one.target.sample for one in own])
        low, high = change_interval(gaps, groups)
        if low is None or high is None:
            continue
        verdict = "supported" if low > 0 else "refuted" if high < 0 else "inconclusive"
        yield Evidence(
            check=f"order of {name}",
            verdict=verdict,
            detail=f"insertion minus deletion {gaps.mean():+.2f} ({low:+.2f} to {high:+.2f}); 0 is "
            "an order by chance",
            value=float(gaps.mean()),
            threshold=0.0,
            n=len(gaps),
        )
