"""`cuescope dev new`: packages that work as they are written, and names that are refused."""

import ast
import errno
import os
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from cuescope.cli import main
from cuescope_commands.scaffold.kinds import KINDS as KINDS_WRITTEN
from cuescope_commands.scaffold.package import class_name, names_of, sdk_range, write
from cuescope_sdk import UserError
from cuescope_testing import Contract

KINDS = ("method", "model", "dataset", "tool", "executor", "observer", "mitigator")
KINDS += ("intervention", "explainer", "edit", "log", "exporter", "bench", "command")
WITHOUT_CONTRACT = ("bench", "command")
FORMS = ("method --hooks", "model --classifier")
VARIANTS = (*KINDS, *FORMS)
QUICK = "exporter"  # whose own tests `make test` runs
LINES = 80
# import names of what is called otherwise where it is published
DISTS = {"PIL": "pillow", "cuescope_sdk": "cuescope-sdk", "sklearn": "scikit-learn"}


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


def write_variant(variant: str, folder: Path, name: str = "my-own") -> Path:
    """The package of a kind, or of another form of it."""
    kind, _, form = variant.partition(" --")
    return write(kind, f"{name}-{kind}", folder, form or None)


@pytest.mark.parametrize(
    "variant",
    [
        each if each == QUICK else pytest.param(each, marks=pytest.mark.long)
        for each in VARIANTS
    ],
)
def test_a_generated_package_passes_its_tests_untouched(
    variant: str, tmp_path: Path
) -> None:
    package = write_variant(variant, tmp_path)
    done = run(sys.executable, "-m", "pytest", "-q", "-W", "error", cwd=package)
    assert done.returncode == 0, done.stdout
    assert "failed" not in done.stdout


