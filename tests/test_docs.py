"""What the pages say is so: examples print what is shown, commands and their options exist."""

import ast
import importlib.util
import io
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import typer.main
import yaml
from typer import TyperException

from cuescope.cli import DEBUG, LOG_JSON, app, main
from cuescope.cli.bench import free_options
from cuescope.cli.external import DEVELOPERS, parser_of
from cuescope.matrix import read_matrix
from cuescope.project import with_project
from cuescope_core.class_files import names_class_file
from cuescope_core.errors import UserError
from cuescope_core.registry import GROUPS, Registry
from cuescope_core.spec import MITIGATED, Spec, pairs
from cuescope_testing import Contract, run_audit
from cuescope_testing._contract import HEAVY

ROOT = Path(__file__).parents[1]
CORE = ROOT / "core" / "engine" / "README.md"
GUIDE = ROOT / "docs" / "plugin-author.md"
PYTHON = ROOT / "docs" / "python.md"
PAPERS = ROOT / "docs" / "papers.md"
PAGES = sorted(
    page
    for pattern in (
        "*.md",
        "core/*/*.md",
        "sdk/*.md",
        "sdk-testing/*.md",
        "plugins/*/*/*.md",
        "docs/**/*.md",
    )
    for page in ROOT.glob(pattern)
)
FENCED = re.compile(r"^( *)```(\w*)[^\n`]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "text", "sh", "yaml", "toml", "json"}
QUICK = {"new", "schema"}  # commands that are run where a page shows what they print
# pages that show the screen of a toy's audit, which costs a training
SHOWING = {
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{page}.md"
        for page in ("index", "quickstart", "read-a-report", "trove", "cci", "quag")
    ),
    *(ROOT / "docs" / f"{page}.md" for page in ("spurlens", "step-grounding", "blind")),
}
OPERATORS = {"&&", "||", "|", ">", ">>", ";"}
# what a command's parameters name: parameter -> kind of plugin, parameter of its options
SPECS = {
    "audit": {
        "method": ("method", "method_option"),
        "model": ("model", "model_option"),
        "data": ("dataset", "data_option"),
    },
    "plugins check": {"spec": (None, "option"), "data": ("dataset", "data_option")},
    "plugins info": {"name": (None, None)},
    "dev bench": {"name": ("bench", None)},
}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, and the number of its first line."""

    language: str
    text: str
    line: int


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return tuple(
        Block(found[2], dedent(found[3]), text.count("\n", 0, found.start(3)))
        for found in FENCED.finditer(text)
    )


def of_language(*languages: str) -> Any:
    """Parametrize over the pages that have a block in any of the languages."""
    able = [
        page for page in PAGES if {b.language for b in blocks(page)} & set(languages)
    ]
    return pytest.mark.parametrize("page", able, ids=name_of)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def outputs(page: Path) -> Iterator[tuple[Block, str]]:
    """Each python or sh block with the output that the page shows under it, "" where none."""
    own = blocks(page)
    for block, after in pairwise([*own, Block("", "", 0)]):
        if block.language in ("python", "sh"):
            yield block, after.text if after.language == "text" else ""


# --------------------------------------------------------------------------------- commands


def commands(page: Path) -> Iterator[list[str]]:
    """The words after `cuescope` of every command in sh blocks and indented lines."""
    text = page.read_text(encoding="utf-8")
    prose = FENCED.sub("", text)
    shell = [block.text for block in blocks(page) if block.language == "sh"]
    # over several lines
    indented = r"^ {4}((?:.*&& )?(?:\w+=\S+ )*cuescope (?:.*\\\n)*.*)$"
    shell += re.findall(indented, prose, re.MULTILINE)
    for text in shell:
        yield from in_shell(text)


def mentions(page: Path) -> Iterator[list[str]]:
    """The same for commands in backticks, which may be incomplete."""
    prose = FENCED.sub("", page.read_text(encoding="utf-8"))
    for line in re.findall(r"`(cuescope [^`]+)`", prose):
        yield from in_line(line.replace("\n", " "))


def in_shell(text: str) -> Iterator[list[str]]:
    """The commands of cuescope in lines of shell."""
    for line in text.replace("\\\n", " ").splitlines():
        yield from in_line(line)


def in_line(line: str) -> Iterator[list[str]]:
    """The commands of cuescope in one line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, "#"
    command: list[str] = []
    for word in [*lexer, ";"]:
        if word in OPERATORS:
            if command[:1] == ["cuescope"]:
                yield command[1:]
            command = []
        # a variable before the command
        elif command or not re.fullmatch(r"\w+=.*", word):
            command.append(word)


