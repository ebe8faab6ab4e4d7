"""Photos for a real COVAR: every cut-out of `real_scenes` once, where its class is at home.

    python tests/real_covar.py OUTDIR     # then:
    cuescope covar build folder:OUTDIR/photos --backgrounds OUTDIR/backgrounds.yaml \
        --editor composite:OUTDIR/backgrounds --out OUTDIR/covar

OUTDIR/backgrounds has the twelve photos that the cut-outs are put on.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from importlib import util
from pathlib import Path

from PIL import Image

from cuescope_sdk import generator

spec = util.spec_from_file_location(
    "real_scenes", Path(__file__).with_name("real_scenes.py")
)
if spec is None or spec.loader is None:
    raise ImportError("real_scenes.py is not beside this file")
real_scenes = util.module_from_spec(spec)
sys.modules["real_scenes"] = real_scenes  # its dataclasses look themselves up
spec.loader.exec_module(real_scenes)

# What a photo shows, and the photo.
BACKGROUNDS = {
    "meadow": "GreenMeadow",
    "hills": "PastelHills",
    "dune": "Dune",
    "water": "BytheWater",
    "ripples": "ColdRipple",
    "lake at night": "DarkestHour",
    "evening sky": "EveningGlow",
    "clouds": "Kite",
    "path": "Path",
    "storm": "Storm",
    "fallen leaves": "FallenLeaf",
    "autumn forest": "Autumn",
}


def photos(folder: Path, seed: int = 0) -> Iterator[object]:
    """A scene of every cut-out, large, on a background of its class."""
    for label, stamps in real_scenes.CLASSES.items():
        place = real_scenes.PLACES[label][0]
        for stamp in stamps:
            rng = generator(seed, "real-covar", stamp)
            choice = real_scenes.PHOTOS[place]
            photo = choice[int(rng.integers(len(choice)))]
            pixels, mask = real_scenes.draw(
                Image.open(folder / "backgrounds" / f"{photo}.jpg").convert("RGB"),
                Image.open(folder / "stamps" / f"{stamp}.png").convert("RGBA"),
                real_scenes.SIZES["large"],
                rng,
            )
            name = Path(stamp).stem
            yield real_scenes.Scene(name, label, pixels, mask, {"place": place})


def write(folder: Path, out: Path, seed: int = 0) -> int:
    """OUTDIR/photos as a folder data set with masks, OUTDIR/backgrounds and its list."""
    made = list(photos(folder, seed))
    real_scenes.write(out / "photos", made, real_scenes.coco_classes(folder))
    (out / "backgrounds").mkdir(parents=True, exist_ok=True)
    for name, photo in BACKGROUNDS.items():
        shutil.copy(
            folder / "backgrounds" / f"{photo}.jpg", out / "backgrounds" / f"{name}.jpg"
        )
    (out / "backgrounds.yaml").write_text(
        "".join(f"- {name}\n" for name in BACKGROUNDS)
    )
    return len(made)


def main(arguments: Sequence[str]) -> None:
    """Write the photos to a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("outdir", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    folder = real_scenes.real_clips.assets()
    if not (folder / "stamps").is_dir():
        parser.error(f"no cut-outs in {folder}: python tests/real_assets.py all")
    print(f"{write(folder, given.outdir, given.seed)} photos in {given.outdir}/photos")


if __name__ == "__main__":
    main(sys.argv[1:])
