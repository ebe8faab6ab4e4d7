"""World 7: garden beds from above, seen by a mixer of patches."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

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
from worlds.design import Case, World
from worlds.gardens import rendering

if TYPE_CHECKING:
    from worlds.gardens.training import Gardens

VERSION = 1  # of drawing and training
CASES = (
    Case("hose", "cause", 25),
    Case("stake", "cause", 20, companion="haze", together=0.8),
    Case("edging", "cause", 15),
    Case("bucket", "cause", 30, goes_with_difficulty=True),
    Case("netting", "cause", 20),
    Case("fence", "cause", 30),
    Case("haze", "cause", 20),
    Case("evening", "cause", 25, companion="bucket", together=0.7),
    Case("vignette", "cause", 20),
    Case("shaken", "cause", 25),
    Case("leftward", "cause", 25),
    Case("snow", "cause", 20, goes_with_difficulty=True),
    Case("hose", "decoy", goes_with_difficulty=True),
    Case("netting", "decoy", goes_with_difficulty=True),
    Case("haze", "decoy", 25, companion="stake", together=0.85),
    Case("bucket", "decoy", 30, companion="fence", together=0.75),
    Case("fence", "decoy", 20, companion="evening", together=0.9),
    Case("stake", "decoy", goes_with_label=True),
    Case("snow", "decoy", 25, companion="hose", together=0.65),
    Case("vignette", "decoy", 30, companion="edging", together=0.95),
)


class GardensOptions(Options):
    """Which case it answers."""

    case: str


class GardensMixer(Plugin):
    """The mixer of a case; it shows the patches that its last layer averages."""

    Options = GardensOptions
    options: GardensOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"patches", "image-tower"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: GardensOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("gardens", VERSION, options.case)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits, and what the last layer reads."""
        # torch is imported as late as an installed model would
        from worlds.moving import respond_moved

        network = _open_network(self._case, self.context.cache)
        pictures = self.canvas([trial.sample.frames[0] for trial in trials])
        embeddings = network.tokens(pictures).mean(dim=1)
        return respond_moved(trials, embeddings.numpy(), network.last, WORLD.labels)

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        """The pixels as they are seen."""
        size = (rendering.SIDE, rendering.SIDE)
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
        """Grids of 8 x 8, whichever layer is asked for."""
        network = _open_network(self._case, self.context.cache)
        return list(network.tokens(self.canvas(frames)).unflatten(1, (8, 8)).numpy())


def _open_network(case: Case, folder: Path) -> "Gardens":
    # torch is imported as late as an installed model would
    from worlds.gardens.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="gardens",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=GardensMixer,
    open_network=_open_network,
    samples=1800,
)
