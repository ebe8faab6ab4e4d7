"""World 7: garden beds from above, seen by a mixer of patches."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.gardens import rendering
from worlds.models import PlacesModel

VERSION = 1  # of drawing and training
CASES = (
    Case("hose", "cause", 25),
    Case("stake", "cause", 20, companion="haze", together=0.8),
    Case("edging", "cause", 15),
    Case("bucket", "cause", 30, goes_with_difficulty=True),
    Case("netting", "cause", 20),
    Case("fence", "cause", 30),
    Case("haze", "cause", 20),
    Case("evening", "cause", 25, companion="bucket", together=0.7),
    Case("vignette", "cause", 20),
    Case("shaken", "cause", 25),
    Case("leftward", "cause", 25),
    Case("snow", "cause", 20, goes_with_difficulty=True),
    Case("hose", "decoy", goes_with_difficulty=True),
    Case("netting", "decoy", goes_with_difficulty=True),
    Case("haze", "decoy", 25, companion="stake", together=0.85),
    Case("bucket", "decoy", 30, companion="fence", together=0.75),
    Case("fence", "decoy", 20, companion="evening", together=0.9),
    Case("stake", "decoy", goes_with_label=True),
    Case("snow", "decoy", 25, companion="hose", together=0.65),
    Case("vignette", "decoy", 30, companion="edging", together=0.95),
)


class GardensMixer(PlacesModel):
    """The mixer of a case; it shows the patches that its last layer averages."""

    number = "7"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.gardens.training import TRAINING
    from worlds.networks import open_network

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="gardens",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=GardensMixer,
    open_network=_open_network,
    samples=1800,
)
