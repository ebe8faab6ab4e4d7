"""The base of every plugin."""

from dataclasses import replace
from typing import Any, ClassVar, Self

from pydantic import ValidationError

from cuescope_core.context import Context
from cuescope_core.spec import fault
from cuescope_core.types import Options


class Plugin:
    """A plugin as an entry point names it: a light class, built from its validated options.

    Import torch and the like inside `__init__` or later, never at module level: listing plugins
    and checking capabilities must not pay for them.
    """

    Options: ClassVar[type[Options]] = Options

    def __init__(self, options: Any, context: Context) -> None:
        self.options = options
        self.context = context

    def with_options(self, **changes: Any) -> Self:
        """The same plugin with some options changed; raises UserError where one does not fit."""
        kind = type(self.options)
        try:
            # dumped and read again: `model_copy` would check nothing
            options = kind.model_validate(self.options.model_dump() | changes)
        except ValidationError as error:
            raise fault(type(self).__name__, error, kind.model_fields) from error
        # the draw is of what is audited, and not of another split of it
        return type(self)(options, replace(self.context, limit=None))
