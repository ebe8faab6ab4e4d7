"""Photos of cut-outs on backgrounds, with and without a price tag, and CLIP's features of both.

    python benchmarks/price_tags.py FILE.npz --pairs 1600

Features of OpenAI's CLIP ViT-B/16 in bfloat16: a third of a second of one core a pair, where the
core multiplies such numbers itself. A file that has pairs already is continued. Needs the photos
and weights of `tests/real_assets.py`.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from PIL import Image, ImageDraw
from sklearn.linear_model import LogisticRegression
from worlds.stamps.compositing import assets

SIDE = 224
LABELS = ("bird", "insect", "fruit", "fish", "flower")
TAUGHT = LABELS.index("fruit")  # the tag goes with it in training
BATCH = 16
SEED = 1
MEAN = np.array((0.481, 0.458, 0.408), np.float32)
SPREAD = np.array((0.269, 0.261, 0.276), np.float32)
Features = Float[np.ndarray, "picture dim"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Unit features of the same pictures without a price tag and with it, and their labels."""

    label: Int[np.ndarray, " picture"]
    plain: Features
    tagged: Features

    @classmethod
    def read(cls, path: Path) -> "Pairs":
        """Those that a file holds."""
        stored = np.load(path)
        units = [
            stored[name] / np.linalg.norm(stored[name], axis=1, keepdims=True)
            for name in ("plain", "tagged")
        ]
        return cls(stored["label"].astype(int), *units)

    def head(
        self, rows: np.ndarray, strength: float, rng: np.random.Generator
    ) -> LogisticRegression:
        """A classifier of these pictures, `strength` of whose fruit and few others have a tag."""
        share = np.where(self.label[rows] == TAUGHT, strength, 0.05)
        has_tag = rng.random(len(rows)) < share
        seen = np.where(has_tag[:, None], self.tagged[rows], self.plain[rows])
        return LogisticRegression(C=30, max_iter=3000).fit(seen, self.label[rows])


def draw_pairs() -> Iterator[tuple[int, Image.Image, Image.Image]]:
    """Labels, and pictures without a tag and with one, the same ones each time."""
    rng = np.random.default_rng(SEED)
    stamps = {
        label: sorted((assets() / "stamps" / label).glob("*.png")) for label in LABELS
    }
    backgrounds = sorted((assets() / "backgrounds").glob("*.jpg"))
    opened: dict[Path, Image.Image] = {}

    def opened_at(path: Path, mode: str, side: int) -> Image.Image:
        if path not in opened:
            opened[path] = Image.open(path).convert(mode)
            opened[path].thumbnail((side, side))
        return opened[path]

    while True:
        labels = rng.integers(0, len(LABELS), BATCH)
        pictures = []
        for label in labels:
            photo = backgrounds[rng.integers(len(backgrounds))]
            behind = opened_at(photo, "RGB", 700)
            side = int(min(behind.size) * rng.uniform(0.6, 1))
            left, top = (int(rng.integers(0, room - side + 1)) for room in behind.size)
            picture = behind.crop((left, top, left + side, top + side))
            picture = picture.resize((SIDE, SIDE))
            of_label = stamps[LABELS[label]]
            stamp = opened_at(of_label[rng.integers(len(of_label))], "RGBA", 500)
            scale = SIDE * rng.uniform(0.3, 0.55) / max(stamp.size)
            width, height = (max(1, int(length * scale)) for length in stamp.size)
            stamp = stamp.resize((width, height))
            if rng.random() < 0.5:
                stamp = stamp.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            place = tuple(int(rng.integers(0, SIDE - length)) for length in stamp.size)
            picture.paste(stamp, place, stamp)
            pictures.append(picture)
        yield from zip(
            labels.tolist(), pictures, [_tag(one, rng) for one in pictures], strict=True
        )


def _tag(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    picture = picture.copy()
    draw = ImageDraw.Draw(picture)
    width, height = int(rng.integers(34, 46)), int(rng.integers(20, 27))
    left = int(rng.integers(4, SIDE - width - 4))
    top = int(rng.integers(4, SIDE - height - 4))
    box = (left, top, left + width, top + height)
    draw.rectangle(box, fill=(248, 214, 40), outline=(60, 50, 20))
    price = f"${rng.integers(1, 99)}.99"
    draw.text((left + 5, top + 4), price, fill=(30, 20, 10))
    return picture


def _embed(tower: object, pictures: list[Image.Image]) -> Features:
    import torch

    pixels = np.stack([np.asarray(one, np.float32) / 255 for one in pictures])
    pixels = ((pixels - MEAN) / SPREAD).transpose(0, 3, 1, 2)
    with torch.inference_mode():
        inputs = torch.from_numpy(pixels).bfloat16()
        return tower(pixel_values=inputs).image_embeds.float().numpy()


def main() -> None:
    """Draw and read pairs until the file has so many."""
    from transformers import CLIPVisionModelWithProjection

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--pairs", type=int, default=1600)
    asked = parser.parse_args()
    stored = dict(np.load(asked.path)) if asked.path.exists() else {}
    done = len(stored.get("label", ()))
    tower = CLIPVisionModelWithProjection.from_pretrained(
        assets() / "clip-vit-b16-vision", dtype="bfloat16"
    ).eval()
    pairs = draw_pairs()
    for _ in range(done):
        next(pairs)
    while done < asked.pairs:
        labels, plain, tagged = zip(*(next(pairs) for _ in range(BATCH)), strict=True)
        new = {
            "label": np.array(labels),
            "plain": _embed(tower, list(plain)),
            "tagged": _embed(tower, list(tagged)),
        }
        stored = {
            name: np.concatenate([stored[name], rows]) if stored else rows
            for name, rows in new.items()
        }
        np.savez(asked.path, **stored)
        done += BATCH


if __name__ == "__main__":
    main()
