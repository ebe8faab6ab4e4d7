"""The backgrounds and classes of a build: the paper's lists, or a file of one's own."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cuescope_sdk import UserError
from cuescope_sdk.data import TextFile, load_yaml
from cuescope_sdk.models import refuse_unknown

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
    entries = (
        paper_list("backgrounds") if path is None else _read_list(path, "backgrounds")
    )
    backgrounds: dict[str, Background] = {}
    for number, entry in enumerate(entries, 1):
        background = _background(entry, f"{path}: background {number}")
        if background.name in backgrounds:
            raise UserError(
                f"{path}: two backgrounds '{background.name}'",
                remedy="Rename one of them",
            )
        backgrounds[background.name] = background
    return tuple(backgrounds.values())


def _background(entry: Any, place: str) -> Background:
    values = {"name": entry} if isinstance(entry, str) else entry
    if isinstance(values, dict) and "name" in values:
        # a name without a prompt is its own prompt
        values = {"prompt": values["name"], **values}
    try:
        return Background.model_validate(values)
    except ValidationError as error:
        raise UserError(
            place,
            expected="a name, or {name: ..., prompt: ...}",
            got=repr(entry),
        ) from error


def choose_classes(
    given: str | None,
    labels: tuple[str, ...],
    title: str,
) -> tuple[str, ...]:
    """The labels of the source that are built: all, those of a list (a,b or a file), or `paper`.

    Of the paper's classes those that the source has. Raises UserError for a class that is none of
    the source's labels.
    """
    if given is None:
        return labels
    # lists differ in capitals; the images keep the source's spelling
    by_name = {label.lower(): label for label in labels}
    if given == PAPER:
        wanted = [name for name in paper_list("classes") if name.lower() in by_name]
        if not wanted:
            raise UserError(
                f"{title}: none of the paper's classes",
                expected="some of its Table 5, such as African elephant",
                got=", ".join(labels[:8]),
            )
    else:
        file = Path(given).expanduser()
        entries = _read_list(file, "classes") if file.is_file() else given.split(",")
        names = [str(entry).strip() for entry in entries]
        wanted = list(filter(None, names))
    chosen = []
    for name in wanted:
        if name.lower() not in by_name:
            refuse_unknown(title, "class", name, labels)
        chosen.append(by_name[name.lower()])
    # a class that is listed twice is built once
    return tuple(dict.fromkeys(chosen))


def paper_list(what: str) -> list[Any]:
    """The paper's "classes" or "backgrounds"."""
    text = files("cuescope_covar_build").joinpath("lists.yaml").read_text("utf-8")
    entries: list[Any] = load_yaml(text)[what]
    return entries


def as_yaml(what: str, entries: Sequence[Any]) -> str:
    """A list in the form that a build reads."""
    content = {what: list(entries)}
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=96)
    return text


def _read_list(path: Path, what: str) -> list[Any]:
    """A YAML list, or the list under its own name in a mapping, or a line each."""
    text = TextFile(path, "covar").text()
    if path.suffix.lower() not in (".yaml", ".yml", ".json"):
        return [line.strip() for line in text.splitlines() if line.strip()]
    try:
        content = load_yaml(text)
    except yaml.YAMLError as error:
        raise UserError(
            f"covar: {path}",
            expected="YAML",
            got=str(error).splitlines()[0],
        ) from None
    # one file may hold classes and backgrounds
    entries = content.get(what) if isinstance(content, dict) else content
    if not isinstance(entries, list) or not entries:
        raise UserError(
            f"covar: {path}",
            expected=f"a list of {what}",
            got=type(entries).__name__,
        )
    return entries
