"""Prompt templates: named sets, or a file of one's own."""

from itertools import product
from pathlib import Path

from cuescope_sdk import UserError, nearest

SLOT = "{label}"
NAMED = ("plain", "action28", "openai80")


def templates_of(name: str) -> tuple[str, ...]:
    """The templates of a named set or of a file; each holds `{label}`.

    "action28" is TRoVe's appendix C, spelled as printed ("a example of"); "openai80" are those
    of Radford et al. (2021) for ImageNet, as open_clip carries them.
    """
    match name:
        case "plain":
            return (f"a photo of a {SLOT}.",)
        case "action28":
            return action_templates()
        case "openai80":
            from open_clip import OPENAI_IMAGENET_TEMPLATES

            return tuple(template(SLOT) for template in OPENAI_IMAGENET_TEMPLATES)
        case _:
            return _from_file(name)


def action_templates() -> tuple[str, ...]:
    """The 28 templates for actions (TRoVe, appendix C): 4 media times 7 wordings."""
    media = ("a photo", "a video", "a example", "a demonstration")
    wordings = ("", *(f"a person {verb}" for verb in ("", "using ", "doing ", "during ")))
    wordings += ("a person performing ", "a person practicing ")
    return tuple(f"{medium} of {wording}{SLOT}." for medium, wording in product(media, wordings))


def fill(template: str, label: str) -> str:
    """The prompt; braces other than `{label}` stay as they are."""
    return template.replace(SLOT, label)


def _from_file(name: str) -> tuple[str, ...]:
    path = Path(name).expanduser()
    if not path.is_file():
        raise UserError(
            f"open-clip: no template set or file '{name}'",
            expected=f"{', '.join(NAMED)}, or a file",
            remedy=nearest(name, NAMED),
        )
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if line.strip() and SLOT not in line:
            raise UserError(
                f"open-clip: line {number} of {name} has no place for the label",
                expected=f"{SLOT} in every template",
                got=f"'{line.strip()}'",
            )
    templates = tuple(line.strip() for line in lines if line.strip())
    if not templates:
        raise UserError(f"open-clip: {name} holds no template", expected="one a line")
    return templates
