"""The command line in a test: plugins that the test writes, commands, and how they end."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuescope.cli import main


@contextmanager
def written_plugins(
    place: Path, name: str, entry_points: str, source: str
) -> Iterator[Path]:
    """A dist of one module of this name is installed; `place` gets it, and a cache."""
    info = place / "plugins" / f"{name}-0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(entry_points)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n")
    (place / "plugins" / f"{name}.py").write_text(source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_CACHE", str(place / "cache"))
        patch.syspath_prepend(str(place / "plugins"))
        yield place
    sys.modules.pop(name, None)


def run(*words: str, code: int = 0) -> None:
    """A command that ends with this exit code."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == code


def run_refused(capsys: pytest.CaptureFixture[str], *words: str, said: str) -> None:
    """A command that is refused in one line, which says this."""
    capsys.readouterr()
    run(*words, "-q", code=2)
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1
