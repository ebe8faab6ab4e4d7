"""For the reference page: what a module imports `as` its own name is exported, as in typing."""

import ast
from typing import Any

from griffe import Alias, Extension


class Doors(Extension):
    """The doors of the sdk name each thing once, by `from room import thing as thing`."""

    def on_alias_instance(self, *, node: ast.AST, alias: Alias, **_: Any) -> None:
        names = node.names if isinstance(node, ast.ImportFrom) else ()
        if any(name.name == name.asname == alias.name for name in names):
            door = alias.parent
            door.exports = [*(door.exports or ()), alias.name]
