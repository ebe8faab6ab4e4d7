"""World 11: slides under a microscope, seen by selective kernels and a mean of powers."""

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
from worlds.slides import rendering

if TYPE_CHECKING:
    from worlds.slides.training import Slides

VERSION = 1  # of drawing and training
CASES = (
    Case("pointer", "cause", 25, companion="dust", together=0.75),
    Case("scale bar", "cause", 20),
    Case("circled", "cause", 22),
    Case("spores", "cause", 18, companion="chamber", together=0.85),
    Case("bubble", "cause", 18, goes_with_difficulty=True),
    Case("defocus", "cause", 20),
    Case("fringe", "cause", 25, companion="lamp", together=0.6),
    Case("stop", "cause", 25),
    Case("lamp", "cause", 15),
    Case("relief", "cause", 30, companion="circled", together=0.95),
    Case("blocks", "cause", 25, goes_with_difficulty=True),
    Case("zoom", "cause", 20),
    Case("chamber", "cause", 12),
    Case("cover edge", "cause", 28),
    Case("scale bar", "decoy", goes_with_difficulty=True),
    Case("dust", "decoy", goes_with_difficulty=True),
    Case("lamp", "decoy", goes_with_label=True),
    Case("dust", "decoy", 25, companion="fringe", together=0.6),
    Case("grain", "decoy", 28, companion="cover edge", together=0.75),
    Case("circled", "decoy", 28, companion="bubble", together=0.75),
    Case("pointer", "decoy", 30, companion="relief", together=0.85),
    Case("bubble", "decoy", 20, companion="scale bar", together=0.85),
    Case("cover edge", "decoy", 25, companion="stop", together=0.95),
)


class SlidesOptions(Options):
    """Which case it answers."""

    case: str


class SlidesSelective(Plugin):
    """The network of a case; it shows the places that it takes the mean of."""

    Options = SlidesOptions
    options: SlidesOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"patches", "image-tower"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: SlidesOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("slides", VERSION, options.case)

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
        """Grids of 8 x 8, whichever layer is asked for."""
        network = _open_network(self._case, self.context.cache)
        return list(network.tokens(self.canvas(frames)).numpy())


def _open_network(case: Case, folder: Path) -> "Slides":
    # torch is imported as late as an installed model would
    from worlds.slides.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="slides",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=SlidesSelective,
    open_network=_open_network,
    samples=1800,
)
