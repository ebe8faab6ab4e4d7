"""Detectors of a fixed list of names: DETR and its like, and Faster R-CNN."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, PositiveInt

from cuescope_detectors.open_vocabulary import PretrainedOptions
from cuescope_sdk import Context, Detection, Frame, LazyWeights, Options, Plugin, digest
from cuescope_sdk.tools import normalise_name, sort_by_score

if TYPE_CHECKING:
    from cuescope_detectors.closed import ClosedNetwork, Seen


class CocoOptions(PretrainedOptions):
    """Options of `coco-detector`."""

    model: str = Field(
        "facebook/detr-resnet-50",
        description="DETR, RT-DETR, YOLOS ...: a folder that save_pretrained wrote, or a hub id; "
        "or a file of torchvision's Faster R-CNN weights (.pth, .safetensors)",
    )
    backbone: Literal["resnet18", "resnet34", "resnet50", "resnet101"] = Field(
        "resnet50", description="Faster R-CNN: the backbone that the weights are for"
    )
    side: PositiveInt = Field(
        800, description="Faster R-CNN: an image is resized to this many pixels at its shorter side"
    )
    threshold: float = Field(0.5, ge=0, lt=1, description="boxes must score more than this")
    images: PositiveInt = Field(4, description="images that the network is shown at once")


class CocoDetector(Plugin, LazyWeights):
    """Finds the things that its network was trained on, COCO's 80 as a rule; `names` are they.

    A box has one name, the likeliest. Of any other name it finds nothing.
    """

    Options: ClassVar[type[Options]] = CocoOptions
    options: CocoOptions

    def __init__(self, options: CocoOptions, context: Context) -> None:
        super().__init__(options, context)
        self._network = self._found()
        self.names = frozenset(map(normalise_name, self._network.classes.values()))
        self.fingerprint = digest("coco-detector", 1, self._network.fingerprint, options.threshold)
        self.facts = {
            **self._network.facts,
            "names": f"{len(self.names)}",
            "threshold": f"{options.threshold:g}",
        }

    def open_weights(self) -> None:
        """Open the weights now."""
        self._network.open_weights()

    def detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[tuple[Detection, ...]]:
        """Detections of any of the names, a tuple a frame, best first."""
        asked = {name: normalise_name(name) for name in names}
        if self.names.isdisjoint(asked.values()):
            return [() for _ in frames]
        found: list[tuple[Detection, ...]] = []
        for start in range(0, len(frames), self.options.images):
            images = [frame.load() for frame in frames[start : start + self.options.images]]
            for _, alike in groupby(images, key=lambda image: image.size):  # nothing is padded
                seen = self._network.look(list(alike), self.options.threshold)
                found += [self._named(of_image, asked) for of_image in seen]
        return found

    def _named(self, seen: "Sequence[Seen]", asked: Mapping[str, str]) -> tuple[Detection, ...]:
        classes = {place: normalise_name(name) for place, name in self._network.classes.items()}
        return sort_by_score(
            Detection(name=name, score=score, box=box)
            for name, wanted in asked.items()
            for score, place, box in seen
            if classes.get(place) == wanted
        )

    def _found(self) -> "ClosedNetwork":
        weights = Path(self.options.model).expanduser()
        if weights.is_file():
            from cuescope_detectors.faster_rcnn import FasterRCNNNetwork

            return FasterRCNNNetwork(weights, self.options, self.context)
        from cuescope_detectors.detr import DetrNetwork

        return DetrNetwork(self.options, self.context)
