"""What detectors of any name have in common: options, batches of images, boxes in pixels."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from jaxtyping import Float
from PIL import Image
from pydantic import Field, PositiveInt

from cuescope_sdk import Detection, Frame, LazyWeights, Options, Plugin, digest
from cuescope_sdk.tools import make_detections, normalise_name

if TYPE_CHECKING:
    from cuescope_detectors.loading import Loaded

Found = tuple[Float[np.ndarray, "box name"], Float[np.ndarray, "box 4"]]
MODEL = "a folder that save_pretrained wrote, or a hub id"


class PretrainedOptions(Options):
    """Where a model's files are; the part after `NAME:` is `model`, with a default a tool."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(description=MODEL)
    revision: str | None = Field(
        None, description="branch, tag or commit of a hub id; default: main"
    )


class OpenVocabularyOptions(PretrainedOptions):
    """Options of every detector that takes any name."""

    threshold: float = Field(
        0.05, ge=0, lt=1, description="boxes must score more than this (SpurLens: 0.05)"
    )
    overlap: float = Field(
        0.5, ge=0, le=1,
        description="boxes of a name that overlap a better one by more (intersection over union) "
        "are dropped; 1 keeps them",
    )  # fmt: skip
    images: PositiveInt = Field(4, description="images that the network is shown at once")


class Network(Protocol):
    """The part with weights."""

    @property
    def fingerprint(self) -> str: ...

    @property
    def facts(self) -> Mapping[str, str]: ...

    def look(self, images: Sequence[Image.Image], names: Sequence[str]) -> list[Found]:
        """Scores of distinct spoken names on boxes (x0, y0, x1, y1) in pixels, an image each."""
        ...


class OpenVocabularyDetector(Plugin, LazyWeights):
    """Asks its network about batches of images, for all names at once."""

    options: OpenVocabularyOptions
    owner: ClassVar[str]
    fingerprint: str
    facts: Mapping[str, str]

    def files(self, builders: Mapping[str, str]) -> "Loaded":
        """The model by its files; called once, in `__init__`."""
        from cuescope_detectors.loading import load

        self._loaded = load(self.owner, builders, self.options, self.context, takes_text=True)
        return self._loaded

    def open_weights(self) -> None:
        """Open the weights now."""
        _ = self._loaded.model

    def use(self, network: Network) -> None:
        """Take the network; called once, in `__init__`."""
        self._network = network
        self._limits = self.options.threshold, self.options.overlap
        self.fingerprint = digest(self.owner, 1, network.fingerprint, self._limits)
        self.facts = {**network.facts, "threshold": f"{self.options.threshold:g}"}

    def detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[tuple[Detection, ...]]:
        """Detections of any of the names, a tuple a frame, best first; raises UserError for ''."""
        asked = {name: normalise_name(name) for name in names}
        queries = list(dict.fromkeys(asked.values()))
        if not queries:
            return [() for _ in frames]
        columns = [queries.index(query) for query in asked.values()]
        found = []
        for start in range(0, len(frames), self.options.images):
            images = [frame.load() for frame in frames[start : start + self.options.images]]
            seen = self._network.look(images, queries)
            for image, (scores, boxes) in zip(images, seen, strict=True):
                by_name = scores[:, columns]
                found.append(
                    make_detections(list(asked), by_name, boxes, image.size, *self._limits)
                )
        return found
