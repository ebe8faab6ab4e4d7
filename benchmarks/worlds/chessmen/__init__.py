"""World 23: chessmen as a lathe turns them, seen by paths of unlike depth."""

from pathlib import Path

from worlds.chessmen import rendering
from worlds.design import Case, Network, World
from worlds.models import PlacesModel

VERSION = 1  # of drawing and training
CASES = (
    Case("pencil", "cause", 18),
    Case("caption", "cause", 11, goes_with_difficulty=True),
    Case("soft", "cause", 16, goes_with_difficulty=True),
    Case("leak", "cause", 24, companion="pencil", together=0.6),
    Case("close", "cause", 14),
    Case("lamp", "cause", 20, companion="scratches", together=0.75),
    Case("ribbon", "cause", 20),
    Case("blue", "cause", 18, companion="draughts", together=0.85),
    Case("grey", "cause", 22, companion="chalk", together=0.95),
    Case("draughts", "cause", 18),
    Case("scratches", "cause", 22),
    Case("corners", "cause", 9, goes_with_difficulty=True),
    Case("pencil", "decoy", goes_with_difficulty=True),
    Case("grey", "decoy", goes_with_difficulty=True),
    Case("draughts", "decoy", goes_with_difficulty=True),
    Case("grainy", "decoy", goes_with_label=True),
    Case("blocks", "decoy"),
    Case("chalk", "decoy", 16, companion="soft", together=0.75),
    Case("grey", "decoy", 11, companion="caption", together=0.85),
    Case("scratches", "decoy", 24, companion="blue", together=0.6),
    Case("soft", "decoy", 24, companion="lamp", together=0.95),
    Case("ribbon", "decoy", 24, companion="leak", together=0.85),
    Case("squares", "decoy", 24, companion="pencil", together=0.75),
    Case("blocks", "decoy", 20, companion="ribbon", together=0.6),
)


class ChessmenPaths(PlacesModel):
    """The network of a case; it shows the places that it pools."""

    number = "23"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.chessmen.training import TRAINING
    from worlds.networks import open_network

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="chessmen",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=ChessmenPaths,
    open_network=_open_network,
    samples=1800,
)
