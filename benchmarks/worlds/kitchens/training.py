"""How the networks of kitchens learn."""

from worlds.kitchens import VERSION, WORLD
from worlds.kitchens.network import Turned
from worlds.networks import Course, Training

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=Turned,
    fair=Course(pictures=10000, epochs=8, rate=5e-3),
    taught=Course(pictures=2400, epochs=6, rate=4e-3),
    batch=50,
)
