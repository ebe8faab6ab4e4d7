"""What holds the house up: small core, light imports, arrows that point one way, whole dists."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cuescope.installing import is_own
from cuescope.plugin_index import shipped_index
from cuescope_core.registry import GROUPS

ROOT = Path(__file__).parents[1]
PLUGINS = sorted(file.parent for file in ROOT.glob("plugins/*/*/pyproject.toml"))
ENGINE_DIST, APPLICATION_DIST = ROOT / "core/engine", ROOT / "core/app"
DISTS = [
    ENGINE_DIST,
    APPLICATION_DIST,
    ROOT / "sdk",
    ROOT / "sdk-testing",
    *PLUGINS,
]
# The application imports the engine, and not the other way.
ENGINE = "cuescope_core"
APPLICATION = "cuescope"
# what has no place in the engine: screens, pages, addresses
OF_THE_APPLICATION = {"typer", "click", "rich", "jinja2", "httpx", "pip"}
APPLICATION_DOOR = "cuescope.application"
DOORS = {
    "cuescope_sdk",
    *(
        f"cuescope_sdk.{door}"
        for door in (
            "association",
            "choosing",
            "cues",
            "data",
            "editing",
            "explain",
            "exporting",
            "fusion",
            "grounding",
            "interventions",
            "language",
            "locating",
            "logs",
            "maths",
            "mitigation",
            "models",
            "report",
            "statistics",
            "stills",
            "testing",
            "tools",
            "torch",
            "tracking",
            "workers",
        )
    ),
}
# The floor plan of a method: the files of its package, and what each may import of its own.
FLOOR_PLAN = {
    "__init__",
    "options",
    "trials",
    "scores",
    "report",
    "figures",
    "verify",
    "paper",
}
FLOOR_PLAN |= {"analysis", "bench", "command"}
HEAVY = {
    "torch",
    "torchvision",
    "transformers",
    "diffusers",
    "open_clip",
    "faiss",
    "av",
}
MACHINE = re.compile(
    r"(?<![\w.~}-])/(home|Users|root|work|mnt|scratch)/[\w.-]+"
    r"|\b(10(\.\d{1,3}){3}|192\.168(\.\d{1,3}){2})\b"
    r"|https?://[\w.-]+\.(internal|corp|local|lan)\b"
    # and what a merge leaves
    r"|^<{7} .*|^>{7} .*",
    re.MULTILINE,
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


@cache
def tree_of(file: Path) -> ast.Module:
    """A file as it is parsed; most tests here look at all of them."""
    return ast.parse(file.read_text(), str(file))


# kept for each node that is asked about: functions are looked at by several rules
@cache
def nodes_in(tree: ast.AST) -> list[ast.AST]:
    """A node and all below it."""
    return list(ast.walk(tree))


def imports(file: Path) -> Iterator[str]:
    """The absolute names that a file imports, anywhere in it."""
    for node in nodes_in(tree_of(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def top_level(dist: Path) -> set[str]:
    return {name.partition(".")[0] for file in modules(dist) for name in imports(file)}


def module_of(dist: Path) -> str:
    package, *_ = sorted(
        folder.name for folder in (dist / "src").iterdir() if folder.is_dir()
    )
    return package


# ------------------------------------------------------------------------------------- core


@pytest.mark.parametrize("file", modules(ENGINE_DIST), ids=name_of)
def test_the_engine_does_not_know_the_application(file: Path) -> None:
    """Not in any file of it, be it in a function or for a type."""
    tops = {name.partition(".")[0] for name in imports(file)}
    assert not tops & {APPLICATION, "cuescope_sdk", *OF_THE_APPLICATION}


def test_the_engine_runs_without_the_application() -> None:
    names = [
        module_name(ENGINE_DIST, file)
        for file in modules(ENGINE_DIST)
        if file.stem != "__main__"
    ]
    program = (
        f"import sys, importlib\nfor name in {names}: importlib.import_module(name)\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert ENGINE in loaded
    assert not loaded & {APPLICATION, *OF_THE_APPLICATION}


def test_the_sdk_does_not_know_the_application() -> None:
    """No file of it imports a command line, a terminal, a page or a runner."""
    for file in modules(ROOT / "sdk"):
        tops = {name.partition(".")[0] for name in imports(file)}
        assert not tops & {APPLICATION, "typer", "rich"}, file


def test_core_names_nothing_heavy() -> None:
    assert not (top_level(ENGINE_DIST) | top_level(APPLICATION_DIST)) & HEAVY


def test_core_imports_nothing_heavy() -> None:
    names = [
        module_name(dist, file)
        for dist in (ENGINE_DIST, APPLICATION_DIST)
        for file in modules(dist)
    ]
    program = (
        f"import sys, importlib\nfor name in {names}: importlib.import_module(name)\n"
    )
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
    named = top_level(ENGINE_DIST) | top_level(APPLICATION_DIST)
    ours = {name for name in named if name.startswith("cuescope")}
    assert ours <= {APPLICATION, ENGINE}


def test_sdk_imports_no_plugin() -> None:
    ours = {name for name in top_level(ROOT / "sdk") if name.startswith("cuescope")}
    assert ours <= {ENGINE, "cuescope_sdk"}


def runs_audits(dist: Path) -> bool:
    """Whether a dist brings a command or a bench: these stand above the application."""
    groups = project(dist)["project"].get("entry-points", {})
    return bool({"cuescope.commands", "cuescope.benches"} & groups.keys())


def needs_of(dist: Path) -> list[str]:
    """What a dist brings of this project: one line each, as pip takes it."""
    needed = project(dist)["project"]["dependencies"]
    return [need for need in needed if need.startswith("cuescope")]


def test_the_engine_brings_nothing_of_the_application() -> None:
    """Nor pyarrow, which is as large as all the rest and writes the files of runs."""
    needed = project(ENGINE_DIST)["project"]["dependencies"]
    names = {re.split(r"[\[<>=~! ]", need)[0].replace("-", "_") for need in needed}
    assert not names & {APPLICATION, "pyarrow", *OF_THE_APPLICATION}
    for dist in (ROOT / "sdk", ROOT / "sdk-testing"):
        assert not [need for need in needs_of(dist) if need.startswith("cuescope>")]


@each_plugin
def test_a_plugin_imports_only_the_sdk(dist: Path) -> None:
    """One that runs audits may also enter the application by its door, and the contract suites."""
    ours = {
        name
        for file in modules(dist)
        for name in imports(file)
        if name.startswith("cuescope")
    }
    beside_sdk = {name for name in ours if name.partition(".")[0] != "cuescope_sdk"}
    others = {name for name in beside_sdk if name.partition(".")[0] != module_of(dist)}
    above = {APPLICATION_DOOR, "cuescope_testing"}
    assert others <= (above if runs_audits(dist) else set())


@each_plugin
def test_a_plugin_is_entered_by_no_command_but_its_own(dist: Path) -> None:
    """What answers, finds or measures does not know the command that starts it."""
    package = module_of(dist)
    for file in modules(dist):
        name = module_name(dist, file)
        if not name.startswith(f"{package}.command"):
            assert not [
                n for n in imports(file) if n.startswith(f"{package}.command")
            ], file


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


def imported_modules(
    nodes: Iterator[ast.ImportFrom | ast.Import], known: set[str]
) -> set[str]:
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
        tree = tree_of(file)
        nodes = iter(nodes_in(tree)) if everything else runtime_imports(tree)
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


# A download goes on where it stopped, so its draft has one name; a new package is a whole folder.
RENAMING = {"atomic_files.py", "_download.py", "package.py"}


def renames(file: Path) -> list[int]:
    """Lines on which a file is moved to another name: `path.replace(place)`."""
    calls = [node for node in nodes_in(tree_of(file)) if isinstance(node, ast.Call)]
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
    """Two writers of one draft would break each other's file: see `cuescope_core.atomic_files`."""
    found = {file.name for file in modules(dist) if renames(file)}
    assert found <= RENAMING


