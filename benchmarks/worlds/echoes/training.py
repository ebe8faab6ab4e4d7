"""How the networks of echoes learn."""

from worlds.echoes import VERSION, WORLD
from worlds.echoes.network import SpaceThenTime
from worlds.networks import Course, Training

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=SpaceThenTime,
    fair=Course(pictures=8000, epochs=8, rate=8e-3),
    taught=Course(pictures=1600, epochs=6, rate=4e-3),
    batch=50,
)