@cache
def registry() -> Registry:
    """The installed plugins, read once: nothing is installed while pages are read."""
    return Registry()


@cache
def own_commands() -> Any:
    """All that is typed after `cuescope`."""
    return typer.main.get_command(app)


def parsed(words: Sequence[str]) -> tuple[str, dict[str, Any], list[str]]:
    """Path, parameters and further words of a command; raises TyperException for a wrong one."""
    # welcome anywhere on the line, and taken out of it before typer sees it
    words, _ = with_project([w for w in words if w not in (DEBUG, LOG_JSON)])
    for entry in registry().of_kind("command"):
        path = entry.name.split()
        path = ["dev", *path] if entry.name in DEVELOPERS else path
        if list(words[: len(path)]) == path:
            command = parser_of(registry().load(entry))
            context = command.make_context(entry.name, list(words[len(path) :]))
            return entry.name, context.params, context.args
    command, context, rest, names = own_commands(), None, list(words), []
    while True:
        context = command.make_context(" ".join(names), rest, parent=context)
        rest = [*getattr(context, "_protected_args", ()), *context.args]
        if not rest or not hasattr(command, "resolve_command"):
            return " ".join(names), context.params, context.args
        name, command, rest = command.resolve_command(context, rest)
        names.append(name)


def check(words: Sequence[str], brought: frozenset[str] = frozenset()) -> None:
    """Raise TyperException or UserError where a command, an option or a plugin does not exist.

    Words in capitals stand for anything; `brought` are the plugins that the page itself brings.
    """
    path, given, further = parsed(words)
    for parameter, (kind, options) in SPECS.get(path, {}).items():
        spec = Spec.parse(given[parameter]) if given.get(parameter) else None
        if spec is None or spec.name.isupper() or spec.name in brought:
            continue
        # of a class in a reader's own file nothing is known
        if names_class_file(spec.name):
            continue
        named = pairs("-O", given[options] or ()) if options else {}
        named |= free_options(further) if path == "dev bench" else {}
        for entry in entries(kind, spec.name):
            fields = registry().load(entry).Options.model_fields
            if unknown := named.keys() - fields.keys() - {MITIGATED}:
                raise UserError(f"{spec.name} has no option {unknown}")


def entries(kind: str | None, name: str) -> list[Any]:
    """The installed plugins of a name, of any kind where it is None; raises UserError if none."""
    if kind is not None:
        return [registry().find(kind, name)]
    found = [entry for entry in registry().entries if entry.name == name]
    if not found:
        raise UserError(f"no plugin '{name}'")
    return found


def brought_by(page: Path) -> frozenset[str]:
    """Names of the plugins that a page makes: with `cuescope dev new`, or by entry points."""
    made = {
        words[3]
        for words in commands(page)
        if words[:2] == ["dev", "new"] and len(words) > 3
    }
    return frozenset(made.union(*(named for _, named in entry_points(page))))


