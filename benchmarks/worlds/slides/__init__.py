"""World 11: slides under a microscope, seen by selective kernels and a mean of powers."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.models import PlacesModel
from worlds.slides import rendering

VERSION = 1  # of drawing and training
CASES = (
    Case("pointer", "cause", 25, companion="dust", together=0.75),
    Case("scale bar", "cause", 20),
    Case("circled", "cause", 22),
    Case("spores", "cause", 18, companion="chamber", together=0.85),
    Case("bubble", "cause", 18, goes_with_difficulty=True),
    Case("defocus", "cause", 20),
    Case("fringe", "cause", 25, companion="lamp", together=0.6),
    Case("stop", "cause", 25),
    Case("lamp", "cause", 15),
    Case("relief", "cause", 30, companion="circled", together=0.95),
    Case("blocks", "cause", 25, goes_with_difficulty=True),
    Case("zoom", "cause", 20),
    Case("chamber", "cause", 12),
    Case("cover edge", "cause", 28),
    Case("scale bar", "decoy", goes_with_difficulty=True),
    Case("dust", "decoy", goes_with_difficulty=True),
    Case("lamp", "decoy", goes_with_label=True),
    Case("dust", "decoy", 25, companion="fringe", together=0.6),
    Case("grain", "decoy", 28, companion="cover edge", together=0.75),
    Case("circled", "decoy", 28, companion="bubble", together=0.75),
    Case("pointer", "decoy", 30, companion="relief", together=0.85),
    Case("bubble", "decoy", 20, companion="scale bar", together=0.85),
    Case("cover edge", "decoy", 25, companion="stop", together=0.95),
)


class SlidesSelective(PlacesModel):
    """The network of a case; it shows the places that it takes the mean of."""

    number = "11"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.networks import open_network
    from worlds.slides.training import TRAINING

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="slides",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=SlidesSelective,
    open_network=_open_network,
    samples=1800,
)
