"""How the networks of skies learn."""

from worlds.networks import Course, Training
from worlds.skies import VERSION, WORLD
from worlds.skies.network import DenseWords

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=DenseWords,
    fair=Course(pictures=6000, epochs=8, rate=6e-3),
    taught=Course(pictures=2400, epochs=9, rate=6e-3),
    batch=64,
    has_one_stream=True,
)
