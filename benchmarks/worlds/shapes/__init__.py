"""World 14: plain shapes before a wall and a floor, seen by plain convolutions."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.models import PlacesModel
from worlds.shapes import rendering

VERSION = 1  # of drawing and training
CASES = (
    Case("eyes", "cause", 20, companion="polka", together=0.85),
    Case("digit", "cause", 16, goes_with_difficulty=True),
    Case("spark", "cause", 30, companion="tipped", together=0.75),
    Case("sprockets", "cause", 12),
    Case("checks", "cause", 16),
    Case("shadow", "cause", 20, goes_with_difficulty=True),
    Case("pennant", "cause", 7),
    Case("unfocused", "cause", 20, companion="border", together=0.95),
    Case("slope", "cause", 30),
    Case("green", "cause", 12, companion="digit", together=0.6),
    Case("big", "cause", 24, goes_with_difficulty=True),
    Case("sunk", "cause", 20),
    Case("mosaic", "cause", 7),
    Case("tipped", "decoy", goes_with_difficulty=True),
    Case("sprockets", "decoy", goes_with_difficulty=True),
    Case("garish", "decoy", goes_with_label=True),
    Case("pennant", "decoy"),
    Case("hole", "decoy", 28, companion="spark", together=0.6),
    Case("eyes", "decoy", 22, companion="sunk", together=0.6),
    Case("string", "decoy", 24, companion="shadow", together=0.75),
    Case("polka", "decoy", 20, companion="big", together=0.75),
    Case("border", "decoy", 25, companion="green", together=0.85),
    Case("grain", "decoy", 28, companion="slope", together=0.95),
)


class ShapesConvolutions(PlacesModel):
    """The network of a case; it shows the places that it takes the mean of."""

    number = "14"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.networks import open_network
    from worlds.shapes.training import TRAINING

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="shapes",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=ShapesConvolutions,
    open_network=_open_network,
    samples=1800,
)
