"""Pictures for reports: images beside maps, frames in strips, charts, numbers in sentences."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_core.amounts import count_of as count_of
    from cuescope_sdk.report._contrasts import (
        contrast as contrast,
        draw_beside as draw_beside,
    )
    from cuescope_sdk.report._figures import (
        PanelRow as PanelRow,
        bar_chart as bar_chart,
        frame_strips as frame_strips,
        image_panels as image_panels,
        line_chart as line_chart,
        scatter_plot as scatter_plot,
    )
    from cuescope_sdk.report._findings import (
        drawn_answer as drawn_answer,
        shares_row as shares_row,
    )
    from cuescope_sdk.report._matrices import heat_maps as heat_maps
    from cuescope_sdk.report._null_checks import null_evidence as null_evidence
    from cuescope_sdk.report._numbers import (
        interval as interval,
        percent as percent,
        signed as signed,
        with_sign as with_sign,
    )

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "cuescope_core.amounts": ["count_of"],
        "._contrasts": ["contrast", "draw_beside"],
        "._figures": [
            "PanelRow",
            "bar_chart",
            "frame_strips",
            "image_panels",
            "line_chart",
            "scatter_plot",
        ],
        "._findings": ["drawn_answer", "shares_row"],
        "._matrices": ["heat_maps"],
        "._null_checks": ["null_evidence"],
        "._numbers": ["interval", "percent", "signed", "with_sign"],
    },
)
