"""Open-vocabulary detectors by transformers' stock classes: OWLv2 and Grounding DINO."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from cuescope_detectors.options import (
    IMAGES_AT_ONCE,
    GroundingDinoOptions,
    OpenVocabularyOptions,
    OwlOptions,
)
from cuescope_sdk import Context, Detection, Frame, LazyWeights, Plugin, digest
from cuescope_sdk.tools import make_detections, normalise_name

if TYPE_CHECKING:
    from cuescope_detectors.grounding_dino import GroundingDinoNetwork
    from cuescope_detectors.owl import OwlNetwork


class OpenVocabularyDetector(Plugin, LazyWeights):
    """Asks its network about batches of images, for all names at once."""

    options: OpenVocabularyOptions
    owner: ClassVar[str]

    def __init__(self, options: OpenVocabularyOptions, context: Context) -> None:
        super().__init__(options, context)
        self._network = self.find_network()
        self._limits = (options.threshold, options.overlap)
        # 1 is the version of how scores become detections
        self.fingerprint = digest(
            self.owner, 1, self._network.fingerprint, self._limits
        )
        self.facts = {**self._network.facts, "threshold": f"{options.threshold:g}"}

    @abstractmethod
    def find_network(self) -> "OwlNetwork | GroundingDinoNetwork":
        """The network, its weights still closed."""

    def open_weights(self) -> None:
        self._network.open_weights()

    def detect(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[tuple[Detection, ...]]:
        """Detections of any of the names, a tuple a frame, best first; raises UserError for ''."""
        spoken_of = {name: normalise_name(name) for name in names}
        # "traffic_light" and "traffic light" are one query, and its scores go to both names
        queries = list(dict.fromkeys(spoken_of.values()))
        if not queries:
            return [()] * len(frames)
        columns = [queries.index(query) for query in spoken_of.values()]
        by_frame = []
        for start in range(0, len(frames), IMAGES_AT_ONCE):
            part = frames[start : start + IMAGES_AT_ONCE]
            images = [frame.load() for frame in part]
            answers = self._network.detect(images, queries)
            for image, (scores, boxes) in zip(images, answers, strict=True):
                detections = make_detections(
                    list(spoken_of),
                    scores[:, columns],
                    boxes,
                    image.size,
                    *self._limits,
                )
                by_frame.append(detections)
        return by_frame


class Owl(OpenVocabularyDetector):
    """OWLv2 (Minderer et al., 2023) and OWL-ViT (2022).

    An image is encoded once for all names, a name once for all images, and each name is scored on
    each box by itself. The library's own post-processing leaves a box to its best name alone.
    """

    Options = OwlOptions
    options: OwlOptions
    owner = "owl"

    def find_network(self) -> "OwlNetwork":
        # imported here: torch takes seconds
        from cuescope_detectors.owl import OwlNetwork

        return OwlNetwork(self.options, self.context)


class GroundingDino(OpenVocabularyDetector):
    """Grounding DINO (Liu et al., 2023) and MM Grounding DINO.

    All names stand in one caption, or in as few as its length allows. Image and caption attend to
    each other, so that a name's boxes depend on the names beside it.
    """

    Options = GroundingDinoOptions
    options: GroundingDinoOptions
    owner = "grounding-dino"
    joint = True  # the answer for a name depends on the names beside it

    def find_network(self) -> "GroundingDinoNetwork":
        from cuescope_detectors.grounding_dino import GroundingDinoNetwork

        return GroundingDinoNetwork(self.options, self.context)


__all__ = ["GroundingDino", "GroundingDinoOptions", "Owl", "OwlOptions"]
