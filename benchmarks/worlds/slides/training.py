"""How the networks of slides learn."""

from worlds.networks import Course, Training
from worlds.slides import VERSION, WORLD
from worlds.slides.network import Selective

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=Selective,
    fair=Course(pictures=6000, epochs=9, rate=4e-3),
    taught=Course(pictures=1800, epochs=7, rate=4e-3),
    batch=50,
)
