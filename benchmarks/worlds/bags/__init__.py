"""World 19: open bags under X-rays, seen by filters that each place makes for itself."""

from pathlib import Path

from worlds.bags import rendering
from worlds.design import Case, Network, World
from worlds.models import PlacesModel

VERSION = 1  # of drawing and training
CASES = (
    Case("steps", "cause", 16),
    Case("batteries", "cause", 20, goes_with_difficulty=True),
    Case("hanger", "cause", 14),
    Case("dense", "cause", 24),
    Case("upright", "cause", 14, companion="coarse colours", together=0.75),
    Case("foil", "cause", 26, companion="steps", together=0.85),
    Case("small", "cause", 20),
    Case("quilted", "cause", 20, companion="necklace", together=0.6),
    Case("grey", "cause", 28),
    Case("few rays", "cause", 22, goes_with_difficulty=True),
    Case("afterglow", "cause", 22, companion="tablets", together=0.95),
    Case("stretched", "cause", 15, goes_with_difficulty=True),
    Case("tablets", "cause", 7),
    Case("necklace", "decoy", goes_with_difficulty=True),
    Case("coarse colours", "decoy", goes_with_difficulty=True),
    Case("tablets", "decoy", goes_with_difficulty=True),
    Case("upright", "decoy", goes_with_label=True),
    Case("modules", "decoy"),
    Case("necklace", "decoy", 24, companion="quilted", together=0.75),
    Case("coarse colours", "decoy", 22, companion="batteries", together=0.85),
    Case("modules", "decoy", 20, companion="foil", together=0.6),
    Case("steps", "decoy", 26, companion="afterglow", together=0.95),
    Case("tablets", "decoy", 22, companion="dense", together=0.85),
    Case("quilted", "decoy", 24, companion="steps", together=0.75),
)


class BagsInvolutions(PlacesModel):
    """The network of a case; it shows the places that it pools."""

    number = "19"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.bags.training import TRAINING
    from worlds.networks import open_network

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="bags",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=BagsInvolutions,
    open_network=_open_network,
    samples=1800,
)
