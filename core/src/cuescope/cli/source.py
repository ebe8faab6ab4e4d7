"""Facts about a plugin from its source, read without importing anything of it."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from cuescope_core.atomic_files import read_whole
from cuescope_core.errors import UserError
from cuescope_core.registry import Entry

MOST_STEPS = 4  # from module to module, after a name that is imported
MAX_BYTES = 2**20  # of a module
MAX_HEAD = 2_000  # characters from `class` to the end of the docstring's first line
_IMPORT = re.compile(r"^from ([\w.]+) import (\([^)]{0,2000}\)|.*)", re.MULTILINE)
_DOCSTRING = re.compile(r'[^"]*?:\n\s+r?"""\s*([^\n]+?)\s*(?:"""|\n)')


def first_line(entry: Entry) -> str | None:
    """The first line of the docstring of a plugin's class, None where it is not to be found."""
    module, _, name = (part.strip() for part in entry.target.partition(":"))
    for _ in range(MOST_STEPS):
        text = _read(module)
        if text is None:
            return None
        # searched, not parsed: `cuescope plugins` has 0.3 s for all of them (docs/adr/0002)
        start = max(text.find(f"\nclass {name}{sign}") for sign in "(:")
        if start >= 0:
            found = _DOCSTRING.match(text, start + 1, start + MAX_HEAD)
            return found[1] if found else None
        homes = (home for home, names in _IMPORT.findall(text) if name in names)
        if (module := next(homes, "")) == "":
            return None
    return None


def option_names(entry: Entry) -> list[str]:
    """The options of a plugin, as far as its source says them plainly."""
    module, _, name = entry.target.partition(":")
    return list(dict.fromkeys(_options_of(module.strip(), name.strip(), MOST_STEPS)))


def _options_of(module: str, name: str, steps: int) -> Iterator[str]:
    """The options of a class, and else those of its bases."""
    if (found := _find_class(module, name, MOST_STEPS)) is None or not steps:
        return
    home, plugin = found
    for node in plugin.body:
        if isinstance(node, ast.ClassDef) and node.name == "Options":
            yield from _fields(home, node, MOST_STEPS)
            return
        target = (
            node.targets[0]
            if isinstance(node, ast.Assign)
            else getattr(node, "target", None)
        )
        value = getattr(node, "value", None)
        if (
            isinstance(target, ast.Name)
            and target.id == "Options"
            and isinstance(value, ast.Name)
        ):
            if of_options := _find_class(home, value.id, MOST_STEPS):
                yield from _fields(*of_options, MOST_STEPS)
            return
    for base in plugin.bases:
        if isinstance(base, ast.Name):
            yield from _options_of(home, base.id, steps - 1)


def _fields(module: str, options: ast.ClassDef, steps: int) -> Iterator[str]:
    """Annotated names of a class and its bases, class variables aside."""
    for base in options.bases if steps else ():
        if isinstance(base, ast.Name) and (
            found := _find_class(module, base.id, MOST_STEPS)
        ):
            yield from _fields(*found, steps - 1)
    for node in options.body:
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and "ClassVar" not in ast.dump(node.annotation)
        ):
            yield node.target.id


def _find_class(module: str, name: str, steps: int) -> tuple[str, ast.ClassDef] | None:
    """The class of this name in a module, or where the module imports it from; with that module."""
    tree = _parse(module)
    for node in tree.body if tree is not None and steps else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if name == (alias.asname or alias.name) and node.module.startswith(
                    "cuescope_"
                ):
                    return _find_class(node.module, alias.name, steps - 1)
    return None


@cache
def _parse(module: str) -> ast.Module | None:
    try:
        return ast.parse(_read(module) or "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # the last: nested too deeply
        return None


@cache
def _read(module: str) -> str | None:
    """The source of a module, None where it cannot be read or found without an import."""
    top, *parts = module.split(".")
    try:
        # of the top package alone: to find a submodule would import its parents
        spec = PathFinder.find_spec(top)
        if spec is None:
            return None
        folders = list(spec.submodule_search_locations or ())
        place = Path(folders[0], *parts) if folders else Path(str(spec.origin))
        files = (place, place.with_suffix(".py"), place / "__init__.py")
        module_file = next((file for file in files if file.is_file()), None)
        return (
            None
            if module_file is None
            else read_whole(module_file, most=MAX_BYTES).decode()
        )
    except (OSError, ValueError, ImportError, UserError):
        return None
