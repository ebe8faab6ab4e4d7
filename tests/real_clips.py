"""Short clips of real photos: a cut-out on a real background that follows its class, mostly.

    python tests/real_clips.py OUTDIR          # then: --data folder:OUTDIR -O data.frames=4

A clip is a cut-out that drifts over a background that pans. Three clips in four show the class at
home, the fourth on the background of another class (`AWAY`). So background and class go together,
as in Waterbirds (Sagawa et al., 2020), and whether a model leans on it is for an audit to find.
Every frame's background is annotated as a cue in OUTDIR/manifest.jsonl; clips of a single frame
have the cut-out's mask there, too.

Cut-outs and photos come from $CUESCOPE_REAL_ASSETS (default ~/.cache/cuescope-assets).
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from cuescope_sdk import generator

SIDE = 224
FRAMES = 4
CLIPS = 16
AWAY_EVERY = 4
STAMP_SCALE = (0.10, 0.14)  # mean of width and height, as a share of the frame's side
WINDOW = 0.8  # side of the panning window, as a share of the background's shorter side
Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Subject:
    """A class: its cut-outs, and where it is at home and away."""

    stamps: tuple[str, ...]
    home: str
    away: str


PLACES = {
    "water": ("BytheWater", "DarkestHour", "summer_1am", "ColdRipple"),
    "meadow": ("GreenMeadow",),
    "road": ("Storm",),
    "fallen leaves": ("FallenLeaf",),
    "sky": ("Kite",),
}
SUBJECTS = {
    "airplane": Subject(("airplane/747",), home="sky", away="road"),
    "apple": Subject(
        ("fruit/apple_red", "fruit/apple_green", "fruit/apple_fuji"),
        home="fallen leaves",
        away="road",
    ),
    "bird": Subject(
        (
            "bird/crow",
            "bird/duck",
            "bird/pigeon",
            "bird/owl",
            "bird/hen",
            "bird/magpie",
        ),
        home="meadow",
        away="water",
    ),
    "boat": Subject(
        ("ship/walnutBoat", "ship/chineseJunk"), home="water", away="meadow"
    ),
    "car": Subject(
        ("car/beetle", "car/sedan", "car/sportscar2"), home="road", away="sky"
    ),
}


@dataclass(frozen=True)
class Clip:
    """Frames (uint8, row, col, rgb) of one class in one place, and where the first one shows it."""

    label: str
    name: str
    place: str
    frames: tuple[np.ndarray, ...]
    mask: np.ndarray


def assets() -> Path:
    """The folder of cut-outs and photos."""
    return Path(
        os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
    ).expanduser()


def clips(folder: Path, seed: int, each: int = CLIPS) -> Iterator[Clip]:
    """So many clips of each class, the same for the same seed."""
    for label, subject in SUBJECTS.items():
        for index in range(each):
            rng = generator(seed, "real-clips", label, str(index))
            away = index % AWAY_EVERY == AWAY_EVERY - 1
            place = subject.away if away else subject.home
            turn = index // AWAY_EVERY if away else index - index // AWAY_EVERY
            stamp = subject.stamps[turn % len(subject.stamps)]
            photo = PLACES[place][int(rng.integers(len(PLACES[place])))]
            frames, mask = draw(
                Image.open(folder / "backgrounds" / f"{photo}.jpg").convert("RGB"),
                Image.open(folder / "stamps" / f"{stamp}.png").convert("RGBA"),
                rng,
            )
            yield Clip(
                label, f"{index:02d}-{Path(stamp).stem}-{photo}", place, frames, mask
            )


def draw(
    photo: Image.Image, stamp: Image.Image, rng: np.random.Generator
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Pan over `photo` while `stamp` drifts, both in a straight line at random; the first mask."""
    stamp = _resized(stamp, float(rng.uniform(*STAMP_SCALE)))
    if rng.random() < 0.5:
        stamp = stamp.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    side = round(WINDOW * min(photo.size))
    room = np.array(photo.size) - side
    corner = rng.uniform(0.2, 0.8, 2) * room
    pan = rng.uniform(-0.03, 0.03, 2) * room
    centre = rng.uniform((0.3, 0.4), (0.7, 0.7)) * SIDE
    drift = rng.uniform(-0.03, 0.03, 2) * SIDE
    frames = tuple(
        _pasted(photo, side, corner + step * pan, stamp, centre + step * drift)
        for step in range(FRAMES)
    )
    mask = Image.new("L", (SIDE, SIDE))
    mask.paste(stamp.getchannel("A"), _corner(stamp, centre))
    return frames, np.asarray(mask)


def write(folder: Path, made: Sequence[Clip]) -> None:
    """OUTDIR/CLASS/CLIP/frame-0.png ... and a manifest with the place of every frame as cue."""
    rows = []
    for clip in made:
        path = Path(clip.label) / clip.name
        (folder / path).mkdir(parents=True, exist_ok=True)
        for index, frame in enumerate(clip.frames):
            Image.fromarray(frame).save(folder / path / f"frame-{index}.png")
        cues = {place: [place == clip.place] * len(clip.frames) for place in PLACES}
        row = {"path": path.as_posix(), "label": clip.label, "cues": cues}
        if len(clip.frames) == 1:
            row["mask"] = f"masks/{clip.label}-{clip.name}.png"
            (folder / "masks").mkdir(exist_ok=True)
            Image.fromarray(clip.mask).save(folder / row["mask"])
        rows.append(row)
    (folder / "manifest.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows)
    )


def _resized(stamp: Image.Image, scale: float) -> Image.Image:
    factor = scale * 2 * SIDE / sum(stamp.size)
    width, height = (max(1, round(factor * side)) for side in stamp.size)
    return stamp.resize((width, height), Image.Resampling.LANCZOS)


def _pasted(
    photo: Image.Image,
    side: int,
    corner: np.ndarray,
    stamp: Image.Image,
    centre: np.ndarray,
) -> np.ndarray:
    left, top = corner
    frame = photo.resize(
        (SIDE, SIDE), Image.Resampling.LANCZOS, box=(left, top, left + side, top + side)
    )
    frame.paste(stamp, _corner(stamp, centre), stamp)
    return np.asarray(frame)


def _corner(stamp: Image.Image, centre: np.ndarray) -> tuple[int, int]:
    left, top = centre - np.array(stamp.size) / 2
    return round(left), round(top)


def main(arguments: Sequence[str]) -> None:
    """Write the clips to a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("outdir", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clips", type=int, default=CLIPS, help="clips of each class")
    parser.add_argument(
        "--frames", type=int, default=FRAMES, help="the first so many of each"
    )
    given = parser.parse_args(arguments)
    if not (assets() / "stamps").is_dir():
        parser.error(f"no cut-outs in {assets()}: python tests/real_assets.py all")
    whole = clips(assets(), given.seed, given.clips)
    made = [replace(clip, frames=clip.frames[: given.frames]) for clip in whole]
    write(given.outdir, made)
    print(
        f"{len(made)} clips of {given.frames} frames, {len(SUBJECTS)} classes, in {given.outdir}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
