"""Nothing tells a person to fetch a package of ours by name: nobody has registered the names."""

import ast
import io
import json
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from cuescope import installing
from cuescope.cli import main
from cuescope.installing import (
    Source,
    how_to_install,
    is_own,
    local_arguments,
    own_dists,
    plan_installation,
    read_source,
    with_needs,
)
from cuescope.plugin_index import shipped_index
from cuescope_core.errors import UserError
from cuescope_core.remedies import how_to_get_anew

ROOT = Path(__file__).parents[1]
PROJECTS = [
    *ROOT.glob("core/*/pyproject.toml"),
    *(ROOT / part / "pyproject.toml" for part in ("sdk", "sdk-testing")),
    *sorted(ROOT.glob("plugins/*/*/pyproject.toml")),
]
WHEELS = Source(Path("/wheels"), "wheels")
CLONE = Source(ROOT, "clone", editable=True)


def project_of(file: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    return project


ALWAYS = {"cuescope-core", "cuescope", "cuescope-sdk"}  # what every plugin comes with
WHEELS_OF_ALL = ("cuescope", "cuescope_core", "cuescope_sdk")
OURS = {project_of(file)["name"]: file.parent for file in PROJECTS}
SDK = project_of(ROOT / "sdk" / "pyproject.toml")


# -------------------------------------------------------------------------- the table of our dists


def test_the_table_names_every_dist_and_its_folder() -> None:
    folders = {
        dist: folder.relative_to(ROOT).as_posix() for dist, folder in OURS.items()
    }
    assert own_dists() == folders, (
        "core/app/src/cuescope/own_dists.json is to be written anew"
    )


def test_the_table_names_what_a_dist_needs_beyond_core_and_sdk() -> None:
    needs: dict[str, list[str]] = {}
    for dist, folder in OURS.items():
        project = project_of(folder / "pyproject.toml")
        lists = {dist: project.get("dependencies", [])}
        for extra, lines in project.get("optional-dependencies", {}).items():
            lists[f"{dist}[{extra}]"] = lines
        for wanted, lines in lists.items():
            named = list(map(Requirement, lines))
            names = {need.name for need in named}
            for need in named:
                # an extra of the sdk may bring another of ours
                for extra in need.extras if need.name == "cuescope-sdk" else ():
                    brought = SDK["optional-dependencies"][extra]
                    names |= {Requirement(line).name for line in brought}
            beyond = sorted((names & OURS.keys()) - {dist, *ALWAYS})
            if beyond:
                needs[wanted] = beyond
    table = json.loads(files("cuescope").joinpath("own_dists.json").read_text("utf-8"))
    assert table["needs"] == needs


def test_the_table_names_what_brings_torch() -> None:
    brings = []
    for dist, folder in OURS.items():
        lines = project_of(folder / "pyproject.toml").get("dependencies", [])
        needed = list(map(Requirement, lines))
        if any(need.name == "torch" or "torch" in need.extras for need in needed):
            brings.append(dist)
    table = json.loads(files("cuescope").joinpath("own_dists.json").read_text("utf-8"))
    assert table["torch"] == sorted(brings)


@pytest.mark.usefixtures("from_clone")
@pytest.mark.parametrize(
    ("dist", "gpu", "answer", "from_pytorch"),
    [
        ("cuescope-start", False, None, True),
        ("cuescope-start", True, None, False),
        ("cuescope-start", True, "n", False),
        ("cuescope-start", True, "y", False),
        ("cuescope-logs", False, None, False),
    ],
)
def test_torch_is_the_build_for_this_computer(
    dist: str,
    gpu: bool,
    answer: str | None,
    from_pytorch: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A person is asked before CUDA is fetched, and a script never is."""
    ran: list[str] = []

    def run(command: list[str], **settings: Any) -> subprocess.CompletedProcess[str]:
        ran.extend(command)
        return subprocess.CompletedProcess(command, 0)

    stdin = io.StringIO(f"{answer}\n")
    stdin.isatty = lambda: answer is not None  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", stdin)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("cuescope.cli.plugins.subprocess.run", run)
    monkeypatch.setattr("cuescope.cli.plugins.find_spec", lambda name: name == "pip")
    monkeypatch.setattr("shutil.which", lambda name: name if gpu else None)
    with pytest.raises(SystemExit) as ended:
        main(["plugins", "install", dist])
    assert bool(ran) == (ended.value.code == 0) == (answer != "n")
    assert ("https://download.pytorch.org/whl/cpu" in ran) == from_pytorch


def test_what_is_suggested_for_a_plugin_of_ours_is_ours() -> None:
    listed = [
        plugin for plugin in shipped_index() if plugin.dist.startswith("cuescope")
    ]
    assert len(listed) > 100
    assert all(is_own(Requirement(plugin.dist).name) for plugin in listed)


# ------------------------------------------------------------------------------------ the texts

INSTALLS = re.compile(
    r"\b(?:pip3?|uv|pipx|conda)\s+(?:pip\s+|tool\s+)?(?:install|add|download)\b(.*)"
)
NAMES_A_TOOL = re.compile(r"\b(?:pip3?|uv|pipx|conda)\b")  # parsing all takes 15 s
# where a command ends in a line of prose or shell
ENDS = re.compile(r"`|;|&&|\|| # |\n")
TAKE_A_VALUE = {"--python", "-c", "-r", "--target", "--index-url"}
HOLE = "{}"  # what an f-string fills in


def faults(text: str) -> Iterator[str]:
    """What in a text makes an installer ask an index for a package of ours."""
    for command in INSTALLS.findall(text.replace("\\\n", " ")):
        words = ENDS.split(command)[0].split()
        words = [word.strip("'\"().,") for word in words]
        if "--find-links" in words and "--no-index" not in words:
            yield f"--find-links beside an index: {command}"
        yield from faults_of_words(words, command)


def faults_of_words(words: list[str], command: str) -> Iterator[str]:
    is_path = is_value = False
    paths = []
    for word in words:
        if is_value or word in TAKE_A_VALUE:
            is_value = not is_value
        elif is_path or "/" in word or word.endswith(".whl"):
            paths.append(word)
            is_path = False
        elif word in ("-e", "--editable"):
            is_path = True
        elif word == HOLE:
            yield f"composed outside of cuescope.installing: {command}"
        elif re.split(r"[\[<>=~!@]", word)[0].lower().replace("_", "-") in OURS:
            yield f"{word} from an index: {command}"
    if lacking := lacking_paths(paths):
        yield f"{' and '.join(sorted(lacking))} from an index, by need: {command}"


def lacking_paths(paths: list[str]) -> set[str]:
    """What the packages of these paths need and is not among them, of what comes with all."""
    wheels = [path.rpartition("/")[2] for path in paths if path.endswith(".whl")]
    names = {wheel.partition("-")[0].replace("_", "-") for wheel in wheels}
    given = (names & OURS.keys()) | {
        dist for dist in OURS if any(path.endswith(own_dists()[dist]) for path in paths)
    }
    return with_needs(given).keys() & ALWAYS - given


def texts_of(file: Path) -> Iterator[str]:
    """Of Python its strings, lists of words and comments; of anything else all that it says."""
    source = file.read_text(encoding="utf-8")
    if not NAMES_A_TOOL.search(source):
        return
    if file.suffix == ".ipynb":
        yield from ("".join(cell["source"]) for cell in json.loads(source)["cells"])
    elif file.suffix == ".py":
        yield from texts_in(ast.parse(source))
        with file.open("rb") as lines:
            tokens = list(tokenize.tokenize(lines.readline))
        yield from (token.string for token in tokens if token.type == tokenize.COMMENT)
    else:
        yield source


def texts_in(tree: ast.AST) -> Iterator[str]:
    # parts of f-strings and of lists, which are read whole
    within: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            within.update(node.values)
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else HOLE
                for part in node.values
            )
        elif isinstance(node, (ast.List, ast.Tuple)):
            words = [part for part in node.elts if isinstance(part, ast.Constant)]
            within.update(words)
            yield from (str(word.value) for word in words)
            yield " ".join(str(word.value) for word in words)
        elif isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant):
            within.add(node.left)
            yield f"{node.left.value}{HOLE}"
        elif isinstance(node, ast.Constant) and node not in within:
            yield str(node.value)


def readable_files() -> list[Path]:
    """Everything that a person reads or runs, but this file and the room that may say it."""
    folders = (
        "core",
        "sdk",
        "plugins",
        "docs",
        "tests",
        "benchmarks",
        ".ci",
        ".github",
    )
    suffixes = {
        ".py",
        ".md",
        ".toml",
        ".ipynb",
        ".template",
        ".jinja",
        ".yaml",
        ".yml",
        ".js",
    }
    below = [file for folder in folders for file in (ROOT / folder).rglob("*")]
    found = {file for file in below if file.suffix in suffixes and file.is_file()}
    found |= {*ROOT.glob("*.md"), ROOT / "Makefile", ROOT / ".ci" / "run"}
    exempt = {Path(__file__), ROOT / "core/app/src/cuescope/installing.py"}
    # what the texts will say once the names are ours (`make registered`)
    exempt.add(ROOT / ".ci/release/registered.toml")
    return sorted(
        file for file in found - exempt if ".venv" not in file.parts and file.is_file()
    )


def test_every_kind_of_text_is_read() -> None:
    names = {file.relative_to(ROOT).as_posix() for file in readable_files()}
    assert names > {
        "Makefile",
        "README.md",
        "docs/install.md",
        "docs/notebooks/trove.ipynb",
        "plugins/methods/trove/README.md",
        "core/engine/src/cuescope_core/registry.py",
        "sdk/src/cuescope_sdk/choosing/words.toml",
        "plugins/commands/standard/src/cuescope_commands/scaffold/templates/common/README.md.template",
        ".ci/release/proving.py",
    }


@pytest.mark.skipif(installing.REGISTERED, reason="the names are ours on the index")
def test_no_text_installs_one_of_our_packages_by_name() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {fault}"
        for file in readable_files()
        for text in texts_of(file)
        for fault in faults(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        *(f"    pip install {dist}" for dist in OURS),
        "remedy: `pip install 'cuescope-folder[hf]'` brings it",
        "pip install numpy Cuescope_Trove==0.1",
        "pip install numpy \\\n    cuescope-trove",
        "uv pip install --python .venv/bin/python cuescope",
        "uv add cuescope-sdk",
        "uv tool install cuescope",
        "pip install --find-links dist scipy",
        "pip install CLONE/dist/cuescope_trove-*.whl",
        "pip install CLONE/dist/cuescope-*.whl CLONE/dist/cuescope_trove-*.whl",
        "pip install CLONE/dist/cuescope-*.whl CLONE/dist/cuescope_sdk-*.whl",
        "pip install -e CLONE/plugins/methods/trove",
    ],
)
def test_a_bad_line_is_caught(text: str) -> None:
    assert list(faults(text))


@pytest.mark.parametrize(
    "text",
    [
        "pip install pandas",
        "pip uninstall cuescope-trove",
        "cuescope plugins install cuescope-trove",
        f"pip install {' '.join(f'CLONE/dist/{d}-*.whl' for d in WHEELS_OF_ALL)}",
        "pip install CLONE/dist/cuescope_core-*.whl CLONE/dist/cuescope_sdk-*.whl",
        "pip install -e CLONE/core/engine -e CLONE/core/app -e CLONE/sdk "
        "-e CLONE/plugins/methods/trove",
        "pip install -e 'cuescope-halves[testing]'",
        "`pip install scipy`, which cuescope-trove needs",
        "pip install --no-index --find-links dist scipy",
    ],
)
def test_a_good_line_is_let_pass(text: str) -> None:
    assert not list(faults(text))


@pytest.mark.parametrize(
    "source",
    [
        'remedy = f"pip install {dist}"',
        'remedy = "pip install " + dist',
        'remedy = "install it: " "pip install " "cuescope-trove"',
        'run([python, "-m", "pip", "install", "cuescope-trove"])',
        'run("uv", ("pip", "install", "--find-links", "dist", name))',
        '"""Run `pip install cuescope-trove` first."""',
    ],
)
def test_a_bad_line_is_caught_in_python(source: str) -> None:
    assert [fault for text in texts_in(ast.parse(source)) for fault in faults(text)]


# ----------------------------------------------------------------------- where cuescope came from


def test_the_source_is_read_from_what_the_installer_wrote(tmp_path: Path) -> None:
    clone = (ROOT / "core/app").as_uri()
    editable = json.dumps({"url": clone, "dir_info": {"editable": True}})
    assert read_source(editable) == CLONE
    assert read_source(json.dumps({"url": clone, "dir_info": {}})) == Source(
        ROOT, "clone"
    )
    wheel = (tmp_path / "a folder" / "cuescope-0.1.0-py3-none-any.whl").as_uri()
    from_wheel = json.dumps({"url": wheel, "archive_info": {}})
    assert read_source(from_wheel) == Source(tmp_path / "a folder", "wheels")


@pytest.mark.parametrize(
    "direct_url",
    [
        None,
        json.dumps(
            {"url": "https://example.org/cuescope.git", "vcs_info": {"vcs": "git"}}
        ),
        json.dumps({"url": "file:///nowhere/core/app", "dir_info": {"editable": True}}),
    ],
)
def test_a_source_that_holds_nothing_else_is_none(direct_url: str | None) -> None:
    assert read_source(direct_url) is None


def test_what_a_dist_needs_is_named_with_it_before_it() -> None:
    assert list(with_needs(["cuescope[notebook]"])) == ["cuescope-core", "cuescope"]
    assert list(with_needs(["Cuescope_Trove"])) == [
        "cuescope-core",
        "cuescope",
        "cuescope-sdk",
        "cuescope-trove",
    ]
    of_toy = with_needs(["cuescope-toy[clip]", "cuescope-open-clip"])
    assert list(of_toy) == [
        "cuescope-core",
        "cuescope",
        "cuescope-sdk",
        "cuescope-open-clip",
        "cuescope-toy",
    ]
    assert of_toy["cuescope-toy"] == {"clip"}


def test_a_clone_gives_its_folders() -> None:
    arguments = local_arguments(with_needs(["cuescope-folder[s3,hf]"]), CLONE)
    folders = ["core/engine", "core/app", "sdk", "plugins/datasets/folder[hf,s3]"]
    assert arguments == [
        word for folder in folders for word in ("-e", f"{ROOT}/{folder}")
    ]


def test_a_wheel_that_is_gone_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"cuescope-trove is not in .*`make wheels` in a clone"
    ):
        Source(tmp_path, "wheels").path_of("cuescope-trove")


# ----------------------------------------------------------------------- `cuescope plugins install`


@pytest.fixture
def from_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "find_source", lambda: CLONE)


@pytest.fixture
def from_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "find_source", lambda: None)


@pytest.mark.usefixtures("from_clone")
def test_ours_come_from_the_clone_and_others_as_they_are_named() -> None:
    others = [
        "pandas>=2",
        "./cuescope-trove",
        "cuescope-trove @ https://example.org/x.whl",
    ]
    planned = plan_installation(["cuescope-trove", *others])
    assert planned.arguments[-3:] == others
    assert f"{ROOT}/plugins/methods/trove" in planned.arguments
    constrained = {re.split("[=<]", line)[0] for line in planned.constraints}
    assert constrained == OURS.keys() - {*ALWAYS, "cuescope-trove"}


def test_a_strangers_package_brings_none_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(dist: str) -> str:
        if dist in ALWAYS:
            return "0.1.0"
        raise PackageNotFoundError(dist)

    monkeypatch.setattr(installing, "version", version)
    planned = plan_installation(["stranger"])
    assert planned.arguments == ["stranger"]
    assert {"cuescope-sdk==0.1.0", "cuescope-trove<0"} < set(planned.constraints)
    assert len(planned.constraints) == len(OURS)


@pytest.mark.usefixtures("from_clone")
def test_a_version_of_ours_is_refused() -> None:
    with pytest.raises(
        UserError, match=r"expected the name alone, got cuescope-trove==99"
    ):
        plan_installation(["cuescope-trove==99"])


@pytest.mark.usefixtures("from_nowhere")
def test_the_command_refuses_ours_where_nobody_knows_where_from(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*command: Any, **settings: Any) -> None:
        raise AssertionError(command)

    monkeypatch.setattr("cuescope.cli.plugins.subprocess.run", run)
    with pytest.raises(SystemExit) as ended:
        main(["plugins", "install", "cuescope-trove"])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "cuescope-trove is not on the package index" in error
    assert (
        "`make wheels` in a clone, then `pip install CLONE/dist/cuescope_core-*.whl"
        in error
    )


def stub_wheel(
    folder: Path, dist: str, version: str, needs: tuple[str, ...] = ()
) -> None:
    module = dist.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {dist}", f"Version: {version}"]
    lines += [f"Requires-Dist: {need}" for need in needs]
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def installed(tmp_path: Path) -> Any:
    """Versions after `uv pip install WORDS`, with a squatter's 99.0 of each name on the index."""
    uv = shutil.which("uv") or shutil.which(ROOT / ".uv" / "bin" / "uv")
    if uv is None:
        pytest.skip("needs uv: `make .uv/bin/uv`")
    stub_wheel(tmp_path / "dist", "cuescope-core", "0.1")
    for dist in ("cuescope", "cuescope-sdk"):
        stub_wheel(tmp_path / "dist", dist, "0.1", ("cuescope-core",))
    stub_wheel(tmp_path / "dist", "cuescope-trove", "0.1", ("cuescope-sdk",))
    for dist in (*ALWAYS, "cuescope-trove"):
        stub_wheel(tmp_path / "index", dist, "99.0")

    def install(*words: str) -> dict[str, str]:
        target = tmp_path / "target"
        index = ("--no-index", "--find-links", str(tmp_path / "index"))
        where = ("--target", str(target), "--python", sys.executable, "--no-cache")
        command = [uv, "pip", "install", "--quiet", *where, *index, *words]
        subprocess.run(command, check=True, capture_output=True, text=True)
        infos = [
            folder.name.removesuffix(".dist-info")
            for folder in target.glob("*.dist-info")
        ]
        return dict(info.split("-") for info in infos)

    return install


def test_a_squatter_is_not_installed(installed: Any, tmp_path: Path) -> None:
    source = Source(tmp_path / "dist", "wheels")
    arguments = local_arguments(with_needs(["cuescope-trove"]), source)
    names = ("cuescope_core", "cuescope", "cuescope_sdk", "cuescope_trove")
    assert installed(*arguments) == dict.fromkeys(names, "0.1")


def test_a_squatter_is_installed_by_name(installed: Any) -> None:
    """Else the test above would show nothing."""
    assert installed("cuescope-trove") == {"cuescope_trove": "99.0"}


# ------------------------------------------------------------------------- what a person is told


@pytest.mark.usefixtures("from_clone")
def test_a_remedy_says_where_a_package_comes_from() -> None:
    remedy = how_to_install("cuescope-toy[clip]")
    assert (
        remedy
        == "`cuescope plugins install 'cuescope-toy[clip]'` brings it from this clone"
    )


def test_a_remedy_of_wheels_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "find_source", lambda: WHEELS)
    assert how_to_install("cuescope-cci").endswith(
        "from the wheels that cuescope came from"
    )


@pytest.mark.usefixtures("from_nowhere")
@pytest.mark.parametrize("dist", OURS)
def test_a_remedy_names_no_package_of_ours_for_an_index(dist: str) -> None:
    assert not list(faults(how_to_install(dist)))


def test_once_the_names_are_registered_pip_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(installing, "REGISTERED", True)
    assert how_to_install("cuescope-trove") == "`pip install cuescope-trove` brings it"
    planned = plan_installation(["cuescope-trove==1.0"])
    assert planned.arguments == ["cuescope-trove==1.0"]
    assert planned.constraints == []


def test_a_strangers_package_is_told_as_such() -> None:
    told = how_to_install("their-plugin")
    assert told == "`pip install their-plugin` brings it, which is not of this project"
    assert "pip" not in how_to_get_anew("their-plugin")
