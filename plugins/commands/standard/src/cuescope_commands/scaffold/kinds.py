"""The kinds of plugins that `cuescope dev new` writes, and what differs between them."""

import tomllib
from importlib.resources import files as resources

FOLDER = resources("cuescope_commands.scaffold")
TABLES = tomllib.loads((FOLDER / "kinds.toml").read_text("utf-8"))
KINDS = TABLES["kinds"]
