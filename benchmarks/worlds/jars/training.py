"""How the networks of jars learn."""

from worlds.jars import VERSION, WORLD
from worlds.jars.network import MaxoutPairs
from worlds.networks import Course, Training

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=MaxoutPairs,
    fair=Course(pictures=8000, epochs=8, rate=5e-3),
    taught=Course(pictures=1600, epochs=6, rate=3e-3),
    batch=50,
)
