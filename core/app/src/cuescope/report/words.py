"""Words of a report on a terminal: a paragraph each, whoever wrote them."""

from typing import Any

from rich.text import Text

from cuescope_core.printable import one_line


class Words(Text):
    """Text without line ends: a stranger's would begin a line that looks like one of cuescope's."""

    def __init__(self, text: str = "", *args: Any, **settings: Any) -> None:
        super().__init__(one_line(text), *args, **settings)