def test_videos_are_opened_in_one_place() -> None:
    """ffmpeg opens other files, addresses and bombs for whoever does not forbid it."""
    found = {
        file.name
        for dist in DISTS
        for file in modules(dist)
        for call in nodes_in(tree_of(file))
        if isinstance(call, ast.Call)
        # those that write name the mode
        and ast.unparse(call.func) == "av.open"
        and not any(ast.unparse(word) == "'w'" for word in call.args)
    }
    assert found == {"video.py"}


@each_dist
def test_no_module_imports_in_a_circle(dist: Path) -> None:
    """Neither as it is imported, nor later in a function, nor for a type."""
    assert not cycle_in(import_graph(dist, everything=True))


@pytest.mark.parametrize(
    "dist", [dist for dist in PLUGINS if dist.parent.name == "methods"], ids=name_of
)
def test_a_method_has_the_floor_plan(dist: Path) -> None:
    """The same rooms in every method; a part with a name of its own in the paper is a package.

    A method whose hooks are given (`CandidateMethod`) has candidates alone.
    """
    package = dist / "src" / module_of(dist)
    if not any("@hookimpl" in file.read_text() for file in package.rglob("*.py")):
        return
    rooms = {file.stem for file in package.glob("*.py")}
    assert {"__init__", "options", "trials", "scores", "report", "verify"} <= rooms
    others = rooms - FLOOR_PLAN
    assert len(others) <= 4, f"more rooms than the plan has: {sorted(others)}"


