"""Every clip of the world, without a cue and with each."""

import drawn_clips
import numpy as np

from puppets import scene
from puppets.cues import CUES

SEED = 131
TRAINED = 50  # clips of each label
AUDITED = 300
# how much of a cue is drawn for CLIP, which the whole of it would confuse without any teaching
FAINT = {"heads": 0.5, "tear": 0.5, "torch": 0.85}


def draw_clips(clips: int) -> np.ndarray:
    """(cue or none, clip, frame, row, col, channel) bytes; clips come label by label."""
    return drawn_clips.draw_clips(clips, scene=scene, cues=CUES, seed=SEED)


def draw_faint_clips(clips: int) -> np.ndarray:
    """The same clips, through whose cues one sees a part of what is behind them."""
    drawn = draw_clips(clips)
    plain = drawn[0].astype(np.float32)
    for variant, cue in zip(drawn[1:], CUES, strict=True):
        variant[:] = np.round(plain + FAINT[cue] * (variant - plain))
    return drawn
