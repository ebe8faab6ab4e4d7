"""Which column of a Hugging Face data set is what: as it is named, or guessed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuescope_folder.cells import COLUMNS
from cuescope_folder.tables import FILES
from cuescope_sdk import UserError, nearest

# the usual names, those before go before: `label` before `fine_label`
USUAL = {
    "image": ("image", "img", "photo", "picture", "video"),
    "label": (
        "label",
        "labels",
        "answer",
        "class",
        "category",
        "target",
        "fine_label",
    ),
    "question": ("question", "query", "prompt"),
    "choices": ("choices", "options"),
    "mask": ("mask", "segmentation_mask"),
}
NEEDED = ("image", "label")
# what a manifest understands in its own way; of a hub's `group` it is the same
RESERVED = {*COLUMNS, *FILES} - {"group"}


@dataclass(frozen=True)
class Columns:
    """The column of each role; `names` are those of the classes, `others` are kept as they are."""

    of: Mapping[str, str]
    others: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()

    @property
    def files(self) -> dict[str, str]:
        """Those that hold files, by the names that a manifest has for them."""
        names = {}
        for role, name in (("image", "path"), ("mask", "mask")):
            if role in self.of:
                names[self.of[role]] = name
        return names

    @property
    def words(self) -> str:
        """ "image 'img' (guessed; -O data.image=COLUMN takes another), label 'fine_label'"."""
        words = []
        for role, name in self.of.items():
            word = f"{role} '{name}'"
            if role in self.guessed:
                word += f" (guessed; -O data.{role}=COLUMN takes another)"
            words.append(word)
        return ", ".join(words)

    def cells(self, row: Mapping[str, Any], location: str) -> dict[str, Any]:
        """The cells of a row as a manifest has them; raises UserError for a label that is none."""
        # a null is a missing cell, as in a manifest
        columns = dict(zip(self.others, self.others, strict=True))
        for role in ("choices", "question"):
            if role in self.of:
                columns[role] = self.of[role]
        cells: dict[str, Any] = {}
        for name, column in columns.items():
            if row[column] is not None:
                cells[name] = row[column]
        cells["label"] = self._label(
            row[self.of["label"]], cells.get("choices"), location
        )
        return cells

    def _label(self, value: Any, choices: Sequence[Any] | None, location: str) -> str:
        # a number is a class of the column, or a place among the row's choices
        names = self.names or choices or ()
        column = self.of["label"]
        # before int: True is 1, and would be read as a class
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int) and names:
            if not 0 <= value < len(names):
                raise UserError(
                    f"hf: {location}: {column} {value} is no class",
                    expected=f"0 to {len(names) - 1}",
                    remedy="A split whose labels are secret has -1: take another one",
                )
            return str(names[value])
        if isinstance(value, str | int | float) and str(value).strip():
            return str(value)
        raise UserError(
            f"hf: {location}: column '{column}'",
            expected="a label",
            got="nothing" if value is None else repr(value)[:60],
            remedy="-O data.label=COLUMN takes another column",
        )


def choose_columns(
    source: Any,
    repository: str,
    features: Mapping[str, Any],
    given: Mapping[str, str | None],
) -> Columns:
    """The columns: for a role those that are `given`, else guessed by type and name.

    Raises UserError where images or labels are in none, or in one of several.
    """
    media = _of_kind(features, source.Image, source.Video)
    # a mask is an image too, and would make two columns to choose from
    masks = [name for name in media if name.lower() in USUAL["mask"]]
    texts = []
    labels = _of_kind(features, source.ClassLabel)
    named = []
    for name, kind in features.items():
        if getattr(kind, "dtype", "") == "string":
            texts.append(name)
        if name not in media and name.lower() in USUAL["label"]:
            named.append(name)
    # of this name is what a person says
    masks = [name for name in masks if name != given.get("image")]
    fitting = {
        "image": [name for name in media if name not in masks],
        "label": labels or named,
        "question": texts,
        "choices": _of_kind(features, list, source.List),
        "mask": masks,
    }
    columns: dict[str, str] = {}
    guessed: list[str] = []
    for role, candidates in fitting.items():
        chosen = given.get(role)
        if chosen is None:
            chosen = _guess(role, candidates)
            # an option takes another column for these roles only
            if chosen and role in given:
                guessed.append(role)
        if chosen:
            columns[role] = chosen
        elif role in NEEDED:
            raise UserError(
                f"hf: {repository}: which column is the {role}?",
                expected=f"-O data.{role}=COLUMN",
                got=f"columns {', '.join(features)}",
            )
    for role, name in columns.items():
        if name not in features:
            raise UserError(
                f"hf: {repository} has no column '{name}'",
                expected=f"one of {', '.join(features)}",
                remedy=nearest(name, list(features)),
            )
        if role == "image" and name not in media:
            expected = "a column of type Image or Video"
            if media:
                expected = f"one of {', '.join(media)}"
            raise UserError(
                f"hf: column '{name}' of {repository} holds no images or videos",
                expected=expected,
                got=str(features[name])[:60],
            )
    # a manifest would read a reserved name as something else
    reserved = {*columns.values(), *filter(_is_reserved, features)}
    values = _of_kind(features, source.Value)
    others = [name for name in values if name not in reserved]
    kind = features[columns["label"]]
    return Columns(
        columns,
        tuple(others),
        tuple(kind.names) if isinstance(kind, source.ClassLabel) else (),
        tuple(guessed),
    )


def _is_reserved(name: str) -> bool:
    return name.lower() in RESERVED


def _of_kind(features: Mapping[str, Any], *kinds: type) -> list[str]:
    return [name for name, kind in features.items() if isinstance(kind, kinds)]


def _guess(role: str, candidates: Sequence[str]) -> str | None:
    """The candidate with a usual name; of a role that is needed also the only one."""
    by_name = {name.lower(): name for name in reversed(candidates)}
    for usual in USUAL[role]:
        if usual in by_name:
            return by_name[usual]
    return candidates[0] if role in NEEDED and len(candidates) == 1 else None
