"""World 20: clips of a weather radar, seen by convolutions of space, then of time."""

from pathlib import Path
from typing import ClassVar

from cuescope_sdk import Capabilities
from worlds.design import Case, Network, World
from worlds.echoes import rendering
from worlds.models import PlacesModel

VERSION = 1  # of drawing and training
CASES = (
    Case("progress bar", "cause", 14),
    Case("strikes", "cause", 20, goes_with_difficulty=True),
    Case("other colours", "cause", 26),
    Case("fast", "cause", 16),
    Case("sweep", "cause", 24, companion="aircraft", together=0.85),
    Case("core", "cause", 22, goes_with_difficulty=True),
    Case("reversed", "cause", 18),
    Case("ghosts", "cause", 20, companion="spike", together=0.6),
    Case("large", "cause", 14, companion="speckle", together=0.75),
    Case("soft", "cause", 28),
    Case("dark start", "cause", 22, companion="progress bar", together=0.95),
    Case("south", "cause", 16, goes_with_difficulty=True),
    Case("aircraft", "cause", 7),
    Case("spike", "decoy", goes_with_difficulty=True),
    Case("speckle", "decoy", goes_with_difficulty=True),
    Case("stalled", "decoy", goes_with_difficulty=True),
    Case("large", "decoy", goes_with_label=True),
    Case("stalled", "decoy"),
    Case("spike", "decoy", 20, companion="strikes", together=0.75),
    Case("speckle", "decoy", 26, companion="other colours", together=0.85),
    Case("stalled", "decoy", 16, companion="fast", together=0.6),
    Case("aircraft", "decoy", 22, companion="core", together=0.95),
    Case("reversed", "decoy", 24, companion="sweep", together=0.85),
    Case("progress bar", "decoy", 28, companion="soft", together=0.75),
)


class EchoesSpaceTime(PlacesModel):
    """The network of a case; it shows the places of a frame that stands still."""

    number = "20"
    version = VERSION
    side = rendering.SIDE
    capabilities: ClassVar[Capabilities] = PlacesModel.capabilities.model_copy(
        update={"max_frames": rendering.LENGTH}
    )


def _open_network(case: Case, folder: Path) -> Network:
    # torch is imported as late as an installed model would
    from worlds.echoes.training import TRAINING
    from worlds.networks import open_network

    return open_network(TRAINING, case, folder)


WORLD = World(
    name="echoes",
    labels=rendering.LABELS,
    settings=rendering.SETTINGS,
    kinds=rendering.KINDS,
    cases=CASES,
    draw=rendering.draw,
    model=EchoesSpaceTime,
    open_network=_open_network,
    samples=1800,
    in_frames=rendering.IN_FRAMES,
)