def entry_points(page: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """(group, targets by name) of the page's toml blocks."""
    for block in blocks(page):
        if block.language == "toml":
            yield from (
                tomllib.loads(block.text)
                .get("project", {})
                .get("entry-points", {})
                .items()
            )


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_exist(page: Path) -> None:
    brought = brought_by(page)
    for words in commands(page):
        check(words, brought)
    for words in mentions(page):
        if brought.isdisjoint(words[:1]):
            try:
                check(words, brought)
            except TyperException as error:
                if not str(error).startswith("Missing"):
                    raise


@pytest.mark.parametrize(
    "line",
    [
        "cuescope audti trove --model toy --data folder:x",
        "cuescope audit trove --modle toy --data folder:x",
        "cuescope audit trove --model toy",
        "cuescope audit trve --model toy --data folder:x",
        "cuescope audit trove --model toy --data folder:x -O data.frame=8",
        "make demo && cuescope plugins check trove --onyl cue",
        "cuescope plugins check trove -O min_gain=1  # no such option",
        "cuescope plugins chekc trove",
        "cuescope dev new method",
        "cuescope dev bench trove --config 3",
    ],
)
def test_a_wrong_command_is_noticed(line: str) -> None:
    (words,) = in_line(line)
    with pytest.raises((TyperException, UserError)):
        check(words)


def is_quick(block: Block) -> bool:
    found = (
        {words[words[0] == "dev"] for words in in_shell(block.text)}
        if block.language == "sh"
        else set()
    )
    return bool(found) and found <= QUICK


@of_language("sh")
def test_commands_print_what_is_shown(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for block, shown in outputs(page):
        if shown and is_quick(block):
            for words in in_shell(block.text):
                with pytest.raises(SystemExit):
                    main(words)
            assert capsys.readouterr().out == shown


# --------------------------------------------------------------------------------- examples


@dataclass(frozen=True)
class Executed:
    """A page whose python blocks have run, with what each printed beside what is shown."""

    module: ModuleType
    printed: list[tuple[str, str]]


@pytest.fixture(scope="module", params=[GUIDE], ids=name_of)
def executed(
    request: pytest.FixtureRequest, tmp_path_factory: Any
) -> Iterator[Executed]:
    """The guide's python blocks, run one after the other in one namespace."""
    with run_page(request.param, tmp_path_factory.mktemp("page")) as done:
        yield done


@contextmanager
def run_page(page: Path, folder: Path) -> Iterator[Executed]:
    """The page's python blocks, run one after the other in one namespace."""
    done = Executed(ModuleType(f"page_{page.stem.replace('-', '_')}"), [])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, done.module.__name__, done.module)
        patch.setenv("CUESCOPE_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        for block, shown in outputs(page):
            if block.language == "python":
                done.printed.append((run(block, page, done.module), shown))
        yield done


def run(block: Block, page: Path, module: ModuleType) -> str:
    """What a block prints; a traceback names its line of the page."""
    code = compile("\n" * block.line + block.text, str(page), "exec")
    with redirect_stdout(io.StringIO()) as out:
        exec(code, vars(module))
    return out.getvalue()


def test_pages_have_commands_and_examples() -> None:
    known = {name_of(page): len([*commands(page), *mentions(page)]) for page in PAGES}
    assert known["README.md"] > 8
    assert known["docs/quickstart.md"] > 7
    assert known["docs/plugin-author.md"] > 6
    shown = [
        page for page in PAGES if any(b.language == "python" for b in blocks(page))
    ]
    assert shown == [CORE, GUIDE, PYTHON]


def test_the_method_of_the_cores_page_runs() -> None:
    [block] = [block for block in blocks(CORE) if block.language == "python"]
    assert len(block.text.splitlines()) < 45
    names: dict[str, Any] = {}
    exec(compile(block.text, str(CORE), "exec"), names)
    report = run_audit(names["Colour"])
    # colours tell the classes of the fakes
    assert [score.finding for score in report.headlines] == [True]


def test_examples_print_what_is_shown(executed: Executed) -> None:
    assert len(executed.printed) > 10
    for printed, shown in executed.printed:
        assert printed == shown


@pytest.mark.long
def test_the_python_page_prints_what_is_shown(tmp_path: Path) -> None:
    with run_page(PYTHON, tmp_path) as done:
        assert len(done.printed) == 4
        for printed, shown in done.printed:
            assert printed == shown


def test_example_plugins_hold_their_contracts(executed: Executed) -> None:
    suites = [
        value
        for name, value in vars(executed.module).items()
        if name.startswith("Test") and issubclass(value, Contract)
    ]
    assert {suite.kind for suite in suites} == {"method", "model", "dataset", "tool"}
    for suite in suites:
        for name in suite.checks():
            if "_imports_" not in name:  # a page is no module; see the next test
                result = suite.run_check(name)
                assert result.status != "failed", (suite, result)


def test_examples_import_lightly() -> None:
    source = "\n".join(
        block.text for block in blocks(GUIDE) if block.language == "python"
    )
    nodes = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)
    ]
    plain = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)
    ]
    named = {node.module or "" for node in nodes} | {
        a.name for node in plain for a in node.names
    }
    assert "cuescope_sdk" in named
    # what a function imports is paid by who calls it
    late = {
        node.module or ""
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom)
    }
    assert not {name.partition(".")[0] for name in named - late} & set(HEAVY)
    ours = {name for name in named if name.startswith("cuescope")}
    assert "cuescope.application" in ours  # the observer's and the bench's
    ours.remove("cuescope.application")
    packages = {name.partition(".")[0] for name in ours}
    assert packages == {"cuescope_sdk", "cuescope_testing"}


