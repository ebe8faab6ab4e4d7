"""Real photos with true masks: a cut-out on a real background that agrees with its class or not.

    python tests/real_scenes.py OUTDIR          # then: --data folder:OUTDIR

Each cut-out stands on a background where its class is at home, and on one where another class is
(`PLACES`), large and small: a Waterbirds (Sagawa et al., 2020) of our own, with exact masks. The
manifest has the mask, the place, whether it agrees, the size, and a caption. The choices are the
80 COCO classes, in OUTDIR/classes.txt.

Cut-outs and photos come from $CUESCOPE_REAL_ASSETS (default ~/.cache/cuescope-assets).
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path

import numpy as np
from PIL import Image

from cuescope_sdk import generator

spec = util.spec_from_file_location(
    "real_clips", Path(__file__).with_name("real_clips.py")
)
if spec is None or spec.loader is None:
    raise ImportError("real_clips.py is not beside this file")
real_clips = util.module_from_spec(spec)
sys.modules["real_clips"] = real_clips  # its dataclasses look themselves up
spec.loader.exec_module(real_clips)

SIDE = 224
EACH = 12  # images of a class, agreement and size
# mean side, as a share of the frame's
SIZES = {"large": (0.45, 0.6), "small": (0.16, 0.22)}
# side of the photo's part that shows, as a share of its shorter side
WINDOW = (0.7, 0.95)
CLASSES: dict[str, tuple[str, ...]] = {
    "airplane": ("airplane/747",),
    "apple": ("fruit/apple_red", "fruit/apple_fuji", "fruit/apple_green"),
    "banana": ("fruit/banana",),
    "bird": (
        "bird/crow",
        "bird/duck",
        "bird/pigeon",
        "bird/owl",
        "bird/hen",
        "bird/magpie",
    ),
    "boat": ("ship/walnutBoat", "ship/chineseJunk"),
    "car": ("car/beetle", "car/sedan", "car/sportscar2"),
    "cow": ("cow/cow", "cow/cow_white", "cow/bull", "cow/zebu"),
    "dog": ("dog/dog", "dog/dingo"),
    "horse": ("horse/horse",),
    "orange": ("fruit/orange", "fruit/orange_seville", "fruit/mandarine"),
    "sheep": ("cow/sheep", "cow/ram", "cow/sheep_lamb"),
    "zebra": ("horse/zebra",),
}
PHOTOS: dict[str, tuple[str, ...]] = {
    "water": ("BytheWater", "ColdRipple", "DarkestHour"),
    "meadow": ("GreenMeadow", "PastelHills"),
    "sky": ("Kite", "EveningGlow"),
    "road": ("Storm", "Path"),
    "leaves": ("FallenLeaf", "Autumn"),
}
# Where a class is at home, and where it is not: another class's home.
PLACES: dict[str, tuple[str, str]] = {
    "airplane": ("sky", "meadow"),
    "apple": ("leaves", "water"),
    "banana": ("leaves", "sky"),
    "bird": ("meadow", "water"),
    "boat": ("water", "meadow"),
    "car": ("road", "water"),
    "cow": ("meadow", "water"),
    "dog": ("meadow", "sky"),
    "horse": ("meadow", "sky"),
    "orange": ("leaves", "water"),
    "sheep": ("meadow", "sky"),
    "zebra": ("meadow", "water"),
}


@dataclass(frozen=True)
class Scene:
    """An image (row, col, rgb) with its mask, and what is known of it."""

    name: str
    label: str
    pixels: np.ndarray
    mask: np.ndarray
    factors: Mapping[str, str]


def scenes(folder: Path, seed: int = 0, each: int = EACH) -> Iterator[Scene]:
    """All scenes, the same for the same seed; the first few of each kind for a smaller `each`."""
    for label, stamps in CLASSES.items():
        for agreement, place in zip(
            ("agrees", "disagrees"), PLACES[label], strict=True
        ):
            for size in SIZES:
                for index in range(each):
                    rng = generator(seed, "real-scenes", label, place, size, str(index))
                    stamp = stamps[index % len(stamps)]
                    photo = PHOTOS[place][int(rng.integers(len(PHOTOS[place])))]
                    pixels, mask = draw(
                        Image.open(folder / "backgrounds" / f"{photo}.jpg").convert(
                            "RGB"
                        ),
                        Image.open(folder / "stamps" / f"{stamp}.png").convert("RGBA"),
                        SIZES[size],
                        rng,
                    )
                    factors = {"background": agreement, "place": place, "size": size}
                    name = f"{label}-{agreement}-{size}-{index:02d}"
                    yield Scene(name, label, pixels, mask, factors)


def draw(
    photo: Image.Image,
    stamp: Image.Image,
    size: tuple[float, float],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """The stamp somewhere on a part of the photo, and where it covers it by half or more."""
    factor = float(rng.uniform(*size)) * 2 * SIDE / sum(stamp.size)
    width, height = (min(SIDE, max(1, round(factor * side))) for side in stamp.size)
    stamp = stamp.resize((width, height), Image.Resampling.LANCZOS)
    if rng.random() < 0.5:
        stamp = stamp.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    side = float(rng.uniform(*WINDOW)) * min(photo.size)
    left, top = rng.uniform(0, 1, 2) * (np.array(photo.size) - side)
    scene = photo.resize(
        (SIDE, SIDE), Image.Resampling.LANCZOS, box=(left, top, left + side, top + side)
    )
    corner = tuple(int(rng.integers(SIDE - edge + 1)) for edge in (width, height))
    scene.paste(stamp, corner, stamp)
    alpha = Image.new("L", (SIDE, SIDE))
    alpha.paste(stamp.getchannel("A"), corner)
    return np.asarray(scene), np.asarray(alpha) > 127


def write(folder: Path, made: Sequence[Scene], classes: Sequence[str]) -> None:
    """OUTDIR/images, OUTDIR/masks, OUTDIR/manifest.jsonl and OUTDIR/classes.txt."""
    for part in ("images", "masks"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    rows = []
    for scene in made:
        Image.fromarray(scene.pixels).save(folder / "images" / f"{scene.name}.png")
        Image.fromarray(scene.mask).save(folder / "masks" / f"{scene.name}.png")
        rows.append(
            {
                "path": f"images/{scene.name}.png",
                "label": scene.label,
                "mask": f"masks/{scene.name}.png",
                "factors": dict(scene.factors),
                "caption": f"a {scene.label} before {scene.factors['place']}",
            }
        )
    (folder / "manifest.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows)
    )
    (folder / "classes.txt").write_text("".join(f"{name}\n" for name in classes))


def coco_classes(folder: Path) -> list[str]:
    """The names of the class embeddings."""
    with np.load(folder / "coco80-text-vit-b16.npz", allow_pickle=False) as table:
        return [str(name) for name in table["names"]]


def main(arguments: Sequence[str]) -> None:
    """Write the scenes to a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("outdir", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=EACH)
    given = parser.parse_args(arguments)
    folder = real_clips.assets()
    if not (folder / "stamps").is_dir():
        parser.error(f"no cut-outs in {folder}: python tests/real_assets.py all")
    made = list(scenes(folder, given.seed, given.each))
    write(given.outdir, made, coco_classes(folder))
    print(f"{len(made)} images of {len(CLASSES)} classes in {given.outdir}")


if __name__ == "__main__":
    main(sys.argv[1:])
