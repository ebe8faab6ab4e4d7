"""A bench's tables and pictures as one offline HTML file, in the style of a report."""

from collections.abc import Sequence

from cuescope.report.html import data_uri, environment
from cuescope.report.tables import table_cells
from cuescope_core.conclusions import Picture, Table


def render(name: str, items: Sequence[Table | Picture], command: str) -> str:
    """One HTML file that needs nothing else; `command` makes it again."""
    tables = table_cells(item for item in items if isinstance(item, Table))
    plates = [
        (item, data_uri(item.image)) for item in items if isinstance(item, Picture)
    ]
    template = environment().get_template("bench.html.jinja")
    return template.render(name=name, tables=tables, plates=plates, command=command)
