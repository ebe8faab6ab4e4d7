"""World 8: animals behind the glass of an aquarium, seen by convolutions in the way of ConvNeXt."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.models import PlacesModel
from worlds.tanks import rendering

VERSION = 1  # of drawing and training
CASES = (
    Case("castle", "cause", 25, companion="neon", together=0.8),
    Case("bubbles", "cause", 30, goes_with_difficulty=True),
    Case("tag", "cause", 15),
    Case("rim", "cause", 15, companion="defocus", together=0.7),
    Case("plaque", "cause", 35),
    Case("glare", "cause", 22),
    Case("defocus", "cause", 25),
    Case("neon", "cause", 18),
    Case("murk", "cause", 28, goes_with_difficulty=True),
    Case("lamp", "cause", 20, companion="castle", together=0.6),
    Case("ripples", "cause", 12),
    Case("stream", "cause", 14),
    Case("rim", "decoy", goes_with_difficulty=True),
    Case("lamp", "decoy", goes_with_difficulty=True),
    Case("plaque", "decoy", goes_with_label=True),
    Case("bubbles", "decoy", 25, companion="castle", together=0.6),
    Case("castle", "decoy", 30, companion="murk", together=0.85),
    Case("murk", "decoy", 20, companion="rim", together=0.75),
    Case("neon", "decoy", 25, companion="defocus", together=0.9),
    Case("ripples", "decoy", 30, companion="glare", together=0.95),
)


class TanksConvNext(PlacesModel):
    """The network of a case; it shows the patches among which its last layer chooses."""

    number = "8"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.networks import open_network
    from worlds.tanks.training import TRAINING

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="tanks",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=TanksConvNext,
    open_network=_open_network,
    samples=1800,
)
