"""SAM (Kirillov et al., 2023), prompted by a detector: together GroundedSAM."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool
from pydantic import Field

from cuescope_detectors.open_vocabulary import MODEL, PretrainedOptions
from cuescope_sdk import Context, Detection, Frame, LazyWeights, Options, Plugin, UserError, digest


class GroundedSamOptions(PretrainedOptions):
    """Options of `sam`."""

    model: str = Field("facebook/sam-vit-base", description=MODEL)
    detector: str = Field(
        "owl", description="SPEC of the tool that finds the boxes: owl:MODEL, annotations ..."
    )
    detector_options: Mapping[str, Any] = Field({}, description="options of that tool")
    threshold: float = Field(
        0.3, ge=0, lt=1, description="boxes must score more than this to be outlined"
    )


class GroundedSam(Plugin, LazyWeights):
    """Outlines what is in the boxes of a detector; the mask of a name is all that it names."""

    Options: ClassVar[type[Options]] = GroundedSamOptions
    options: GroundedSamOptions
    fingerprint: str | None
    facts: Mapping[str, str]

    def __init__(self, options: GroundedSamOptions, context: Context) -> None:
        super().__init__(options, context)
        self._detector = context.build("tool", options.detector, options.detector_options)
        if not hasattr(self._detector, "detect"):
            raise UserError(
                f"sam: tool {options.detector} is no detector", expected="one with detect()"
            )
        from cuescope_detectors.loading import load
        from cuescope_detectors.sam import SamNetwork

        self._loaded = load("sam", SamNetwork.builders, options, context, takes_text=False)
        self._network = SamNetwork(self._loaded)
        found_by = getattr(self._detector, "fingerprint", None)
        self.fingerprint = found_by and digest(
            "sam", 1, self._network.fingerprint, found_by, options.threshold
        )
        self.facts = {
            **self._network.facts,
            "boxes": f"{options.detector} above {options.threshold:g}",
        }

    def open_weights(self) -> None:
        """Open the weights now, and the detector's if it opens them late."""
        _ = self._loaded.model
        if isinstance(self._detector, LazyWeights):
            self._detector.open_weights()

    def segment(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[Bool[np.ndarray, "name row col"]]:
        """Masks at the size of each frame, empty where the detector finds nothing."""
        found = self._detector.detect(frames, list(dict.fromkeys(names)))
        return [self._masks(*of) for of in zip(frames, found, [names] * len(frames), strict=True)]

    def _masks(
        self, frame: Frame, found: Sequence[Detection], names: Sequence[str]
    ) -> Bool[np.ndarray, "name row col"]:
        image = frame.load()
        boxes = [box for box in found if box.score > self.options.threshold]
        outlined = self._network.outline(image, [box.box for box in boxes])
        masks = np.zeros((len(names), image.height, image.width), dtype=bool)
        for row, name in enumerate(names):
            for box, mask in zip(boxes, outlined, strict=True):
                if box.name == name:
                    masks[row] |= mask
        return masks
