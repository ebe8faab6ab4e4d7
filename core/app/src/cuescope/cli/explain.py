"""`cuescope explain WORD`: what a word of a report means, and what the figures of a method do."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Annotated

import typer

from cuescope.cli.echo import echo
from cuescope.cli.printing import prints_lines
from cuescope_core.errors import UserError, nearest

ENTRY = "**"  # on either side of a word of the glossary
GAP = "\n:   "


@prints_lines
def explain(
    word: Annotated[
        str, typer.Argument(metavar="WORD", help="A word of a report, or a method.")
    ],
) -> None:
    """Explain a word of a report (power, q, impact ...), or the figures of a method."""
    from cuescope_core.registry import Registry

    words = glossary()
    known = {name.lower(): name for name in words}
    name = known.get(word.lower()) or known.get(f"{word.lower()}-value")
    if name is not None:
        echo(f"{name}: {words[name]}")
        return
    registry = Registry()
    methods = [entry.name for entry in registry.of_kind("method")]
    if word not in methods:
        raise UserError(
            f"'{word}' is explained nowhere",
            expected=f"a method, or a word: {', '.join(words)}",
            remedy=nearest(word.lower(), [*known, *methods]),
        )
    method = registry.load(registry.find("method", word))
    for line in _method_lines(word, method):
        echo(line)


def glossary() -> dict[str, str]:
    """The words of the glossary with their meanings, in the order of the alphabet."""
    text = files("cuescope.cli").joinpath("glossary.md").read_text("utf-8")
    words = {}
    for entry in text.strip().split("\n\n"):
        name, _, meaning = entry.partition(GAP)
        words[name.strip(ENTRY)] = " ".join(meaning.split())
    return words


def _method_lines(name: str, method: type) -> Iterator[str]:
    title = getattr(method, "title", name)
    yield title
    yield getattr(method, "finds", "")
    for metric in getattr(method, "metrics", ()):
        yield f"{metric.title}: {metric.meaning}"
    yield f"`cuescope audit {name} --help` has its options."