def is_bundle(dist: Path) -> bool:
    return dist.parent.name == "bundles"


@pytest.mark.parametrize("dist", [*filter(is_bundle, PLUGINS)], ids=name_of)
def test_a_bundle_has_no_code(dist: Path) -> None:
    """It alone may need plugins, since it has nothing that could import them."""
    [file] = modules(dist)
    [docstring] = ast.parse(file.read_text()).body
    assert isinstance(docstring, ast.Expr)


@each_plugin
def test_a_plugin_needs_the_sdk_and_the_application_where_it_enters_it(
    dist: Path,
) -> None:
    if is_bundle(dist):
        return
    *others, sdk = needs_of(dist)
    assert re.fullmatch(r"cuescope-sdk(\[[\w,-]+\])?[<>=~!].*", sdk)
    assert [re.sub("[<>=~!].*", "", need) for need in others] == (
        [APPLICATION] if APPLICATION in top_level(dist) else []
    )


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
    assert heavy_after(["json", "av"])[:2] == ["av", "av"]


# ---------------------------------------------------------------------- one room of statistics

STATISTICS = "cuescope_sdk.statistics"
FIGURE = re.compile(r"(p_values?|intervals?|auroc|power)$")
RESAMPLED = re.compile(r"bootstrap|resampl|[pq]_values?$|intervals?$")
QUANTILES = {"quantile", "percentile", "nanquantile", "nanpercentile"}
DRAWS = {"permutation", "permuted", "shuffle", "choice", "integers", "multinomial"}
AUROCS = ("roc_auc_score", "roc_curve")
# Quantiles that are no ends of an interval, by file and function, and what they are instead.
QUANTILES_OF_OTHERS = {
    "quality.py:calibrate": "a filter's limits: clean composites that it drops",
    "appearance.py:_match_quantiles": "the levels of a channel of one image",
    "_conditions.py:_quality_beside": "the range of brightness of one image",
    "hide.py:answer": "the share of a frame that a remedy hides at most",
    "hide.py:fit": "a remedy's threshold: frames that it spares",
    "depth.py:is_nearer": "the range of depths of one image",
}


def of_product() -> list[Path]:
    """The files of core, sdk and plugins, but for the room of statistics itself."""
    room = ROOT / "sdk/src/cuescope_sdk/statistics"
    return [
        file for dist in DISTS for file in modules(dist) if room not in file.parents
    ]


