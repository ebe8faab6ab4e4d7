"""Detectors of a fixed list of names: DETR and its like, and Faster R-CNN."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from cuescope_detectors.options import CocoOptions
from cuescope_sdk import Context, Detection, Frame, LazyWeights, Plugin, digest
from cuescope_sdk.tools import normalise_name, sort_by_score


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
        self.fingerprint = digest("coco-detector", 1, self._network.fingerprint, options.threshold)
        self.facts = {
            **self._network.facts,
            "names": f"{len(self.names)}",
            "threshold": f"{options.threshold:g}",
        }

    def open_weights(self) -> None:
        self._network.open_weights()

    def detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[tuple[Detection, ...]]:
        """Detections of any of the names, a tuple a frame, best first."""
        spoken_of = {name: normalise_name(name) for name in names}
        # a closed vocabulary: what is in none of its classes needs no pass
        if self.names.isdisjoint(spoken_of.values()):
            return [() for _ in frames]
        by_frame: list[tuple[Detection, ...]] = []
        for start in range(0, len(frames), self.options.images):
            images = [frame.load() for frame in frames[start : start + self.options.images]]
            # neighbours of one size go together: padding would change the boxes of the smaller
            for _, alike in groupby(images, key=lambda image: image.size):
                answers = self._network.detect(list(alike), self.options.threshold)
                by_frame += [
                    sort_by_score(
                        Detection(name=name, score=score, box=box)
                        for name, query in spoken_of.items()
                        for score, index, box in boxes
                        if self._classes.get(index) == query
                    )
                    for boxes in answers
                ]
        return by_frame
