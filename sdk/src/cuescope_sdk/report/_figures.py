"""Pictures of a report: images beside their maps, curves, bars. Needs the extra [figures].

They bring their own light background, so that they read the same on a dark page, and the colours
are told apart by colour-blind readers. The same input gives the same bytes.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from PIL import Image

from cuescope_core.errors import UserError
from cuescope_core.remedies import how_to_install
from cuescope_core.types import Frame
from cuescope_sdk.maths._maps import upsample

DENSITY = 200  # dots an inch, twice the default of matplotlib
PAPER = "#fcfcfa"
INK = "#22252a"
FAINT = "#d9d9d4"
SMALL: dict[str, Any] = {"size": 7, "color": INK}  # of letters
HEADING: dict[str, Any] = {"size": 8, "weight": "bold", "color": INK}
# Okabe and Ito (2008), the yellow darkened to be seen on a light ground
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#e69f00",
    "#b8a800",
    "#555555",
)

Pixels = UInt8[np.ndarray, "row col 3"]
Curve = Float[np.ndarray, " step"]
Clusters = Int[np.ndarray, "map_row map_col"]
Heat = Float[np.ndarray, "map_row map_col"]


@dataclass(frozen=True, eq=False)
class PanelRow:
    """One image, and what is known of it; the maps may be of any size, spanning the image.

    `heat` is importance: positive speaks for the text, negative against it.
    """

    caption: str
    image: Pixels
    clusters: Clusters | None = None
    heat: Heat | None = None
    mask: Bool[np.ndarray, "mask_row mask_col"] | None = None

    def overlays(self) -> list[Pixels]:
        """The image under its clusters, and under its importance, where they are there."""
        overlays = [self.panel("clusters"), self.panel("heat")]
        return [overlay for overlay in overlays if overlay is not None]

    def panel(self, name: str) -> Pixels | None:
        """The image under what a column shows of it."""
        value = getattr(self, name)
        if value is None:
            return None
        if name == "clusters":
            return tint_clusters(self.image, value)
        if name == "heat":
            return overlay_heat(self.image, value)
        return self.image


# ------------------------------------------------------------------------------ images and maps


def thumbnail(frame: Frame, side: int = 160) -> Pixels:
    """The frame with at most `side` pixels along its longer side, for strips and panels."""
    # Smaller before it is drawn: strips of full frames would make a report of many megabytes.
    # Pillow's thumbnail() works in place, and frames are shared
    image = frame.load().copy()
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    return np.asarray(image)


def image_panels(rows: Sequence[PanelRow]) -> bytes:
    """A JPEG: each image in a row under its caption, beside its clusters, importance and mask.

    A column that no row has is left out.
    """
    titles = {
        "image": "image",
        "clusters": "clusters",
        "heat": "importance",
        "mask": "foreground",
    }
    shown = [
        name for name in titles if any(getattr(row, name) is not None for row in rows)
    ]
    figure, grid = figure_of(
        1.25 * len(shown), 1.5 * len(rows) + 0.2, len(rows), len(shown)
    )
    for row, line in zip(rows, grid, strict=True):
        line[0].set_title(_words(row.caption), loc="left", **SMALL)
        for axes, name in zip(line, shown, strict=True):
            axes.set_axis_off()
            picture = row.panel(name)
            if picture is not None:
                # large or small, without steps
                axes.imshow(picture, interpolation="lanczos")
            if name == "mask" and row.mask is not None:
                # as numbers: the 0.5 line of a coarse mask is smooth
                mask = row.mask.astype(np.float32)
                _outline(axes, upsample(mask, row.image.shape[:2]))
    for axes, name in zip(grid[-1], shown, strict=True):
        below = {"transform": axes.transAxes, "ha": "center", "va": "top"}
        axes.text(0.5, -0.03, titles[name], weight="bold", **SMALL, **below)
    return _jpeg(figure)


def frame_strips(
    rows: Sequence[tuple[str, Sequence[Frame]]],
    most: int = 8,
    side: int = 160,
) -> bytes:
    """A JPEG: the frames of each row side by side under its caption, at most `most` of them.

    A caption has a line or more; `side` is that of a `thumbnail`.
    """
    longest = min(most, max((len(frames) for _, frames in rows), default=0))
    columns = max(5, longest)  # captions need some room
    lines = sum(1 + caption.count("\n") for caption, _ in rows)
    height = 0.8 * len(rows) + 0.2 * lines
    figure, grid = figure_of(0.8 * columns, height, len(rows), columns)
    for line, (caption, frames) in zip(grid, rows, strict=True):
        line[0].set_title(_words(caption), loc="left", **SMALL)
        for axes in line:
            axes.set_axis_off()
        # all of them, or some from the first to the last
        shown = np.linspace(0, len(frames) - 1, min(len(frames), most))
        for axes, index in zip(line, shown.tolist(), strict=False):
            axes.imshow(thumbnail(frames[round(index)], side), interpolation="lanczos")
    return _jpeg(figure)


def tint_clusters(image: Pixels, clusters: Clusters) -> Pixels:
    """The image in grey, each cluster in its own colour."""
    palette = np.array([_rgb(colour) for colour in COLOURS], np.uint8)
    small = Image.fromarray(palette[clusters % len(COLOURS)])
    # a cluster has no half: colours must not mix
    large = small.resize((image.shape[1], image.shape[0]), Image.Resampling.NEAREST)
    return _blend(image, np.asarray(large), np.float64(0.55))


def overlay_heat(image: Pixels, heat: Heat) -> Pixels:
    """The image in pale grey; red where `heat` is positive, blue where negative, strong to weak."""
    large = upsample(heat, image.shape[:2])[..., None]
    size = np.abs(large)
    largest = max(float(size.max()), np.finfo(np.float32).tiny)
    strength = size / largest
    colour = np.where(large > 0, _rgb("#ca0020"), _rgb("#0571b0"))
    return _blend(image, colour, 0.85 * strength)


def _blend(
    image: Pixels,
    above: np.ndarray,
    opacity: np.ndarray | np.float64,
) -> Pixels:
    """Colours over the image in grey, half way to white, so that they show on dark images."""
    grey = (image.mean(axis=2, keepdims=True) + 255) / 2
    blended = grey + (above - grey) * opacity
    return np.asarray(np.rint(blended).astype(np.uint8))


def _outline(axes: Any, mask: Float[np.ndarray, "row col"]) -> None:
    """Light on dark, which is seen on any image."""
    if mask.min() < 0.5 < mask.max():
        # the dark line first, under the light one
        for width, colour in ((2.4, INK), (1.0, "#ffffff")):
            axes.contour(mask, levels=[0.5], colors=[colour], linewidths=[width])


# ------------------------------------------------------------------------------ curves and bars


def line_chart(
    lines: Mapping[str, Sequence[Curve]],
    title: str,
    xlabel: str,
    ylabel: str,
) -> bytes:
    """A PNG: lines by name, each with its x and y, then low and high of its band.

    A line of x and y alone has no band.
    """
    figure, axes = chart_of(5.2, 3.0, xlabel, ylabel)
    axes.set_title(_words(title), loc="left", **HEADING)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    styles = ("-", "--", ":")
    for number, (name, (x, y, *band)) in enumerate(lines.items()):
        colour = _colour(number)
        style = styles[number // len(COLOURS) % len(styles)]
        axes.plot(x, y, style, color=colour, linewidth=1.4, label=_words(name))
        if band:
            axes.fill_between(x, *band, color=colour, alpha=0.12, linewidth=0)
    axes.margins(x=0, y=0.04)
    add_legend(figure, "outside right center")
    return png_of(figure)


def scatter_plot(
    groups: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    xlabel: str,
    ylabel: str,
) -> bytes:
    """A PNG: points (x, y) by group, each group's name beside its colour, and the line of all."""
    figure, axes = chart_of(4.2, 3.0, xlabel, ylabel)
    axes.grid(color=FAINT, linewidth=0.6)
    for number, (name, points) in enumerate(groups.items()):
        colour = _colour(number)
        axes.scatter(*points, s=14, color=colour, label=_words(name), zorder=3)
    across, up = np.concatenate(list(groups.values()), axis=1)
    if np.ptp(across) > 0:  # else no line is defined
        ends = np.array([across.min(), across.max()])
        # of all groups together: the claim is about all
        slope, start = np.polyfit(across, up, 1)
        axes.plot(ends, start + slope * ends, color=INK, linewidth=0.8, linestyle="--")
    if len(groups) > 1:
        add_legend(figure, "outside right center")
    return png_of(figure)


