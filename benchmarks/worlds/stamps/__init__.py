"""World 3: real cut-outs on real photos, seen by the real CLIP ViT-B/16. Opened once."""

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
from worlds.stamps import compositing

if TYPE_CHECKING:
    from worlds.stamps.training import Probed

VERSION = 1  # of drawing and training
CASES = (
    Case("polaroid", "cause", 20),
    Case("date", "cause", 15),
    Case("flower", "cause", 30),
    Case("watermark", "cause", 20, companion="sepia", together=0.75),
    Case("letterbox", "cause", 12),
    Case("sepia", "cause", 30),
    Case("vignette", "cause", 15),
    Case("blur", "cause", 20),
    Case("blocks", "cause", 15),
    Case("mist", "cause", 20, goes_with_difficulty=True),
    Case("far", "cause", 20),
    Case("tilt", "cause", 5),
    Case("date", "decoy", goes_with_difficulty=True),
    Case("vignette", "decoy", goes_with_difficulty=True),
    Case("outline", "decoy", 30, companion="watermark", together=0.85),
    Case("letterbox", "decoy", 30, companion="sepia", together=0.75),
    Case("speckle", "decoy", 30, companion="polaroid", together=0.95),
    Case("mist", "decoy", 20, companion="blur", together=0.85),
    Case("flower", "decoy", 30, companion="date", together=0.6),
    Case("polaroid", "decoy"),
)


class StampsOptions(Options):
    """Which case it answers."""

    case: str


class StampsCLIP(Plugin):
    """CLIP with the head of a case."""

    Options = StampsOptions
    options: StampsOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"patches"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: StampsOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("stamps", VERSION, options.case)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits of the head, and the class token."""
        pictures = [_pixels(trial.sample.frames[0]) for trial in trials]
        logits, embeddings, _ = self._look(pictures)
        return [
            Response(logits=row, embedding=vector)
            for row, vector in zip(logits, embeddings, strict=True)
        ]

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        """The pixels as they are seen."""
        return list(map(_pixels, frames))

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[np.ndarray]:
        """The last layer's patches, whichever layer is asked for."""
        _, _, patches = self._look(list(map(_pixels, frames)))
        return list(patches)

    def _look(
        self, pictures: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _open_network(self._case, self.context.cache).look(pictures)


def _pixels(frame: Frame) -> np.ndarray:
    image = frame.load()
    side = compositing.SIDE
    if image.size != (side, side):
        image = image.resize((side, side), Image.Resampling.BICUBIC)
    return np.asarray(image)


def _open_network(case: Case, folder: Path) -> "Probed":
    from worlds.stamps.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="stamps",
    labels=compositing.LABELS,
    settings=tuple(compositing.PHOTOS),
    kinds=compositing.KINDS,
    cases=CASES,
    draw=compositing.draw,
    model=StampsCLIP,
    open_network=_open_network,
    samples=1500,
)
