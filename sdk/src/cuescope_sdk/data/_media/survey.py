"""All files looked at, several at once, and only those that have changed since the last time."""

import json
import os
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import astuple, dataclass
from functools import partial
from hashlib import blake2b, file_digest
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar, Self

from cuescope.store import CacheFile
from cuescope_sdk import Context, UserError
from cuescope_sdk.data._media.files import MAX_PIXELS, Kind, kind_of, printable_name, reason
from cuescope_sdk.data._media.images import measure_animation, measure_image
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
            # faster than SHA-256 where the CPU has no instruction for it
            content = file_digest(file, partial(blake2b, digest_size=16)).hexdigest()
    except OSError as error:
        return Probe("", 0, error.strerror or type(error).__name__)
    try:
        return Probe(content, _MEASURES[kind](path, max_pixels))
    except Exception as error:  # decoders meet strangers' bytes, and raise anything at all
        return Probe(content, 0, reason(error))


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file as it was when looked at; `changed` is its mtime in nanoseconds, None if missing."""

    path: Path
    size: int = 0
    changed: int | None = None

    @classmethod
    def of(cls, path: Path) -> Self:
        """The file as it is now."""
        try:
            status = path.stat()
        except OSError:
            return cls(path)
        return cls(path, status.st_size, status.st_mtime_ns)


class ProbeCache(CacheFile):
    """Probes by path, size and time of change, under `terms`: the decoders and their limits."""

    migrations: ClassVar = {0: lambda _: ()}  # the files are looked at again

    def __init__(self, path: Path | None, max_pixels: int) -> None:
        super().__init__(path)
        # another decoder may read another number of frames, or fail elsewhere
        self._terms = f"1 pillow-{version('pillow')} av-{version('av')} max-{max_pixels}"

    @classmethod
    def open(cls, path: Path, max_pixels: int) -> Self:
        """The cache in this file; where it cannot be written, one for this time only."""
        try:
            return cls(path, max_pixels)
        except UserError:  # probing again costs time, not answers: a read-only home is no reason
            return cls(None, max_pixels)

    def get(self, paths: Iterable[Path]) -> dict[Path, Probe]:
        """The probes of those files that have not changed since."""
        by_name = {printable_name(str(path)): path for path in paths}
        probes = {}
        for name, value in self.read(by_name).items():
            path = by_name[name]
            terms, size, changed, *probe = json.loads(value)
            if terms == self._terms and Stamp(path, size, changed) == Stamp.of(path):
                probes[path] = Probe(*probe)
        return probes

    def put(self, probes: Iterable[tuple[Stamp, Probe]]) -> None:
        """Remember them; a file that could not be read at all is asked again next time."""
        rows = {
            printable_name(str(file.path)): [self._terms, file.size, file.changed, *astuple(probe)]
            for file, probe in probes
            if probe.digest and file.changed is not None
        }
        self.write({name: json.dumps(row).encode() for name, row in rows.items()})


# ------------------------------------------------------------------------------------------ survey


_SAVE_EVERY = 256  # files; a kill loses the look at so many and no more


def probe_all(
    paths: Iterable[Path], context: Context, max_pixels: int = MAX_PIXELS
) -> dict[Path, Probe]:
    """The probes of all the files, from memory where a file has not changed since.

    The memory is in the context's cache folder, one for all data sets.
    """
    wanted = list(dict.fromkeys(paths))  # several questions show one video
    with closing(ProbeCache.open(context.cache / "media" / "probes.sqlite", max_pixels)) as cache:
        probes = cache.get(wanted)
        unknown = [path for path in wanted if path not in probes]
        if not unknown:
            return probes
        with (
            context.progress("Checking files", len(unknown)) as advance,
            warnings.catch_warnings(),
            ThreadPoolExecutor(os.cpu_count()) as pool,  # decoders let go of the GIL
        ):
            # Set here and not in the threads, where it would leak: filters belong to the process.
            warnings.simplefilter("ignore")
            for start in range(0, len(unknown), _SAVE_EVERY):
                chunk = unknown[start : start + _SAVE_EVERY]
                # before the look: a change during it is seen next time
                stamped = [Stamp.of(path) for path in chunk]
                fresh = list(pool.map(partial(probe, max_pixels=max_pixels), chunk))
                cache.put(zip(stamped, fresh, strict=True))
                probes.update(zip(chunk, fresh, strict=True))
                advance(len(chunk))
    return probes