@pytest.mark.parametrize(
    "variant",
    sorted({*VARIANTS} - {*WITHOUT_CONTRACT}),
)
def test_a_generated_plugin_holds_its_contract(
    variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checks of its test file, without a pytest and an interpreter of its own."""
    kind = variant.partition(" ")[0]
    name = "in-place-form" if variant in FORMS else "in-place"
    package = write_variant(variant, tmp_path, name)
    monkeypatch.syspath_prepend(package / "src")
    [file] = package.glob("tests/test_*.py")
    things = [
        thing for thing in runpy.run_path(str(file)).values() if isinstance(thing, type)
    ]
    [contract] = [
        thing
        for thing in things
        if issubclass(thing, Contract) and "plugin" in vars(thing)
    ]
    # in `make test-all` as many as its test file has
    few = {"null_audits": 3, "null_allowed": 0} if kind == "method" else {}
    found = list(type("Few", (contract,), few).run_checks())
    assert {result.status for result in found} <= {"ok", "skipped"}, found
    assert sum(result.status == "ok" for result in found) >= 5


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_generated_plugin_is_short_and_clean(variant: str, tmp_path: Path) -> None:
    package = write_variant(variant, tmp_path)
    sources = {source.stem: source.read_text() for source in package.glob("src/*/*.py")}
    assert set(sources) == {"__init__"}
    assert all(
        len(text.splitlines()) < LINES and "$" not in text for text in sources.values()
    )
    kind = variant.partition(" ")[0]
    module = f"cuescope_my_own_{kind}"
    files = {
        str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()
    }
    assert files == {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        ".github/workflows/test.yml",
        *(f"src/{module}/{stem}.py" for stem in sources),
        f"src/{module}/py.typed",
        f"tests/test_my_own_{kind}.py",
    }
    rules = ("--isolated", "--line-length", "100", "--target-version", "py311")
    select = ("--select", "E,F,W,I,N,UP,B,SIM,RET,PT,NPY,T20")
    checked = run(
        sys.executable, "-m", "ruff", "check", *rules, *select, ".", cwd=package
    )
    assert checked.returncode == 0, checked.stdout
    formatted = run(
        sys.executable, "-m", "ruff", "format", "--diff", *rules, ".", cwd=package
    )
    assert formatted.returncode == 0, formatted.stdout


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_generated_function_has_types(variant: str, tmp_path: Path) -> None:
    package = write_variant(variant, tmp_path)
    for source in [*package.glob("src/*/*.py"), *package.glob("tests/*.py")]:
        nodes = ast.walk(ast.parse(source.read_text()))
        for function in (node for node in nodes if isinstance(node, ast.FunctionDef)):
            given = [*function.args.args, *function.args.kwonlyargs]
            untyped = [
                each.arg for each in given if not each.annotation and each.arg != "self"
            ]
            assert function.returns is not None, function.name
            assert untyped in ([], ["cls"]), function.name


@pytest.mark.long
def test_a_generated_package_has_no_untyped_line(tmp_path: Path) -> None:
    """`mypy --strict` on sources and tests, with the sdk and the core as they are here."""
    pytest.importorskip("mypy", reason="needs `pip install mypy`")
    packages = [write(kind, f"typed-{kind}", tmp_path) for kind in KINDS]
    packages += [write_variant(form, tmp_path, "typed-form") for form in FORMS]
    sources = [str(package / "src") for package in packages]
    strict = (
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        str(tmp_path / "mypy"),
    )
    done = subprocess.run(
        [*strict, *sources, *(str(package / "tests") for package in packages)],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": os.pathsep.join((*sources, *own_sources()))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def own_sources() -> list[str]:
    """Where the core and the sdk are imported from, unless that is where mypy looks anyway."""
    import cuescope
    import cuescope_sdk

    folders = [
        Path(package.__file__ or "").parents[1] for package in (cuescope, cuescope_sdk)
    ]
    return [str(folder) for folder in folders if folder.name != "site-packages"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_generated_package_declares_what_it_imports(
    variant: str, tmp_path: Path
) -> None:
    package = write_variant(variant, tmp_path)
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[<>=\[]", words)[0] for words in project["dependencies"]}
    trees = [ast.parse(source.read_text()) for source in package.glob("src/*/*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {
        alias.name
        for node in nodes
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    tops = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    tops -= {f"cuescope_my_own_{variant.partition(' ')[0]}"}
    assert {DISTS.get(top, top) for top in tops} <= declared
    assert {"authors", "urls", "classifiers", "license"} <= project.keys()


@pytest.mark.parametrize(
    ("form", "words", "conditions"),
    [
        (
            "hooks",
            r"Hiding the top left wins \d\d% accuracy on '(middle|bottom)'\.",
            {"baseline": 150, "hidden": 600},
        ),
        (
            None,
            r"'(middle|bottom)': \d+% correct with colours or edges in row 1, column 1, .*",
            {"baseline": 150},
        ),
    ],
)
def test_the_generated_method_says_what_misleads_the_fake_model(
    form: str | None,
    words: str,
    conditions: dict[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from cuescope_testing import run_audit

    name = form or "association"
    package = write("method", name, tmp_path, form)
    monkeypatch.syspath_prepend(package / "src")
    report = run_audit(getattr(__import__(f"cuescope_{name}"), name.capitalize()))
    sentences = [report.sentence(finding) for finding in report.findings]
    assert all(re.fullmatch(words, sentence or "") for sentence in sentences)
    assert len(sentences) == 2
    assert report.cost.conditions == conditions


@pytest.mark.parametrize(
    "kinds",
    [("method", "edit"), pytest.param(KINDS, marks=pytest.mark.long)],
    ids=["two", "all"],
)
def test_generated_plugins_are_listed_once_installed(
    tmp_path: Path, kinds: Sequence[str]
) -> None:
    target, names = tmp_path / "site", {kind: f"my-own-{kind}" for kind in kinds}
    packages = [str(write(kind, name, tmp_path)) for kind, name in names.items()]
    done = run(
        *installer(), "--no-deps", "--target", str(target), *packages, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    code = f"import sys; sys.path.insert(0, {str(target)!r}); from cuescope.cli import main; main()"
    cuescope = (sys.executable, "-c", code, "plugins")
    # it imports all that is installed, so it is asked for once
    check = ("--check",) if kinds is KINDS else ()
    listed = run(*cuescope, *check, cwd=tmp_path).stdout
    # on a busy computer an import is slow, and a remark below the list says so
    rows = [line.split()[:3] for line in listed.splitlines()]
    for kind, name in names.items():
        # an edit is what an intervention brings
        listed_as = "intervention" if kind == "edit" else kind
        assert rows.count([listed_as, name, "0.1.0"]) == 1
        assert (target / f"cuescope_my_own_{kind}" / "py.typed").exists()
    described = run(*cuescope, "info", "my-own-method", cwd=tmp_path)
    assert "fdr" in described.stdout, described.stderr


def installer() -> tuple[str, ...]:
    """pip or uv, with the build backend that is here already; the test skips without them."""
    import shutil
    from importlib.util import find_spec

    pytest.importorskip(
        "hatchling", reason="needs `pip install hatchling`, the build backend"
    )
    if find_spec("pip"):
        return (
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-build-isolation",
        )
    if uv := shutil.which("uv"):
        return (
            uv,
            "pip",
            "install",
            "--quiet",
            "--no-build-isolation",
            "--python",
            sys.executable,
        )
    pytest.skip("needs pip or uv, to install a package")


# ------------------------------------------------------------------------------------------- names


def test_the_command_says_what_is_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["dev", "new", "tool", "eye", "--dir", str(tmp_path)])
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
def test_names_that_cannot_be_are_refused(
    kind: str, name: str, line: str, tmp_path: Path
) -> None:
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


def test_a_full_disk_leaves_no_half_of_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Path.write_text

    def full(path: Path, text: str, **words: str) -> int:
        if path.name.startswith("test_"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(path, text, **words)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(UserError, match="No space left on device"):
            write("tool", "eye", tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert write("tool", "eye", tmp_path).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["cuescope-eye"]


def test_the_help_names_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["dev", "new", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert f"One of {', '.join(KINDS_WRITTEN)}." in text


def test_a_name_that_is_installed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "cuescope_eye-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: cuescope-eye\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text("[cuescope.tools]\neye = cuescope_eye:Eye\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match="from cuescope-eye"):
        write("tool", "eye", tmp_path / "new")
    assert write("model", "eye", tmp_path / "new").exists()


def test_class_names_hide_nothing() -> None:
    assert class_name("method", "my-method") == "MyMethod"
    assert class_name("method", "image") == "ImageMethod"
    assert class_name("model", "none") == "NoneModel"
    assert names_of("dataset", "two-words")["module"] == "cuescope_two_words"


def test_a_form_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--hooks: expected a method, got a model"):
        write("model", "mine", tmp_path, "hooks")


@pytest.mark.parametrize("role", ["detector", "embedder", "verifier", "namer"])
def test_what_is_called_by_its_role_is_a_tool(role: str) -> None:
    with pytest.raises(UserError, match="is a tool: `cuescope dev new tool mine`"):
        names_of(role, "mine")


def test_the_range_keeps_to_the_same_words() -> None:
    assert sdk_range("0.1.0") == ">=0.1,<0.2"
    assert sdk_range("0.12.3") == ">=0.12,<0.13"
    assert sdk_range("2.4.1") == ">=2,<3"
