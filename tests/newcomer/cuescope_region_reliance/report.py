"""What the report says: a row for each feature, and a sentence for each finding."""

from collections.abc import Mapping

import cuescope_sdk as sdk
from cuescope_region_reliance.options import RegionRelianceOptions
from cuescope_sdk.statistics import PairedFlips, benjamini_hochberg


def score_rows(
    losses: Mapping[str, PairedFlips], options: RegionRelianceOptions
) -> list[sdk.Score]:
    """The rows of the report, findings first."""
    q_values = benjamini_hochberg([flips.p_value for flips in losses.values()])
    rows = [
        score_row(feature, flips, q_value, options)
        for (feature, flips), q_value in zip(losses.items(), q_values, strict=True)
    ]
    return sorted(rows, key=lambda row: not row.finding)


def score_row(
    feature: str,
    flips: PairedFlips,
    q_value: float | None,
    options: RegionRelianceOptions,
) -> sdk.Score:
    """One row; a finding is large enough and too unlikely to be chance."""
    certain = q_value is not None and q_value <= options.fdr
    return sdk.Score(
        feature=feature,
        label=None,
        metric="loss",
        value=flips.change,
        low=flips.low,
        high=flips.high,
        n=flips.n,
        p_value=flips.p_value,
        q_value=q_value,
        finding=certain and flips.change >= options.min_loss,
        statement=f"Hiding {{feature}} loses {flips.change:.0%} accuracy.",
    )
