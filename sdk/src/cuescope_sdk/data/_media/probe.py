"""One look at each file: its digest, how many frames it holds, or why it cannot be read."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b, file_digest
from pathlib import Path

from cuescope_sdk.data._media.faults import reason
from cuescope_sdk.data._media.images import measure_animation, measure_image
from cuescope_sdk.data._media.names import Kind, kind_of
from cuescope_sdk.data._media.video import measure_video

_MEASURES: dict[Kind, Callable[[Path, int], int]] = {
    "image": measure_image,
    "animation": measure_animation,
    "video": measure_video,
}


@dataclass(frozen=True, slots=True)
class Probe:
    """The digest of a file's bytes ("" where they cannot be had), its frames, its problem."""

    digest: str
    frames: int
    problem: str | None = None


def probe(path: Path, max_pixels: int) -> Probe:
    """Read and decode the file; whatever is wrong with it becomes the `problem`."""
    kind = kind_of(path)
    if kind is None:
        return Probe("", 0, f"'{path.suffix}' is no image or video that is known here")
    if not path.is_file():
        return Probe("", 0, "no such file")
    try:
        with path.open("rb") as file:
            content = file_digest(file, partial(blake2b, digest_size=16)).hexdigest()
    except OSError as error:
        return Probe("", 0, error.strerror or type(error).__name__)
    try:
        return Probe(content, _MEASURES[kind](path, max_pixels))
    except Exception as error:  # decoders meet strangers' bytes, and raise anything at all
        return Probe(content, 0, reason(error))
