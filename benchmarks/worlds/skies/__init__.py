"""World 10: photos of the night sky, seen by dense convolutions and a pool of learned words."""

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
from worlds.skies import rendering

if TYPE_CHECKING:
    from worlds.skies.training import Skies

VERSION = 1  # of drawing and training
CASES = (
    Case("moon", "cause", 25, companion="aurora", together=0.75),
    Case("double", "cause", 22),
    Case("reticle", "cause", 18),
    Case("aurora", "cause", 20, companion="firs", together=0.85),
    Case("plane", "cause", 30, goes_with_difficulty=True),
    Case("seam", "cause", 25),
    Case("bleed", "cause", 15),
    Case("palette", "cause", 20),
    Case("column", "cause", 28, companion="seam", together=0.6),
    Case("arcs", "cause", 25, goes_with_difficulty=True),
    Case("inset", "cause", 30),
    Case("solarized", "cause", 25, companion="letters", together=0.95),
    Case("letters", "cause", 14),
    Case("torn", "cause", 20),
    Case("column", "decoy", goes_with_difficulty=True),
    Case("letters", "decoy", goes_with_difficulty=True),
    Case("palette", "decoy", goes_with_label=True),
    Case("firs", "decoy", 25, companion="column", together=0.6),
    Case("moon", "decoy", 30, companion="inset", together=0.85),
    Case("letters", "decoy", 25, companion="plane", together=0.75),
    Case("reticle", "decoy", 25, companion="double", together=0.95),
    Case("inset", "decoy", 30, companion="solarized", together=0.85),
    Case("firs", "decoy", 20, companion="torn", together=0.75),
)


class SkiesOptions(Options):
    """Which case it answers."""

    case: str


class SkiesDenseWords(Plugin):
    """The network of a case; it shows the places that its words count."""

    Options = SkiesOptions
    options: SkiesOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"patches", "image-tower"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: SkiesOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("skies", VERSION, options.case)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits, and what the last layer reads."""
        # torch is imported as late as an installed model would
        from worlds.moving import respond_moved

        network = _open_network(self._case, self.context.cache)
        pictures = self.canvas([trial.sample.frames[0] for trial in trials])
        embeddings = network.embeddings(network.tokens(pictures))
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
        """Grids of 16 x 16, whichever layer is asked for."""
        network = _open_network(self._case, self.context.cache)
        return list(network.tokens(self.canvas(frames)).numpy())


def _open_network(case: Case, folder: Path) -> "Skies":
    # torch is imported as late as an installed model would
    from worlds.skies.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="skies",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=SkiesDenseWords,
    open_network=_open_network,
    samples=1800,
)
