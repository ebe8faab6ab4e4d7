"""Do the frames come first that show the cue, in features of the real CLIP?

Clips of three frames: real cut-outs of paper on a desk of drawn wood, seen from above, which are
pushed about. A linear probe or a small network on CLIP ViT-B/16 learns four kinds of cut-outs while
a cue goes with one of them, and is audited on clips where it goes with none. The cues are a ruler
along any edge, the rings of a cup of coffee, and the light of a violet lamp. Rankings and table are
those of trove_rankings.py. The author had not read how TRoVe works. Photos and weights are those of
offline_assets.py.

    python benchmarks/trove_rankings_desk.py --trainings 20 --store FOLDER

What CLIP sees is kept in the store; after a change of benchmarks/desk, take another one.
`--accuracies` prints accuracies alone, and asks no method; `--control` prints what the cues cost
where none was taught. `--sheet FILE` draws a picture.
"""

from pathlib import Path

from desk.clips import AUDITED, SEED, TRAINED, draw_clips
from desk.cues import CUES
from desk.heads import HEADS, fit
from desk.scene import FRAMES, NAMES
from drawn_heads import answers, look
from drawn_worlds import DrawnWorld, print_tables

DESK = DrawnWorld(
    name="desk",
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
    look=look,
)


def main() -> None:
    """Print the tables."""
    title = (__doc__ or "").partition("\n")[0]
    print_tables(DESK, title, Path(".cache/trove_rankings_desk"))


if __name__ == "__main__":
    main()
