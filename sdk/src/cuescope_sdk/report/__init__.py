"""Pictures for reports: images beside maps, frames in strips, line and bar charts."""

from cuescope_sdk.report._figures import (
    Line,
    PanelRow,
    StripRow,
    bar_chart,
    frame_strips,
    image_panels,
    line_chart,
    scatter_plot,
)

__all__ = [
    "Line",
    "PanelRow",
    "StripRow",
    "bar_chart",
    "frame_strips",
    "image_panels",
    "line_chart",
    "scatter_plot",
]
