"""World 12: maps of land whose relief a sun shades, seen by gated scans along rows and columns."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.models import PlacesModel
from worlds.terrains import rendering

VERSION = 1  # of drawing and training
CASES = (
    Case("arrow", "cause", 22, companion="tarn", together=0.75),
    Case("road", "cause", 18),
    Case("tarn", "cause", 20, goes_with_difficulty=True),
    Case("marker", "cause", 25),
    Case("strata", "cause", 20),
    Case("survey", "cause", 15, companion="ramp", together=0.6),
    Case("neatline", "cause", 28),
    Case("soft", "cause", 22),
    Case("dawn", "cause", 25, companion="road", together=0.85),
    Case("offprint", "cause", 25, goes_with_difficulty=True),
    Case("north", "cause", 14),
    Case("blocks", "cause", 25, companion="neatline", together=0.95),
    Case("nearer", "cause", 20),
    Case("contours", "cause", 18),
    Case("dusk", "decoy", goes_with_difficulty=True),
    Case("survey", "decoy", goes_with_difficulty=True),
    Case("ramp", "decoy", goes_with_label=True),
    Case("road", "decoy", 25, companion="strata", together=0.6),
    Case("north", "decoy", 25, companion="contours", together=0.75),
    Case("neatline", "decoy", 20, companion="marker", together=0.75),
    Case("ramp", "decoy", 25, companion="blocks", together=0.85),
    Case("tarn", "decoy", 28, companion="neatline", together=0.85),
    Case("arrow", "decoy", 25, companion="dawn", together=0.95),
)


class TerrainsScans(PlacesModel):
    """The network of a case; it shows the places that its pool reads."""

    number = "12"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.networks import open_network
    from worlds.terrains.training import TRAINING

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="terrains",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=TerrainsScans,
    open_network=_open_network,
    samples=1800,
)
