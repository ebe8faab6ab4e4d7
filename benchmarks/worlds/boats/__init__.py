"""World 22: boats on a lake that mirrors them, seen by one cell that looks again and again."""

from pathlib import Path

from worlds.boats import rendering
from worlds.design import Case, Network, World
from worlds.models import PlacesModel

VERSION = 1  # of drawing and training
CASES = (
    Case("gull", "cause", 16),
    Case("buoy", "cause", 20, goes_with_difficulty=True),
    Case("board", "cause", 18),
    Case("hole", "cause", 22, companion="moon", together=0.85),
    Case("date", "cause", 24, companion="gull", together=0.75),
    Case("strip", "cause", 20),
    Case("dusk", "cause", 26, companion="buoy", together=0.6),
    Case("halftone", "cause", 22, goes_with_difficulty=True),
    Case("choppy", "cause", 20, companion="sticker", together=0.95),
    Case("pitching", "cause", 15, goes_with_difficulty=True),
    Case("near", "cause", 14),
    Case("ducks", "cause", 18),
    Case("gull", "decoy", goes_with_difficulty=True),
    Case("faded", "decoy", goes_with_difficulty=True),
    Case("ducks", "decoy", goes_with_difficulty=True),
    Case("pitching", "decoy", goes_with_label=True),
    Case("sticker", "decoy"),
    Case("buoy", "decoy", 24, companion="choppy", together=0.75),
    Case("faded", "decoy", 22, companion="date", together=0.85),
    Case("sticker", "decoy", 24, companion="dusk", together=0.6),
    Case("shaken", "decoy", 26, companion="hole", together=0.95),
    Case("board", "decoy", 22, companion="strip", together=0.85),
    Case("moon", "decoy", 20, companion="gull", together=0.75),
)


class BoatsCell(PlacesModel):
    """The network of a case; it shows the places that it pools."""

    number = "22"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.boats.training import TRAINING
    from worlds.networks import open_network

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="boats",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=BoatsCell,
    open_network=_open_network,
    samples=1800,
)
