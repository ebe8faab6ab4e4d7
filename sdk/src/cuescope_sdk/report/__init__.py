"""Pictures for reports: images beside maps, frames in strips, charts, numbers in sentences."""

from cuescope_sdk.report._contrasts import RULE, contrast, draw_beside, typical
from cuescope_sdk.report._figures import (
    Line,
    PanelRow,
    StripRow,
    bar_chart,
    frame_strips,
    image_panels,
    line_chart,
    overlay_heat,
    scatter_plot,
    thumbnail,
    tint_clusters,
)
from cuescope_sdk.report._interval_charts import interval_chart
from cuescope_sdk.report._matrices import heat_maps
from cuescope_sdk.report._numbers import hundredths, interval, percent, signed

__all__ = [
    "Line",
    "PanelRow",
    "RULE",
    "StripRow",
    "bar_chart",
    "contrast",
    "draw_beside",
    "frame_strips",
    "heat_maps",
    "hundredths",
    "image_panels",
    "interval",
    "interval_chart",
    "line_chart",
    "overlay_heat",
    "percent",
    "scatter_plot",
    "signed",
    "thumbnail",
    "tint_clusters",
    "typical",
]
