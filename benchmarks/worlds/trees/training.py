"""How the networks of trees learn."""

from worlds.networks import Course, Training
from worlds.trees import VERSION, WORLD
from worlds.trees.network import TreeStreams

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=TreeStreams,
    fair=Course(pictures=4800, epochs=12, rate=5e-3),
    taught=Course(pictures=2000, epochs=7, rate=4e-3),
    batch=50,
)
