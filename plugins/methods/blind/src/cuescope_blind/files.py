"""What is known of a sample's file without a look at its picture, and the colours of a thumbnail.

Each tell has columns: numbers, and words that become a column each. A fact that a file does not
have is None.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_sdk import Sample
from cuescope_sdk.data import kind_of, open_video

Columns = Float[np.ndarray, "sample column"]
Value = float | str | None
# a word of fewer samples says nothing of others
LEAST_SAMPLES = 5
MOST_WORDS = 200
SIDE = 32  # of the thumbnail, in pixels
SHADES = 4  # of each of red, green and blue
# of EXIF: Make, Model, Software
EXIF_WORDS = {"make": 0x010F, "model": 0x0110, "software": 0x0131}
GPS = 0x8825  # the tag that points to the GPS entries
_NAME_PART = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True)
class FileTell:
    """A way to tell labels from files. `name` completes "From ... alone".

    `facts` are the columns that it sees, by the beginnings of their names.
    """

    key: str
    name: str
    facts: tuple[str, ...]

    def sees(self, fact: str) -> bool:
        """Whether a fact is one of its columns."""
        return fact.partition(" ")[0] in self.facts


FILE_TELLS = (
    FileTell("file-name", "the words of the file's name", ("name",)),
    FileTell("file-size", "the size of the file", ("bytes",)),
    FileTell("file-type", "the type of the file", ("type",)),
    FileTell("resolution", "the width and height in pixels", ("width", "height")),
    FileTell("aspect", "the aspect ratio", ("aspect",)),
    FileTell("jpeg-quality", "the JPEG quality", ("jpeg",)),
    FileTell("exif", "the EXIF entries", ("exif",)),
    FileTell("duration", "the duration of the video", ("seconds",)),
    FileTell("frame-rate", "the frames a second", ("rate",)),
)
METADATA = FileTell(
    "blind-learner",
    "the file's metadata",
    # a name is shown to no model, and often is the label
    tuple(
        fact for tell in FILE_TELLS if tell.key != "file-name" for fact in tell.facts
    ),
)
COLOURS = FileTell(
    "colours",
    "the colours of a thumbnail",
    ("colour",),
)


def facts_of(sample: Sample) -> dict[str, Value]:
    """What is known of the file that a sample shows; nothing where its pixels were drawn."""
    source = sample.frames[0].source if sample.frames else None
    if source is None or not source.path.is_file():
        return {}
    path = source.path
    facts: dict[str, Value] = {"bytes": float(path.stat().st_size)}
    reading = _image_facts if kind_of(path) == "image" else _video_facts
    return facts | name_facts(path.stem) | reading(path)


def name_facts(stem: str) -> dict[str, Value]:
    """The words of a file's name, without its suffix."""
    facts: dict[str, Value] = {}
    for part in _NAME_PART.findall(stem.casefold()):
        # of numbers the count of digits: "0001" and "0002" are alike
        facts[f"name {part if part.isalpha() else len(part) * '0'}"] = 1.0
    return facts


def _image_facts(path: Path) -> dict[str, Value]:
    with Image.open(path) as image:
        width, height = image.size
        # a sum says the quality: encoders scale the same table
        tables = getattr(image, "quantization", None) or {}
        exif = image.getexif()
        facts: dict[str, Value] = {
            "type": f"{image.format} {image.mode}",
            "width": float(width),
            "height": float(height),
            "aspect": width / height,
            "jpeg": float(sum(tables[0])) if tables else None,
            "exif entries": float(len(exif)),
            "exif gps": float(GPS in exif),
        }
        for name, code in EXIF_WORDS.items():
            facts[f"exif {name}"] = str(exif[code]) if code in exif else None
    return facts


def _video_facts(path: Path) -> dict[str, Value]:
    with open_video(path) as (container, stream):
        length = container.duration
        rate = stream.average_rate
        return {
            "type": f"{container.format.name} {stream.codec_context.name}",
            "width": float(stream.width),
            "height": float(stream.height),
            "aspect": stream.width / stream.height,
            # in microseconds
            "seconds": None if length is None else length / 1e6,
            "rate": None if rate is None else float(rate),
        }


def colours_of(sample: Sample) -> dict[str, Value]:
    """How much of the middle frame has which colour, wherever it is."""
    if not sample.frames:
        return {}
    frame = sample.frames[len(sample.frames) // 2].load()
    thumbnail = frame.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    pixels = np.asarray(thumbnail, dtype=float).reshape(-1, 3)
    shares, _ = np.histogramdd(pixels, bins=SHADES, range=[(0, 256)] * 3)
    # means too: a slight cast crosses no border between shades
    values = [
        *(shares.ravel() / len(pixels)),
        *pixels.mean(axis=0),
        *pixels.std(axis=0),
    ]
    return {f"colour {number}": float(value) for number, value in enumerate(values)}


def columns_of(facts: Sequence[Mapping[str, Value]], tell: FileTell) -> Columns | None:
    """What a tell sees of all samples; None where that is the same of all."""
    names = sorted(filter(tell.sees, set().union(*facts)))
    columns: list[np.ndarray] = []
    for name in names:
        columns += _columns_of(name, [of_sample.get(name) for of_sample in facts])
    varying = [column for column in columns if column.min() < column.max()]
    return np.stack(varying, axis=1) if varying else None


def _columns_of(name: str, values: Sequence[Value]) -> Iterator[np.ndarray]:
    words = Counter(value for value in values if isinstance(value, str))
    if words:
        for word, count in words.most_common(MOST_WORDS):
            if count >= LEAST_SAMPLES:
                yield np.array([float(value == word) for value in values])
        return
    there = np.array([value is not None for value in values])
    # a word in few names: it would be a column for nothing
    if name.startswith("name ") and there.sum() < LEAST_SAMPLES:
        return
    # below all: trees part what is missing from what is not
    yield np.array([-1.0 if value is None else value for value in values], dtype=float)


READERS: tuple[Callable[[Sample], dict[str, Value]], ...] = (facts_of, colours_of)
