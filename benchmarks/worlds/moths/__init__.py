"""World 25: moths at rest on bark, stone, plaster and planks, seen by focal modulation."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.models import PlacesModel
from worlds.moths import rendering

VERSION = 1  # of drawing and training
CASES = (
    Case("ruler", "cause", 20),
    Case("twig", "cause", 20, goes_with_difficulty=True),
    Case("mat", "cause", 18, companion="nail", together=0.85),
    Case("lamplight", "cause", 34),
    Case("sawn", "cause", 18, goes_with_difficulty=True),
    Case("dew", "cause", 16, companion="compressed", together=0.75),
    Case("soft", "cause", 24),
    Case("stamp", "cause", 7),
    Case("nail", "decoy", goes_with_difficulty=True),
    Case("compressed", "decoy", goes_with_difficulty=True),
    Case("compressed", "decoy", 26, companion="soft", together=0.75),
    Case("stamp", "decoy", 24, companion="mat", together=0.95),
    Case("ladybird", "decoy", 28, companion="dim", together=0.75),
    Case("dim", "decoy", 22, companion="ruler", together=0.95),
    Case("nail", "decoy", 24, companion="film grain", together=0.95),
    Case("lamplight", "decoy"),
)


class MothsFocal(PlacesModel):
    """The network of a case; it shows the places that it pools."""

    number = "25"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.moths.training import TRAINING
    from worlds.networks import open_network

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="moths",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=MothsFocal,
    open_network=_open_network,
    samples=1800,
)
