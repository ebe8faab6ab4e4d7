"""Pictures for reports: images beside maps, frames in strips, charts, numbers in sentences."""

from cuescope.counted import count_of

# drawing libraries round as they like: pictures are no part of a report's hash (docs/adr/0016)
from cuescope_sdk.report._contrasts import contrast, draw_beside
from cuescope_sdk.report._figures import (
    PanelRow,
    bar_chart,
    frame_strips,
    image_panels,
    line_chart,
    scatter_plot,
)
from cuescope_sdk.report._findings import drawn_answer, shares_row
from cuescope_sdk.report._interval_charts import interval_chart
from cuescope_sdk.report._matrices import heat_maps
from cuescope_sdk.report._null_checks import null_evidence
from cuescope_sdk.report._numbers import interval, percent, signed, with_sign

__all__ = [
    "PanelRow",
    "bar_chart",
    "contrast",
    "count_of",
    "draw_beside",
    "drawn_answer",
    "frame_strips",
    "heat_maps",
    "image_panels",
    "interval",
    "interval_chart",
    "line_chart",
    "null_evidence",
    "percent",
    "scatter_plot",
    "shares_row",
    "signed",
    "with_sign",
]
