"""Which column of a question file is what, a layout a benchmark."""

from dataclasses import dataclass
from typing import Literal

AnswerForm = Literal["index", "letter", "text"]
FORMS: tuple[AnswerForm, ...] = ("text", "letter", "index")


@dataclass(frozen=True)
class Layout:
    """The columns of a question file, as its authors named them.

    `patterns` find the files in a folder. `options` is one column with a list, or a column an
    option. `answer_is` says what the column `answer` holds: the option's number from 0, its
    letter, or its text; None means that the file itself shows it. `kind` "" stands for the file's
    name. `key` "" and None columns are columns that the file does not have.
    """

    patterns: tuple[str, ...]
    question: str = "question"
    options: tuple[str, ...] = ("options",)
    answer: str = "answer"
    answer_is: AnswerForm | None = None
    video: str | None = "video"
    kind: str | None = None
    key: str | None = None


EGOSCHEMA = Layout(
    patterns=("*.parquet", "*.json"),
    # letters stand before the options all the same: "A. C cooks." with the answer 0
    options=("option",),
    answer_is="index",
    video="video_idx",
    key="question_idx",
)
LONGVIDEOBENCH = Layout(
    # the validation set alone: the authors keep the answers of the test set
    patterns=("lvb_val.json", "longvideobench_val.json", "validation*.parquet"),
    options=("candidates",),
    answer="correct_choice",
    answer_is="index",
    video="video_id",
    kind="question_category",
    key="id",
)
MVBENCH = Layout(
    patterns=("*.json",),
    options=("candidates",),
    answer_is="text",
    # its rows have no column for the kind: a task is a file
    kind="",
)
# the same columns: TVBench took MVBench's form (Cores et al., 2024)
TVBENCH = MVBENCH
VIDEO_MME = Layout(
    patterns=("*.parquet",),
    answer_is="letter",
    # YouTube's name, as the files have it; `video_id` is a running number
    video="videoID",
    kind="task_type",
    key="question_id",
)
VSI_BENCH = Layout(
    patterns=("*.jsonl", "*.parquet"),
    answer="ground_truth",
    answer_is="letter",
    # many questions are about one scene, and one question tells of another
    video="scene_name",
    kind="question_type",
    key="id",
)
