"""Pictures for reports: images beside maps, frames in strips, charts, numbers in sentences."""

from cuescope_sdk.report._figures import (
    Line as Line,
    PanelRow as PanelRow,
    StripRow as StripRow,
    bar_chart as bar_chart,
    frame_strips as frame_strips,
    image_panels as image_panels,
    line_chart as line_chart,
    scatter_plot as scatter_plot,
    thumbnail as thumbnail,
)
from cuescope_sdk.report._numbers import (
    hundredths as hundredths,
    interval as interval,
    percent as percent,
    signed as signed,
)
