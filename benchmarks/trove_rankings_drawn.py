"""Do the frames come first that show the cue, where everything is drawn and trained from nothing?

Clips of three frames: a part on a conveyor belt, drawn as a field of heights. A small network
learns five kinds of parts while a cue goes with one of them, and is audited on clips where it goes
with none. The cues are a lamp at one place, banding of the whole frame, a glove that reaches in.
Rankings and table are those of trove_rankings.py. The author had not read how TRoVe works.

    python benchmarks/trove_rankings_drawn.py --trainings 20 --store FOLDER

What the models answered is kept in the store; after a change of benchmarks/belt, take another one.
`--accuracies` prints accuracies alone, and asks no method. `--sheet FILE` draws a picture.
"""

from pathlib import Path

import numpy as np
from belt.clips import AUDITED, SEED, TRAINED, draw_clips
from belt.cues import CUES
from belt.networks import HEADS, answers, fit
from belt.scene import FRAMES, NAMES
from drawn_worlds import DrawnWorld, print_tables


def draw(clips: int) -> np.ndarray:
    """So many clips of each label, without a cue and with each."""
    return draw_clips(clips=clips)


BELT = DrawnWorld(
    name="belt",
    names=NAMES,
    cues=CUES,
    heads=tuple(HEADS),
    seed=SEED,
    frames=FRAMES,
    trained=TRAINED,
    audited=AUDITED,
    draw_clips=draw,
    fit=fit,
    answers=answers,
)


def main() -> None:
    """Print the tables."""
    title = (__doc__ or "").partition("\n")[0]
    print_tables(BELT, title, Path(".cache/trove_rankings_drawn"))


if __name__ == "__main__":
    main()
