"""All files looked at, several at once, and only those that have changed since the last time."""

import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import cache
from importlib.metadata import version
from itertools import repeat
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, Self

from pydantic import NonNegativeInt, TypeAdapter

from cuescope_core.store import UNREADABLE, CacheFile
from cuescope_core.trust.child import ParserLimitError, each_in_child
from cuescope_sdk import Context, UserError
from cuescope_sdk.data._media.content import ChangedError, Stamp, steady_bytes
from cuescope_sdk.data._media.files import (
    MAX_PIXELS,
    Kind,
    Measured,
    describe_problems,
    kind_of,
    printable_name,
    reads_heif,
    reason,
    unknown_suffix,
)
from cuescope_sdk.data._media.frames import Probe
from cuescope_sdk.data._media.images import measure_animation, measure_image
from cuescope_sdk.data._media.video import measure_video

_FACTS = ("digest", "frames", "problem", "loss", "steady")
# terms, stamp, and the facts
_Facts = tuple[str, NonNegativeInt, str | None, str | None, bool]
_ROW = TypeAdapter(tuple[str, tuple[int, int, int, int], _Facts])
_version = cache(version)  # a package's description is read once
_MEASURES: dict[Kind, Callable[[BinaryIO, int], Measured]] = {
    "image": measure_image,
    "animation": measure_animation,
    "video": measure_video,
}


def probe(path: Path, max_pixels: int) -> Probe:
    """Read and decode the file; whatever is wrong with it becomes the `problem`."""
    kind = kind_of(path)
    if kind is None:
        return Probe(path, "", 0, unknown_suffix(path))
    digest = ""
    try:
        with steady_bytes(path) as (file, digest):
            frames, loss, steady = _MEASURES[kind](file, max_pixels)
        return Probe(path, digest, frames, None, loss, steady)
    except ChangedError as error:
        return Probe(path, "", 0, reason(error))
    except FileNotFoundError:
        return Probe(path, "", 0, "no such file")
    except Exception as error:
        # decoders meet strangers' bytes, and raise anything at all
        return Probe(path, digest, 0, pointer_words(path) or reason(error))


def probe_each(paths: Sequence[Path], max_pixels: int) -> list[Probe]:
    """The probes of files, looked at in a child: a decoder of a bomb would take all memory or time.

    What passed there is decoded here later, within the same limits.
    """
    probes: list[Probe] = []
    while len(probes) < len(paths):
        rest = paths[len(probes) :]
        # a child has the folder in which it was begun
        names = [str(path.absolute()) for path in rest]
        looks = each_in_child("a file", _facts_of, names, max_pixels)
        try:
            for facts in looks:
                probes.append(Probe(paths[len(probes)], *facts))
        except ParserLimitError as error:
            # without a digest: it is looked at again, for a crash may have other causes
            probes.append(Probe(paths[len(probes)], "", 0, reason(error)))
    return probes


def _facts_of(names: Sequence[str], max_pixels: int) -> Iterator[_Facts]:
    for name in names:
        yield attrgetter(*_FACTS)(probe(Path(name), max_pixels))


def pointer_words(path: Path) -> str | None:
    """Explain a small text in the place of a file; None where it is no such text."""
    with suppress(OSError):
        with path.open("rb") as file:
            start = file.read(200)
        if start.startswith(b"version https://git-lfs"):
            return "a pointer of Git LFS (`git lfs pull` brings the file)"
        if (
            start.startswith((b"../", b"/annex/", b".git/annex/"))
            and b"\0" not in start
        ):
            return "a link that was copied as text (copy the files with links followed)"
    return None


class ProbeCache(CacheFile):
    """Probes by path, size and time of change, under `terms`: the decoders and their limits."""

    def __init__(self, path: Path | None, max_pixels: int) -> None:
        super().__init__(path)
        # another decoder may read another number of frames, or fail elsewhere
        heif = f" heif-{_version('pillow-heif')}" if reads_heif() else ""
        self._terms = (
            f"4 pillow-{_version('pillow')} av-{_version('av')}{heif} max-{max_pixels}"
        )

    @classmethod
    def open(cls, path: Path, max_pixels: int) -> Self:
        """The cache in this file; where it cannot be written, one for this time only."""
        try:
            return cls(path, max_pixels)
        except UserError:
            # probing again costs time, not answers: a read-only home is no reason
            return cls(None, max_pixels)

    def get(self, paths: Iterable[Path]) -> dict[Path, Probe]:
        """The probes of those files that have not changed since."""
        by_name = {printable_name(str(path)): path for path in paths}
        probes = {}
        for name, value in self.read(by_name).items():
            path = by_name[name]
            # the seal fits whatever a stranger's file holds: then the file is looked at again
            with suppress(*UNREADABLE):
                terms, stamp, facts = _ROW.validate_json(value)
                if terms == self._terms and Stamp(*stamp) == Stamp.of(path):
                    probes[path] = Probe(path, *facts)
        return probes

    def put(self, probes: Iterable[tuple[Stamp, Probe]]) -> None:
        """Remember them; a file that could not be read at all is asked again next time."""
        rows = {}
        for stamp, probe in probes:
            if probe.digest:
                facts = attrgetter(*_FACTS)(probe)
                row = json.dumps([self._terms, stamp, facts])
                rows[printable_name(str(probe.path))] = row.encode()
        self.write(rows)


# ------------------------------------------------------------------------------------------ survey


# nanoseconds: file systems stamp files with a clock as coarse as this
_TICK = 20_000_000
_SAVE_EVERY = 256  # files; a kill loses the look at so many and no more


def probe_all(
    paths: Iterable[Path],
    context: Context,
    max_pixels: int = MAX_PIXELS,
) -> dict[Path, Probe]:
    """The probes of all the files, from memory where a file has not changed since.

    The memory is in the context's cache folder, one for all data sets.
    """
    wanted = list(dict.fromkeys(paths))  # several questions show one video
    with closing(
        ProbeCache.open(context.cache / "media" / "probes.sqlite", max_pixels)
    ) as cache:
        probes = cache.get(wanted)
        unknown = [path for path in wanted if path not in probes]
        if not unknown:
            return probes
        workers = min(len(unknown), os.cpu_count() or 1)
        with (
            context.progress("Checking files", len(unknown)) as advance,
            warnings.catch_warnings(),
            ThreadPoolExecutor(workers) as pool,
        ):
            # Set here and not in the threads, where it would leak: filters belong to the process.
            warnings.simplefilter("ignore")
            for start in range(0, len(unknown), _SAVE_EVERY):
                chunk = unknown[start : start + _SAVE_EVERY]
                # before the look: a change during it is seen next time
                stamps = list(map(Stamp.of, chunk))
                _let_clock_tick(stamps)
                parts = [chunk[part::workers] for part in range(workers)]
                for fresh in pool.map(probe_each, parts, repeat(max_pixels)):
                    probes |= {each.path: each for each in fresh}
                looked = [probes[path] for path in chunk]
                cache.put(zip(stamps, looked, strict=True))
                advance(len(chunk))
    return probes


def loss_facts(probes: Iterable[Probe]) -> dict[str, str]:
    """Which files are shown without a part of them, in words; nothing where all are whole."""
    losses = {p.path.name: p.loss for p in probes if p.loss and p.problem is None}
    if not losses:
        return {}
    return {"not whole": describe_problems(losses, "file")}


def _let_clock_tick(stamps: Iterable[Stamp]) -> None:
    """Wait where a file is so new that a change right now would have the same time."""
    if time.time_ns() - max(stamp.ctime for stamp in stamps) < _TICK:
        time.sleep(_TICK / 1e9)
