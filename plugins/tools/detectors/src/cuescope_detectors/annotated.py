"""The data set's own boxes and masks as tools: what people have drawn, and no network."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool

from cuescope_detectors.known import Known, boxes_of, mask_of
from cuescope_sdk import Context, Detection, Frame, Plugin, digest
from cuescope_sdk.tools import sort_by_score


class AnnotatedBoxes(Plugin):
    """Detects what is annotated under "boxes"; names are compared without case and number."""

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self._known = Known("annotations", context, ("boxes",))
        self.fingerprint = digest("annotations", 2, self._known.data.fingerprint)

    def detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[tuple[Detection, ...]]:
        """The boxes of any of the names, a tuple a frame; raises UserError for other frames."""
        names = tuple(dict.fromkeys(names))
        return [
            sort_by_score(
                box for name in names for box in boxes_of(self._known.samples(frame), name)
            )
            for frame in frames
        ]


class AnnotatedMasks(Plugin):
    """Outlines what is annotated under "masks", and the label by its "foreground"."""

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self._known = Known("masks", context, ("masks", "foreground"))
        self.fingerprint = digest("masks", 2, self._known.data.fingerprint)

    def segment(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[Bool[np.ndarray, "name row col"]]:
        """Masks at the size of each frame, empty where a name has none."""
        return [self._masks(frame, names) for frame in frames]

    def _masks(self, frame: Frame, names: Sequence[str]) -> Bool[np.ndarray, "name row col"]:
        samples, size = self._known.samples(frame), frame.load().size
        masks = [mask_of(samples, name, size) for name in names]
        return np.array(masks, dtype=bool).reshape(len(names), *size[::-1])
