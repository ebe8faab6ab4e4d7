"""Do the frames come first that show the cue, in features of the real CLIP?

Clips of two frames: a real cut-out on a shore before a real photo, and water that mirrors both. A
linear probe or a small network on CLIP ViT-B/16 learns four kinds of cut-outs while a cue goes with
one of them, and is audited on clips where it goes with none. The cues are a paper boat anywhere on
the water, light that leaked into the camera, and duckweed. Rankings and table are those of
trove_rankings.py. The author had not read how TRoVe works. Photos and weights are those of
offline_assets.py.

    python benchmarks/trove_rankings_shore.py --trainings 20 --store FOLDER

What CLIP sees is kept in the store; after a change of benchmarks/shore, take another one.
`--accuracies` prints accuracies alone, and asks no method; `--control` prints what the cues cost
where none was taught. `--sheet FILE` draws a picture.
"""

from pathlib import Path

from drawn_heads import answers, look
from drawn_worlds import DrawnWorld, print_tables
from shore.clips import AUDITED, SEED, TRAINED, draw_clips
from shore.cues import CUES
from shore.heads import HEADS, fit
from shore.scene import FRAMES, NAMES

SHORE = DrawnWorld(
    name="shore",
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
    print_tables(SHORE, title, Path(".cache/trove_rankings_shore"))


if __name__ == "__main__":
    main()
