"""World 15: utensils on a worktop, seen by convolutions that are turned in four directions."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.kitchens import rendering
from worlds.models import PlacesModel

VERSION = 1  # of drawing and training
CASES = (
    Case("date", "cause", 18),
    Case("finger", "cause", 22, goes_with_difficulty=True),
    Case("tea ring", "cause", 20, companion="close", together=0.75),
    Case("flare", "cause", 25),
    Case("sticker", "cause", 20, companion="flash", together=0.85),
    Case("rust", "cause", 14),
    Case("box", "cause", 26, goes_with_difficulty=True),
    Case("cut out", "cause", 8),
    Case("onlooker", "cause", 24),
    Case("shake", "cause", 22, goes_with_difficulty=True),
    Case("tungsten", "cause", 9),
    Case("flash", "cause", 28, companion="finger", together=0.6),
    Case("aside", "cause", 16),
    Case("moire", "cause", 30),
    Case("date", "decoy", goes_with_difficulty=True),
    Case("sticker", "decoy", goes_with_difficulty=True),
    Case("tungsten", "decoy", goes_with_label=True),
    Case("posterised", "decoy"),
    Case("close", "decoy", 24, companion="onlooker", together=0.75),
    Case("posterised", "decoy", 28, companion="flash", together=0.6),
    Case("rust", "decoy", 22, companion="shake", together=0.85),
    Case("box", "decoy", 20, companion="sticker", together=0.95),
    Case("finger", "decoy", 22, companion="tungsten", together=0.85),
    Case("cut out", "decoy", 26, companion="tea ring", together=0.75),
    Case("aside", "decoy", 28, companion="moire", together=0.6),
)


class KitchensTurned(PlacesModel):
    """The network of a case; it shows the places that it pools."""

    number = "15"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.kitchens.training import TRAINING
    from worlds.networks import open_network

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="kitchens",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=KitchensTurned,
    open_network=_open_network,
    samples=1800,
)
