"""`cuescope methods --cite`: what to cite for each method, as BibTeX.

A method's package may hold `cite/NAME.bib`, NAME being the method's. Nothing is imported for it.
"""

from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from cuescope.application import Entry, Registry

SOFTWARE = f"""\
% cuescope itself
@software{{cuescope,
  title   = {{cuescope: find the cues that a vision-language model really uses}},
  author  = {{{{The cuescope authors}}}},
  version = {{{version("cuescope")}}},
  url     = {{https://github.com/cuescope/cuescope}},
}}"""


def citations(names: list[str], registry: Registry) -> Iterator[str]:
    """The entry of cuescope, then those of the named methods, or of all that are installed.

    Raises UserError for a name that is not installed.
    """
    yield SOFTWARE
    entries = [registry.find("method", name) for name in names]
    for entry in entries or registry.of_kind("method"):
        text = bibtex_of(entry)
        if text is not None:
            yield f"% {entry.name}\n{text.strip()}"
        elif names:
            yield f"% {entry.name} has no paper of its own: cite cuescope, and name the method"


def bibtex_of(entry: Entry) -> str | None:
    """The entries of a method's papers, None where its package has none."""
    package = find_spec(entry.target.partition(".")[0].partition(":")[0])
    for folder in (package and package.submodule_search_locations) or ():
        file = Path(folder, "cite", f"{entry.name}.bib")
        if file.is_file():
            return file.read_text("utf-8", errors="replace")
    return None
