"""The closed vocabulary of answers that open questions are answered from."""

import json
from pathlib import Path

from cuescope_sdk import UserError


def read_answers(owner: str, path: Path | None) -> tuple[str, ...]:
    """Answers in the order of their numbers, from the authors' JSON; () without a file.

    The file maps each answer to its number from 0, or lists the answers. Raises UserError.
    """
    if path is None:
        return ()
    try:
        content = json.loads(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{owner}: answers {path.name} cannot be read",
            expected="a JSON file",
            got=f"{type(error).__name__}",
        ) from error
    if isinstance(content, list):
        content = {answer: number for number, answer in enumerate(content)}
    numbered = isinstance(content, dict) and sorted(map(str, content.values())) == sorted(
        map(str, range(len(content)))
    )
    if not content or not numbered:
        raise UserError(
            f"{owner}: answers {path.name}",
            expected='{"answer": number} with the numbers 0, 1, 2 ..., or a list of answers',
            got=f"{len(content)} entries, numbered otherwise"
            if isinstance(content, dict)
            else f"a {type(content).__name__}",
        )
    return tuple(sorted(map(str, content), key=lambda answer: int(content[answer])))


def facts(answers: tuple[str, ...]) -> dict[str, str]:
    """What a report says of it."""
    if not answers:
        return {"answers": "the choices of each question"}
    return {"answers": f"{len(answers):,} for open questions; no other can be right"}
