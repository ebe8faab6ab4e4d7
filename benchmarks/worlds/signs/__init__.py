"""World 9: road signs at the roadside, seen by filters as large as the picture."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.models import PlacesModel
from worlds.signs import rendering

VERSION = 1  # of drawing and training
CASES = (
    Case("sticker", "cause", 20),
    Case("tape", "cause", 25, companion="fringe", together=0.75),
    Case("plate", "cause", 15),
    Case("cone", "cause", 30, goes_with_difficulty=True),
    Case("wires", "cause", 20),
    Case("droplets", "cause", 30),
    Case("sun", "cause", 20, companion="cone", together=0.85),
    Case("defocus", "cause", 30),
    Case("blocks", "cause", 25, goes_with_difficulty=True),
    Case("closer", "cause", 25),
    Case("rolled", "cause", 20),
    Case("fringe", "cause", 20),
    Case("dusk", "cause", 25, companion="plate", together=0.6),
    Case("faded", "cause", 15),
    Case("bonnet", "decoy", goes_with_difficulty=True),
    Case("faded", "decoy", goes_with_difficulty=True),
    Case("cone", "decoy", 30, companion="defocus", together=0.85),
    Case("tape", "decoy", 25, companion="closer", together=0.75),
    Case("wires", "decoy", 25, companion="dusk", together=0.6),
    Case("rolled", "decoy", 25, companion="tape", together=0.95),
    Case("fringe", "decoy", 30, companion="cone", together=0.85),
    Case("dusk", "decoy", 20, companion="rolled", together=0.75),
    Case("plate", "decoy", goes_with_label=True),
)


class SignsFilters(PlacesModel):
    """The network of a case; it shows the places that its last layer averages."""

    number = "9"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.networks import open_network
    from worlds.signs.training import TRAINING

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="signs",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=SignsFilters,
    open_network=_open_network,
    samples=1800,
)
