"""Opening a folder of 100,000 small images, as a ratio to reading and digesting their bytes.

Nothing that knows a file by its content can be faster than that limit. Opened for the first time,
every image is decoded as well; opened again, only sizes and times are compared. Processor seconds,
so that other programs hardly move the ratios.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from cuescope_folder import Folder, FolderOptions
from cuescope_sdk import Context

SIDE, CLASSES = 16, 100
FIRST_LIMIT, AGAIN_LIMIT = 10.0, 6.0  # times the bare reading
SECONDS_LIMIT = 15.0  # for 100,000 files


def write_images(root: Path, count: int) -> None:
    """Images of noise in folders of classes."""
    rng = np.random.default_rng(0)
    for number in range(count):
        folder = root / f"class {number % CLASSES:03}"
        folder.mkdir(parents=True, exist_ok=True)
        file = BytesIO()
        pixels = rng.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(file, "PNG")
        (folder / f"{number}.png").write_bytes(file.getvalue())


def read_all(root: Path) -> int:
    """Read and digest every file; how many there are."""
    digests = [
        blake2b(path.read_bytes(), digest_size=16).digest() for path in root.glob("*/*")
    ]
    return len(digests)


def open_all(root: Path, cache: Path) -> int:
    """Open the folder as a data set; how many samples it has."""
    return len(Folder(FolderOptions(path=root), Context(cache=cache)))


def timed(work: Callable[[], int], count: int) -> tuple[float, float]:
    """Wall and processor seconds of work on so many files."""
    wall, cpu = time.perf_counter(), time.process_time()
    if work() != count:
        raise RuntimeError(f"expected {count} files")
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="images")
    count = parser.parse_args().count
    table = Table("", "took", "CPU", "a file", "times bare", "aim", "", box=None)
    with tempfile.TemporaryDirectory() as name:
        root, cache = Path(name) / "data", Path(name) / "cache"
        write_images(root, count)
        read_all(root)  # the system keeps them in memory from now on
        bare = timed(partial(read_all, root), count)
        opening = partial(open_all, root, cache)
        rows = {
            "bare": bare,
            "first": timed(opening, count),
            "again": timed(opening, count),
        }
    for what, limit in (("bare", None), ("first", FIRST_LIMIT), ("again", AGAIN_LIMIT)):
        wall, cpu = rows[what]
        ratio = cpu / bare[1]
        seconds = SECONDS_LIMIT * count / 100_000
        met = limit is None or (ratio <= limit and cpu <= seconds)
        table.add_row(
            what,
            f"{wall:.1f} s",
            f"{cpu:.1f} s",
            f"{1e6 * cpu / count:.0f} us",
            f"{ratio:.1f}",
            "" if limit is None else f"<= {limit:.0f} and <= {seconds:.1f} s",
            "" if limit is None else ("met" if met else "missed"),
        )
    Console().print(f"{count:,} images of {SIDE} x {SIDE} in {CLASSES} classes", table)


if __name__ == "__main__":
    main()
