"""World 5: photos composed to market stalls, seen by a detector's backbone and a trained head."""

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
from worlds.stalls import rendering
from worlds.stalls.scenery import SIDE

if TYPE_CHECKING:
    from worlds.stalls.training import Stalls

VERSION = 1  # of drawing and training
CASES = (
    Case("price", "cause", 20),
    Case("sticker", "cause", 15),
    Case("frame", "cause", 25, companion="vignette", together=0.85),
    Case("cloth", "cause", 30),
    Case("shelf", "cause", 20),
    Case("tungsten", "cause", 15),
    Case("sidelight", "cause", 25),
    Case("defocus", "cause", 20),
    Case("jpeg", "cause", 25),
    Case("grain", "cause", 30),
    Case("corner", "cause", 15),
    Case("beside", "cause", 35),
    Case("tint", "cause", 25, goes_with_difficulty=True),
    Case("snow", "cause", 40),
    Case("vignette", "decoy", goes_with_difficulty=True),
    Case("price", "decoy", goes_with_difficulty=True),
    Case("grain", "decoy", goes_with_label=True),
    Case("tint", "decoy", goes_with_difficulty=True),
    Case("date", "decoy", 25, companion="tungsten", together=0.75),
    Case("shadow", "decoy", 30, companion="sidelight", together=0.95),
    Case("frame", "decoy", 20, companion="sticker", together=0.6),
    Case("tilt", "decoy", 30, companion="cloth", together=0.85),
)


class StallsOptions(Options):
    """Which case it answers."""

    case: str


class StallsYolo(Plugin):
    """A detector's backbone with the head of a case; it shows the maps of its middle."""

    Options = StallsOptions
    options: StallsOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"patches", "image-tower"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: StallsOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("stalls", VERSION, options.case)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits, and what the head's last layer reads."""
        # torch is imported as late as an installed model would
        from worlds.moving import respond_moved

        network = _open_network(self._case, self.context.cache)
        pictures = self.canvas([trial.sample.frames[0] for trial in trials])
        return respond_moved(
            trials, network.embed(pictures), network.last, WORLD.labels
        )

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        """The pixels as they are seen."""
        pictures = []
        for frame in frames:
            image = frame.load().convert("RGB")
            if image.size != (SIDE, SIDE):
                image = image.resize((SIDE, SIDE), Image.Resampling.BICUBIC)
            pictures.append(np.asarray(image))
        return pictures

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[np.ndarray]:
        """Maps of 8 x 8, whichever layer is asked for."""
        network = _open_network(self._case, self.context.cache)
        return list(network.maps(self.canvas(frames)))


def _open_network(case: Case, folder: Path) -> "Stalls":
    # torch and onnx are imported as late as an installed model would
    from worlds.stalls.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="stalls",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=StallsYolo,
    open_network=_open_network,
    samples=2000,
)
