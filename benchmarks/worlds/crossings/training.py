"""How the networks of crossings learn."""

from worlds.crossings import VERSION, WORLD
from worlds.crossings.network import DividedAttention
from worlds.networks import Course, Training

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=DividedAttention,
    fair=Course(pictures=6000, epochs=5, rate=2.5e-3),
    taught=Course(pictures=2000, epochs=7, rate=2.5e-3),
    batch=25,
)
