"""The figures of the house: `.venv/bin/python .ci/house.py` prints where it stands beside its aims.

Density is measured as for the libraries that we look up to: product code alone, tokens without
comments and line ends. The way of an audit's method is traced in a real audit of a toy.
"""

import ast
import contextlib
import inspect
import io
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CODE = (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
RIDDLES = {"each", "thing", "one", "place", "own", "known", "found"}
IRREGULAR = {
    "told",
    "held",
    "drawn",
    "shown",
    "made",
    "kept",
    "known",
    "given",
    "taken",
    "seen",
    "found",
    "chosen",
    "built",
    "sent",
    "written",
    "laid",
    "said",
    "broken",
    "hidden",
    "borne",
    "met",
    "brought",
    "bought",
    "sought",
    "thought",
}
# What follows a participle and makes no noun of it.
AFTER = {
    "again",
    "alone",
    "apart",
    "as",
    "at",
    "by",
    "for",
    "from",
    "in",
    "instead",
    "of",
    "once",
}
AFTER |= {"on", "still", "to", "with"}
NO_PARTICIPLES = {
    "need",
    "seed",
    "feed",
    "embed",
    "speed",
    "indeed",
    "red",
    "bed",
    "unneeded",
}
# Rooms and functions that only read a name or digest what they are handed.
LEAVES = {
    "cuescope_core.digest",
    "blaming",
    "__init__",
}


def product_files() -> list[Path]:
    """Tracked Python files of core, sdk and plugins, without tests and templates."""
    listed = subprocess.run(
        ["git", "ls-files", "core", "sdk", "sdk-testing", "plugins"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [Path(line) for line in listed.stdout.splitlines()]
    return [
        path
        for path in paths
        if path.suffix == ".py" and not {"tests", "templates"} & set(path.parts)
    ]


def room_of(path: Path) -> str:
    """The dist of a file."""
    depth = 3 if path.parts[0] == "plugins" else 1
    return "/".join(path.parts[:depth])


def is_participle(name: str) -> bool:
    """Whether a function is named by a participle, with no noun after it (`told`, `seen_in`)."""
    word, *others = name.strip("_").split("_")
    alone = not others or others[-1] in AFTER
    return alone and (
        word in IRREGULAR or (word.endswith("ed") and word not in NO_PARTICIPLES)
    )


def density(source: str) -> Counter[str]:
    """Counts of one file."""
    counts: Counter[str] = Counter(lines=source.count("\n"))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        counts["comments"] += token.type == tokenize.COMMENT
        if token.type in CODE:
            code.add(token.start[0])
            counts["tokens"] += 1
    counts["code"] = len(code)
    for node in ast.walk(ast.parse(source)):
        counts["comprehensions"] += isinstance(node, COMPREHENSIONS)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            counts["tuples"] += isinstance(node.value, ast.Tuple)
        if isinstance(node, ast.For | ast.comprehension) and isinstance(
            node.target, ast.Name
        ):
            counts["riddles"] += node.target.id in RIDDLES
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            counts["participles"] += is_participle(node.name)
    return counts


def show_density() -> None:
    """A row a dist, the smallest first, and one of all."""
    rooms: dict[str, Counter[str]] = defaultdict(Counter)
    for path in product_files():
        counts = density((ROOT / path).read_text())
        rooms[room_of(path)] += counts
        rooms["all"] += counts
    columns = (
        "lines",
        "tokens",
        "a line",
        "compr.",
        "tuple=",
        "comm.",
        "riddles",
        "partic.",
    )
    print(f"{'room':34}" + "".join(f"{column:>9}" for column in columns))
    for name, counts in sorted(rooms.items(), key=lambda item: item[1]["lines"]):
        code = max(counts["code"], 1)
        figures = (
            f"{counts['lines']:9,}",
            f"{counts['tokens']:9,}",
            f"{counts['tokens'] / code:9.1f}",
            f"{1000 * counts['comprehensions'] / code:9.0f}",
            f"{1000 * counts['tuples'] / code:9.1f}",
            f"{100 * counts['comments'] / max(counts['lines'], 1):9.1f}",
            f"{counts['riddles']:9}",
            f"{counts['participles']:9}",
        )
        print(f"{name:34}" + "".join(figures))
    print(
        f"{'aim':34}{'':9}{'':9}{'<= 7.5':>9}{'<= 30':>9}{'<= 2':>9}{'5':>9}{'0':>9}{'< 20':>9}"
    )


def show_doors() -> None:
    """The names that the sdk exports, by door."""
    folder = ROOT / "sdk/src/cuescope_sdk"
    names: dict[str, int] = {}
    for path in [folder, *sorted(folder.iterdir())]:
        if path != folder and path.name.startswith(("_", ".")):
            continue
        if path.suffix in ("", ".py"):
            module = "cuescope_sdk" if path == folder else f"cuescope_sdk.{path.stem}"
            names[module] = len(getattr(import_module(module), "__all__", ()))
    print(
        f"\n{sum(names.values())} names exported by {len(names)} doors of the sdk (aim < 350)"
    )
    print(
        ", ".join(
            f"{door.removeprefix('cuescope_sdk.')} {n}" for door, n in names.items()
        )
    )


def show_commands() -> None:
    """Lines and parameters of the commands that ask a model."""
    homes = {
        "audit": "cuescope.cli.audit",
        "investigate": "cuescope_confirm.command.investigate",
        "confirm": "cuescope_confirm.command.confirm",
        "mitigate": "cuescope_mitigation.command",
        "build": "cuescope_covar_build.command",
    }
    print("\ncommand        lines  parameters")
    for name, home in homes.items():
        function = inspect.unwrap(getattr(import_module(home), name))
        lines = len(inspect.getsource(function).splitlines())
        print(f"{name:14}{lines:6}{len(inspect.signature(function).parameters):12}")
    from cuescope.python.audits import audit

    declared = re.search(r"def audit\((.*?)\n\)", inspect.getsource(audit), re.S)
    count = declared[1].count("\n    ") if declared else 0
    print(
        f"{'python.audit':14}{len(inspect.getsource(audit).splitlines()):6}{count:12}"
    )


def carries(value: Any, method: str) -> bool:
    """Whether an argument is the method, or what asks for it."""
    kind = type(value).__name__
    if kind in ("Built", "Resolved"):
        value = value.entry
        kind = "Entry"
    if kind == "Entry":
        return bool(value.kind == "method")
    if kind == "Spec":
        return bool(value.name == method)
    return kind == "Request" or (isinstance(value, str) and value == method)


def rooms_on_the_way(words: list[str], method: str) -> list[str]:
    """The modules of the core that are handed the method, in the order of an audit."""
    from cuescope.cli import main

    rooms: list[str] = []

    def look(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        room = frame.f_globals.get("__name__", "")
        if (
            event != "call"
            or not room.startswith("cuescope.")
            or {room, code.co_name} & LEAVES
        ):
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        values = [frame.f_locals.get(name) for name in names]
        if rooms[-1:] != [room] and any(carries(value, method) for value in values):
            rooms.append(room)

    def audit(run: str) -> None:
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
            main([*words, "--out", run])

    with tempfile.TemporaryDirectory() as folder:
        audit(f"{folder}/first")  # the toy is trained once, and not under a trace
        sys.setprofile(look)
        try:
            audit(f"{folder}/traced")
        finally:
            sys.setprofile(None)
    return rooms


def returns(rooms: list[str]) -> Iterator[str]:
    """The rooms that were entered again, each time anew."""
    seen: set[str] = set()
    for room in rooms:
        if room in seen:
            yield room
        seen.add(room)


def show_way() -> None:
    """How often one comes back to a room who follows `method` through an audit."""
    spec = [
        "--model",
        "toy-clip",
        "--data",
        "scenes:0.98",
        "--limit",
        "30",
        "--device",
        "cpu",
    ]
    rooms = rooms_on_the_way(["audit", "saliency", *spec, "-q"], "saliency")
    again = Counter(returns(rooms))
    print(
        f"\n`method` from the command line to the report: {len(rooms)} stops, {len(set(rooms))} "
        f"rooms, {again.total()} returns (aim < 12): {dict(again)}"
    )


if __name__ == "__main__":
    show_density()
    show_doors()
    show_commands()
    show_way()
