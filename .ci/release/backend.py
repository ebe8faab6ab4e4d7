"""Builds packages in one process: `python -m release.backend OUT FOLDER ...`.

Each wheel is built from the sdist, as whoever builds from source does. A process for each of some
120 builds would take twenty times as long.
"""

import os
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from hatchling.build import build_sdist, build_wheel


def main(out: Path, folders: list[Path]) -> None:
    """Write the sdist and the wheel of each folder."""
    out.mkdir(parents=True)
    for folder in folders:
        os.chdir(folder)  # the interface of build backends (PEP 517)
        sdist = build_sdist(str(out))
        with TemporaryDirectory() as place:
            with tarfile.open(out / sdist) as archive:
                archive.extractall(place, filter="data")
            os.chdir(Path(place, sdist.removesuffix(".tar.gz")))
            build_wheel(str(out))
            os.chdir(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(word) for word in sys.argv[2:]])
