"""All files looked at, several at once, and only those that have changed since the last time."""

import os
import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from cuescope_sdk import Context
from cuescope_sdk.data._media.faults import MAX_PIXELS
from cuescope_sdk.data._media.memory import Memory
from cuescope_sdk.data._media.probe import Probe, probe

_SAVE_EVERY = 256


def probe_all(
    paths: Iterable[Path], context: Context, max_pixels: int = MAX_PIXELS
) -> dict[Path, Probe]:
    """The probes of all the files, from memory where a file has not changed since.

    The memory is in the context's cache folder, one for all data sets.
    """
    wanted = list(dict.fromkeys(paths))
    with Memory.opened(context.cache / "media", max_pixels) as memory:
        found = memory.recall(wanted)
        unknown = [path for path in wanted if path not in found]
        if not unknown:
            return found
        with (
            context.progress("Checking files", len(unknown)) as advance,
            warnings.catch_warnings(),
            ThreadPoolExecutor(os.cpu_count()) as pool,
        ):
            # Set here and not in the threads, where it would leak: filters belong to the process.
            warnings.simplefilter("ignore")
            for start in range(0, len(unknown), _SAVE_EVERY):
                chunk = unknown[start : start + _SAVE_EVERY]
                stamped = [memory.stamp(path) for path in chunk]
                fresh = list(pool.map(partial(probe, max_pixels=max_pixels), chunk))
                memory.keep(zip(stamped, fresh, strict=True))
                found.update(zip(chunk, fresh, strict=True))
                advance(len(chunk))
    return found
