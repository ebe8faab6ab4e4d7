"""How the networks of dials learn."""

from worlds.dials import VERSION, WORLD
from worlds.dials.network import GaborHeads
from worlds.networks import Course, Training

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=GaborHeads,
    fair=Course(pictures=6000, epochs=6, rate=1e-2),
    taught=Course(pictures=1800, epochs=6, rate=1e-2),
    batch=50,
)
