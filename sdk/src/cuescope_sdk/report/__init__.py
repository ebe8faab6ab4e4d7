"""Pictures for reports: images beside maps, frames in strips, charts, numbers in sentences."""

from cuescope_sdk.report._figures import (
    Line,
    PanelRow,
    StripRow,
    bar_chart,
    frame_strips,
    image_panels,
    line_chart,
    scatter_plot,
    thumbnail,
)
from cuescope_sdk.report._numbers import hundredths, interval, percent, signed

__all__ = [
    "Line",
    "PanelRow",
    "StripRow",
    "bar_chart",
    "frame_strips",
    "image_panels",
    "line_chart",
    "scatter_plot",
    "thumbnail",
    "hundredths",
    "interval",
    "percent",
    "signed",
]
