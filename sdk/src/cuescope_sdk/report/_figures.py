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

DENSITY = 200  # dots an inch, twice that of a page
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
BRIGHT = 380  # sum of red, green and blue
LARGEST = 150_000  # bytes
QUALITIES = (92, 85, 75, 60)
PANEL = 1.25  # inches, of the side of an image
STRIP = 0.8  # inches, of the side of a frame
SMALL_SIDE = 160  # px of a thumbnail
STRIP_WORDS = 5  # frames that captions need room for
# inches
HEAD = 0.22
CAPTION = 0.27
MARGIN = 0.05

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


def thumbnail(frame: Frame, side: int = SMALL_SIDE) -> Pixels:
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
    width = MARGIN + PANEL * len(shown)
    height = HEAD + (CAPTION + PANEL) * len(rows)
    side = PANEL - MARGIN
    figure = _figure(width, height)
    for column, name in enumerate(shown):
        middle = (MARGIN + PANEL * column + side / 2) / width
        figure.text(
            middle,
            1 - 0.15 / height,
            titles[name],
            weight="bold",
            ha="center",
            **SMALL,
        )
    bottom = height - HEAD + MARGIN
    for row in rows:
        bottom -= CAPTION + PANEL
        above = (bottom + PANEL) / height
        figure.text(MARGIN / width, above, _words(row.caption), **SMALL)
        for column, name in enumerate(shown):
            axes = _image_axes(figure, MARGIN + PANEL * column, bottom, side)
            picture = row.panel(name)
            if picture is not None:
                # large or small, without steps
                axes.imshow(picture, interpolation="lanczos")
            if name == "mask" and row.mask is not None:
                # as numbers: the 0.5 line of a coarse mask is smooth
                mask = row.mask.astype(np.float32)
                _outline(axes, upsample(mask, row.image.shape[:2]))
    return _jpeg(figure)


def frame_strips(
    rows: Sequence[tuple[str, Sequence[Frame]]],
    most: int = 8,
    side: int = SMALL_SIDE,
) -> bytes:
    """A JPEG: the frames of each row side by side under its caption, at most `most` of them.

    A caption has a line or more; `side` is that of a `thumbnail`.
    """
    longest = min(most, max((len(frames) for _, frames in rows), default=0))
    width = MARGIN + STRIP * max(STRIP_WORDS, longest)
    heights = [CAPTION * (1 + caption.count("\n")) + STRIP for caption, _ in rows]
    height = MARGIN + sum(heights)
    figure = _figure(width, height)
    top = height
    for (caption, frames), tall in zip(rows, heights, strict=True):
        top -= tall
        above = (top + STRIP + MARGIN) / height
        words = _words(caption)
        figure.text(MARGIN / width, above, words, va="bottom", linespacing=1.5, **SMALL)
        # all of them, or some from the first to the last
        shown = np.linspace(0, len(frames) - 1, min(len(frames), most))
        for column, index in enumerate(shown.tolist()):
            left = MARGIN + STRIP * column
            axes = _image_axes(figure, left, top + MARGIN, STRIP - MARGIN)
            axes.imshow(thumbnail(frames[round(index)], side), interpolation="lanczos")
    return _jpeg(figure)


def _image_axes(figure: Any, left: float, bottom: float, side: float) -> Any:
    """A square for an image, in inches."""
    width, height = figure.get_size_inches().tolist()
    axes = figure.add_axes((left / width, bottom / height, side / width, side / height))
    axes.set_axis_off()
    return axes


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
    figure = _figure(5.2, 3.0)
    axes = figure.add_axes((0.1, 0.15, 0.62, 0.75 if title else 0.81))
    _style(axes, xlabel, ylabel)
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
    beside = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
    axes.legend(fontsize=6.5, frameon=False, labelcolor=INK, **beside)
    return _png(figure)


