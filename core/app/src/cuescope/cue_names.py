"""Names that a person gave to the cues of a run: they go before all that was guessed or checked."""

import json
import warnings
from collections.abc import Mapping
from pathlib import Path

from cuescope_core.checksummed_files import LARGEST_WORDS, change_sealed, read_sealed
from cuescope_core.conclusions import Report
from cuescope_core.errors import UserError, nearest
from cuescope_core.plain_json import parse_json, require_object

FILE = "names.json"
MOST_CHARACTERS = 200
REMEDY = "Its names are not shown; the next name that you give keeps this file beside the new one"


def read_names(folder: Path) -> dict[str, str]:
    """By feature key; empty where nobody gave any. Damaged names are told, and left out."""
    try:
        return _parse(read_sealed(folder / FILE, remedy=REMEDY, most=LARGEST_WORDS))
    except FileNotFoundError:
        return {}
    except UserError as error:
        warnings.warn(str(error), stacklevel=2)
        return {}


def give_names(folder: Path, report: Report, names: Mapping[str, str]) -> None:
    """Keep names of cues, beside those that were given before; an empty one takes it back.

    Raises UserError for a cue that the report has not, and for a name that is too long.
    """
    for key, name in names.items():
        if key not in report.names:
            raise UserError(
                f"--name {key}",
                expected="a cue of this run, as `cuescope show RUN --json` has its key",
                remedy=nearest(key, report.names),
            )
        if len(name) > MOST_CHARACTERS:
            raise UserError(
                f"--name {key}: the name is too long",
                expected=f"{MOST_CHARACTERS} characters",
            )

    def change(content: bytes | None) -> bytes:
        # names are given one by one, on many days: the others stay
        kept = {} if content is None else _parse(content)
        for key, name in names.items():
            kept.pop(key, None)
            if name.strip():
                kept[key] = name.strip()
        return json.dumps(kept, indent=1).encode()

    change_sealed(folder / FILE, change)


def _parse(content: bytes) -> dict[str, str]:
    given = require_object(parse_json(content, FILE), FILE)
    return {key: str(name) for key, name in given.items()}


def renamed(report: Report, names: Mapping[str, str]) -> Report:
    """The report with these names of its cues, and without guesses at them."""
    if not names:
        return report
    features = []
    for feature in report.features:
        name = names.get(feature.key, feature.name)
        features.append(feature.model_copy(update={"name": name}))
    portraits = []
    for portrait in report.portraits:
        # a guess beside a name that a person gave would contradict it
        guess = None if portrait.feature in names else portrait.name
        portraits.append(portrait.model_copy(update={"name": guess}))
    evidence = []
    for check in report.evidence:
        name = None if check.feature in names else check.name
        evidence.append(check.model_copy(update={"name": name}))
    update = {
        "features": tuple(features),
        "portraits": tuple(portraits),
        "evidence": tuple(evidence),
    }
    return report.model_copy(update=update)
