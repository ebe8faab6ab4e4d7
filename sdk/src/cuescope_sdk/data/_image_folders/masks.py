"""Masks from image files."""

from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from cuescope_sdk import Frame, digest
from cuescope_sdk.data._media import Probe
from cuescope_sdk.data._media.images import load_image


def mask_frame(path: Path, probe: Probe) -> Frame:
    """A mask file as a frame: white wherever the file is not black."""
    return Frame(digest("mask", probe.digest), partial(load_mask, path))


def load_mask(path: Path) -> Image.Image:
    """White on black, RGB."""
    shown = np.asarray(load_image(path)).any(axis=2)
    return Image.fromarray(shown.astype(np.uint8) * 255).convert("RGB")
