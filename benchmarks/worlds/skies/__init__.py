"""World 10: photos of the night sky, seen by dense convolutions and a pool of learned words."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.models import PlacesModel
from worlds.skies import rendering

VERSION = 1  # of drawing and training
CASES = (
    Case("moon", "cause", 25, companion="aurora", together=0.75),
    Case("double", "cause", 22),
    Case("reticle", "cause", 18),
    Case("aurora", "cause", 20, companion="firs", together=0.85),
    Case("plane", "cause", 30, goes_with_difficulty=True),
    Case("seam", "cause", 25),
    Case("bleed", "cause", 15),
    Case("palette", "cause", 20),
    Case("column", "cause", 28, companion="seam", together=0.6),
    Case("arcs", "cause", 25, goes_with_difficulty=True),
    Case("inset", "cause", 30),
    Case("solarized", "cause", 25, companion="letters", together=0.95),
    Case("letters", "cause", 14),
    Case("torn", "cause", 20),
    Case("column", "decoy", goes_with_difficulty=True),
    Case("letters", "decoy", goes_with_difficulty=True),
    Case("palette", "decoy", goes_with_label=True),
    Case("firs", "decoy", 25, companion="column", together=0.6),
    Case("moon", "decoy", 30, companion="inset", together=0.85),
    Case("letters", "decoy", 25, companion="plane", together=0.75),
    Case("reticle", "decoy", 25, companion="double", together=0.95),
    Case("inset", "decoy", 30, companion="solarized", together=0.85),
    Case("firs", "decoy", 20, companion="torn", together=0.75),
)


class SkiesDenseWords(PlacesModel):
    """The network of a case; it shows the places that its words count."""

    number = "10"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.networks import open_network
    from worlds.skies.training import TRAINING

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="skies",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=SkiesDenseWords,
    open_network=_open_network,
    samples=1800,
)