def bar_chart(
    rows: Mapping[str, Mapping[str, float]],
    title: str,
    xlabel: str,
) -> bytes:
    """A PNG: a bar for each row, made of its shares one after another, in the order they come."""
    figure, axes = chart_of(5.2, 1.1 + 0.3 * len(rows), xlabel)
    lengths = [sum(row.values()) for row in rows.values()]
    longest = max(lengths, default=0) or 1.0
    names = [_words(row) for row in rows]
    left = np.zeros(len(rows))
    for number, part in enumerate(dict.fromkeys(chain.from_iterable(rows.values()))):
        width = np.array([row.get(part, 0.0) for row in rows.values()])
        bars = axes.barh(
            names, width, left=left, color=_colour(number), label=_words(part)
        )
        # a narrower part has no room
        shares = [f"{share:.0%}" if share > 0.06 * longest else "" for share in width]
        axes.bar_label(bars, shares, label_type="center", size=6.5)
        left += width
    axes.invert_yaxis()  # the first row on top, as in a table
    axes.set_xlim(0, longest)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_title(_words(title), loc="left", **HEADING)
    add_legend(figure, "outside upper right", columns=4)
    return png_of(figure)


# ---------------------------------------------------------------------------------- matplotlib


def figure_of(
    width: float, height: float, rows: int = 1, columns: int = 1
) -> tuple[Any, Any]:
    """A figure in inches and its axes (row, column); without pyplot, whose state is global."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError(
            "pictures need matplotlib", remedy=how_to_install("cuescope-sdk[figures]")
        ) from error
    figure = Figure(
        figsize=(width, height), dpi=DENSITY, facecolor=PAPER, layout="constrained"
    )
    return figure, figure.subplots(rows, columns, squeeze=False)


def chart_of(
    width: float, height: float, xlabel: str, ylabel: str = ""
) -> tuple[Any, Any]:
    """A figure with one chart, and its axes."""
    figure, [[axes]] = figure_of(width, height)
    axes.set_xlabel(_words(xlabel), **SMALL)
    axes.set_ylabel(_words(ylabel), **SMALL)
    axes.set_facecolor(PAPER)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.tick_params(labelsize=6.5, colors=INK, length=2)
    return figure, axes


def add_legend(figure: Any, place: str, columns: int = 1) -> None:
    """The names of all that is drawn."""
    figure.legend(loc=place, ncols=columns, fontsize=6.5, frameon=False, labelcolor=INK)


def png_of(figure: Any) -> bytes:
    """Bytes of a figure of lines and letters, which have few colours."""
    # dithering would set dots into plain paper
    image = _render(figure).quantize(256, dither=Image.Dither.NONE)
    out = BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _jpeg(figure: Any) -> bytes:
    """At the size that a page shows."""
    out = BytesIO()
    # colour at full resolution: thin red lines stay red
    _render(figure).reduce(2).save(out, "JPEG", subsampling=0, optimize=True)
    return out.getvalue()


def _render(figure: Any) -> Image.Image:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    with warnings.catch_warnings():  # a letter that the font lacks is drawn as a box
        warnings.filterwarnings("ignore", "Glyph .* missing")
        canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def _words(text: str) -> str:
    """As it stands: matplotlib takes what is between two dollars for mathematics."""
    return text.replace("$", r"\$")


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))
