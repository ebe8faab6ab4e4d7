"""How the networks of boats learn."""

from worlds.boats import VERSION, WORLD
from worlds.boats.network import LookingCell
from worlds.networks import Course, Training

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=LookingCell,
    fair=Course(pictures=5000, epochs=8, rate=4e-3),
    taught=Course(pictures=1600, epochs=6, rate=4e-3),
    batch=50,
)
