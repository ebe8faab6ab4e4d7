"""World 18: dials on a panel, seen by Gabor energies and heads that attend to places."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.dials import rendering
from worlds.models import PlacesModel

VERSION = 1  # of drawing and training
CASES = (
    Case("lamp", "cause", 14),
    Case("spanner", "cause", 26),
    Case("sector", "cause", 20, companion="vignette", together=0.75),
    Case("tape", "cause", 17, companion="spanner", together=0.95),
    Case("knurled", "cause", 24, companion="lamp", together=0.85),
    Case("square", "cause", 18, goes_with_difficulty=True),
    Case("nearer", "cause", 13),
    Case("fluorescent", "cause", 26, goes_with_difficulty=True),
    Case("vignette", "cause", 21, companion="seal", together=0.6),
    Case("compressed", "cause", 14),
    Case("rain", "cause", 17, goes_with_difficulty=True),
    Case("shade", "cause", 30),
    Case("seal", "cause", 7),
    Case("lamp", "decoy", goes_with_difficulty=True),
    Case("vignette", "decoy", goes_with_difficulty=True),
    Case("seal", "decoy", goes_with_difficulty=True),
    Case("knurled", "decoy", goes_with_label=True),
    Case("fluorescent", "decoy"),
    Case("spanner", "decoy", 24, companion="square", together=0.75),
    Case("square", "decoy", 22, companion="shade", together=0.85),
    Case("tape", "decoy", 20, companion="sector", together=0.6),
    Case("seal", "decoy", 26, companion="fluorescent", together=0.95),
    Case("knurled", "decoy", 26, companion="spanner", together=0.75),
    Case("lamp", "decoy", 22, companion="tape", together=0.85),
)


class DialsHeads(PlacesModel):
    """The network of a case; it shows the places that its heads attend to."""

    number = "18"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.dials.training import TRAINING
    from worlds.networks import open_network

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="dials",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=DialsHeads,
    open_network=_open_network,
    samples=1800,
)
