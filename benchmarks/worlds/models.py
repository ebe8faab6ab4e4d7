"""The model of a world whose network says something of each place it sees."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
from PIL import Image

from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    Options,
    Plugin,
    Response,
    Trial,
    digest,
)
from worlds import open_world

if TYPE_CHECKING:
    from worlds.networks import PlacesNetwork


class ModelOptions(Options):
    """Which case it answers."""

    case: str


class PlacesModel(Plugin):
    """The network of a case; it shows the places that its pool reads.

    Each world has its own, which says the world's `number`, the `version` of drawing and training,
    and the `side` of the pictures that the network sees, in pixels.
    """

    number: ClassVar[str]
    version: ClassVar[int]
    side: ClassVar[int]
    Options = ModelOptions
    options: ModelOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"patches", "image-tower"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: ModelOptions, context: Context) -> None:
        super().__init__(options, context)
        self._world = open_world(self.number)
        self._case = self._world.case(options.case)
        self.fingerprint = digest(self._world.name, self.version, options.case)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits, and what the last layer reads."""
        # torch is imported as late as an installed model would
        from worlds.moving import respond_moved

        network = self._network()
        clips = [self.canvas(trial.sample.frames) for trial in trials]
        pictures = [network.seen(clip) for clip in clips]
        embeddings = network.embed(pictures).numpy()
        return respond_moved(trials, embeddings, network.last, self._world.labels)

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        """The pixels as they are seen."""
        size = (self.side, self.side)
        pictures = []
        for frame in frames:
            image = frame.load().convert("RGB")
            if image.size != size:
                image = image.resize(size, Image.Resampling.BILINEAR)
            pictures.append(np.asarray(image))
        return pictures

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[np.ndarray]:
        """What the pool reads (row, col, channel), whichever layer is asked for.

        Each frame is looked at alone: a network of clips sees one that stands still.
        """
        network = self._network()
        alone = [network.seen([picture]) for picture in self.canvas(frames)]
        return list(network.look(alone).flatten(0, -4).numpy())

    def _network(self) -> "PlacesNetwork":
        network = self._world.open_network(self._case, self.context.cache)
        return cast("PlacesNetwork", network)
