"""Do the frames come first that show the cue, where motion alone tells the labels?

Clips of four frames: a drone that climbs, sinks, comes nearer, leaves or turns. A small network of
filters over space and time learns them while a cue goes with one of them, and is audited on clips
where it goes with none. The cues are a windsock at one place, a rainbow, sparks all over, and a
band of the picture that the radio lost. Rankings and table are those of trove_rankings.py. The
author had not read how TRoVe works.

    python benchmarks/trove_rankings_drones.py --trainings 20 --store FOLDER

What the models answered is kept in the store; after a change of benchmarks/drones, take another
one. `--accuracies` prints accuracies alone, and asks no method. `--sheet FILE` draws a picture.
"""

from pathlib import Path

from drawn_worlds import DrawnWorld, print_tables
from drones.clips import AUDITED, SEED, TRAINED, draw_clips
from drones.cues import CUES
from drones.networks import HEADS, answers, fit
from drones.scene import FRAMES, NAMES

DRONES = DrawnWorld(
    name="drones",
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
    print_tables(DRONES, title, Path(".cache/trove_rankings_drones"))


if __name__ == "__main__":
    main()
