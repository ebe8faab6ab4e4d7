"""How the networks of leaves learn."""

from worlds.leaves import VERSION, WORLD
from worlds.leaves.network import Bottlenecks
from worlds.networks import Course, Training

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=Bottlenecks,
    fair=Course(pictures=10000, epochs=11, rate=6e-3),
    taught=Course(pictures=1600, epochs=6, rate=4e-3),
    batch=50,
)
