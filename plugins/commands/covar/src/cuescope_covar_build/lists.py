"""The backgrounds and classes of a build: the paper's lists, or a file of one's own."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import load_yaml, read_text

PAPER = "paper"


class Background(BaseModel):
    """A background: what it is called in tables, and what an editor is told of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    prompt: str = Field(min_length=1)


def read_backgrounds(path: Path | None) -> tuple[Background, ...]:
    """A file's list, names or mappings of name and prompt; without a file the paper's Table 6.

    Raises UserError for a file that is no such list, and for a name that stands twice.
    """
    listed = _paper()["backgrounds"] if path is None else _listed(path, "backgrounds")
    where = "backgrounds" if path is None else str(path)
    backgrounds = []
    for number, each in enumerate(listed, 1):
        given = {"name": each, "prompt": each} if isinstance(each, str) else each
        if isinstance(given, dict) and "name" in given:
            given = {"prompt": given["name"], **given}
        try:
            backgrounds.append(Background.model_validate(given))
        except ValidationError as error:
            raise UserError(
                f"{where}: background {number}",
                expected="a name, or {name: ..., prompt: ...}",
                got=repr(each),
            ) from error
    names = [background.name for background in backgrounds]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(f"{where}: two backgrounds '{twice[0]}'", remedy="Rename one of them")
    return tuple(backgrounds)


def choose_classes(given: str | None, labels: tuple[str, ...], title: str) -> tuple[str, ...]:
    """The labels of the source that are built: all, those of a list (a,b or a file), or `paper`.

    Of the paper's classes those that the source has. Raises UserError for a class that is none of
    the source's labels.
    """
    if given is None:
        return labels
    known = {label.lower(): label for label in labels}
    if given == PAPER:
        wanted = [name for name in _paper()["classes"] if name.lower() in known]
        if not wanted:
            raise UserError(
                f"{title}: none of the paper's classes",
                expected="some of its Table 5, such as African elephant",
                got=", ".join(labels[:8]),
            )
    else:
        file = Path(given).expanduser()
        in_file = _listed(file, "classes") if file.is_file() else given.split(",")
        wanted = [str(name).strip() for name in in_file if str(name).strip()]
    for name in wanted:
        if name.lower() not in known:
            raise UserError(
                f"{title}: no class '{name}'",
                expected=f"one of {', '.join(labels[:8])}{' ...' * (len(labels) > 8)}",
                remedy=nearest(name, labels),
            )
    return tuple(dict.fromkeys(known[name.lower()] for name in wanted))


def paper_list(what: str) -> list[Any]:
    """The paper's "classes" or "backgrounds"."""
    return list(_paper()[what])


def as_yaml(what: str, listed: Sequence[Any]) -> str:
    """A list in the form that a build reads."""
    text: str = yaml.safe_dump({what: list(listed)}, sort_keys=False, allow_unicode=True, width=96)
    return text


def _listed(path: Path, what: str) -> list[Any]:
    """A YAML list, or the list under its own name in a mapping, or a line each."""
    text = read_text(path, "covar")
    if path.suffix.lower() not in (".yaml", ".yml", ".json"):
        return [line.strip() for line in text.splitlines() if line.strip()]
    try:
        content = load_yaml(text)
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"covar: {path}", expected="YAML", got=reason) from None
    listed = content.get(what) if isinstance(content, dict) else content
    if not isinstance(listed, list) or not listed:
        raise UserError(f"covar: {path}", expected=f"a list of {what}", got=type(listed).__name__)
    return listed


@cache
def _paper() -> dict[str, list[Any]]:
    text = files("cuescope_covar_build").joinpath("lists.yaml").read_text("utf-8")
    lists: dict[str, list[Any]] = load_yaml(text)
    return lists