def test_entry_points_name_the_examples(executed: Executed) -> None:
    found = list(entry_points(GUIDE))
    assert {group for group, _ in found} == GROUPS.keys()
    for _, named in found:
        for target in named.values():
            assert hasattr(executed.module, target.partition(":")[2]), target


# --------------------------------------------------------------------------------- papers

# What each paper numbers, by its heading on the page.
NUMBERED = {
    "TRoVe": {
        "section": "1, 2, 3, 3.1, 3.2, 4, 4.1, 4.2, 5, 5.1, 5.2, 6",
        "appendix": "A, B, C, D.1, D.2, E, F",
        "table": "1 to 6",
        "figure": "1 to 9",
        "equation": "1 to 2",
    },
    "QUAG and CLAVI": {
        "section": "1, 2, 2.1 to 2.4, 3, 4, 4.1, 5, 5.1, 5.2, 6, 7",
        "appendix": "A.1 to A.10, B.1 to B.7, C, C.1",
        "table": "1 to 16",
        "figure": "1 to 8",
    },
    "SpurLens": {
        "section": "1, 2, 3, 4, 5, 5.1, 5.2, 6.1 to 6.3, 7",
        "appendix": "A, A.1, A.2, B, B.1, B.2, C, D, E, F, F.1, F.2, G, H, I, J, K, K.1 to K.3, L, "
        "M, N, O, P, Q, R, S, S.1 to S.3",
        "table": "1 to 18",
        "figure": "1 to 22",
        "equation": "1 to 10",
    },
    "Step grounding": {
        "section": "1, 2, 3, 3.1 to 3.5, 4, 4.1 to 4.4, 5, 5.1 to 5.4, 6, 7, 7.1 to 7.4, 8",
        "table": "1 to 3",
        "figure": "1 to 3",
        "equation": "1 to 4",
    },
    "CCI and COVAR": {
        "section": "1, 2, 3, 3.1, 4, 4.1, 4.2, 5, 6",
        "appendix": "A.1 to A.9, A.4.1 to A.4.3",
        "table": "1 to 7",
        "figure": "1 to 21",
    },
}
NUMBER = r"(?:[A-Z](?:\.\d+)*|\d+(?:\.\d+)*)(?![\w.]\w)"
NAMED = re.compile(
    r"\b([Ss]ection|[Aa]ppendi|[Tt]able|[Ff]igure|[Ee]quation)(?:s|x|ces)? "
    rf"({NUMBER}(?:(?:, | and | to ){NUMBER})*)"
)


def numbers(words: str) -> set[str]:
    """The numbers of "1, 2.1 to 2.3 and B"."""
    found = set()
    for part in re.split(", | and ", words):
        first, _, last = part.partition(" to ")
        head, dot, low = first.rpartition(".")
        high = last.rpartition(".")[2]
        found |= (
            {f"{head}{dot}{n}" for n in range(int(low), int(high) + 1)}
            if last
            else {first}
        )
    return found


def rows_by_paper(page: str) -> dict[str, list[list[str]]]:
    """The cells of each table's rows, by the heading above."""
    found = {}
    for part in page.split("\n## ")[1:]:
        lines = [line for line in part.splitlines() if line.startswith("| ")]
        found[part.partition("\n")[0]] = [cells(line) for line in lines]
    return found


def cells(row: str) -> list[str]:
    """Of a table; | within a cell is written \\|."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_rows_of_a_table_have_as_many_cells(page: Path) -> None:
    """What a row has beyond its head is not shown."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for table in re.findall(r"(?:^ *\|.*\n)+", text, re.MULTILINE):
        head, *rows = map(cells, table.splitlines())
        for row in rows:
            assert len(row) == len(head), row


