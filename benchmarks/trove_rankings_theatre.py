"""Do the frames come first that show the cue, in what CLIP sees of puppets drawn from nothing?

The clips are those of trove_rankings_puppets.py: a shadow puppet that walks, bows, waves or leaps.
The cues are fainter than there: heads of people, a tear in the paper, and a torch's spot. An
adapter on CLIP ViT-B/16 learns the labels while a cue goes with one of them, and is audited on
clips where it goes with none. Rankings and table are those of trove_rankings.py. The author had not
read how TRoVe works. Weights are those of offline_assets.py.

    python benchmarks/trove_rankings_theatre.py --trainings 20 --store FOLDER

What CLIP sees is kept in the store; after a change of benchmarks/puppets, take another one.
`--accuracies` prints accuracies alone, and asks no method; `--control` prints what the cues cost
where none was taught. `--sheet FILE` draws a picture.
"""

from pathlib import Path

from drawn_heads import answers
from drawn_worlds import DrawnWorld, print_tables
from puppets.clips import AUDITED, SEED, TRAINED, draw_faint_clips
from puppets.cues import CUES
from puppets.heads import HEADS, fit, look
from puppets.scene import FRAMES, NAMES

THEATRE = DrawnWorld(
    name="theatre",
    names=NAMES,
    cues=CUES,
    heads=HEADS,
    seed=SEED,
    frames=FRAMES,
    trained=TRAINED,
    audited=AUDITED,
    draw_clips=draw_faint_clips,
    fit=fit,
    answers=answers,
    look=look,
)


def main() -> None:
    """Print the tables."""
    title = (__doc__ or "").partition("\n")[0]
    print_tables(THEATRE, title, Path(".cache/trove_rankings_theatre"))


if __name__ == "__main__":
    main()
