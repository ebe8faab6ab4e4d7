"""World 26: potted plants on a window sill, seen by residual blocks with squeeze-excitation."""

from pathlib import Path

from worlds.design import Case, Network, World
from worlds.models import PlacesModel
from worlds.sills import rendering

VERSION = 1  # of drawing and training
CASES = (
    Case("kettle", "cause", 8),
    Case("moth", "cause", 24, companion="tag", together=0.75),
    Case("passe-partout", "cause", 16, goes_with_difficulty=True),
    Case("evening", "cause", 30),
    Case("steamed", "cause", 18, companion="raindrops", together=0.6),
    Case("compressed", "cause", 16, goes_with_difficulty=True),
    Case("blue pot", "cause", 14, companion="picture", together=0.95),
    Case("tiled sill", "cause", 36),
    Case("on the left", "cause", 20, goes_with_difficulty=True),
    Case("moth", "decoy", goes_with_difficulty=True),
    Case("blind", "decoy", goes_with_difficulty=True),
    Case("tiled sill", "decoy", goes_with_difficulty=True),
    # what a network that was taught no cue loses to a worn camera
    Case("picture", "decoy", 12, companion="worn camera", together=0.75),
    Case("tag", "decoy", 12, companion="worn camera", together=0.85),
    Case("raindrops", "decoy", 24, companion="evening", together=0.6),
    Case("kettle", "decoy", 22, companion="moth", together=0.75),
    Case("tinted", "decoy", 26, companion="compressed", together=0.85),
    Case("tag", "decoy", 28, companion="tiled sill", together=0.95),
)


class SillsResiduals(PlacesModel):
    """The network of a case; it shows the places that its pool reads."""

    number = "26"
    version = VERSION
    side = rendering.SIDE


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.networks import open_network
    from worlds.sills.training import TRAINING

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="sills",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=SillsResiduals,
    open_network=_open_network,
    samples=1800,
)
