"""How often the check of independence raises an alarm: on independent samples, and on copies.

    python benchmarks/nulls/look_alikes.py --audits 100

The generated sets are drawn independently and share a plain style; what they declare is taken away,
and they are audited in the order of the data set and in that of the labels. `kitchens` are rows on
noise. The real photos and clips come from $CUESCOPE_REAL_ASSETS, where it is there.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from cuescope_sdk import Audit, Context, Frame, Sample
from cuescope_sdk.data import independent_samples
from cuescope_sdk.testing import FakeDataset

ASSETS = Path(
    os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
).expanduser()
GENERATED = {
    "moving-shapes:background": {"val": 400},
    "moving-shapes:object": {"val": 400},
    "moving-shapes:none": {"val": 400},
    "shape-world": {"val": 60},
    "scenes": {"val": 120},
    "object-scenes": {"val": 120},
}


def is_alarm(samples: Sequence[Sample], labels: tuple[str, ...], seed: int) -> bool:
    """Whether the check is refuted for these samples, of whatever groups they are."""
    audit = Audit(
        labels=labels,
        options=None,
        respond=lambda trials: [],
        context=Context(seed=seed),
        samples=tuple(replace(sample, group=None) for sample in samples),
    )
    return any(evidence.verdict == "refuted" for evidence in independent_samples(audit))


def by_label(samples: Sequence[Sample]) -> list[Sample]:
    return sorted(samples, key=lambda sample: sample.label or "")


def independent_sets(seed: int) -> Iterator[tuple[str, list[Sample], tuple[str, ...]]]:
    """Sets whose samples were drawn independently, with their labels."""
    for name, options in GENERATED.items():
        data = Context().build("dataset", name, {**options, "seed": seed})
        samples = [data[index] for index in range(len(data))]
        yield name, samples, data.labels
        if samples[0].label is not None:
            yield f"{name}, by label", by_label(samples), data.labels
    fake = FakeDataset(FakeDataset.Options(samples=150, seed=seed), Context())
    yield "fake", [fake[index] for index in range(len(fake))], fake.labels
    yield "kitchens", images_as_samples(kitchens(np.random.default_rng(seed))), ()


def kitchens(rng: np.random.Generator) -> Iterator[Image.Image]:
    """Noise of 8 x 8 pixels, half of whose upper rows are bright."""
    for _ in range(48):
        pixels = rng.integers(0, 99, (8, 8, 3), dtype=np.uint8)
        pixels[np.flatnonzero(rng.random(5) < 0.5)] += 150
        yield Image.fromarray(pixels)


def images_as_samples(
    images: Iterator[Image.Image] | Sequence[Image.Image],
) -> list[Sample]:
    return [
        Sample(
            key=f"{number:04d}",
            frames=(Frame.from_array(np.asarray(image.convert("RGB"))),),
        )
        for number, image in enumerate(images)
    ]


# ------------------------------------------------------------------------------------ real photos


def real_sets() -> Iterator[tuple[str, list[Image.Image]]]:
    """Photos alone, photos with copies of a tenth of them at the end, and frames of clips."""
    import av

    files = sorted((ASSETS / "photos").rglob("*.jpg"))
    photos = [Image.open(file).convert("RGB") for file in files]
    yield "photos", photos
    yield (
        "photos and a tenth saved again",
        photos + [saved_again(p) for p in photos[::10]],
    )
    for share in (0.04, 0.1):
        name = f"a tenth cropped by {share:.0%}"
        copies = [cropped(photo, share) for photo in photos[::10]]
        yield f"photos and {name}", photos + copies
        beside = [(photo, cropped(photo, share)) for photo in photos[::10]]
        yield (
            f"photos, {name} beside them",
            [*photos[1::10], *(i for pair in beside for i in pair)],
        )
    films = []
    for file in sorted((ASSETS / "clips").rglob("*.mp4")):
        with av.open(str(file)) as film:
            films.append([frame.to_image() for frame in film.decode(video=0)])
    for every in (1, 5, 12, 25):
        yield (
            f"each {every}. frame of 4 clips",
            [i for film in films for i in film[::every]],
        )


def saved_again(image: Image.Image) -> Image.Image:
    file = BytesIO()
    image.save(file, "JPEG", quality=30)
    return Image.open(BytesIO(file.getvalue()))


def cropped(image: Image.Image, share: float) -> Image.Image:
    left, top = (round(share / 2 * side) for side in image.size)
    return image.crop((left, top, image.width - left, image.height - top))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--audits", type=int, default=100)
    audits = parser.parse_args().audits
    alarms: dict[str, int] = {}
    for seed in range(audits):
        for name, samples, labels in independent_sets(seed):
            alarms[name] = alarms.get(name, 0) + is_alarm(samples, labels, seed)
    table = Table("samples", "alarms", "of", box=None)
    for name, count in alarms.items():
        table.add_row(name, str(count), str(audits))
    if (ASSETS / "photos").is_dir() and (ASSETS / "clips").is_dir():
        for name, images in real_sets():
            table.add_row(
                f"real {name}",
                str(int(is_alarm(images_as_samples(images), (), 0))),
                "1",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
