"""The authors' files: the annotation of Charades, and the segments and questions of CLAVI.

Charades (Sigurdsson et al., 2016) times the actions of its videos. The authors of CLAVI publish
`{train,test}_annotations.json`, each segment by its two actions and four cuts, and beside them
`{train,test}_q.json` and `_a.json` with its questions: `video_name` is the segment with _1 for the
original and _2 for the complement video, `type` a number. That they are records joined by
`question_id` is not said; files of these names are so in ActivityNet-QA.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, RootModel

from cuescope_clavi.questions import (
    SUBSETS,
    YES,
    Kind,
    Question,
    QuestionPair,
    word_parts,
)
from cuescope_clavi.segments import Action, Segment, TimedVideo
from cuescope_sdk import UserError, digest
from cuescope_sdk.data import TextFile, parse_timed_actions, require_inside

SPLITS = ("train", "val", "test")
CLASSES = "Charades_v1_classes.txt"
MAPPING = "Charades_v1_mapping.txt"
FILES = "[Cc]harades_v1_*"
VAL_SHARE = 10  # one in so many of the authors' training videos
# `type` of a question about the original video; of the complement video it is 16 more.
KINDS: dict[int, Kind] = {
    0: "E",
    1: "E-NC",
    4: "BE",
    5: "BE",
    8: "BA",
    9: "BA",
    10: "BA-NC",
}
OF_COMPLEMENT = 16  # published annotation (Rawal et al., 2024)
# Without an object ("someone is laughing"); the published questions ask about none of them.
OBJECTLESS = frozenset(f"c{number}" for number in range(146, 157))

# ------------------------------------------------------------------------------------- Charades


class VideoRow(BaseModel):
    """A video: its actions as "c092 11.90 21.20;...", its length in seconds."""

    id: str
    actions: str
    length: float


@dataclass(frozen=True, slots=True)
class Classes:
    """Code of each action class -> its name, and name -> its object and verb, or its words."""

    names: Mapping[str, str]
    parts: Mapping[str, frozenset[str]]

    @property
    def objectless(self) -> frozenset[str]:
        """The names of those that the published questions leave out: c146 to c156."""
        return frozenset(
            name for code, name in self.names.items() if code in OBJECTLESS
        )


def is_charades(root: Path) -> bool:
    """Whether a file of the authors' is in the folder or up to two below it."""
    return any(any(root.glob(below + FILES)) for below in ("", "*/", "*/*/"))


def authors_split(split: str) -> str:
    """The authors have "train" and "test"; "val" is drawn from the former. Raises UserError."""
    if split not in SPLITS:
        raise UserError(
            "clavi: split",
            expected=f"one of {', '.join(SPLITS)}",
            got=f"'{split}'",
        )
    return "test" if split == "test" else "train"


def in_split(video: str, split: str) -> bool:
    """Whether a video of the authors' split that holds `split` is of `split` itself."""
    # By a digest of the name, so that a video stays in its split whichever others are there.
    held_out = int(digest("clavi", video), 16) % VAL_SHARE == 0
    return split == "test" or held_out == (split == "val")


def read_classes(root: Path) -> Classes:
    """Names as a question takes them: "Holding some clothes" is "holding some clothes".

    Object and verb are those of the authors' mapping where that file is there, or else words.
    """
    classes = TextFile.find(root, CLASSES, "clavi").codes()
    names = {code: phrase_of(name) for code, name in classes.items()}
    try:
        mapping = TextFile.find(root, MAPPING, "clavi")
    except UserError:
        return Classes(names, word_parts(tuple(names.values())))
    parts: dict[str, frozenset[str]] = {}
    for _, line in mapping.lines():
        code, *codes = line.split()
        if code in names:
            parts[names[code]] = frozenset(codes)
    for code, name in names.items():
        # without parts it shares nothing, and could be the control of a video that shows it
        if not parts.get(name):
            raise UserError(
                mapping.name,
                expected="object and verb of every action class",
                got=f"none of {code}",
            )
    return Classes(names, parts)


def phrase_of(name: str) -> str:
    """A class name as it stands in a question."""
    # questions bring a subject of their own: "Was someone laughing?"
    bare = re.sub(r"^(Someone|A person) is ", "", name.strip())
    return bare[:1].lower() + bare[1:]


