"""What is known of a sample's file without a look at its picture, and the colours of a thumbnail.

Each tell has columns: numbers, and words that become a column each. A fact that a file does not
have is None.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_blind.learner import out_of_fold
from cuescope_blind.questions import OneAQuestion, PerOption, Questions
from cuescope_blind.tells import PARTS, Tell, Tokens, what_options_are
from cuescope_sdk import Audit, Sample
from cuescope_sdk.data import kind_of, open_video
from cuescope_sdk.statistics import Groups

Columns = Float[np.ndarray, "sample column"]
Value = float | str | None
Facts = Mapping[str, Value]
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


# ------------------------------------------------------------------------- crossed with options


def file_tells(
    audit: Audit,
    questions: Questions,
    samples: Sequence[Sample],
    fold: OneAQuestion,
) -> list[tuple[Tell, PerOption]]:
    """What is known of the file of each question, with its options: a large file and yes."""
    facts = read_facts(audit, samples)
    tells = []
    for file_tell in FILE_TELLS:
        name = f"the option that is oftenest right with {file_tell.name}"
        tokens = partial(fact_tokens, facts=facts, tell=file_tell)
        tell = Tell(file_tell.key, name, tokens=tokens)
        columns = tell.columns(questions)
        if columns.shape[1]:
            tells.append((tell, out_of_fold(questions, columns, fold)))
    return tells


def read_facts(audit: Audit, samples: Sequence[Sample]) -> list[Facts]:
    """Of each sample; where there is no file, what the name of its video says."""
    # many questions are about one file
    read: dict[str, Facts] = {}
    facts = []
    with audit.context.progress("files read", len(samples)) as advance:
        for sample in samples:
            video = str(sample.annotations.get("video_id") or sample.group or "")
            source = sample.frames[0].source if sample.frames else None
            name = video if source is None else str(source.path)
            if name not in read:
                read[name] = facts_of(sample) or name_facts(video)
            facts.append(read[name])
            advance(1)
    return facts


def fact_tokens(
    questions: Questions,
    facts: Sequence[Facts],
    tell: FileTell,
) -> Tokens:
    """Each word of a fact, or the part of its range in which a number lies, with the option."""
    of_question: list[list[str]] = [[] for _ in facts]
    named = Counter(filter(tell.sees, chain.from_iterable(facts)))
    # the words of names are as many as videos
    for fact, count in named.most_common(MOST_WORDS):
        if count < LEAST_SAMPLES:
            continue
        values = [of_file.get(fact) for of_file in facts]
        parts = _parts_of(values)
        # one part of all tells none apart, and of few questions nothing is learned
        sizes = Counter(parts)
        for number, part in enumerate(parts):
            if part is not None and LEAST_SAMPLES <= sizes[part] < len(facts):
                of_question[number].append(f"{fact} {part}")
    for owner, what in zip(
        questions.owner.tolist(), what_options_are(questions), strict=True
    ):
        yield [f"{fact} {what}" for fact in of_question[owner]]


def _parts_of(values: Sequence[Value]) -> list[Hashable]:
    """The word of each value, or which fifth of the numbers it is in; None where there is none."""
    parts: list[Hashable] = [
        value if isinstance(value, str) else None for value in values
    ]
    numbered = [n for n, value in enumerate(values) if isinstance(value, float)]
    if numbered:
        numbers = np.array([values[number] for number in numbered], dtype=float)
        fifths = Groups.equal_parts(numbers, PARTS).tolist()
        for number, part in zip(numbered, fifths, strict=True):
            parts[number] = part
    return parts
