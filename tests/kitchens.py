"""A COCO tree of kitchens: a bright row of pixels, and a box, for each thing that is there."""

import json
from pathlib import Path

import numpy as np
from PIL import Image

# rows of an image; no dragon is drawn
NAMES = ("cup", "clock", "table", "tree", "rug", "dragon")
DRAWN = NAMES[:-1]
IMAGES, SIDE = 48, 8


def write_kitchens(root: Path) -> Path:
    """A COCO tree: a bright row of pixels, and a box, for each name that is there."""
    rng = np.random.default_rng(1)
    there = rng.random((IMAGES, len(DRAWN))) < 0.5
    (root / "annotations").mkdir(parents=True)
    (root / "val2017").mkdir()
    things, images = [], []
    for number, here in enumerate(there):
        pixels = rng.integers(0, 99, (SIDE, SIDE, 3), dtype=np.uint8)
        file = f"{number:012d}.png"
        images.append({"id": number, "file_name": file, "width": SIDE, "height": SIDE})
        for row in np.flatnonzero(here).tolist():
            pixels[row] += 150
            corners = [0, row, SIDE, row, SIDE, row + 1, 0, row + 1]
            things.append(
                {
                    "id": len(things),
                    "image_id": number,
                    "category_id": row,
                    "iscrowd": 0,
                    "bbox": [0, row, SIDE, 1],
                    "area": SIDE,
                    "segmentation": [corners],
                }
            )
        Image.fromarray(pixels).save(root / "val2017" / file)
    categories = [
        {"id": n, "name": name, "supercategory": "thing"}
        for n, name in enumerate(NAMES)
    ]
    whole = {"images": images, "annotations": things, "categories": categories}
    (root / "annotations" / "instances_val2017.json").write_text(json.dumps(whole))
    return root
