"""The annotation of Charades as its authors publish it (Sigurdsson et al., 2016)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from cuescope_clavi.curation import Action
from cuescope_clavi.footage import Listed
from cuescope_clavi.questions import word_parts
from cuescope_sdk import UserError, digest
from cuescope_sdk.data import find_file, read_csv, read_lines
from cuescope_sdk.data._video_questions import charades

SPLITS = ("train", "val", "test")
CLASSES, MAPPING = "Charades_v1_classes.txt", "Charades_v1_mapping.txt"
FILES = "[Cc]harades_v1_*"
VAL_SHARE = 10  # one in so many of the authors' training videos


class Row(BaseModel):
    """A video: its actions as "c092 11.90 21.20;...", its length in seconds."""

    id: str
    actions: str
    length: float


@dataclass(frozen=True, slots=True)
class Classes:
    """Code of each action class -> its name, and name -> its object and verb, or its words."""

    names: Mapping[str, str]
    parts: Mapping[str, frozenset[str]]


def is_charades(root: Path) -> bool:
    """Whether a file of the authors' is in the folder or up to two below it."""
    return any(next(root.glob(f"{below}{FILES}"), None) for below in ("", "*/", "*/*/"))


def authors_split(split: str) -> str:
    """The authors have "train" and "test"; "val" is drawn from the former. Raises UserError."""
    if split not in SPLITS:
        raise UserError("clavi: split", expected=f"one of {', '.join(SPLITS)}", got=f"'{split}'")
    return "test" if split == "test" else "train"


def belongs(video: str, split: str) -> bool:
    """Whether a video of the authors' split that holds `split` is of `split` itself."""
    held_out = int(digest("clavi", video), 16) % VAL_SHARE == 0
    return split == "test" or held_out == (split == "val")


def read_classes(root: Path) -> Classes:
    """Names as a question takes them: "Holding some clothes" is "holding some clothes".

    Object and verb are those of the authors' mapping where that file is there, or else words.
    """
    classes = charades.read_classes(find_file(root, CLASSES, "clavi"), "clavi")
    names = {code: spoken(name) for code, name in classes.items()}
    try:
        mapping = find_file(root, MAPPING, "clavi")
    except UserError:
        return Classes(names, word_parts(tuple(names.values())))
    triples = [line.split() for _, line in read_lines(mapping, "clavi")]
    parts = {names[code]: frozenset(its) for code, *its in triples if code in names}
    for code, name in names.items():
        if not parts.get(name):
            raise UserError(
                f"clavi: {mapping.name}", expected="object and verb of every action class",
                got=f"none of {code}",
            )  # fmt: skip
    return Classes(names, parts)


def spoken(name: str) -> str:
    """A class name as it stands in a question."""
    bare = re.sub(r"^(Someone|A person) is ", "", name.strip())
    return bare[:1].lower() + bare[1:]


def read_charades(root: Path, split: str, classes: Classes) -> list[Listed]:
    """The videos of a split; an action ends with its video. Raises UserError naming a bad entry."""
    file = find_file(root, f"Charades_v1_{authors_split(split)}.csv", "clavi")
    rows = read_csv(file, Row, "clavi")
    return [_listed(row, classes, file.name) for row in rows if belongs(row.id, split)]


def _listed(row: Row, classes: Classes, file: str) -> Listed:
    timed = charades.timed_actions(row.actions, classes.names, f"clavi: {file} video {row.id}")
    actions = (Action(name, start, min(end, row.length)) for name, start, end in timed)
    return Listed(row.id, row.length, tuple(act for act in actions if act.start < act.end))
