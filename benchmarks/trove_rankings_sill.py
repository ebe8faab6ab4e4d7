"""Do the frames come first that show the cue, among plants that were drawn leaf by leaf?

Clips of three frames: a plant in a pot on a window sill, a picture a day. A small network learns
five kinds of plants while a cue goes with one of them, and is audited on clips where it goes with
none. The cues are the day's number at one place, a mist over the whole frame, a butterfly that sits
elsewhere each day, and foil around the pot. Rankings and table are those of trove_rankings.py. The
author had not read how TRoVe works.

    python benchmarks/trove_rankings_sill.py --trainings 20 --store FOLDER

What the models answered is kept in the store; after a change of benchmarks/sill, take another one.
`--accuracies` prints accuracies alone, and asks no method. `--sheet FILE` draws a picture.
"""

from pathlib import Path

from drawn_worlds import DrawnWorld, print_tables
from sill.clips import AUDITED, SEED, TRAINED, draw_clips
from sill.cues import CUES
from sill.networks import HEADS
from sill.plants import NAMES
from sill.scene import FRAMES
from sill.training import answers, fit

SILL = DrawnWorld(
    name="sill",
    names=NAMES,
    cues=CUES,
    heads=tuple(HEADS),
    seed=SEED,
    frames=FRAMES,
    trained=TRAINED,
    audited=AUDITED,
    draw_clips=draw_clips,
    fit=fit,
    answers=answers,
)


def main() -> None:
    """Print the tables."""
    title = (__doc__ or "").partition("\n")[0]
    print_tables(SILL, title, Path(".cache/trove_rankings_sill"))


if __name__ == "__main__":
    main()