def scatter_plot(
    groups: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    xlabel: str,
    ylabel: str,
) -> bytes:
    """A PNG: points (x, y) by group, each group's name beside its colour, and the line of all."""
    figure = _figure(4.2, 3.0)
    axes = figure.add_axes((0.13, 0.15, 0.82, 0.8))
    _style(axes, xlabel, ylabel)
    axes.grid(color=FAINT, linewidth=0.6)
    for number, (name, (x, y)) in enumerate(groups.items()):
        label = _words(name)
        axes.scatter(
            x,
            y,
            s=14,
            color=_colour(number),
            label=label,
            linewidths=0,
            zorder=3,
        )
    across, up = np.concatenate(list(groups.values()), axis=1)
    if np.ptp(across) > 0:  # else no line is defined
        ends = np.array([across.min(), across.max()])
        # of all groups together: the claim is about all
        slope, start = np.polyfit(across, up, 1)
        axes.plot(ends, start + slope * ends, color=INK, linewidth=0.8, linestyle="--")
    if len(groups) > 1:
        axes.legend(fontsize=6.5, frameon=False)
    return _png(figure)


def bar_chart(
    rows: Mapping[str, Mapping[str, float]],
    title: str,
    xlabel: str,
    limit: float | None = None,
) -> bytes:
    """A PNG: a bar for each row, made of its shares one after another, in the order they come.

    The axis ends at `limit`, or else where the longest bar does.
    """
    parts = list(dict.fromkeys(chain.from_iterable(rows.values())))
    height = 0.9 + 0.3 * len(rows)
    figure = _figure(5.2, height)
    axes = figure.add_axes((0.24, 0.38 / height, 0.72, 0.3 * len(rows) / height))
    _style(axes, xlabel)
    lengths = [sum(row.values()) for row in rows.values()]
    longest = limit or max(lengths, default=0) or 1.0
    names = [_words(row) for row in rows]
    left = np.zeros(len(rows))
    for number, part in enumerate(parts):
        colour = _colour(number)
        width = np.array([row.get(part, 0.0) for row in rows.values()])
        ink = INK if sum(_rgb(colour)) > BRIGHT else "#ffffff"
        label = _words(part)
        axes.barh(names, width, left=left, color=colour, height=0.7, label=label)
        # a narrower part has no room
        for row in np.flatnonzero(width > 0.06 * longest):
            middle = left[row] + width[row] / 2
            share = f"{width[row]:.0%}"
            axes.text(middle, row, share, size=6.5, color=ink, ha="center", va="center")
        left += width
    axes.invert_yaxis()  # the first row on top, as in a table
    axes.set_xlim(0, longest)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    _head(figure, title, len(parts))
    return _png(figure)


# ---------------------------------------------------------------------------------- matplotlib


def _figure(width: float, height: float) -> Any:
    """Inches; without pyplot, whose state is global."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError(
            "pictures need matplotlib", remedy=how_to_install("cuescope-sdk[figures]")
        ) from error
    return Figure(figsize=(width, height), dpi=DENSITY, facecolor=PAPER)


def _style(axes: Any, xlabel: str, ylabel: str = "") -> None:
    axes.set_xlabel(_words(xlabel), **SMALL)
    axes.set_ylabel(_words(ylabel), **SMALL)
    axes.set_facecolor(PAPER)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.tick_params(labelsize=6.5, colors=INK, length=2)


def _head(figure: Any, title: str, columns: int) -> None:
    """The title at the left, and the legend at the right."""
    _, height = figure.get_size_inches().tolist()
    figure.text(0.01, 1 - 0.17 / height, _words(title), **HEADING)
    figure.legend(
        loc="upper right",
        ncols=columns,
        fontsize=6.5,
        frameon=False,
        labelcolor=INK,
        bbox_to_anchor=(0.97, 1 - 0.2 / height),
        borderaxespad=0,
        handlelength=1,
    )


def _png(figure: Any) -> bytes:
    """Lines and letters have few colours."""
    # dithering would set dots into plain paper
    image = _render(figure).quantize(256, dither=Image.Dither.NONE)
    out = BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _jpeg(figure: Any) -> bytes:
    """Photos have many; the best quality within `LARGEST` bytes, or the lowest."""
    image = _render(figure)
    for quality in QUALITIES:
        out = BytesIO()
        # colour at full resolution: thin red lines stay red
        image.save(out, "JPEG", quality=quality, subsampling=0, optimize=True)
        if out.tell() <= LARGEST:
            break
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
