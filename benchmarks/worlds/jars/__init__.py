"""World 17: jars on a shelf, seen by pairs of maxout units on wavelets."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.jars import rendering
from worlds.models import PlacesModel

VERSION = 1  # of drawing and training
CASES = (
    Case("price", "cause", 16),
    Case("moth", "cause", 22, goes_with_difficulty=True),
    Case("twine", "cause", 20, companion="sepia", together=0.75),
    Case("crack", "cause", 18),
    Case("dew", "cause", 13, goes_with_difficulty=True),
    Case("glow", "cause", 26),
    Case("blinds", "cause", 21, companion="web", together=0.6),
    Case("haze", "cause", 12),
    Case("fringes", "cause", 24, companion="plate", together=0.85),
    Case("gingham", "cause", 7),
    Case("squat", "cause", 18, goes_with_difficulty=True),
    Case("scan lines", "cause", 30),
    Case("plate", "cause", 15),
    Case("web", "decoy", goes_with_difficulty=True),
    Case("sepia", "decoy", goes_with_difficulty=True),
    Case("price", "decoy", goes_with_label=True),
    Case("sharpened", "decoy"),
    Case("web", "decoy", 24, companion="gingham", together=0.75),
    Case("sepia", "decoy", 22, companion="blinds", together=0.85),
    Case("crack", "decoy", 20, companion="plate", together=0.6),
    Case("moth", "decoy", 26, companion="glow", together=0.95),
    Case("plate", "decoy", 28, companion="scan lines", together=0.6),
    Case("squat", "decoy", 22, companion="twine", together=0.85),
    Case("gingham", "decoy", 24, companion="squat", together=0.75),
)


class JarsPairs(PlacesModel):
    """The network of a case; it shows the places that it pools."""

    number = "17"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.jars.training import TRAINING
    from worlds.networks import open_network

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="jars",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=JarsPairs,
    open_network=_open_network,
    samples=1800,
)
