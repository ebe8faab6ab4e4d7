"""How the networks of phantoms learn."""

from worlds.networks import Course, Training
from worlds.phantoms import VERSION, WORLD
from worlds.phantoms.network import PatchGraph

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=PatchGraph,
    fair=Course(pictures=5000, epochs=7, rate=4e-3),
    taught=Course(pictures=2000, epochs=8, rate=4e-3),
    batch=50,
)
