"""How the clips of a drawn world are made of its scenes: without a cue, and with each."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def draw_clips(
    clips: int, *, scene: Any, cues: Mapping[str, Any], seed: int
) -> np.ndarray:
    """(cue or none, clip, frame, row, col, channel) bytes; so many clips, label by label.

    `scene` is the module that draws and photographs a world's scenes.
    """
    shape = (scene.FRAMES, scene.SIDE, scene.SIDE, 3)
    labels = len(scene.NAMES)
    drawn = np.empty((1 + len(cues), labels * clips, *shape), np.uint8)
    for label in range(labels):
        for clip in range(clips):
            stream = seed, label, clip
            drawn[:, label * clips + clip] = _draw_clip(scene, cues, label, stream)
    return drawn


def _draw_clip(
    scene: Any, cues: Mapping[str, Any], label: int, stream: tuple[int, int, int]
) -> np.ndarray:
    """(cue or none, frame, row, col, channel): a cue is in all of its variant's frames."""
    shown = scene.random_scene(scene.NAMES[label], np.random.default_rng(stream))
    variants = []
    for frame in range(scene.FRAMES):
        plain = scene.render(shown, frame)
        pictures = [plain]
        for number, draw in enumerate(cues.values(), start=1):
            # the same for each frame of the clip
            look = np.random.default_rng([*stream, number])
            pictures.append(draw(plain, frame, look))
        # the same noise with a cue and without
        variants.append(
            [
                scene.photograph(picture, np.random.default_rng([*stream, 99, frame]))
                for picture in pictures
            ]
        )
    return np.swapaxes(np.asarray(variants), 0, 1)
