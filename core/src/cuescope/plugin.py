"""The base of every plugin."""

from typing import Any, ClassVar

from cuescope.context import Context
from cuescope.types import Options


class Plugin:
    """What an entry point names: a light class, built from its validated options.

    Import torch and the like inside `__init__` or later, never at module level: listing plugins
    and checking capabilities must not pay for them.
    """

    Options: ClassVar[type[Options]] = Options

    def __init__(self, options: Any, context: Context) -> None:
        self.options = options
        self.context = context
