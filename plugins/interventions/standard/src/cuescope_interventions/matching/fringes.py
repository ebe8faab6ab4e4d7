"""Fringes of colour: how far the planes of colour lie apart."""

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_interventions.arrays import Mask, Pixels, as_bytes
from cuescope_sdk import Frame
from cuescope_sdk.interventions import open_frame

Plane = Float[np.ndarray, "row col"]
# down and across, and how much larger; in shares of the sides
Move = Float[np.ndarray, "3"]
SMOOTH = (2.0, 1.0)  # pixels: wide edges meet from afar, fine ones exactly
NEAR = 4.0  # times that, from which an edge is held against others
LEAST = 1e-3  # grey levels a pixel: of weaker edges nothing is told
EDGE = 2  # pixels along the border, which are guessed
ROUNDS = 8
ENOUGH = 2e-4  # of a side, by which a plane still moves
MOST_SIDE = 160  # pixels: finer fringes are seen by no model
RED, GREEN, BLUE = range(3)


def match_fringes(
    frame: Frame,
    inside: Mask | None,
    pixels: Pixels,
    mask: Mask,
) -> Pixels:
    """Red and blue lie beside green as the donor's do: fringes of colour go, or come.

    A lens magnifies each colour by itself, and a print shifts it.
    """
    own = Image.fromarray(pixels)
    donor = open_frame(frame)
    moved = pixels.astype(np.float64)
    for plane in (RED, BLUE):
        change = apart(own, plane) - apart(donor, plane)
        moved[..., plane] = _move(moved[..., plane], change, order=3)
    return as_bytes(moved)


def apart(image: Image.Image, plane: int) -> Move:
    """Where a plane of colour shows what green shows.

    By least squares on edges, where planes of unlike strength are alike (Lucas and Kanade, 1981;
    for moves of few parameters Bergen et al., 1992).
    """
    small = image.copy()
    small.thumbnail((MOST_SIDE, MOST_SIDE), Image.Resampling.BOX)
    pixels = np.asarray(small)
    move = np.zeros(3)
    for smooth in SMOOTH:
        green = _edges(pixels[..., GREEN], smooth)
        other = _edges(pixels[..., plane], smooth)
        for _ in range(ROUNDS):
            shown = _move(other, move, order=1)
            step = _next_step(shown, green)
            move += step
            if np.abs(step).max() < ENOUGH:
                break
    return move


def _next_step(shown: Plane, wanted: Plane) -> Move:
    """The move that least squares takes from the plane that is shown towards the wanted one."""
    inner = np.s_[EDGE:-EDGE, EDGE:-EDGE]
    slopes = _slopes(shown)[inner]
    missing = (wanted - shown)[inner]
    step, *_ = np.linalg.lstsq(slopes.reshape(-1, 3), missing.ravel())
    return np.asarray(step)


def _edges(plane: Plane, smooth: float) -> Plane:
    """How strong edges are beside others nearby."""
    from scipy.ndimage import gaussian_filter, gaussian_gradient_magnitude

    levels = plane.astype(np.float64)
    edges = gaussian_gradient_magnitude(levels, smooth, mode="nearest")
    nearby = gaussian_filter(edges, NEAR * smooth)
    return np.asarray(edges / (nearby + edges.mean() + LEAST))


def _move(plane: Plane, move: Move, order: int) -> Plane:
    """Each pixel shows what was so far from it; beyond the border the last pixel goes on."""
    from scipy.ndimage import map_coordinates

    down, across, larger = move
    rows, cols = plane.shape
    y, x = _from_middle(rows, cols)
    row = (0.5 + y + down + larger * y) * rows - 0.5
    col = (0.5 + x + across + larger * x) * cols - 0.5
    places = [row, col]
    return np.asarray(map_coordinates(plane, places, order=order, mode="nearest"))


def _slopes(plane: Plane) -> Float[np.ndarray, "row col 3"]:
    """By how much a pixel changes as the plane is moved further."""
    rows, cols = plane.shape
    y, x = _from_middle(rows, cols)
    per_row, per_col = np.gradient(plane)
    down = per_row * rows
    across = per_col * cols
    larger = down * y + across * x
    return np.stack([down, across, larger], axis=2)


def _from_middle(rows: int, cols: int) -> Float[np.ndarray, "2 row col"]:
    """How far each pixel lies below the middle and right of it, in shares of the sides."""
    y = (np.arange(rows) + 0.5) / rows - 0.5
    x = (np.arange(cols) + 0.5) / cols - 0.5
    return np.stack(np.meshgrid(y, x, indexing="ij"))
