"""What holds the house up: small core, light imports, arrows that point one way, whole dists."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuescope.registry import GROUPS

ROOT = Path(__file__).parents[1]
PLUGINS = sorted(file.parent for file in ROOT.glob("plugins/*/*/pyproject.toml"))
DISTS = [ROOT / "core", ROOT / "sdk", *PLUGINS]
ROOMS = ("cuescope.cli", "cuescope.python", "cuescope.report")
DOORS = {
    "cuescope_sdk",
    *(
        f"cuescope_sdk.{door}"
        for door in (
            "commands",
            "data",
            "editing",
            "explain",
            "fusion",
            "grounding",
            "interventions",
            "language",
            "maths",
            "mitigation",
            "models",
            "report",
            "statistics",
            "stills",
            "testing",
            "tools",
            "torch",
            "workers",
        )
    ),
}
# The floor plan of a method: the files of its package, and what each may import of its own.
FLOOR_PLAN = {"__init__", "options", "trials", "scores", "report", "figures", "verify", "paper"}
FLOOR_PLAN |= {"bench"}
HEAVY = {"torch", "torchvision", "transformers", "diffusers", "open_clip", "faiss", "av"}
MACHINE = re.compile(
    r"(?<![\w.~}-])/(home|Users|root|work|mnt|scratch)/[\w.-]+"
    r"|\b(10(\.\d{1,3}){3}|192\.168(\.\d{1,3}){2})\b"
    r"|https?://[\w.-]+\.(internal|corp|local|lan)\b"
)


def name_of(dist: Path) -> str:
    return str(dist.relative_to(ROOT))


each_dist = pytest.mark.parametrize("dist", DISTS, ids=name_of)
each_plugin = pytest.mark.parametrize("dist", PLUGINS, ids=name_of)


def project(dist: Path) -> dict[str, Any]:
    metadata: dict[str, Any] = tomllib.loads((dist / "pyproject.toml").read_text())
    return metadata


def modules(dist: Path) -> list[Path]:
    """Python files of a dist, those of its scaffold's templates left out."""
    files = sorted((dist / "src").rglob("*.py"))
    return [file for file in files if "templates" not in file.parts]


def imports(file: Path) -> Iterator[str]:
    """The absolute names that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def top_level(dist: Path) -> set[str]:
    return {name.partition(".")[0] for file in modules(dist) for name in imports(file)}


def module_of(dist: Path) -> str:
    (package,) = [folder.name for folder in (dist / "src").iterdir() if folder.is_dir()]
    return package


# ------------------------------------------------------------------------------------- core


def test_the_engine_does_not_know_the_application() -> None:
    """Only the runner, which stores the page of a report, and the door of the package do."""
    for file in modules(ROOT / "core"):
        if file.name not in ("runner.py", "__init__.py") and not {"cli", "python", "report"} & set(
            file.parts
        ):
            names = {name for name in imports(file) if name.startswith("cuescope.")}
            assert not [n for n in names if n.startswith(ROOMS)], file


def test_core_names_nothing_heavy() -> None:
    assert not top_level(ROOT / "core") & HEAVY


def test_core_imports_nothing_heavy() -> None:
    package = ROOT / "core" / "src"
    names = [
        ".".join(file.relative_to(package).with_suffix("").parts).removesuffix(".__init__")
        for file in modules(ROOT / "core")
    ]
    program = f"import sys, importlib\nfor name in {names}: importlib.import_module(name)\n"
    done = subprocess.run(
        [sys.executable, "-c", program + "print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "cuescope" in loaded
    assert not loaded & (HEAVY | {"cuescope_sdk"})


# ----------------------------------------------------------------------------------- arrows


def test_core_imports_neither_sdk_nor_plugins() -> None:
    assert not {name for name in top_level(ROOT / "core") if name.startswith("cuescope_")}


def test_sdk_imports_no_plugin() -> None:
    ours = {name for name in top_level(ROOT / "sdk") if name.startswith("cuescope")}
    assert ours <= {"cuescope", "cuescope_sdk"}


@each_plugin
def test_a_plugin_imports_only_the_sdk(dist: Path) -> None:
    ours = {name for name in top_level(dist) if name.startswith("cuescope")}
    assert ours <= {module_of(dist), "cuescope_sdk"}


@each_plugin
def test_a_plugin_enters_the_sdk_by_its_doors(dist: Path) -> None:
    names = {
        name
        for file in [*modules(dist), *(dist / "tests").rglob("*.py")]
        for name in imports(file)
        if name.startswith("cuescope_sdk")
    }
    assert names <= DOORS


def module_name(dist: Path, file: Path) -> str:
    parts = file.relative_to(dist / "src").with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def runtime_imports(tree: ast.AST) -> Iterator[ast.ImportFrom | ast.Import]:
    """Imports that run as the module is imported: none in functions or under TYPE_CHECKING."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, (ast.ClassDef, ast.Try, ast.With)) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test)
        ):
            yield from runtime_imports(node)


