"""A stub distribution of fake plugins, and what runs audits on it."""

import importlib
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path

import pytest

from cuescope.cli import main
from cuescope.cli.external import installed
from cuescope.runner import Runner
from cuescope_core.context import Context
from cuescope_core.registry import Registry
from cuescope_core.request import Request

from .engine.tests.stubs import cuescope, environment, write_dist

FAKES = {
    "cuescope.methods": {
        "red": "cuescope_fakes:RedMethod",
        "forgetful": "cuescope_fakes:ForgetfulMethod",
        "hiding": "cuescope_fakes:HidingMethod",
        "looking": "cuescope_fakes:LookingMethod",
        "with-tool": "cuescope_fakes:ToolMethod",
        "counting": "cuescope_fakes:CountingMethod",
    },
    "cuescope.models": {
        "colour": "cuescope_fakes:ColourModel",
        "patches": "cuescope_fakes:PatchModel",
        "words": "cuescope_fakes:TextModel",
    },
    "cuescope.datasets": {"clips": "cuescope_fakes:Clips"},
    "cuescope.tools": {
        "finder": "cuescope_fakes:FakeDetector",
        "heavy": "cuescope_fakes:HeavyDetector",
    },
    "cuescope.executors": {"threads": "cuescope_fakes:ThreadPool"},
    "cuescope.observers": {"file": "cuescope_fakes:FileObserver"},
}


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the fakes, importable and without any other plugin.

    For a module: tests of other folders, which may come next, must find no fake installed.
    """
    folder = tmp_path_factory.mktemp("stubs")
    source = (Path(__file__).parent / "engine/tests/fakes.py").read_text()
    write_dist(folder, "cuescope-fakes", FAKES, {"cuescope_fakes": source})
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture
def registry(stubs: Path) -> Registry:
    """The fakes and nothing else."""
    return Registry(distributions(path=[str(stubs)]))


@pytest.fixture
def request_for() -> Callable[..., Request]:
    """A request of the fakes; keywords replace its fields."""

    def make(**changes: object) -> Request:
        plain = {"method": "red", "model": "colour", "data": "clips"}
        return Request.model_validate(plain | changes)

    return make


@pytest.fixture
def runner(registry: Registry, tmp_path: Path) -> Iterator[Runner]:
    """Audits the fakes with a response cache in `tmp_path`."""
    runner = Runner(
        Context(registry=registry, cache=tmp_path / "cache"), tmp_path / "runs"
    )
    yield runner
    runner.cache.close()


class Line:
    """Runs the command line in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str | Path, code: int = 0) -> str:
        """Standard output of a command that must end with `code`; of an error, its one line."""
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        out, err = self._capsys.readouterr()
        assert ended.value.code == code, out + err
        if code != 2:
            return out
        assert err.startswith("cuescope: ")
        assert len(err.splitlines()) == 1
        return err


@pytest.fixture
def line(
    stubs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Line]:
    """The command line in this process, with a cache and working folder of its own."""
    installed.cache_clear()  # read before the stubs were there
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)
    # `main` replaces it
    monkeypatch.setattr("warnings.showwarning", warnings.showwarning)
    yield Line(capsys)
    installed.cache_clear()


@dataclass
class Shell:
    """Runs the command line in processes that see the fakes."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def __call__(self, *words: str | Path, code: int = 0) -> str:
        """Standard output of a command that must end with `code`; of an error, its one line."""
        done = cuescope(*words, env=self.env, cwd=self.folder)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code == 2 else done.stdout


@pytest.fixture
def shell(stubs: Path, tmp_path: Path) -> Shell:
    """The command line with a cache and working folder of its own."""
    return Shell(tmp_path, environment(stubs, CUESCOPE_CACHE=str(tmp_path / "cache")))
