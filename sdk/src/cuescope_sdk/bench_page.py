"""A bench's tables and pictures as one offline HTML file, in the style of a report."""

from collections.abc import Sequence

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from cuescope.report.html import data_uri
from cuescope.report.tables import laid_out
from cuescope.types import Picture, Table


def render(name: str, shown: Sequence[Table | Picture], command: str) -> str:
    """One HTML file that needs nothing else; `command` makes it again."""
    loaders = [PackageLoader(package, "") for package in ("cuescope_sdk", "cuescope.report")]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tables = laid_out(item for item in shown if isinstance(item, Table))
    plates = [(item, data_uri(item.image)) for item in shown if isinstance(item, Picture)]
    template = environment.get_template("bench.html.jinja")
    return template.render(name=name, tables=tables, plates=plates, command=command)