def test_the_papers_page_has_a_row_for_each_number() -> None:
    found = rows_by_paper(PAPERS.read_text(encoding="utf-8"))
    papers = {paper: found[paper] for paper in NUMBERED}
    for paper, (head, *rows) in papers.items():
        assert head == ["In the paper", "Here", "Seen on", "Departs"]
        assert {len(row) for row in rows} == {4}
        named: dict[str, set[str]] = {}
        for kind, words in NAMED.findall("\n".join(row[0] for row in rows)):
            named.setdefault(kind.lower(), set()).update(numbers(words))
        for kind, words in NUMBERED[paper].items():
            missing = numbers(words) - named[kind.removesuffix("x")]
            assert not missing, (
                f"{paper}: no row for {kind} {', '.join(sorted(missing))}"
            )
        for what, here, seen, _ in rows:
            assert "`cuescope " in here or here in ("text", "not built"), what
            assert bool(seen) is (here != "text"), what


# ------------------------------------------------------------------------------- other blocks


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_say_their_language(page: Path) -> None:
    assert {block.language for block in blocks(page)} <= LANGUAGES
    assert page.read_text(encoding="utf-8").count("```") == 2 * len(blocks(page))


@of_language("yaml", "toml")
def test_files_are_valid(page: Path, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.language == "toml":
            assert tomllib.loads(block.text)
        if block.language == "yaml" and "methods" in yaml.safe_load(block.text):
            file = tmp_path / "run.yaml"
            file.write_text(block.text)
            requests = list(read_matrix(file).requests())
            assert requests
            for request in requests:
                check(shlex.split(request.command)[1:])


@of_language("text")
def test_shown_output_is_checked(page: Path) -> None:
    """A text block stands below the example or quick command that prints it."""
    for before, after in pairwise([Block("", "", 0), *blocks(page)]):
        if after.language == "text" and page not in SHOWING:
            assert before.language == "python" or is_quick(before), after.line


# ------------------------------------------------------------------- pages that repeat what is


def of_ci(name: str) -> Any:
    """A script of `.ci`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_has_every_command_and_option() -> None:
    script = of_ci("commands")
    page = (ROOT / "docs" / script.PAGE).read_text(encoding="utf-8")
    assert script.MARK in page
    written = script.on_page_markdown(
        page, SimpleNamespace(file=SimpleNamespace(src_uri=script.PAGE))
    )
    assert {
        "audit",
        "run",
        "dev new",
        "methods",
        "example",
        "compare",
        "plugins check",
    } <= {
        line.removeprefix("### ")
        for line in written.splitlines()
        if line.startswith("### ")
    }
    for option in ("--model SPEC", "--tool ROLE=SPEC", "--toy", "--classifier"):
        assert f"| `{option}` |" in written


# these share TRoVe's page
RIVALS = {
    "domino",
    "george",
    "distilling-failures",
    "confidence",
    "random",
    "hypotheses",
}


def test_the_gallery_shows_every_method() -> None:
    shown = {
        words[1].partition(":")[0]: name for name, words in of_ci("gallery").sections()
    }
    methods = {entry.name for entry in registry().of_kind("method")}
    # of questions alone there is no picture, and no toy has pairs
    assert shown.keys() == methods - RIVALS - {
        "answers",
        "blind",
        "confirm",
        "contamination",
        "cue",
        "mitigation",
    }
    for name in shown.values():
        picture = ROOT / "docs" / "gallery" / f"{name}.webp"
        assert 10_000 < picture.stat().st_size < 200_000


def test_pages_that_show_a_screen_show_the_same() -> None:
    """`make gallery` writes them all from what its commands print."""
    script = of_ci("gallery")
    screens: dict[str, str] = {}
    shown = 0
    for page in sorted(SHOWING, key=lambda page: page.name == "README.md"):
        for block in blocks(page):
            if block.language != "text":
                continue
            title = script.title_of(block.text)
            screen = screens.setdefault(title, block.text)
            assert script.refreshed(block.text, screen) == block.text, page
            shown += 1
    assert len(screens) == 6
    assert shown > 9


def test_numbers_of_samples_are_those_that_methods_declare() -> None:
    page = (ROOT / "docs" / "choose.md").read_text(encoding="utf-8")
    for entry in registry().of_kind("method"):
        needs = registry().load(entry).data_needs
        name = {"trove": "TRoVe", "cci": "CCI", "quag": "QUAG", "spurlens": "SpurLens"}
        title = name.get(entry.name, entry.name.replace("-", " "))
        if entry.name in RIVALS:  # in a row together
            title = rf"[^|]*\b{title}\b[^|]*"
        row = rf"^\| {title} \| [^|]+ \| {needs.least or '-'} \| {needs.enough} \|"
        assert re.search(row, page, re.MULTILINE), entry.name


# ------------------------------------------------------------------------------------- sizes


def words(*patterns: str) -> int:
    return sum(
        len(file.read_text(encoding="utf-8").split())
        for pattern in patterns
        for file in ROOT.glob(pattern)
    )


def test_pages_stay_short() -> None:
    """What a user has to read: 25 pages, and records of decisions that fit a screen."""
    assert len(list(ROOT.glob("docs/*.md"))) == 25
    assert words("docs/*.md", "README.md", "CHANGELOG.md") <= 45_000
    assert words("README.md") <= 600
    for record in ROOT.glob("docs/adr/0*.md"):
        assert len(record.read_text(encoding="utf-8").split()) <= 250, record.name


HELD = (
    "witness, acquit, convict, dossier, leans on, goes with, held alike, outside eye, "
    "blind self, made elsewhere, answer sheet, guessing gives"
)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_use_the_standard_words(page: Path) -> None:
    """Correlates with, relies on, control, ground truth, chance level."""
    if page.parent in (ROOT, ROOT / "docs"):
        assert not held_words(page.read_text(encoding="utf-8"))


def test_what_code_prints_uses_the_standard_words() -> None:
    for source in [*ROOT.glob("*/src/**/*.py"), *ROOT.glob("plugins/*/*/src/**/*.py")]:
        assert not held_words(texts(source)), source


def held_words(text: str) -> list[str]:
    plain = " ".join(text.lower().split())
    return [words for words in HELD.split(", ") if words in plain]


def texts(source: Path) -> str:
    """All texts in a file but its docstrings."""
    nodes = list(ast.walk(ast.parse(source.read_text(encoding="utf-8"))))
    unprinted = {node.value for node in nodes if isinstance(node, ast.Expr)}
    constants = (node for node in nodes if isinstance(node, ast.Constant))
    return "\n".join(str(node.value) for node in constants if node not in unprinted)


def test_every_page_is_in_the_navigation() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {page.name for page in ROOT.glob("docs/*.md")}
    assert set(re.findall(r"[\w-]+\.md", site.partition("nav:\n")[2])) == pages


def test_code_names_records_and_pages_that_exist() -> None:
    files = [*ROOT.glob("core/*/src/**/*.py"), *ROOT.glob("sdk/src/**/*.py")]
    files += [*ROOT.glob("plugins/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]
    files += [*ROOT.glob("tests/*.py"), *ROOT.glob(".ci/**/*.py")]
    records = {record.name[:4] for record in ROOT.glob("docs/adr/0*.md")}
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert set(re.findall(r"docs/adr/(\d{4})", text)) <= records, file
        for page in re.findall(r"\b((?:docs|benchmarks/results)/[\w-]+\.md)", text):
            assert (ROOT / page).exists(), (file, page)


def test_pages_for_agents_are_made_of_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    # the settings before it have tags of Python
    nav = yaml.safe_load(text[text.index("nav:") :])["nav"]
    script = of_ci("llms")
    listed = script.llms(nav)
    for page in (ROOT / "docs").glob("*.md"):
        assert f"]({script.address(page.name)}): " in listed, page.name
    lines = [line for line in listed.splitlines() if line.startswith("- ")]
    assert all(len(line.partition("): ")[2]) > 15 for line in lines)
    skill = script.skill(nav)
    assert skill.startswith("---\nname: cuescope\n")
    # each task with a command of its page
    tasks = skill.partition("## Tasks")[2]
    assert 5 < tasks.count("\n- ") == tasks.count(": `cuescope ")
