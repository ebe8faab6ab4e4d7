"""Do the frames come first that show the cue, where the order of the frames tells the labels?

Clips of five frames: a hotel at night whose windows are lit or go dark, or in which a watchman goes
up or down. A small network with a gated recurrent unit learns them while a cue goes with one of
them, and is audited on clips where it goes with none. The cues are a paper lantern anywhere, the
wires of an insect screen all over, and a siren's light from below. Rankings and table are those of
trove_rankings.py. The author had not read how TRoVe works.

    python benchmarks/trove_rankings_hotel.py --trainings 20 --store FOLDER

What the models answered is kept in the store; after a change of benchmarks/hotel, take another one.
`--accuracies` prints accuracies alone, and asks no method; `--control` prints what the cues cost
where none was taught. `--sheet FILE` draws a picture.
"""

from pathlib import Path

from drawn_worlds import DrawnWorld, print_tables
from hotel.clips import AUDITED, SEED, TRAINED, draw_clips
from hotel.cues import CUES
from hotel.networks import HEADS, answers, fit
from hotel.scene import FRAMES, NAMES

HOTEL = DrawnWorld(
    name="hotel",
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
    print_tables(HOTEL, title, Path(".cache/trove_rankings_hotel"))


if __name__ == "__main__":
    main()
