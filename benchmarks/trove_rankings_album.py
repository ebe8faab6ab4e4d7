"""Do the frames come first that show the cue, in features of the real CLIP?

Clips of three frames: a real cut-out before a real photo, taken by a hand-held camera. A linear
probe or a small network on CLIP ViT-B/16 learns four kinds of cut-outs while a cue goes with one of
them, and is audited on clips where it goes with none. The cues are the marks of a camera's finder,
a printed code near any corner, and a player's bar. Rankings and table are those of
trove_rankings.py. The author had not read how TRoVe works. Photos and weights are those of
offline_assets.py.

    python benchmarks/trove_rankings_album.py --trainings 20 --store FOLDER

What CLIP sees is kept in the store; after a change of benchmarks/album, take another one.
`--accuracies` prints accuracies alone, and asks no method; `--control` prints what the cues cost
where none was taught. `--sheet FILE` draws a picture.
"""

from pathlib import Path

from album.clips import AUDITED, SEED, TRAINED, draw_clips
from album.cues import CUES
from album.heads import HEADS, answers, fit
from album.scene import FRAMES, NAMES
from drawn_heads import look
from drawn_worlds import DrawnWorld, print_tables

ALBUM = DrawnWorld(
    name="album",
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
    look=look,
)


def main() -> None:
    """Print the tables."""
    title = (__doc__ or "").partition("\n")[0]
    print_tables(ALBUM, title, Path(".cache/trove_rankings_album"))


if __name__ == "__main__":
    main()
