"""How the networks of moths learn."""

from worlds.moths import VERSION, WORLD
from worlds.moths.network import Focal
from worlds.networks import Course, Training

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=Focal,
    fair=Course(pictures=6000, epochs=10, rate=4e-3),
    taught=Course(pictures=2000, epochs=8, rate=4e-3),
    batch=50,
)
