"""A machine to prove a release on: an index on loopback, interpreters, empty environments."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from release import ReleaseError
from release.building import run

LOCAL = "127.0.0.1"
STARTS_IN = 30.0  # seconds
PINNED = re.compile(r"^[\w.-]+==", re.MULTILINE)  # a line of a resolution


@dataclass(frozen=True)
class Machine:
    """Where environments are made: uv, the index, the folder of all that is thrown away."""

    uv: str
    index: str
    place: Path

    @property
    def python(self) -> Path:
        """The Python of the environment."""
        return self.place / "environment" / "bin" / "python"

    def create(self, python: str) -> None:
        """An empty environment, in the place of the last one."""
        folder = self.place / "environment"
        shutil.rmtree(folder, ignore_errors=True)
        run(self.uv, "venv", "--quiet", "--python", python, folder, at=self.place)

    def run(self, *words: str | Path) -> str:
        """What the Python of the environment prints."""
        # bytecode of libraries is shared: each would be compiled once a package
        kept = str(self.place / "bytecode")
        return run(self.python, *words, at=self.place, PYTHONPYCACHEPREFIX=kept)

    def pip(self, word: str, *words: str | Path) -> str:
        """What `uv pip` prints."""
        python = ("--python", self.python) if word == "install" else ()
        return run(self.uv, "pip", word, "--quiet", *python, *words, at=self.place)

    def install(self, lines: Sequence[str], resolution: str) -> None:
        """Install requirements into the environment."""
        options = self._options(resolution)
        self.pip("install", *options, "-r", self._write(lines))

    def resolve(self, lines: Sequence[str], resolution: str, version: str) -> int:
        """How many packages would be installed on a version of Python that need not be here.

        Raises ReleaseError where one of them has no wheel for it.
        """
        options = self._options(resolution)
        told = self.pip(
            "compile", *options, "--python-version", version, self._write(lines)
        )
        return len(PINNED.findall(told))

    def _options(self, resolution: str) -> list[str]:
        """Ours come from the local index, which is asked first."""
        return ["--index", self.index, "--no-build", "--resolution", resolution]

    def _write(self, lines: Sequence[str]) -> Path:
        needs = self.place / "requirements.txt"
        needs.write_text("\n".join(lines) + "\n", "utf-8")
        return needs


@contextmanager
def local_index(files: Path) -> Iterator[str]:
    """The address of an index of the built files on this machine; it hands nothing on."""
    if not any(files.glob("*.whl")):
        raise ReleaseError(f"{files} has no wheels: `make release` builds them")
    with socket.socket() as probe:
        probe.bind((LOCAL, 0))
        port = probe.getsockname()[1]
    words = ["run", "-i", LOCAL, "-p", str(port), "--disable-fallback", str(files)]
    server = subprocess.Popen(
        [sys.executable, "-m", "pypiserver", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://{LOCAL}:{port}/simple/"
    try:
        _wait_for(address)
        yield address
    finally:
        server.terminate()
        server.wait()


def _wait_for(address: str) -> None:
    ends = time.monotonic() + STARTS_IN
    while True:
        try:
            with urlopen(address):
                return
        except OSError as error:
            if time.monotonic() > ends:
                raise ReleaseError(
                    f"the local index does not start: {error}"
                ) from error
            time.sleep(0.1)


def find_python(uv: str, version: str) -> str | None:
    """The interpreter of a version on this machine, None where it has none."""
    words = [uv, "python", "find", "--system", "--no-python-downloads", version]
    # pyenv's programs answer for the version that this names, and for no other
    environment = os.environ | {"PYENV_VERSION": version}
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else None
