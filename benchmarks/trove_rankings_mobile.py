"""Do the frames come first that show the cue, in what CLIP sees of things that turn on threads?

Clips of four frames: a nursery mobile with three real cut-outs, of which two are of the label's
kind and one is a stranger. A linear probe or a network with two hidden layers on CLIP ViT-B/16
learns four kinds while a cue goes with one of them, and is audited on clips where it goes with
none. The cues are a caption at one place, the edges of a film, and a string of lamps at any height.
Rankings and table are those of trove_rankings.py. The author had not read how TRoVe works. Photos
and weights are those of offline_assets.py.

    python benchmarks/trove_rankings_mobile.py --trainings 20 --store FOLDER

What CLIP sees is kept in the store; after a change of benchmarks/mobile, take another one.
`--accuracies` prints accuracies alone, and asks no method; `--control` prints what the cues cost
where none was taught. `--sheet FILE` draws a picture.
"""

from pathlib import Path

from drawn_heads import answers
from drawn_worlds import DrawnWorld, print_tables
from mobile.clips import AUDITED, SEED, TRAINED, draw_clips
from mobile.cues import CUES
from mobile.heads import HEADS, fit, look
from mobile.scene import FRAMES, NAMES

MOBILE = DrawnWorld(
    name="mobile",
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
    print_tables(MOBILE, title, Path(".cache/trove_rankings_mobile"))


if __name__ == "__main__":
    main()