def read_charades(root: Path, split: str, classes: Classes) -> list[TimedVideo]:
    """The videos of a split; an action ends with its video. Raises UserError naming a bad entry."""
    name = f"Charades_v1_{authors_split(split)}.csv"
    table = TextFile.find(root, name, "clavi")
    videos = []
    for row in table.csv_rows(VideoRow):
        if in_split(row.id, split):
            location = f"{table.name} video {row.id}"
            actions = []
            for action, start, end in parse_timed_actions(
                row.actions, classes.names, location
            ):
                # An annotated action may end, or even start, after its video does.
                within = min(end, row.length)
                if start < within:
                    actions.append(Action(action, start, within))
            videos.append(TimedVideo(row.id, row.length, tuple(actions)))
    return videos


# ------------------------------------------------------------------------- CLAVI as it is published


class Cuts(BaseModel):
    """Outer and inner borders of the first and of the second action's region, in seconds."""

    out_a: float
    in_a: float
    in_b: float
    out_b: float


class SegmentRow(BaseModel):
    """A segment as it is published: two (class, start, end), the cuts, what else occurs."""

    vid_id: str
    info: tuple[tuple[str, float, float], tuple[str, float, float]]
    other_actions: tuple[str, ...] = ()
    ext: Cuts


class SegmentRows(RootModel[Annotated[dict[str, SegmentRow], Field(min_length=1)]]):
    """Segments by key."""


class QuestionRow(BaseModel):
    """A record of the questions."""

    question_id: str | int
    video_name: str
    question: str


class AnswerRow(BaseModel):
    """A record of the answers."""

    question_id: str | int
    answer: str
    type: int


@dataclass(frozen=True, slots=True)
class PublishedSegment:
    """A segment of a video, with all actions of that video that the annotation names."""

    key: str
    video: str
    segment: Segment
    actions: frozenset[str]


def read_published_segments(
    file: TextFile, names: Mapping[str, str]
) -> list[PublishedSegment]:
    """The segments; raises UserError naming the one that is not as published."""
    segments = []
    for key, row in file.json_object(SegmentRows).root.items():
        try:
            first, second = (
                Action(names[code], start, end) for code, start, end in row.info
            )
            others = frozenset(map(names.__getitem__, row.other_actions))
        except KeyError as error:
            raise UserError(
                f"{file.name}: segment {key}",
                expected="a class of Charades",
                got=str(error),
            ) from None
        # in the order of time, as `Segment` has them
        cuts = (row.ext.out_a, row.ext.in_a, row.ext.in_b, row.ext.out_b)
        # a negative control must be none of them
        actions = others | {first.name, second.name}
        segments.append(
            PublishedSegment(key, row.vid_id, Segment(first, second, cuts), actions)
        )
    return segments


def read_questions(folder: Path, stem: str) -> Mapping[str, QuestionPair] | None:
    """Segment -> the questions about its original and its complement video; None without files.

    They are those in `STEM_q.json` and `STEM_a.json` of the folder.
    """
    questions = TextFile(folder / f"{stem}_q.json", "clavi")
    answers = TextFile(folder / f"{stem}_a.json", "clavi")
    if not questions.path.is_file() or not answers.path.is_file():
        return None
    # in an archive of somebody else a file may be a link to any other
    require_inside([folder], [questions.path, answers.path], "clavi")
    answered = {row.question_id: row for row in answers.json_rows(AnswerRow)}
    pairs: dict[str, tuple[list[Question], list[Question]]] = {}
    for row in questions.json_rows(QuestionRow):
        answer = answered.get(row.question_id)
        name = re.fullmatch(r"(.+)_([12])", row.video_name)
        if answer is None or name is None or answer.type % OF_COMPLEMENT not in KINDS:
            kind = "no answer" if answer is None else f"type {answer.type}"
            raise UserError(
                f"{questions.name}: question {row.question_id}",
                expected="an answer of a known type, and video_name KEY_1 or KEY_2",
                got=f"{kind}, '{row.video_name}'",
            )
        kind = KINDS[answer.type % OF_COMPLEMENT]
        complement = name[2] == "2"
        # A `Question` keeps the answer of the original video, whichever video it is published for.
        flipped = complement and SUBSETS[kind] == "complement"
        original = (answer.answer.lower() == YES) != flipped
        pair = pairs.setdefault(name[1], ([], []))
        pair[complement].append(Question(kind, row.question, original))
    return pairs
