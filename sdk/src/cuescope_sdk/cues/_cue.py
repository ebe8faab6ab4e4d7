"""A cue and its file: examples, small copies of their pictures, a recogniser, a name, a place."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zipfile import BadZipFile

import numpy as np
from jaxtyping import Float
from PIL import Image
from pydantic import Field, FiniteFloat, ValidationError, model_validator

from cuescope_core.checksummed_files import DamagedFileError, read_sealed, write_sealed
from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.pixels import decode_picture, to_rgb
from cuescope_core.plain_json import parse_json
from cuescope_core.printable import one_line
from cuescope_core.types import Frame, Sample, Value
from cuescope_sdk.models._arrays import read_arrays

MOST_EXAMPLES = 40  # a side: what is learned from more is in the recogniser
MOST_FRAMES = 16  # of a clip that are kept
SIDE = 256  # pixels: what towers see is 224 to 336 wide
SMALL = 64  # a JPEG of a smaller picture blurs its edges
QUALITY = 90
LARGEST = 2**26  # bytes of a file: 1,280 pictures of 50 kB
LONGEST = 500  # letters of a name or key
OWNER = "cue"
SEAL = "cue"  # in the checksum: people rename these files

Text = Annotated[str, Field(max_length=LONGEST)]
Share = Annotated[FiniteFloat, Field(ge=0, le=1)]


class Box(Value):
    """A region of a frame, as shares of its width and height, origin top left."""

    x0: Share
    y0: Share
    x1: Share
    y1: Share

    @model_validator(mode="after")
    def _has_an_area(self) -> Self:
        if self.x0 >= self.x1 or self.y0 >= self.y1:
            raise ValueError("a box that ends before it begins")
        return self

    def pixels(self, size: tuple[int, int]) -> tuple[int, int, int, int]:
        """The box in a picture of this width and height, one pixel at least."""
        width, height = size
        left = min(int(self.x0 * width), width - 1)
        top = min(int(self.y0 * height), height - 1)
        right = max(round(self.x1 * width), left + 1)
        bottom = max(round(self.y1 * height), top + 1)
        return left, top, right, bottom


class Example(Value):
    """A sample with the cue, or without it.

    `told` says that a person or an annotation says so, not a recogniser. `made` says that it was
    drawn, or chosen by its score, so that it says nothing of how scores lie in data. `content` is
    the digest of its frames, of which `pictures` are copies, for a clip of `frames`.
    """

    shows: bool
    told: bool
    made: bool = False
    sample: Text
    content: Text
    group: Text | None = None
    label: Text | None = None
    frames: Annotated[int, Field(ge=1, le=4096)] = 1
    pictures: Annotated[tuple[int, ...], Field(min_length=1, max_length=MOST_FRAMES)]


class Facts(Value):
    """Facts of a file beside its arrays."""

    schema_version: Literal[1] = 1
    name: Text
    origin: Text
    answer: Text | None = None
    place: Box | None = None
    phrase: Text | None = None
    embedder: Text | None = None
    auroc: Share | None = None
    examples: Annotated[tuple[Example, ...], Field(max_length=4 * MOST_EXAMPLES)]


@dataclass(frozen=True, eq=False)
class LinearRecogniser:
    """A direction in the space of an `embedder`, by its fingerprint, and examples in that space.

    `auroc` is that of examples that it had not learned from, None where there were too few.
    """

    embedder: str | None
    direction: Float[np.ndarray, " dim"]
    examples: Float[np.ndarray, "example dim"]
    auroc: float | None = None

    def score(
        self, points: Float[np.ndarray, "sample dim"]
    ) -> Float[np.ndarray, " sample"]:
        """How far unit embeddings lie in the cue's direction."""
        return np.asarray(points @ self.direction)


