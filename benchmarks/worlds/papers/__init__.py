"""World 4: photographs of pages with a chart, seen by a residual network of convolutions."""

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
from worlds.papers import rendering
from worlds.papers.marks import SIDE

if TYPE_CHECKING:
    from worlds.papers.training import Papers

VERSION = 1  # of drawing and training
CASES = (
    Case("coffee", "cause", 20),
    Case("clip", "cause", 12),
    Case("shade", "cause", 15),
    Case("highlighter", "cause", 20),
    Case("moire", "cause", 30),
    Case("keystone", "cause", 20),
    Case("stamp", "cause", 30, companion="yellowed", together=0.85),
    Case("sharpened", "cause", 15),
    Case("brackets", "cause", 15),
    Case("ink", "cause", 25),
    Case("posterized", "cause", 11, goes_with_difficulty=True),
    Case("margin", "cause", 6),
    Case("fold", "decoy", goes_with_difficulty=True),
    Case("clip", "decoy", goes_with_difficulty=True),
    Case("margin", "decoy", 30, companion="stamp", together=0.75),
    Case("halftone", "decoy", 30, companion="moire", together=0.85),
    Case("clip", "decoy", 20, companion="margin", together=0.6),
    Case("yellowed", "decoy", 30, companion="brackets", together=0.95),
    Case("ink", "decoy", 20, companion="shade", together=0.85),
    Case("fold", "decoy"),
)


class PapersOptions(Options):
    """Which case it answers."""

    case: str


class PapersResNet(Plugin):
    """The residual network of a case; it shows its last maps, and no patch can be hidden in it."""

    Options = PapersOptions
    options: PapersOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"patches", "image-tower"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: PapersOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("papers", VERSION, options.case)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits, and the mean of the last maps."""
        # torch is imported as late as an installed model would
        from worlds.moving import respond_moved

        network = _open_network(self._case, self.context.cache)
        pictures = self.canvas([trial.sample.frames[0] for trial in trials])
        _, embeddings, _ = network.look(pictures)
        return respond_moved(trials, embeddings, network.last, WORLD.labels)

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        """The pixels as they are seen."""
        size = (SIDE, SIDE)
        pictures = []
        for frame in frames:
            image = frame.load()
            if image.size != size:
                image = image.resize(size, Image.Resampling.BOX)
            pictures.append(np.asarray(image))
        return pictures

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[np.ndarray]:
        """The last maps, 8 x 8, whichever layer is asked for."""
        network = _open_network(self._case, self.context.cache)
        _, _, grids = network.look(self.canvas(frames))
        return list(grids)


def _open_network(case: Case, folder: Path) -> "Papers":
    # torch is imported as late as an installed model would
    from worlds.papers.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="papers",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=PapersResNet,
    open_network=_open_network,
    samples=1800,
)
