"""Every clip of the world, without a cue and with each."""

import numpy as np

from dish.cues import CUES
from dish.scene import FRAMES, NAMES, SIDE, photograph, random_scene, render

SEED = 97
TRAINED = 240  # clips of each label
AUDITED = 300
SHAPE = (FRAMES, SIDE, SIDE, 3)


def draw_clip(label: int, clip: int) -> np.ndarray:
    """(cue or none, frame, row, col, channel): a cue is in all of its variant's frames."""
    scene = random_scene(NAMES[label], np.random.default_rng([SEED, label, clip]))
    drawn = np.empty((1 + len(CUES), *SHAPE), np.uint8)
    for frame in range(FRAMES):
        variants = [render(scene, frame)]
        for number, draw in enumerate(CUES.values(), start=1):
            # the same for each frame of the clip
            look = np.random.default_rng([SEED, label, clip, number])
            variants.append(draw(variants[0], frame, look))
        for variant, picture in enumerate(variants):
            # the same noise with a cue and without
            noise = np.random.default_rng([SEED, label, clip, 99, frame])
            drawn[variant, frame] = photograph(picture, noise)
    return drawn


def draw_clips(clips: int) -> np.ndarray:
    """(cue or none, clip, frame, row, col, channel) bytes; clips come label by label."""
    drawn = np.empty((1 + len(CUES), len(NAMES) * clips, *SHAPE), np.uint8)
    for label in range(len(NAMES)):
        for clip in range(clips):
            drawn[:, label * clips + clip] = draw_clip(label, clip)
    return drawn