@dataclass(frozen=True, eq=False)
class Cue:
    """A cue: examples with small copies of their pictures, and what recognises it.

    `origin` says how it was given, `answer` which answer it draws where that is known. `pictures`
    are JPEG or PNG.
    """

    name: str
    origin: str
    examples: tuple[Example, ...]
    pictures: tuple[bytes, ...]
    recogniser: LinearRecogniser
    answer: str | None = None
    place: Box | None = None
    phrase: str | None = None

    @cached_property
    def identity(self) -> str:
        """Digest of the examples: other examples are another cue."""
        examples = sorted((each.content, each.shows) for each in self.examples)
        return digest("cue", examples, self.phrase)[:12]

    @property
    def key(self) -> str:
        """Its key in reports."""
        return f"cue-{self.identity}"

    def sides(self) -> tuple[int, int]:
        """How many examples show it, and how many do not."""
        shown = sum(each.shows for each in self.examples)
        return shown, len(self.examples) - shown

    def samples(self, like: Sample) -> list[Sample]:
        """The examples' small pictures, each in place of those of a sample of the data."""
        frames = [
            Frame(digest(content), partial(_open_picture, content))
            for content in self.pictures
        ]
        samples = []
        for number, example in enumerate(self.examples):
            kept = [frames[place] for place in example.pictures]
            clip = (
                kept[at * len(kept) // example.frames] for at in range(example.frames)
            )
            samples.append(like.with_frames(tuple(clip), f"{self.key}-{number}"))
        return samples

    def named(self, name: str) -> Self:
        """The same cue under another name."""
        return replace(self, name=clean_name(name))

    # ---------------------------------------------------------------------------------- the file

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all, with its checksum."""
        facts = Facts(
            name=self.name,
            origin=self.origin,
            answer=self.answer,
            place=self.place,
            phrase=self.phrase,
            embedder=self.recogniser.embedder,
            auroc=self.recogniser.auroc,
            examples=self.examples,
        )
        file = BytesIO()
        np.savez(
            file,
            facts=_bytes_of(facts.model_dump_json().encode()),
            pictures=_bytes_of(b"".join(self.pictures)),
            ends=np.cumsum([len(content) for content in self.pictures], dtype=np.int64),
            direction=self.recogniser.direction.astype(np.float64),
            embeddings=self.recogniser.examples.astype(np.float32),
        )
        write_sealed(path, file.getvalue(), name=SEAL)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file, which may be a stranger's.

        Raises UserError for one that is missing, damaged, too large or no cue.
        """
        remedy = "`cuescope cue make` writes one; a damaged one has to be fetched again"
        try:
            content = read_sealed(path, remedy=remedy, most=LARGEST, name=SEAL)
        except FileNotFoundError:
            raise UserError(f"no cue file {path}", remedy=remedy) from None
        try:
            return cls._of(read_arrays(content, path, OWNER), path)
        except (KeyError, ValueError, TypeError, BadZipFile, OSError) as error:
            got = str(error).splitlines()[0][:200] if str(error) else "another file"
            # a later version's file names another schema_version
            if isinstance(error, ValidationError):
                fault = error.errors(include_url=False)[0]
                place = ".".join(map(str, fault["loc"]))
                got = f"{place}: {fault['msg']}"
            raise DamagedFileError(
                f"{path} is no cue", expected="a cue file", got=got, remedy=remedy
            ) from error

    @classmethod
    def _of(cls, arrays: dict[str, np.ndarray], path: Path) -> Self:
        facts = Facts.model_validate(parse_json(arrays["facts"].tobytes(), str(path)))
        ends = arrays["ends"].tolist()
        joined = arrays["pictures"].tobytes()
        if (
            arrays["ends"].ndim != 1
            or ends != sorted(ends)
            or ends[-1:] != [len(joined)]
        ):
            raise ValueError("pictures of another size than the file says")
        starts = [0, *ends[:-1]]
        pictures = tuple(joined[a:b] for a, b in zip(starts, ends, strict=True))
        for example in facts.examples:
            if not all(0 <= number < len(pictures) for number in example.pictures):
                raise ValueError("an example of a picture that is not there")
        direction = _finite(arrays["direction"], 1)
        embeddings = _finite(arrays["embeddings"], 2)
        if embeddings.shape != (len(facts.examples), len(direction)):
            raise ValueError("embeddings of another shape than the examples")
        recogniser = LinearRecogniser(
            facts.embedder, direction, embeddings, facts.auroc
        )
        return cls(
            clean_name(facts.name),
            one_line(facts.origin),
            facts.examples,
            pictures,
            recogniser,
            facts.answer,
            facts.place,
            facts.phrase,
        )


def clean_name(name: str) -> str:
    """A name in one line; raises UserError for none, or one that is too long."""
    name = one_line(name).strip()
    if not 0 < len(name) <= LONGEST:
        raise UserError(
            "the name of a cue", expected=f"1 to {LONGEST} letters", got=str(len(name))
        )
    return name


def small_picture(frame: Frame) -> bytes:
    """A frame as a small JPEG, or as a PNG where it is small already."""
    image = frame.load().copy()
    file = BytesIO()
    if max(image.size) <= SMALL:
        image.save(file, "PNG")
    else:
        image.thumbnail((SIDE, SIDE))
        image.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def examples_of(
    samples: Sequence[Sample],
    shows: Sequence[bool],
    told: Sequence[bool],
    *,
    made: bool = False,
) -> tuple[tuple[Example, ...], tuple[bytes, ...]]:
    """Examples and their pictures; frames that several show are kept once."""
    numbers: dict[str, int] = {}
    pictures: list[bytes] = []
    examples = []
    for sample, is_shown, is_told in zip(samples, shows, told, strict=True):
        places = []
        count = len(sample.frames)
        kept = min(count, MOST_FRAMES)
        for at in range(kept):
            frame = sample.frames[at * count // kept]
            if frame.key not in numbers:
                numbers[frame.key] = len(pictures)
                pictures.append(small_picture(frame))
            places.append(numbers[frame.key])
        example = Example(
            shows=bool(is_shown),
            told=bool(is_told),
            made=made,
            sample=sample.key[:LONGEST],
            content=content_of(sample),
            group=sample.group and sample.group[:LONGEST],
            label=sample.label and sample.label[:LONGEST],
            frames=count,
            pictures=tuple(places),
        )
        examples.append(example)
    return tuple(examples), tuple(pictures)


def content_of(sample: Sample) -> str:
    """Digest of a sample's frames."""
    return digest([frame.key for frame in sample.frames])


def _open_picture(content: bytes) -> Image.Image:
    """A picture of a cue file, which may be a stranger's."""
    return to_rgb(decode_picture(content, "a picture of the cue", SIDE**2))


def _bytes_of(content: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(content, np.uint8)


def _finite(array: np.ndarray, axes: int) -> np.ndarray:
    if array.ndim != axes or array.dtype.kind != "f" or not np.isfinite(array).all():
        raise ValueError("expected finite numbers in the recogniser")
    return array.astype(np.float64)
