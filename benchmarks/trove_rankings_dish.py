"""Do the frames come first that show the cue, where motion alone tells the labels?

Clips of four frames: cells under a microscope, which the water turns one way or the other, draws
together or spreads. A small network of filters over space and time learns them while a cue goes
with one of them, and is audited on clips where it goes with none. The cues are a scale at one
place, a pipette that reaches in, and a second stain all over. Rankings and table are those of
trove_rankings.py. The author had not read how TRoVe works.

    python benchmarks/trove_rankings_dish.py --trainings 20 --store FOLDER

What the models answered is kept in the store; after a change of benchmarks/dish, take another one.
`--accuracies` prints accuracies alone, and asks no method; `--control` prints what the cues cost
where none was taught. `--sheet FILE` draws a picture.
"""

from pathlib import Path

from dish.clips import AUDITED, SEED, TRAINED, draw_clips
from dish.cues import CUES
from dish.networks import HEADS, answers, fit
from dish.scene import FRAMES, NAMES
from drawn_worlds import DrawnWorld, print_tables

DISH = DrawnWorld(
    name="dish",
    names=NAMES,
    cues=CUES,
    heads=HEADS,
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
    print_tables(DISH, title, Path(".cache/trove_rankings_dish"))


if __name__ == "__main__":
    main()
