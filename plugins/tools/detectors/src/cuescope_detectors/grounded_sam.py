"""SAM (Kirillov et al., 2023), prompted by a detector: together GroundedSAM."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from cuescope_detectors.options import GroundedSamOptions
from cuescope_sdk import Context, Frame, LazyWeights, Plugin, UserError, digest


class GroundedSam(Plugin, LazyWeights):
    """Outlines what is in the boxes of a detector; the mask of a name is all that it names."""

    Options = GroundedSamOptions
    options: GroundedSamOptions

    def __init__(self, options: GroundedSamOptions, context: Context) -> None:
        super().__init__(options, context)
        self._detector = context.build(
            "tool", options.detector, options.detector_options
        )
        if not hasattr(self._detector, "detect"):
            raise UserError(
                f"sam: tool {options.detector} is no detector",
                expected="one with detect()",
            )
        # once it is known to be a detector: torch takes seconds to import
        from cuescope_detectors.sam import SamNetwork

        self._network = SamNetwork(options, context)
        # masks depend on the boxes: a detector without a fingerprint leaves none to remember by
        detector = getattr(self._detector, "fingerprint", None)
        self.fingerprint = detector and digest(
            "sam", 1, self._network.fingerprint, detector, options.threshold
        )
        self.facts = {
            **self._network.facts,
            "boxes": f"{options.detector} above {options.threshold:g}",
        }

    def open_weights(self) -> None:
        """Open the weights now, and the detector's if it opens them late."""
        self._network.open_weights()
        if isinstance(self._detector, LazyWeights):
            self._detector.open_weights()

    def segment(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[Bool[np.ndarray, "name row col"]]:
        """Masks at the size of each frame, empty where the detector finds nothing."""
        # each name once, however many rows ask for it
        by_frame = self._detector.detect(frames, list(dict.fromkeys(names)))
        masks_by_frame = []
        for frame, detections in zip(frames, by_frame, strict=True):
            image = frame.load()
            # the detector's own threshold may be lower
            boxes = [box for box in detections if box.score > self.options.threshold]
            outlines = self._network.outline(image, [box.box for box in boxes])
            masks = np.zeros((len(names), image.height, image.width), dtype=bool)
            # several boxes of a name are one mask
            for box, outline in zip(boxes, outlines, strict=True):
                masks[np.array(names) == box.name] |= outline
            masks_by_frame.append(masks)
        return masks_by_frame
