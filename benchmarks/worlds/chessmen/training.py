"""How the networks of chessmen learn."""

from worlds.chessmen import VERSION, WORLD
from worlds.chessmen.network import FractalPaths
from worlds.networks import Course, Training

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=FractalPaths,
    fair=Course(pictures=3200, epochs=6, rate=6e-3),
    taught=Course(pictures=2000, epochs=7, rate=5e-3),
    batch=50,
)
