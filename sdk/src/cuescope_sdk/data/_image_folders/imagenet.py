"""What the data sets of ImageNet's images share: classes by WordNet id (wnid), with all names."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from cuescope_sdk import UserError
from cuescope_sdk.data._annotation_files import read_lines

WNID = re.compile(r"n\d{8}")
Names = Mapping[str, tuple[str, ...]]


def read_names(path: Path, title: str) -> dict[str, tuple[str, ...]]:
    """The names of each wnid, the most common one first.

    From lines ("n01440764 tench, Tinca tinca", apart by a space or tab) or a JSON object: {"0":
    ["n01440764", "tench"]} as Keras has it, or {"n01440764": "tench, Tinca tinca"}.
    """
    if path.suffix.lower() == ".json":
        return _from_json(path, title)
    names = {}
    for place, line in read_lines(path, title):
        wnid, *words = line.split(maxsplit=1)
        if not words or not WNID.fullmatch(wnid):
            raise UserError(place, expected="'n01440764 tench, Tinca tinca'", got=f"'{line[:60]}'")
        names[wnid] = _apart(words[0])
    return names


def labels_of(names: Names) -> dict[str, str]:
    """One label a wnid: its first name, with the wnid behind it where two classes share it.

    There are two such names in ImageNet, "crane" and "maillot".
    """
    firsts = Counter(synonyms[0] for synonyms in names.values())
    return {
        wnid: synonyms[0] if firsts[synonyms[0]] == 1 else f"{synonyms[0]} ({wnid})"
        for wnid, synonyms in names.items()
    }


def _from_json(path: Path, title: str) -> dict[str, tuple[str, ...]]:
    try:
        entries = dict(json.loads(path.read_text(encoding="utf-8-sig")))
        pairs = (value if key.isdecimal() else (key, value) for key, value in entries.items())
        names = {
            wnid: _apart(known) if isinstance(known, str) else tuple(map(str, known))
            for wnid, known in pairs
        }
    except (OSError, ValueError, TypeError) as error:
        raise UserError(
            f"{title}: cannot read names from {path.name}", got=str(error).splitlines()[0]
        ) from None
    for wnid, known in names.items():
        if not WNID.fullmatch(wnid) or not known:
            raise UserError(
                f"{title}: {path.name} entry '{wnid}'",
                expected='{"n01440764": "tench, Tinca tinca"}',
            )
    return names


def _apart(words: str) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(name.strip().replace("_", " ") for name in words.split(",") if name.strip())
    )
