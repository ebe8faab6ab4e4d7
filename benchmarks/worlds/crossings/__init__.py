"""World 21: clips of a street crossing from above, seen by attention over time, then space."""

from pathlib import Path
from typing import ClassVar

from cuescope_sdk import Capabilities
from worlds.crossings import rendering
from worlds.design import Case, Network, World
from worlds.models import PlacesModel

VERSION = 1  # of drawing and training
CASES = (
    Case("beacon", "cause", 12),
    Case("clock", "cause", 22, companion="tent", together=0.85),
    Case("dust", "cause", 18, goes_with_difficulty=True),
    Case("roof sign", "cause", 26),
    Case("brackets", "cause", 16, companion="pigeons", together=0.6),
    Case("cloud", "cause", 20),
    Case("sodium", "cause", 36),
    Case("combed", "cause", 18, companion="clock", together=0.95),
    Case("flicker", "cause", 24, goes_with_difficulty=True),
    Case("closing in", "cause", 14),
    Case("glare start", "cause", 20, companion="beacon", together=0.75),
    Case("lorry", "cause", 22, goes_with_difficulty=True),
    Case("pigeons", "decoy", goes_with_difficulty=True),
    Case("shimmer", "decoy", goes_with_difficulty=True),
    Case("hitch", "decoy", goes_with_difficulty=True),
    Case("lorry", "decoy", goes_with_label=True),
    Case("tent", "decoy"),
    Case("tent", "decoy", 24, companion="cloud", together=0.75),
    Case("pigeons", "decoy", 20, companion="dust", together=0.85),
    Case("bled colours", "decoy", 26, companion="brackets", together=0.95),
    Case("hitch", "decoy", 22, companion="flicker", together=0.6),
    Case("clock", "decoy", 28, companion="sodium", together=0.85),
    Case("beacon", "decoy", 24, companion="glare start", together=0.75),
    Case("combed", "decoy", 24, companion="roof sign", together=0.95),
)


class CrossingsDivided(PlacesModel):
    """The network of a case; it shows the places of a frame that stands still."""

    number = "21"
    version = VERSION
    side = rendering.SIDE
    capabilities: ClassVar[Capabilities] = PlacesModel.capabilities.model_copy(
        update={"max_frames": rendering.LENGTH}
    )


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.crossings.training import TRAINING
    from worlds.networks import open_network

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="crossings",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=CrossingsDivided,
    open_network=_open_network,
    samples=1800,
    in_frames=rendering.IN_FRAMES,
)
