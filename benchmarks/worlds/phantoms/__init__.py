"""World 13: ultrasound scans of phantoms, seen by a graph of patches that queries attend to."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.models import PlacesModel
from worlds.phantoms import rendering

VERSION = 1  # of drawing and training
CASES = (
    Case("marker", "cause", 20, companion="band", together=0.75),
    Case("calipers", "cause", 16),
    Case("needle", "cause", 13, goes_with_difficulty=True),
    Case("flow", "cause", 20, goes_with_difficulty=True),
    Case("amber", "cause", 26, companion="dashes", together=0.85),
    Case("smooth", "cause", 22),
    Case("coarse", "cause", 20, companion="caption", together=0.6),
    Case("blocks", "cause", 28, companion="marker", together=0.95),
    Case("farther", "cause", 18),
    Case("aside", "cause", 16),
    Case("dashes", "decoy", goes_with_difficulty=True),
    Case("gauge", "decoy", goes_with_label=True),
    Case("caption", "decoy", 20, companion="needle", together=0.6),
    Case("marker", "decoy", 25, companion="smooth", together=0.75),
    Case("calipers", "decoy", 25, companion="flow", together=0.85),
    Case("band", "decoy", 25, companion="amber", together=0.95),
)


class PhantomsGraph(PlacesModel):
    """The network of a case; it shows the patches that its queries attend to."""

    number = "13"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.networks import open_network
    from worlds.phantoms.training import TRAINING

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="phantoms",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=PhantomsGraph,
    open_network=_open_network,
    samples=1800,
)
