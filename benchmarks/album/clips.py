"""Every clip of the world, without a cue and with each."""

import numpy as np
from worlds.stamps.compositing import SIDE

from album.cues import CUES
from album.scene import FRAMES, NAMES, photograph, random_scene, render

SEED = 109
TRAINED = 50  # clips of each label
AUDITED = 300
SHAPE = (FRAMES, SIDE, SIDE, 3)


def draw_clip(label: int, clip: int) -> np.ndarray:
    """(cue or none, frame, row, col, channel): a cue is in all of its variant's frames."""
    scene = random_scene(NAMES[label], np.random.default_rng([SEED, label, clip]))
    drawn = np.empty((1 + len(CUES), *SHAPE), np.uint8)
    for frame in range(FRAMES):
        plain = render(scene, frame)
        drawn[0, frame] = photograph(plain)
        for number, draw in enumerate(CUES.values(), start=1):
            # the same for each frame of the clip
            look = np.random.default_rng([SEED, label, clip, number])
            drawn[number, frame] = photograph(draw(plain, frame, look))
    return drawn


def draw_clips(clips: int) -> np.ndarray:
    """(cue or none, clip, frame, row, col, channel) bytes; clips come label by label."""
    drawn = np.empty((1 + len(CUES), len(NAMES) * clips, *SHAPE), np.uint8)
    for label in range(len(NAMES)):
        for clip in range(clips):
            drawn[:, label * clips + clip] = draw_clip(label, clip)
    return drawn
