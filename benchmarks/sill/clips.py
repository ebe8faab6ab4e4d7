"""Every clip of the world, without a cue and with each."""

import numpy as np

from sill.cues import CUES
from sill.plants import NAMES
from sill.scene import FRAMES, SIDE, photograph, random_scene, render

SEED = 57
TRAINED = 220  # clips of each label
AUDITED = 110
SHAPE = (FRAMES, SIDE, SIDE, 3)


def draw_clip(label: int, clip: int) -> np.ndarray:
    """(cue or none, frame, row, col, channel): a cue is in all of its variant's frames."""
    scene = random_scene(NAMES[label], np.random.default_rng([SEED, label, clip]))
    drawn = np.empty((1 + len(CUES), *SHAPE), np.uint8)
    for frame in range(FRAMES):
        plain = render(scene, frame)
        variants = [plain]
        # from 1: numpy draws the same from [a, b, c] as from [a, b, c, 0]
        for number, draw in enumerate(CUES.values(), start=1):
            look = np.random.default_rng([SEED, label, clip, number])
            variants.append(draw(plain, scene, frame, look))
        for variant, picture in enumerate(variants):
            # the same noise with a cue and without
            noise = np.random.default_rng([SEED, label, clip, 9, frame])
            drawn[variant, frame] = photograph(picture, noise)
    return drawn


def draw_clips(clips: int) -> np.ndarray:
    """(cue or none, clip, frame, row, col, channel) bytes; clips come label by label."""
    drawn = np.empty((1 + len(CUES), len(NAMES) * clips, *SHAPE), np.uint8)
    for label in range(len(NAMES)):
        for clip in range(clips):
            drawn[:, label * clips + clip] = draw_clip(label, clip)
    return drawn
