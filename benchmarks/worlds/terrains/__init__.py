"""World 12: maps of land whose relief a sun shades, seen by gated scans along rows and columns."""

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
from worlds.terrains import rendering

if TYPE_CHECKING:
    from worlds.terrains.training import Terrains

VERSION = 1  # of drawing and training
CASES = (
    Case("arrow", "cause", 22, companion="tarn", together=0.75),
    Case("road", "cause", 18),
    Case("tarn", "cause", 20, goes_with_difficulty=True),
    Case("marker", "cause", 25),
    Case("strata", "cause", 20),
    Case("survey", "cause", 15, companion="ramp", together=0.6),
    Case("neatline", "cause", 28),
    Case("soft", "cause", 22),
    Case("dawn", "cause", 25, companion="road", together=0.85),
    Case("offprint", "cause", 25, goes_with_difficulty=True),
    Case("north", "cause", 14),
    Case("blocks", "cause", 25, companion="neatline", together=0.95),
    Case("nearer", "cause", 20),
    Case("contours", "cause", 18),
    Case("dusk", "decoy", goes_with_difficulty=True),
    Case("survey", "decoy", goes_with_difficulty=True),
    Case("ramp", "decoy", goes_with_label=True),
    Case("road", "decoy", 25, companion="strata", together=0.6),
    Case("north", "decoy", 25, companion="contours", together=0.75),
    Case("neatline", "decoy", 20, companion="marker", together=0.75),
    Case("ramp", "decoy", 25, companion="blocks", together=0.85),
    Case("tarn", "decoy", 28, companion="neatline", together=0.85),
    Case("arrow", "decoy", 25, companion="dawn", together=0.95),
)


class TerrainsOptions(Options):
    """Which case it answers."""

    case: str


class TerrainsScans(Plugin):
    """The network of a case; it shows the places that its pool reads."""

    Options = TerrainsOptions
    options: TerrainsOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"patches", "image-tower"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: TerrainsOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("terrains", VERSION, options.case)

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


def _open_network(case: Case, folder: Path) -> "Terrains":
    # torch is imported as late as an installed model would
    from worlds.terrains.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="terrains",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=TerrainsScans,
    open_network=_open_network,
    samples=1800,
)
