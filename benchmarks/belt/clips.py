"""Every clip of the world, without a cue and with each."""

from collections.abc import Mapping

import numpy as np

from belt.cues import CUES, Draw
from belt.scene import FRAMES, NAMES, SIDE, photograph, random_scene, render

SEED = 41
TRAINED = 220  # clips of each label
AUDITED = 100
CLIPS = TRAINED + AUDITED
SHAPE = (FRAMES, SIDE, SIDE, 3)


def draw_clip(label: int, clip: int, draws: Mapping[str, Draw]) -> list[np.ndarray]:
    """The frames of a clip as it is, and with each cue in all of its frames."""
    rng = np.random.default_rng([SEED, label, clip])
    scene = random_scene(NAMES[label], rng)
    plain = [render(scene, frame) for frame in range(FRAMES)]
    variants = [plain]
    # from 1: numpy draws the same from [a, b, c] as from [a, b, c, 0]
    for number, draw in enumerate(draws.values(), start=1):
        variants.append(
            [
                # the same look in each frame of a clip
                draw(picture, frame, np.random.default_rng([SEED, label, clip, number]))
                for frame, picture in enumerate(plain)
            ]
        )
    return [
        np.stack(
            [
                photograph(
                    picture, np.random.default_rng([SEED, label, clip, 9, frame])
                )
                for frame, picture in enumerate(pictures)
            ]
        )
        for pictures in variants
    ]


def draw_clips(draws: Mapping[str, Draw] = CUES, clips: int = CLIPS) -> np.ndarray:
    """(cue or none, clip, frame, row, col, channel) bytes; clips come label by label."""
    drawn = np.empty((1 + len(draws), len(NAMES) * clips, *SHAPE), np.uint8)
    for label in range(len(NAMES)):
        for clip in range(clips):
            variants = draw_clip(label, clip, draws)
            drawn[:, label * clips + clip] = np.stack(variants)
    return drawn
