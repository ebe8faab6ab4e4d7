"""How the networks of tanks learn."""

from worlds.networks import Course, Training
from worlds.tanks import VERSION, WORLD
from worlds.tanks.network import ConvNext

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=ConvNext,
    fair=Course(pictures=6000, epochs=8, rate=4e-3),
    taught=Course(pictures=3000, epochs=10, rate=4e-3),
    batch=64,
    has_one_stream=True,
)
