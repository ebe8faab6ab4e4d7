"""World 24: trees as clouds of points, seen by streams of unlike resolution."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.models import PlacesModel
from worlds.trees import rendering

VERSION = 1  # of drawing and training
CASES = (
    Case("kite", "cause", 22),
    Case("date", "cause", 19, goes_with_difficulty=True),
    Case("fruits", "cause", 20),
    Case("shaken", "cause", 12, goes_with_difficulty=True),
    Case("fence", "cause", 28),
    Case("near", "cause", 20, companion="birds", together=0.6),
    Case("dusk", "cause", 24, companion="signpost", together=0.75),
    Case("flowers", "cause", 23),
    Case("wires", "cause", 25, companion="flare", together=0.85),
    Case("pale", "cause", 14),
    Case("turned", "cause", 22, goes_with_difficulty=True),
    Case("rain", "cause", 28),
    Case("shaken", "decoy", goes_with_difficulty=True),
    Case("date", "decoy", goes_with_difficulty=True),
    Case("birds", "decoy", goes_with_difficulty=True),
    Case("grainy", "decoy", goes_with_label=True),
    Case("blocks", "decoy"),
    Case("signpost", "decoy", 22, companion="kite", together=0.75),
    Case("dusk", "decoy", 26, companion="fence", together=0.85),
    Case("flare", "decoy", 24, companion="flowers", together=0.6),
    Case("kite", "decoy", 20, companion="flowers", together=0.95),
    Case("fruits", "decoy", 25, companion="fence", together=0.75),
    Case("mount", "decoy", 22, companion="dusk", together=0.6),
    Case("near", "decoy", 12, companion="date", together=0.85),
)


class TreesStreams(PlacesModel):
    """The network of a case; it shows the places that it pools."""

    number = "24"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.networks import open_network
    from worlds.trees.training import TRAINING

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="trees",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=TreesStreams,
    open_network=_open_network,
    samples=1920,
)
