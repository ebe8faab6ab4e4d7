"""World 16: pressed leaves on herbarium sheets, seen by inverted bottlenecks."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.leaves import rendering
from worlds.models import PlacesModel

VERSION = 1  # of drawing and training
CASES = (
    Case("barcode", "cause", 18),
    Case("seal", "cause", 17, goes_with_difficulty=True),
    Case("coin", "cause", 20, companion="soft", together=0.75),
    Case("tape", "cause", 24),
    Case("mosaic", "cause", 15),
    Case("pen", "cause", 21, goes_with_difficulty=True),
    Case("cast", "cause", 8),
    Case("window", "cause", 22),
    Case("soft", "cause", 14, goes_with_difficulty=True),
    Case("blocks", "cause", 16, companion="chart", together=0.85),
    Case("halftone", "cause", 28),
    Case("tilt", "cause", 13, companion="barcode", together=0.6),
    Case("high", "cause", 20),
    Case("chart", "decoy", goes_with_difficulty=True),
    Case("halftone", "decoy", goes_with_difficulty=True),
    Case("seal", "decoy", goes_with_label=True),
    Case("blocks", "decoy"),
    Case("high", "decoy", 24, companion="tape", together=0.75),
    Case("tilt", "decoy", 22, companion="cast", together=0.85),
    Case("mosaic", "decoy", 22, companion="window", together=0.6),
    Case("coin", "decoy", 26, companion="pen", together=0.95),
    Case("pen", "decoy", 28, companion="halftone", together=0.6),
    Case("barcode", "decoy", 20, companion="high", together=0.85),
)


class LeavesBottlenecks(PlacesModel):
    """The network of a case; it shows the places that it pools."""

    number = "16"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.leaves.training import TRAINING
    from worlds.networks import open_network

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="leaves",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=LeavesBottlenecks,
    open_network=_open_network,
    samples=1800,
)
