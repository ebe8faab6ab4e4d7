"""World 9: road signs at the roadside, seen by filters as large as the picture."""

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
from worlds.signs import rendering

if TYPE_CHECKING:
    from worlds.signs.training import Signs

VERSION = 1  # of drawing and training
CASES = (
    Case("sticker", "cause", 20),
    Case("tape", "cause", 25, companion="fringe", together=0.75),
    Case("plate", "cause", 15),
    Case("cone", "cause", 30, goes_with_difficulty=True),
    Case("wires", "cause", 20),
    Case("droplets", "cause", 30),
    Case("sun", "cause", 20, companion="cone", together=0.85),
    Case("defocus", "cause", 30),
    Case("blocks", "cause", 25, goes_with_difficulty=True),
    Case("closer", "cause", 25),
    Case("rolled", "cause", 20),
    Case("fringe", "cause", 20),
    Case("dusk", "cause", 25, companion="plate", together=0.6),
    Case("faded", "cause", 15),
    Case("bonnet", "decoy", goes_with_difficulty=True),
    Case("faded", "decoy", goes_with_difficulty=True),
    Case("cone", "decoy", 30, companion="defocus", together=0.85),
    Case("tape", "decoy", 25, companion="closer", together=0.75),
    Case("wires", "decoy", 25, companion="dusk", together=0.6),
    Case("rolled", "decoy", 25, companion="tape", together=0.95),
    Case("fringe", "decoy", 30, companion="cone", together=0.85),
    Case("dusk", "decoy", 20, companion="rolled", together=0.75),
    Case("plate", "decoy", goes_with_label=True),
)


class SignsOptions(Options):
    """Which case it answers."""

    case: str


class SignsFilters(Plugin):
    """The network of a case; it shows the places that its last layer averages."""

    Options = SignsOptions
    options: SignsOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"patches", "image-tower"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: SignsOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("signs", VERSION, options.case)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits, and what the last layer reads."""
        # torch is imported as late as an installed model would
        from worlds.moving import respond_moved

        network = _open_network(self._case, self.context.cache)
        pictures = self.canvas([trial.sample.frames[0] for trial in trials])
        embeddings = network.tokens(pictures).mean(dim=(1, 2))
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


def _open_network(case: Case, folder: Path) -> "Signs":
    # torch is imported as late as an installed model would
    from worlds.signs.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="signs",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=SignsFilters,
    open_network=_open_network,
    samples=1800,
)
