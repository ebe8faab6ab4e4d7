"""Which models are compared: a YAML list, or one of the lists that come with the package."""

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import load_yaml

LISTS = ("paper", "appendix", "toys")
EXPECTED = "a list of {name: TEXT, model: SPEC, options: {...}, design: {data: ..., size: ...}}"


class ModelEntry(BaseModel):
    """One model: its name in the tables, SPEC, options, and what it was designed with."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    model: str
    options: dict[str, Any] = {}
    design: dict[str, str | int | float] = {}


ENTRIES = TypeAdapter(Annotated[list[ModelEntry], Field(min_length=1)])


def load_models(given: str) -> list[ModelEntry]:
    """The entries of a file, or of a list that is shipped; raises UserError for anything else."""
    return parse_models(_text(given), given)


def _text(given: str) -> str:
    # a shipped list goes before a file of the same name
    if given in LISTS:
        return files(__package__).joinpath(f"models_{given}.yaml").read_text("utf-8")
    try:
        return Path(given).read_text("utf-8")
    # a picture named by mistake is no UTF-8, and no reason for a traceback
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"bench covar: cannot read --models {given}",
            expected=f"a YAML file, or one of {', '.join(LISTS)}",
            got=error.strerror if isinstance(error, OSError) else "no UTF-8 text",
            remedy=nearest(given, LISTS),
        ) from None


def parse_models(text: str, name: str) -> list[ModelEntry]:
    """The entries that a YAML text lists."""
    what = f"bench covar: --models {name}"
    try:
        entries = ENTRIES.validate_python(load_yaml(text.encode()))
    except yaml.YAMLError as error:
        raise UserError(
            f"{what} is no YAML", got=" ".join(str(error).split())
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "all of it"
        raise UserError(
            what, expected=EXPECTED, got=f"{where}: {first['msg']}"
        ) from None
    # rows are told apart by their names alone
    [(name, count)] = Counter(entry.name for entry in entries).most_common(1)
    if count > 1:
        raise UserError(
            f"{what}: two models are called '{name}'", remedy="Rename one of them"
        )
    return entries


def pairs(entries: Sequence[ModelEntry]) -> Iterator[tuple[str, int, int]]:
    """What two models differ in whose designs name the same things, if it is one (Figure 14)."""
    for first, second in combinations(range(len(entries)), 2):
        design = entries[first].design
        other = entries[second].design
        if design.keys() == other.keys():  # what is not told may differ as well
            differences = dict(design.items() - other.items())
            # of two differences nobody could say which one made the figure
            if len(differences) == 1:
                [what] = differences
                yield what, first, second