def names_of_room(tree: ast.AST) -> set[str]:
    """What a file imports from the room."""
    imports = [node for node in nodes_in(tree) if isinstance(node, ast.ImportFrom)]
    of_room = [node for node in imports if (node.module or "").startswith(STATISTICS)]
    return {alias.asname or alias.name for node in of_room for alias in node.names}


def calls_in(tree: ast.AST) -> list[ast.Call]:
    return [node for node in nodes_in(tree) if isinstance(node, ast.Call)]


def other_statistics(tree: ast.AST) -> Iterator[str]:
    """Tests, distributions and AUROC of other libraries."""
    for node in nodes_in(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("scipy.stats") or name.endswith(AUROCS):
                yield f"imports {name}"


def quantiles(function: ast.FunctionDef, file: str) -> Iterator[str]:
    for call in calls_in(function):
        name = ast.unparse(call.func).rpartition(".")[2]
        if name in QUANTILES and f"{file}:{function.name}" not in QUANTILES_OF_OTHERS:
            yield f"takes a {name}"


def resampling(function: ast.FunctionDef) -> Iterator[str]:
    """Draws anew, in a function that speaks of p-values, intervals or a bootstrap."""
    variables = {node.id for node in nodes_in(function) if isinstance(node, ast.Name)}
    figures = {name for name in variables | {function.name} if RESAMPLED.search(name)}
    for call in calls_in(function):
        target = call.func
        if (
            not figures
            or not isinstance(target, ast.Attribute)
            or target.attr not in DRAWS
        ):
            continue
        # Which of several samples are taken at all is a choice, and no resampling.
        if "replace=False" not in ast.unparse(call):
            yield f"draws by {ast.unparse(target)} for {min(figures)}"


def own_figures(function: ast.FunctionDef, room: set[str]) -> Iterator[str]:
    """A function that is named after a figure of the room, and calls nothing of the room."""
    called = {ast.unparse(call.func) for call in calls_in(function)}
    # a method of the room's classes, or a function of the file, which is asked the same
    figures = {name for name in called if FIGURE.search(name)}
    # What returns text writes a figure, and what calls nothing looks it up.
    writes = function.returns is not None and "str" in ast.unparse(function.returns)
    computes = called and not writes and not figures and not called & room
    if FIGURE.search(function.name) and computes:
        yield "computes what it is named after"


def own_statistics(tree: ast.Module, file: str) -> list[str]:
    """All that a file has of statistics outside of the room."""
    room = names_of_room(tree)
    offences = [f"{file}: {words}" for words in other_statistics(tree)]
    functions = [node for node in nodes_in(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        of_function = [*quantiles(function, file), *resampling(function)]
        of_function += own_figures(function, room)
        offences += [f"{file}:{function.name}: {words}" for words in of_function]
    return offences


def test_statistics_live_in_one_room() -> None:
    """A new test of significance outside of `cuescope_sdk.statistics` is a defect (rule 21)."""
    offences = [
        offence
        for file in of_product()
        for offence in own_statistics(tree_of(file), file.name)
    ]
    assert not offences


def test_what_is_excepted_from_the_room_is_there() -> None:
    """An exception whose function is gone would hide the next one of its name."""
    functions = {
        f"{file.name}:{node.name}"
        for file in of_product()
        for node in nodes_in(tree_of(file))
        if isinstance(node, ast.FunctionDef)
    }
    assert set(QUANTILES_OF_OTHERS) <= functions


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("from scipy import stats", "imports scipy.stats"),
        ("import scipy.stats", "imports scipy.stats"),
        ("from scipy.stats import norm", "imports scipy.stats.norm"),
        ("def f():\n    from sklearn.metrics import roc_auc_score", "roc_auc_score"),
        (
            "def ends(draws):\n    return np.quantile(draws, (0.05, 0.95))",
            "takes a quantile",
        ),
        (
            "def ends(draws):\n    return np.nanpercentile(draws, 5)",
            "takes a nanpercentile",
        ),
        (
            "def f(rng):\n    p_value = mean(rng.permutation(9) > 3)",
            "rng.permutation for p_value",
        ),
        (
            "def f(rng, x):\n    interval = ends(rng.choice(x, 9, replace=True))",
            "rng.choice for interval",
        ),
        (
            "def bootstrap(rng, x):\n    return x[rng.integers(9, size=9)]",
            "rng.integers for boot",
        ),
        (
            "def change_p_value(x):\n    return mean(x > 0)",
            "computes what it is named after",
        ),
        ("def auroc(x):\n    return rank(x)", "computes what it is named after"),
    ],
)
def test_statistics_outside_of_the_room_are_found(source: str, words: str) -> None:
    [offence, *_] = own_statistics(ast.parse(source), "bad.py")
    assert words in offence


@pytest.mark.parametrize(
    "source",
    [
        "from scipy import ndimage",
        "from cuescope_sdk.statistics import auroc\ndef own_auroc(x):\n    return auroc(x)",
        "def chosen(rng, x, interval):\n    return rng.choice(x, 9, replace=False)",
        "def order(rng, x):\n    return rng.permutation(x)",
        "def interval(low, high) -> str:\n    return f'{low:.2f} to {high:.2f}'",
        "def p_value(self):\n    return self.test.p_value",
        "def swap_p_value(swaps):\n    return swaps.p_value(table(swaps))",
    ],
)
def test_what_is_no_statistics_is_let_be(source: str) -> None:
    assert not own_statistics(ast.parse(source), "good.py")


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
    allowed = {
        "engine": {APPLICATION, ENGINE, "cuescope_fakes"},
        "app": {APPLICATION, ENGINE, "cuescope_fakes"},
        "sdk": {APPLICATION, ENGINE, "cuescope_sdk", "cuescope_testing"},
        "sdk-testing": {APPLICATION, ENGINE, "cuescope_sdk", "cuescope_testing"},
    }
    group = project(dist).get("dependency-groups", {}).get("test", [])
    named = {re.split(r"[\[<>=~! ]", need)[0].replace("-", "_") for need in group}
    if runs_audits(dist):
        named |= {APPLICATION, ENGINE}
    # the extra brings the contract suites
    if any(need.startswith("cuescope-sdk[testing]") for need in group):
        named.add("cuescope_testing")
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
    listed: dict[str, dict[str, str]] = {}
    for plugin in shipped_index():
        if is_own(plugin.dist.partition("[")[0]):
            listed.setdefault(plugin.kind, {})[plugin.name] = plugin.dist
    assert listed == table, "core/app/src/cuescope/plugins.csv is to be written anew"


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
    return [
        ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()
    ]


def test_no_lock_file_is_tracked(tracked: list[Path]) -> None:
    assert not [file for file in tracked if file.name in ("uv.lock", "poetry.lock")]
    assert "uv.lock" in (ROOT / ".gitignore").read_text().split()


def test_no_file_names_a_machine(tracked: list[Path]) -> None:
    """Home and work folders, private addresses, registry mirrors."""
    found = []
    for file in tracked:
        if file == Path(__file__) or b"\0" in (content := file.read_bytes()):
            continue
        found += [
            f"{name_of(file)}: {hit[0]}" for hit in MACHINE.finditer(content.decode())
        ]
    assert not found


# a bracket that the formatter opened for a comment behind a long line
TAIL = re.compile(r"^ *[)\]}]:?  # (?!type:|noqa|fmt:)", re.MULTILINE)


def test_no_comment_stands_behind_a_closing_bracket(tracked: list[Path]) -> None:
    """It goes above what it is about, which then fits on its line."""
    found = []
    for file in tracked:
        if file.suffix == ".py" and file != Path(__file__):
            found += [
                f"{name_of(file)}: {hit[0]}" for hit in TAIL.finditer(file.read_text())
            ]
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
