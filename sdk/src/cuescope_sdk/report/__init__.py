"""Pictures for reports: images beside maps, frames in strips, charts, numbers in sentences."""

from cuescope_sdk.report._contrasts import (
    RULE as RULE,
    contrast as contrast,
    draw_beside as draw_beside,
    typical as typical,
)
from cuescope_sdk.report._figures import (
    Line as Line,
    PanelRow as PanelRow,
    StripRow as StripRow,
    bar_chart as bar_chart,
    frame_sheet as frame_sheet,
    frame_strips as frame_strips,
    image_panels as image_panels,
    line_chart as line_chart,
    overlay_heat as overlay_heat,
    scatter_plot as scatter_plot,
    thumbnail as thumbnail,
    tint_clusters as tint_clusters,
)
from cuescope_sdk.report._interval_charts import interval_chart as interval_chart
from cuescope_sdk.report._matrices import heat_maps as heat_maps
from cuescope_sdk.report._numbers import (
    hundredths as hundredths,
    interval as interval,
    percent as percent,
    signed as signed,
)
