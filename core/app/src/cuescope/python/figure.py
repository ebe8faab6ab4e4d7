"""The ranked scores of a report as a figure."""

from io import BytesIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from cuescope_core.conclusions import Report, Score
from cuescope_core.errors import UserError, nearest
from cuescope_core.printable import one_line, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FINDING = "#b3261e"
OTHER = "#7a7a7a"
LONGEST = 48  # letters of a row's name
LARGEST = 1e100  # matplotlib fails at the ends of what a number can be


def draw(report: Report, metric: str | None, rows: int) -> "Figure":
    """A dot a score on one axis, its interval as a line; the best-ranked on top."""
    figure_class = _figure_class()
    metrics = {metric.name: metric for metric in report.metrics}
    if not metrics:
        raise UserError(
            "a report without scores has no figure", remedy="See report.tables"
        )
    name = metric or report.metrics[0].name
    if name not in metrics:
        raise UserError(
            f"no metric '{name}' in this report",
            expected=f"one of {', '.join(metrics)}",
            remedy=nearest(name, metrics),
        )
    # a score without a value has no place on an axis
    of_metric = [
        score for score in report.scores if score.metric == name and _fits(score)
    ]
    shown = of_metric[:rows]
    # inches: rows stand equally far apart however many there are
    size = (7.5, 1.4 + 0.32 * max(1, len(shown)))
    figure: Figure = figure_class(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    for row, score in enumerate(shown):
        colour = FINDING if score.finding else OTHER
        if score.low is not None and score.high is not None:
            axes.hlines(row, score.low, score.high, color=colour, linewidth=2)
        if score.value is not None:
            axes.scatter(score.value, row, color=colour)
    axes.axvline(0, color="#cccccc", linewidth=1, zorder=0)
    names = [_row_name(report, score) for score in shown]
    # `$` begins no formula: labels are strangers' text
    axes.set_yticks(range(len(shown)), names, parse_math=False)
    # matplotlib counts from below, and the first of a ranking stands on top
    axes.invert_yaxis()
    axes.set_xlabel(_plain(metrics[name].title), parse_math=False)
    more = (
        f", first {len(shown)} of {len(of_metric)}"
        if len(of_metric) > len(shown)
        else ""
    )
    origin = report.provenance
    title = f"{origin.method.spec}: {origin.model.spec} on {origin.data.spec}{more} (red: findings)"
    axes.set_title("\n".join(wrap(_plain(title), 80)), fontsize=10, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _fits(score: Score) -> bool:
    """True if an axis has a place for the score and its interval."""
    ends = [end for end in (score.low, score.high) if end is not None]
    return score.value is not None and all(
        abs(number) < LARGEST for number in (score.value, *ends)
    )


def _plain(text: str) -> str:
    return printable(one_line(text))


def _row_name(report: Report, score: Score) -> str:
    name = report.names[score.feature]
    words = name if score.label is None else f"{name} | {score.label}"
    words = _plain(words[: LONGEST + 1])
    return words if len(words) <= LONGEST else words[: LONGEST - 3] + "..."


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        from cuescope.installing import how_to_install

        raise UserError(
            "figures need matplotlib", remedy=how_to_install("cuescope[notebook]")
        ) from error

    class Shown(Figure):
        """A figure that a notebook shows by itself; pyplot, which keeps figures, has no part."""

        def _repr_png_(self) -> bytes:
            out = BytesIO()
            self.savefig(out, format="png", dpi=90)
            return out.getvalue()

    return Shown
