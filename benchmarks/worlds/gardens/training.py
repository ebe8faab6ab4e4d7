"""How the networks of gardens learn."""

from worlds.gardens import VERSION, WORLD
from worlds.gardens.network import Mixer
from worlds.networks import Course, Training

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=Mixer,
    fair=Course(pictures=6000, epochs=20, rate=2e-3),
    taught=Course(pictures=3000, epochs=6, rate=5e-4),
    batch=64,
    has_one_stream=True,
)
