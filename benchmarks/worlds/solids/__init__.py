"""World 1: textured solids, seen by a small vision transformer. Rules are tuned here."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from PIL import Image

from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    HideTokens,
    Options,
    Plugin,
    Response,
    Trial,
    digest,
)
from worlds.design import Case, World
from worlds.solids import rendering

if TYPE_CHECKING:
    from worlds.solids.training import Solids

VERSION = 1  # of drawing and training
CASES = (
    Case("strip", "cause", 30),
    Case("lamp", "cause", 20),
    Case("sticker", "cause", 15),
    Case("ring", "cause", 12),
    Case("post", "cause", 20, companion="lamp", together=0.85),
    Case("lamp", "cause", 5),
    Case("defocus", "cause", 20),
    Case("gradient", "cause", 30),
    Case("contrast", "cause", 15),
    Case("blocks", "cause", 20),
    Case("grain", "cause", 12),
    Case("zoom", "cause", 15, goes_with_difficulty=True),
    Case("shift", "cause", 30),
    Case("lamp", "decoy", goes_with_difficulty=True),
    Case("grain", "decoy", goes_with_difficulty=True),
    Case("ring", "decoy", 30, companion="sticker", together=0.85),
    Case("strip", "decoy", 30, companion="gradient", together=0.95),
    Case("lamp", "decoy", 30, companion="strip", together=0.75),
    Case("contrast", "decoy", 20, companion="defocus", together=0.85),
    Case("post", "decoy", 30, companion="ring", together=0.6),
    Case("gradient", "decoy"),
)


class SolidsOptions(Options):
    """Which case it answers."""

    case: str


class SolidsViT(Plugin):
    """The vision transformer of a case."""

    Options = SolidsOptions
    options: SolidsOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        edits=frozenset({"hide-tokens"}),
        exposes=frozenset({"patches"}),
        max_frames=1,
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: SolidsOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("solids", VERSION, options.case)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits and the class token."""
        network = _open_network(self._case, self.context.cache)
        pictures = [_pixels(trial.sample.frames[0]) for trial in trials]
        logits, embeddings, _ = network.look(
            pictures, [_mask(trial) for trial in trials]
        )
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
        """The tokens after the last block, whichever layer is asked for."""
        network = _open_network(self._case, self.context.cache)
        _, _, patches = network.look(list(map(_pixels, frames)))
        return list(patches)


def _pixels(frame: Frame) -> np.ndarray:
    image = frame.load()
    side = rendering.SIDE
    if image.size != (side, side):
        image = image.resize((side, side), Image.Resampling.BOX)
    return np.asarray(image)


def _mask(trial: Trial) -> np.ndarray | None:
    return trial.edit.mask[0] if isinstance(trial.edit, HideTokens) else None


def _open_network(case: Case, folder: Path) -> "Solids":
    # torch is imported as late as an installed model would
    from worlds.solids.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="solids",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=SolidsViT,
    open_network=_open_network,
)
