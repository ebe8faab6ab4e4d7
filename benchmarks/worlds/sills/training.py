"""How the networks of sills learn."""

from worlds.networks import Course, Training
from worlds.sills import VERSION, WORLD
from worlds.sills.network import SqueezedResiduals

TRAINING = Training(
    world=WORLD,
    version=VERSION,
    network=SqueezedResiduals,
    fair=Course(pictures=5000, epochs=8, rate=4e-3),
    taught=Course(pictures=3000, epochs=10, rate=6e-3),
    batch=40,
)
