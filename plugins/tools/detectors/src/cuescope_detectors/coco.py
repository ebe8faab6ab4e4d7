"""Detectors of a fixed list of names: DETR and its like, and Faster R-CNN."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from cuescope_detectors.options import IMAGES_AT_ONCE, CocoOptions
from cuescope_sdk import Context, Detection, Frame, LazyWeights, Plugin, digest
from cuescope_sdk.tools import normalise_name, sort_by_score

if TYPE_CHECKING:
    from cuescope_detectors.closed_networks import ClassBox


class CocoDetector(Plugin, LazyWeights):
    """Finds the things that its network was trained on, COCO's 80 as a rule; `names` are they.

    A box has one name, the likeliest. Of any other name it finds nothing.
    """

    Options = CocoOptions
    options: CocoOptions

    def __init__(self, options: CocoOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_detectors.closed_networks import DetrNetwork, FasterRCNNNetwork

        # a file is torchvision's, a folder or hub id transformers'
        weights = Path(options.model).expanduser()
        self._network: DetrNetwork | FasterRCNNNetwork
        if weights.is_file():
            self._network = FasterRCNNNetwork(weights, options, context)
        else:
            self._network = DetrNetwork(options, context)
        classes = self._network.classes
        self._classes = {index: normalise_name(name) for index, name in classes.items()}
        self.names = frozenset(self._classes.values())
        self.fingerprint = digest(
            "coco-detector", 1, self._network.fingerprint, options.threshold
        )
        self.facts = {
            **self._network.facts,
            "names": f"{len(self.names)}",
            "threshold": f"{options.threshold:g}",
        }

    def open_weights(self) -> None:
        self._network.open_weights()

    def detect(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[tuple[Detection, ...]]:
        """Detections of any of the names, a tuple a frame, best first."""
        spoken_of = {name: normalise_name(name) for name in names}
        # a closed vocabulary: what is in none of its classes needs no pass
        if self.names.isdisjoint(spoken_of.values()):
            return [()] * len(frames)
        by_frame = []
        size = IMAGES_AT_ONCE
        for start in range(0, len(frames), size):
            images = [frame.load() for frame in frames[start : start + size]]
            # neighbours of one size go together: padding would change the boxes of the smaller
            for _, alike in groupby(images, key=attrgetter("size")):
                answers = self._network.detect(list(alike), self.options.threshold)
                by_frame += [self._name_boxes(boxes, spoken_of) for boxes in answers]
        return by_frame

    def _name_boxes(
        self,
        boxes: "Sequence[ClassBox]",
        spoken_of: Mapping[str, str],
    ) -> tuple[Detection, ...]:
        """The boxes of an image whose class is one of the names, under the names as given."""
        detections = []
        # two names that are asked for may mean one class
        for name, query in spoken_of.items():
            for score, index, box in boxes:
                if self._classes.get(index) == query:
                    detections.append(Detection(name=name, score=score, box=box))
        return sort_by_score(detections)
