"""Every clip of the world, without a cue and with each."""

import drawn_clips
import numpy as np

from shore import scene
from shore.cues import CUES

SEED = 167
TRAINED = 50  # clips of each label
AUDITED = 200


def draw_clips(clips: int) -> np.ndarray:
    """(cue or none, clip, frame, row, col, channel) bytes; clips come label by label."""
    return drawn_clips.draw_clips(clips, scene=scene, cues=CUES, seed=SEED)
