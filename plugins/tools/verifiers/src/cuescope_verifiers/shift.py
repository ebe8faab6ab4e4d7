"""How the whole picture moves from one frame to the next: phase correlation, by FFT alone."""

import numpy as np
from jaxtyping import Float
from PIL import Image

LONGEST = 128  # pixels; larger pictures are made smaller first


def grey(image: Image.Image) -> Float[np.ndarray, "row col"]:
    """Brightness of a picture, at most `LONGEST` pixels a side."""
    small = image.convert("L")
    small.thumbnail((LONGEST, LONGEST))
    return np.asarray(small, dtype=np.float64)


def shift(
    before: Float[np.ndarray, "row col"], after: Float[np.ndarray, "row col"]
) -> tuple[float, float, float]:
    """(right, down) in shares of width and height by which the content moved, and the peak.

    The cross-power spectrum of two pictures of the same content has one sharp peak at the shift
    (Kuglin and Hines, 1975). A Hann window keeps the borders, which do not wrap, from making one
    of their own at no shift. The peak is given in units of the highest that noise is expected to
    have over so many pixels: near 1 for unrelated pictures, many for a clean shift, infinite for
    the same picture.
    """
    if np.array_equal(before, after):
        return 0.0, 0.0, np.inf
    rows, cols = before.shape
    window = np.outer(np.hanning(rows), np.hanning(cols))
    one, other = (np.fft.rfft2((picture - picture.mean()) * window) for picture in (before, after))
    cross = other * one.conj()
    size = np.abs(cross)
    surface = np.fft.irfft2(cross / np.maximum(size, 1e-9 * max(size.max(), 1e-12)), s=(rows, cols))
    by_chance = np.sqrt(2 * np.log(surface.size) / surface.size)
    row, col = np.unravel_index(surface.argmax(), surface.shape)
    down, right = _signed(int(row), rows), _signed(int(col), cols)
    if _change(before, after, right, down) >= _change(before, after, 0, 0):
        right = down = 0  # one thing moved, and not the whole
    return right / cols, down / rows, float(surface.max() / by_chance)


def _signed(place: int, length: int) -> int:
    """A shift beyond half the length went the other way."""
    return (place + length // 2) % length - length // 2


def _change(
    before: Float[np.ndarray, "row col"], after: Float[np.ndarray, "row col"], right: int, down: int
) -> float:
    """Mean difference of what both show once the first is shifted."""
    rows, cols = before.shape
    old = before[max(-down, 0) : rows - max(down, 0), max(-right, 0) : cols - max(right, 0)]
    new = after[max(down, 0) : rows + min(down, 0), max(right, 0) : cols + min(right, 0)]
    return float(np.abs(new - old).mean())
