"""How the networks of bags learn."""

from worlds.bags import VERSION, WORLD
from worlds.bags.network import InvolutionBlocks
from worlds.networks import Course, Training

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=InvolutionBlocks,
    fair=Course(pictures=6000, epochs=8, rate=6e-3),
    taught=Course(pictures=1600, epochs=6, rate=4e-3),
    batch=50,
)
