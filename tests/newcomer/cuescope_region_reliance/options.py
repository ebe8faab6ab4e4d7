"""What a user may set with -O key=value."""

from pydantic import Field

import cuescope_sdk as sdk


class RegionRelianceOptions(sdk.Options):
    """What counts as a finding; add your own options, each with a default and a description."""

    min_loss: float = Field(
        0.1, description="a finding loses at least this accuracy when hidden"
    )
    fdr: float = Field(0.05, description="false discovery rate over all that was tried")
