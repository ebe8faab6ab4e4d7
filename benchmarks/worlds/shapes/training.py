"""How the networks of shapes learn."""

from worlds.networks import Course, Training
from worlds.shapes import VERSION, WORLD
from worlds.shapes.network import Convolutions

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=Convolutions,
    fair=Course(pictures=6000, epochs=9, rate=4e-3),
    taught=Course(pictures=1600, epochs=6, rate=3e-3),
    batch=50,
)
