"""Figure 2b of the paper: what is kept out of distribution, over grounding."""

from collections.abc import Sequence

from cuescope_sdk import Picture
from cuescope_sdk.report import scatter_plot
from cuescope_step_grounding.across.law import Law, Measured


def figure(measured: Sequence[Measured], law: Law) -> Picture:
    """A point a model, by its group."""
    groups: dict[str, tuple[list[float], list[float]]] = {}
    for one in measured:
        if one.accuracy > 0:
            x, y = groups.setdefault(one.group or "models", ([], []))
            x.append(100 * one.sgr)
            y.append(100 * one.ood_accuracy / one.accuracy)
    return Picture(
        title="Grounding and retention",
        caption=f"A point a model, and the line of least squares. {law.sentence}",
        image=scatter_plot(groups, "SGR in distribution (%)", "retention out of distribution (%)"),
    )
