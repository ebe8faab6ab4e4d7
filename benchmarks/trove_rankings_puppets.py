"""Do the frames come first that show the cue, where a puppet's doings tell the labels?

Clips of four frames: a shadow puppet that walks, bows, waves or leaps. A small network whose frames
lend channels to one another learns them while a cue goes with one of them, and is audited on clips
where it goes with none. The cues are heads of people in front, and anywhere a tear in the paper or
the spot of a torch. Rankings and table are those of trove_rankings.py. The author
had not read how TRoVe works.

    python benchmarks/trove_rankings_puppets.py --trainings 20 --store FOLDER

What the models answered is kept in the store; after a change of benchmarks/puppets, take another
one. `--accuracies` prints accuracies alone, and asks no method; `--control` prints what the cues
cost where none was taught. `--sheet FILE` draws a picture.
"""

from pathlib import Path

from drawn_worlds import DrawnWorld, print_tables
from puppets.clips import AUDITED, SEED, TRAINED, draw_clips
from puppets.cues import CUES
from puppets.networks import HEADS, answers, fit
from puppets.scene import FRAMES, NAMES

PUPPETS = DrawnWorld(
    name="puppets",
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
    print_tables(PUPPETS, title, Path(".cache/trove_rankings_puppets"))


if __name__ == "__main__":
    main()
