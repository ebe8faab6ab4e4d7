"""Prompt templates: named sets, or a file of one's own."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from cuescope.errors import UserError, nearest

SLOT = "{label}"


def templates_of(
    name: str, owner: str, more: Mapping[str, Sequence[str]] | None = None
) -> tuple[str, ...]:
    """The templates of a named set or of a file; each holds `{label}`.

    "plain" is "a photo of a {label}.", "raw" the text as it stands, "action28" TRoVe's appendix C,
    spelled as printed ("a example of"). `more` are sets that a library carries; `owner` is the
    plugin that speaks in errors.
    """
    named = {
        "plain": (f"a photo of a {SLOT}.",),
        "raw": (SLOT,),
        "action28": action_templates(),
        **(more or {}),
    }
    return tuple(named[name]) if name in named else _from_file(name, owner, tuple(named))


def action_templates() -> tuple[str, ...]:
    """The 28 templates for actions (TRoVe, appendix C): 4 media times 7 wordings."""
    media = ("a photo", "a video", "a example", "a demonstration")
    wordings = ("", *(f"a person {verb}" for verb in ("", "using ", "doing ", "during ")))
    wordings += ("a person performing ", "a person practicing ")
    return tuple(f"{medium} of {wording}{SLOT}." for medium, wording in product(media, wordings))


def fill(template: str, label: str) -> str:
    """The prompt; braces other than `{label}` stay as they are."""
    return template.replace(SLOT, label)


def _from_file(name: str, owner: str, named: tuple[str, ...]) -> tuple[str, ...]:
    path = Path(name).expanduser()
    if not path.is_file():
        raise UserError(
            f"{owner}: no template set or file '{name}'",
            expected=f"{', '.join(named)}, or a file",
            remedy=nearest(name, named),
        )
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if line.strip() and SLOT not in line:
            raise UserError(
                f"{owner}: line {number} of {name} has no place for the label",
                expected=f"{SLOT} in every template",
                got=f"'{line.strip()}'",
            )
    templates = tuple(line.strip() for line in lines if line.strip())
    if not templates:
        raise UserError(f"{owner}: {name} holds no template", expected="one a line")
    return templates
