"""The closed label set: that of the data, or the one the person gives."""

from collections.abc import Sequence
from pathlib import Path

from cuescope_folder.items import Item
from cuescope_sdk import UserError, nearest


def label_set(items: Sequence[Item], choices: Sequence[str] | None, root: Path) -> tuple[str, ...]:
    """The labels of all items (of every split) in alphabetical order, or the given choices.

    Choices keep their order. Raises UserError where an item's label is not among them.
    """
    used = sorted({item.label for item in items if item.label is not None})
    if choices is None:
        return tuple(used)
    chosen = tuple(dict.fromkeys(_read(choices, root)))
    unknown = [label for label in used if label not in chosen]
    if unknown:
        raise UserError(
            f"folder: label '{unknown[0]}' is none of the choices",
            expected=f"one of {_listed(chosen)}",
            remedy=nearest(unknown[0], chosen),
        )
    return chosen


def _read(choices: Sequence[str], root: Path) -> Sequence[str]:
    if len(choices) != 1:
        return choices
    named = Path(choices[0]).expanduser()
    file = next((file for file in (named, root / named) if file.is_file()), None)
    if file is None:
        raise UserError(
            "folder: choices", expected="two labels or more, or a file with a label a line",
            got=f"'{choices[0]}', which is no file",
        )  # fmt: skip
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"folder: cannot read choices from {file}", got=str(error)) from None
    return [line.strip() for line in lines if line.strip()]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
