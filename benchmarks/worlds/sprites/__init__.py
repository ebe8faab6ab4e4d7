"""World 2: clips of sprites, seen by convolutions and a recurrent layer. Looked at rarely."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from cuescope_sdk import Capabilities, Context, Options, Plugin, Response, Trial, digest
from worlds.design import Case, Frames, World
from worlds.sprites import rendering

if TYPE_CHECKING:
    from worlds.sprites.training import Sprites

VERSION = 1  # of drawing and training
CASES = (
    Case("badge", "cause", 20),
    Case("ticker", "cause", 12),
    Case("follower", "cause", 30),
    Case("halo", "cause", 15),
    Case("badge", "cause", 30, companion="cast", together=0.85),
    Case("tempo", "cause", 20),
    Case("flash", "cause", 30),
    Case("dim", "cause", 15),
    Case("smear", "cause", 20),
    Case("scanlines", "cause", 12),
    Case("corner", "cause", 20, goes_with_difficulty=True),
    Case("cast", "cause", 5),
    Case("ticker", "decoy", goes_with_difficulty=True),
    Case("dim", "decoy", goes_with_difficulty=True),
    Case("follower", "decoy", 30, companion="badge", together=0.75),
    Case("flash", "decoy", 30, companion="tempo", together=0.85),
    Case("smear", "decoy", 20, companion="scanlines", together=0.85),
    Case("near", "decoy", 30, companion="halo", together=0.95),
    Case("badge", "decoy", 30, companion="dim", together=0.6),
    Case("cast", "decoy"),
)


class SpritesOptions(Options):
    """Which case it answers."""

    case: str


class SpritesGRU(Plugin):
    """The recurrent network of a case; nothing inside it can be looked at."""

    Options = SpritesOptions
    options: SpritesOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"}), max_frames=None
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: SpritesOptions, context: Context) -> None:
        super().__init__(options, context)
        self._case = WORLD.case(options.case)
        self.fingerprint = digest("sprites", VERSION, options.case)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits, and what is remembered of the clip."""
        network = _open_network(self._case, self.context.cache)
        logits, embeddings = network.look([_clip(trial) for trial in trials])
        return [
            Response(logits=row, embedding=vector)
            for row, vector in zip(logits, embeddings, strict=True)
        ]


def _clip(trial: Trial) -> Frames:
    return [np.asarray(frame.load()) for frame in trial.sample.frames]


def _open_network(case: Case, folder: Path) -> "Sprites":
    from worlds.sprites.training import open_network

    return open_network(case, folder)


WORLD = World(
    name="sprites",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=SpritesGRU,
    open_network=_open_network,
    samples=1600,
    in_frames=rendering.IN_FRAMES,
)
