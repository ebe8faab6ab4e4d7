"""`cuescope new`: packages that work as they are written, and names that are refused."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cuescope.cli import main
from cuescope_sdk import UserError
from cuescope_sdk.scaffold.package import class_name, names_of, sdk_range, write

KINDS = ("method", "model", "dataset", "tool")
LINES = 80


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_generated_package_passes_its_tests_untouched(kind: str, tmp_path: Path) -> None:
    package = write(kind, f"my-own-{kind}", tmp_path)
    done = run(sys.executable, "-m", "pytest", "-q", "-W", "error", cwd=package)
    assert done.returncode == 0, done.stdout
    assert "failed" not in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_generated_plugin_is_one_short_clean_file(kind: str, tmp_path: Path) -> None:
    package = write(kind, f"my-own-{kind}", tmp_path)
    (source,) = package.glob("src/*/*.py")
    assert len(source.read_text().splitlines()) < LINES
    files = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    module = f"cuescope_my_own_{kind}"
    assert files == {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        f"src/{module}/__init__.py",
        f"src/{module}/py.typed",
        f"tests/test_my_own_{kind}.py",
    }
    rules = ("--isolated", "--line-length", "100", "--target-version", "py311")
    select = ("--select", "E,F,W,I,N,UP,B,SIM,RET,PT,NPY,T20")
    checked = run(sys.executable, "-m", "ruff", "check", *rules, *select, ".", cwd=package)
    assert checked.returncode == 0, checked.stdout
    formatted = run(sys.executable, "-m", "ruff", "format", "--diff", *rules, ".", cwd=package)
    assert formatted.returncode == 0, formatted.stdout
    assert "$" not in source.read_text()


def test_the_generated_method_says_what_misleads_the_fake_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuescope_sdk.testing import run_audit

    package = write("method", "quarters", tmp_path)
    monkeypatch.syspath_prepend(package / "src")
    report = run_audit(__import__("cuescope_quarters").Quarters)
    (sentence,) = [report.sentence(finding) for finding in report.findings]
    assert re.fullmatch(r"Hiding the top left wins 2\d% accuracy\.", sentence or "")


@pytest.mark.slow
def test_generated_plugins_are_listed_once_installed(tmp_path: Path) -> None:
    target, names = tmp_path / "site", {kind: f"my-own-{kind}" for kind in KINDS}
    packages = [str(write(kind, name, tmp_path)) for kind, name in names.items()]
    done = run(*installer(), "--no-deps", "--target", str(target), *packages, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    code = f"import sys; sys.path.insert(0, {str(target)!r}); from cuescope.cli import main; main()"
    cuescope = (sys.executable, "-c", code, "plugins")
    listed = run(*cuescope, "--check", cwd=tmp_path).stdout
    for kind, name in names.items():
        (line,) = [line for line in listed.splitlines() if name in line]
        assert line.split()[:3] == [kind, name, "0.1.0"]
        assert (target / f"cuescope_my_own_{kind}" / "py.typed").exists()
    described = run(*cuescope, "info", "my-own-method", cwd=tmp_path)
    assert "min_gain" in described.stdout, described.stderr


def installer() -> tuple[str, ...]:
    """pip or uv, with the build backend that is here already; the test skips without them."""
    import shutil
    from importlib.util import find_spec

    pytest.importorskip("hatchling", reason="needs `pip install hatchling`, the build backend")
    if find_spec("pip"):
        return (sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation")
    if uv := shutil.which("uv"):
        return (uv, "pip", "install", "--quiet", "--no-build-isolation", "--python", sys.executable)
    pytest.skip("needs pip or uv, to install a package")


# ------------------------------------------------------------------------------------------- names


def test_the_command_says_what_is_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["new", "tool", "eye", "--dir", str(tmp_path)])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert f"pip install -e '{tmp_path}/cuescope-eye[testing]'" in printed
    assert (tmp_path / "cuescope-eye" / "src" / "cuescope_eye" / "__init__.py").exists()


@pytest.mark.parametrize(
    ("kind", "name", "line"),
    [
        ("metod", "x", "Did you mean 'method'?"),
        ("method", "My_Method", "Try 'my-method'"),
        ("method", "2fast", "Try 'fast'"),
        ("method", "-", "got '-'"),
        ("method", "a--b", "Try 'a-b'"),
        ("tool", "../eye", "Try 'eye'"),
        ("tool", "sdk", "reserved"),
    ],
)
def test_names_that_cannot_be_are_refused(kind: str, name: str, line: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        write(kind, name, tmp_path)
    assert line in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "cuescope-eye" / "kept.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    with pytest.raises(UserError, match="is there already"):
        write("tool", "eye", tmp_path)
    assert [path.name for path in kept.parent.iterdir()] == ["kept.txt"]


def test_a_name_that_is_installed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "cuescope_eye-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cuescope-eye\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[cuescope.tools]\neye = cuescope_eye:Eye\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match="from cuescope-eye"):
        write("tool", "eye", tmp_path / "new")
    assert write("model", "eye", tmp_path / "new").exists()


def test_class_names_hide_nothing() -> None:
    assert class_name("method", "my-method") == "MyMethod"
    assert class_name("method", "image") == "ImageMethod"
    assert class_name("model", "none") == "NoneModel"
    assert names_of("dataset", "two-words").module == "cuescope_two_words"


def test_the_range_keeps_to_the_same_words() -> None:
    assert sdk_range("0.1.0") == ">=0.1,<0.2"
    assert sdk_range("0.12.3") == ">=0.12,<0.13"
    assert sdk_range("2.4.1") == ">=2,<3"
