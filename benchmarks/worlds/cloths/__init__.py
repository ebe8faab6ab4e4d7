"""World 6: printed cloths, seen by fixed filters, random units and a trained last layer."""

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
from worlds.cloths import rendering
from worlds.design import Case, World

if TYPE_CHECKING:
    from worlds.cloths.training import Cloths

VERSION = 1  # of drawing and training
CASES = (
    Case("pin", "cause", 20),
    Case("hem", "cause", 25, companion="dust", together=0.85),
    Case("tag", "cause", 15),
    Case("dye", "cause", 20),
    Case("window", "cause", 30),
    Case("smear", "cause", 20),
    Case("pleats", "cause", 25),
    Case("bleached", "cause", 15, goes_with_difficulty=True),
    Case("low", "cause", 20),
    Case("stain", "cause", 30),
    Case("lining", "cause", 35),
    Case("dust", "cause", 15, companion="tag", together=0.75),
    Case("pin", "decoy", goes_with_difficulty=True),
    Case("dye", "decoy", goes_with_difficulty=True),
    Case("smear", "decoy", goes_with_label=True),
    Case("tag", "decoy", 30, companion="dye", together=0.85),
    Case("stain", "decoy", 25, companion="window", together=0.75),
    Case("pleats", "decoy", 30, companion="hem", together=0.95),
    Case("hem", "decoy", 20, companion="lining", together=0.6),
    Case("window", "decoy", 25, companion="pin", together=0.85),
)


class ClothsOptions(Options):
    """Which case it answers."""

    case: str


class ClothsUnits(Plugin):
    """The random units of a case; it shows the maps that they read."""

    Options = ClothsOptions
    options: ClothsOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"patches", "image-tower"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: ClothsOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("cloths", VERSION, options.case)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits, and what the last layer reads."""
        # torch is imported as late as an installed model would
        from worlds.moving import respond_moved

        network = _open_network(self._case, self.context.cache)
        pictures = self.canvas([trial.sample.frames[0] for trial in trials])
        return respond_moved(
            trials, network.embed(pictures), network.last, WORLD.labels
        )

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
        """Maps of 8 x 8, whichever layer is asked for."""
        from worlds.cloths.network import maps

        return list(maps(self.canvas(frames)))


def _open_network(case: Case, folder: Path) -> "Cloths":
    # torch is imported as late as an installed model would
    from worlds.cloths.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="cloths",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=ClothsUnits,
    open_network=_open_network,
    samples=1800,
)
