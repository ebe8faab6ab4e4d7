"""World 8: animals behind the glass of an aquarium, seen by convolutions in the way of ConvNeXt."""

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
from worlds.tanks import rendering

if TYPE_CHECKING:
    from worlds.tanks.training import Tanks

VERSION = 1  # of drawing and training
CASES = (
    Case("castle", "cause", 25, companion="neon", together=0.8),
    Case("bubbles", "cause", 30, goes_with_difficulty=True),
    Case("tag", "cause", 15),
    Case("rim", "cause", 15, companion="defocus", together=0.7),
    Case("plaque", "cause", 35),
    Case("glare", "cause", 22),
    Case("defocus", "cause", 25),
    Case("neon", "cause", 18),
    Case("murk", "cause", 28, goes_with_difficulty=True),
    Case("lamp", "cause", 20, companion="castle", together=0.6),
    Case("ripples", "cause", 12),
    Case("stream", "cause", 14),
    Case("rim", "decoy", goes_with_difficulty=True),
    Case("lamp", "decoy", goes_with_difficulty=True),
    Case("plaque", "decoy", goes_with_label=True),
    Case("bubbles", "decoy", 25, companion="castle", together=0.6),
    Case("castle", "decoy", 30, companion="murk", together=0.85),
    Case("murk", "decoy", 20, companion="rim", together=0.75),
    Case("neon", "decoy", 25, companion="defocus", together=0.9),
    Case("ripples", "decoy", 30, companion="glare", together=0.95),
)


class TanksOptions(Options):
    """Which case it answers."""

    case: str


class TanksConvNext(Plugin):
    """The network of a case; it shows the patches among which its last layer chooses."""

    Options = TanksOptions
    options: TanksOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"patches", "image-tower"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: TanksOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("tanks", VERSION, options.case)

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


def _open_network(case: Case, folder: Path) -> "Tanks":
    # torch is imported as late as an installed model would
    from worlds.tanks.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="tanks",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=TanksConvNext,
    open_network=_open_network,
    samples=1800,
)
