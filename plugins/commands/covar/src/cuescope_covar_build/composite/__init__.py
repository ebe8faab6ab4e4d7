"""An image editor without a generator: the background is a photo of a folder, or a drawn one."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from cuescope_sdk import (
    BadDataError,
    Context,
    Frame,
    ImageEdit,
    Options,
    Plugin,
    UserError,
    digest,
    generator,
    nearest,
)

VERSION = 2  # of the painting: other pixels, another number
SHOWN = 12  # names in an error


class CompositeOptions(Options):
    """Where the photos are, and how soft the seam is; ARG is the folder."""

    argument = "folder"

    folder: Path | None = Field(
        None, description="photos named after their background; none: drawn backgrounds"
    )
    feather: int = Field(
        2,
        ge=0,
        le=64,
        description="pixels over which an edge fades into the background",
    )


class Composite(Plugin):
    """Fills the mask with the background that the instruction names; the rest stays as it is.

    The seed chooses among the photos of one name, and their part and side. The seam lies within
    the mask. Raises UserError where the instruction names no background.
    """

    Options = CompositeOptions
    options: CompositeOptions
    instant: ClassVar[bool] = True  # sooner made again than read from a cache of edits

    def __init__(self, options: CompositeOptions, context: Context) -> None:
        super().__init__(options, context)
        # imported here: options are listed without OpenCV
        from cuescope_covar_build.composite.drawn import Drawn
        from cuescope_covar_build.composite.photos import Photos

        self._backgrounds: Drawn | Photos = Drawn()
        kind = "drawn"
        if options.folder is not None:
            self._backgrounds = Photos(options.folder.expanduser(), context)
            kind = "of photos"
        self.names: tuple[str, ...] = self._backgrounds.names
        self.fingerprint = digest(
            "composite",
            VERSION,
            # of names and contents: another photo, another fingerprint
            self._backgrounds.fingerprint,
            options.feather,
        )
        self.facts = {
            "backgrounds": f"{len(self.names)} {kind}: {_shorten(self.names)}"
        }

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        """The frame with another background, an edit."""
        return [self._edit_frame(edit) for edit in edits]

    def _edit_frame(self, edit: ImageEdit) -> Frame:
        import numpy as np
        from PIL import Image

        from cuescope_sdk.editing import keep_outside

        image = edit.frame.load()
        source = np.asarray(image)
        mask = np.ones(source.shape[:2], bool) if edit.mask is None else edit.mask
        if mask.dtype != bool or mask.shape != source.shape[:2]:
            raise BadDataError(
                "composite: a mask that does not fit its image",
                expected=f"bool of (row, col) {source.shape[:2]}",
                got=f"{mask.dtype} of {mask.shape}",
            )
        name = best_name(edit.instruction, self.names)
        if name is None:
            raise UserError(
                f"composite: no background for '{edit.instruction}'",
                expected=f"words of one of {_shorten(self.names)}",
                remedy=nearest(edit.instruction, self.names)
                or "composite:FOLDER takes photos named after their background",
            )
        # of seed and name alone: a variant shows the same photo as its image
        rng = generator(edit.seed, "composite", name)
        shown = self._backgrounds.show(name, mask.shape, rng)
        background = Image.fromarray(shown)
        painted = keep_outside(image, background, mask, self.options.feather)
        return Frame.from_array(np.asarray(painted))


def best_name(instruction: str, names: Sequence[str]) -> str | None:
    """The name with the most words of which the instruction has all; None where there is none."""
    words = set(_words(instruction))
    # of equals the first by the alphabet: a folder lists its files in any order
    fitting = [name for name in sorted(names) if words.issuperset(_words(name))]
    return max(fitting, key=lambda name: len(_words(name)), default=None)


def _words(text: str) -> list[str]:
    # an underscore parts words as a space does
    return re.findall(r"[^\W_]+", text.lower())


def _shorten(names: Sequence[str]) -> str:
    listed = ", ".join(names[:SHOWN])
    more = len(names) - SHOWN
    return f"{listed} and {more} more" if more > 0 else listed


__all__ = ["Composite", "CompositeOptions", "best_name"]
