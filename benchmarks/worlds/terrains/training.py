"""How the networks of terrains learn."""

from worlds.networks import Course, Training
from worlds.terrains import VERSION, WORLD
from worlds.terrains.network import Scans

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=Scans,
    fair=Course(pictures=5000, epochs=5, rate=6e-3),
    taught=Course(pictures=2000, epochs=7, rate=6e-3),
    batch=40,
)