def imported_modules(nodes: Iterator[ast.ImportFrom | ast.Import], known: set[str]) -> set[str]:
    """The modules of `known` that these statements name."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif node.module:
            # `from package import module` is an arrow to the module, not to the package
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            names |= {name if name in known else node.module for name in inner}
    return names & known


def import_graph(dist: Path, *, everything: bool) -> dict[str, set[str]]:
    """Module -> the modules of its own dist that it imports (at import time, or anywhere)."""
    files = {module_name(dist, file): file for file in modules(dist)}
    graph = {}
    for name, file in files.items():
        tree = ast.parse(file.read_text())
        nodes = ast.walk(tree) if everything else runtime_imports(tree)
        found = (n for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)))
        # A package's __init__ that gathers its own modules is no arrow back.
        graph[name] = imported_modules(found, set(files)) - {name}
    return graph


def cycle_in(graph: dict[str, set[str]]) -> list[str]:
    """Some cycle, [] where there is none."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph.get(name, ())):
            if cycle := visit(other, [*path, name]):
                return cycle
        done.add(name)
        return []

    return next((cycle for name in sorted(graph) if (cycle := visit(name, []))), [])


@pytest.mark.parametrize(
    ("graph", "cycle"),
    [
        ({"a": {"b"}, "b": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, ["b", "c", "b"]),
        ({"a": {"a"}}, ["a", "a"]),
    ],
)
def test_cycles_are_found(graph: dict[str, set[str]], cycle: list[str]) -> None:
    assert cycle_in(graph) == cycle


# A download goes on where it stopped, so its draft has one name; `salvage` sets a file aside.
RENAMING = {"whole_files.py", "salvage.py", "_download.py"}


def renames(file: Path) -> list[int]:
    """Lines on which a file is moved to another name: `path.replace(place)`."""
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    return [
        call.lineno
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("replace", "rename")
        and len(call.args) == 1
        and not call.keywords
    ]


@each_dist
def test_drafts_are_written_in_one_place(dist: Path) -> None:
    """Two writers of one draft would break each other's file: see `cuescope.whole_files`."""
    found = {file.name for file in modules(dist) if renames(file)}
    assert found <= RENAMING


@each_dist
def test_no_module_imports_in_a_circle(dist: Path) -> None:
    """Neither as it is imported, nor later in a function, nor for a type."""
    assert not cycle_in(import_graph(dist, everything=True))


@pytest.mark.parametrize(
    "dist", [dist for dist in PLUGINS if dist.parent.name == "methods"], ids=name_of
)
def test_a_method_has_the_floor_plan(dist: Path) -> None:
    """The same rooms in every method; a part with a name of its own in the paper is a package."""
    package = dist / "src" / module_of(dist)
    rooms = {file.stem for file in package.glob("*.py")}
    assert {"__init__", "options", "trials", "scores", "report", "verify"} <= rooms
    others = rooms - FLOOR_PLAN
    assert len(others) <= 4, f"more rooms than the plan has: {sorted(others)}"


@each_plugin
def test_a_plugin_needs_only_the_sdk(dist: Path) -> None:
    needed = project(dist)["project"]["dependencies"]
    ours = [need for need in needed if need.startswith("cuescope")]
    assert len(ours) == 1
    assert re.fullmatch(r"cuescope-sdk(\[[\w,-]+\])?[<>=~!].*", ours[0])


def heavy_after(modules: list[str]) -> list[str]:
    """The first module that loads something heavy when all are imported in turn, and what."""
    program = (
        "import importlib, sys\n"
        f"for name in {modules}:\n"
        "    importlib.import_module(name)\n"
        "    loaded = {one.partition('.')[0] for one in sys.modules}\n"
        f"    if heavy := sorted(loaded & {HEAVY}):\n"
        "        sys.exit(print(name, *heavy))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_entry_points_are_light() -> None:
    """An entry point's module, with all that it pulls in, imports nothing that costs seconds."""
    modules = []
    for dist in PLUGINS:
        for group, named in project(dist)["project"].get("entry-points", {}).items():
            assert group.startswith("cuescope.")
            modules += [target.partition(":")[0] for target in named.values()]
    assert len(modules) > len(PLUGINS)
    assert not heavy_after(modules)
    assert heavy_after(["json", "torch"])[:2] == ["torch", "torch"]


# ------------------------------------------------------------------------------------ dists


@each_dist
def test_a_dist_is_whole(dist: Path) -> None:
    assert len((dist / "README.md").read_text().splitlines()) >= 5
    assert "Apache License" in (dist / "LICENSE").read_text()
    assert list((dist / "tests").rglob("test_*.py"))
    metadata = project(dist)
    assert metadata["build-system"]["build-backend"] == "hatchling.build"
    assert metadata["project"]["license"] == "Apache-2.0"
    assert metadata["project"]["license-files"] == ["LICENSE"]
    assert metadata["project"]["readme"] == "README.md"
    assert module_of(dist) == metadata["project"]["name"].replace("-", "_")


@each_dist
def test_a_dists_own_tests_reach_no_further_than_its_dependencies(dist: Path) -> None:
    ours = {
        name.partition(".")[0]
        for file in (dist / "tests").rglob("*.py")
        for name in imports(file)
        if name.startswith("cuescope")
    }
    allowed = {"core": {"cuescope", "cuescope_fakes"}, "sdk": {"cuescope", "cuescope_sdk"}}
    group = project(dist).get("dependency-groups", {}).get("test", [])
    named = {re.split(r"[\[<>=~! ]", need)[0].replace("-", "_") for need in group}
    assert ours <= allowed.get(dist.name, {module_of(dist), "cuescope_sdk"} | named)


def test_hints_name_the_dists_that_there_are() -> None:
    """What `cuescope` suggests to install for a plugin that is not here (registry.find)."""
    table: dict[str, dict[str, str]] = {}
    for dist in PLUGINS:
        metadata = project(dist)["project"]
        for group, points in metadata.get("entry-points", {}).items():
            named = table.setdefault(GROUPS[group], {})
            named |= dict.fromkeys(points, metadata["name"])
    table["model"]["toy-clip"] += "[clip]"  # what they run on is an extra of their dist
    table["dataset"]["hf"] += "[hf]"
    stored = json.loads((ROOT / "core/src/cuescope/known_plugins.json").read_text())
    assert stored == table


@each_dist
def test_a_wheel_says_whose_it_is(dist: Path) -> None:
    metadata = project(dist)["project"]
    assert metadata["authors"]
    assert metadata["urls"]["Homepage"].startswith("https://")
    assert metadata["classifiers"]


# ---------------------------------------------------------------------------- tracked files


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("needs a git checkout")
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def test_no_lock_file_is_tracked(tracked: list[Path]) -> None:
    assert not [file for file in tracked if file.name in ("uv.lock", "poetry.lock")]
    assert "uv.lock" in (ROOT / ".gitignore").read_text().split()


def test_no_file_names_a_machine(tracked: list[Path]) -> None:
    """Home and work folders, private addresses, registry mirrors."""
    found = []
    for file in tracked:
        if file == Path(__file__) or b"\0" in (content := file.read_bytes()):
            continue
        found += [f"{name_of(file)}: {hit[0]}" for hit in MACHINE.finditer(content.decode())]
    assert not found


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("see /home/alice/data", True),
        ("'/mnt/.cache'", True),
        ("at 10.1.20.3:80", True),
        ("host 192.168.0.7", True),
        ("http://pypi.corp/simple", True),
        ("pillow>=10.4.1", False),
        ("./home/x", False),
        ("https://example.org/home/x", False),
        ("~/scratch/x", False),
    ],
)
def test_names_of_machines_are_recognised(text: str, named: bool) -> None:
    assert bool(MACHINE.search(text)) == named
