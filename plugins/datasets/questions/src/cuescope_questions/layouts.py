"""Which column of a question file is what, a layout a benchmark."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

AnswerForm = Literal["index", "letter", "number", "text"]
# what a file shows by itself: of numbers from 0 or from 1 it cannot show which
FORMS: tuple[AnswerForm, ...] = ("text", "letter", "index")


@dataclass(frozen=True)
class Layout:
    """The columns of a question file, as its authors named them.

    `patterns` find the files in a folder. `options` is one column with a list, or a column an
    option; where there is none the options are `fixed`, or stand in the question's text.
    `answer_is` says what the column `answer` holds: the option's number from 0, its letter, or its
    text; None means that the file itself shows it. An answer that is `unknown` is none. `inside`
    is the column in which a row has a list of questions. `kind` "" stands for the file's name.
    `pictures` are the columns with pictures, in their cells or by name. `source` is what several
    videos were cut from. `key` "" and None columns are columns that the file does not have. A
    `picture_of` a row is that of the row with the key that its cell has.
    """

    patterns: tuple[str, ...]
    question: str = "question"
    options: tuple[str, ...] = ("options",)
    fixed: tuple[str, ...] = ()
    answer: str = "answer"
    answer_is: AnswerForm | None = None
    unknown: str | None = None
    inside: str | None = None
    video: str | None = "video"
    source: str | None = None
    kind: str | None = None
    key: str | None = None
    picture_of: bool = False
    pictures: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        """The columns without which there is no question."""
        return (self.question, *self.options, self.answer)

    @property
    def columns(self) -> Iterator[str]:
        """All columns that are read."""
        yield from self.required
        for column in (self.inside, self.video, self.source, self.kind, self.key):
            if column:
                yield column


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
NEXT_QA = Layout(
    patterns=("test.csv", "val.csv", "*.csv"),
    options=("a0", "a1", "a2", "a3", "a4"),
    answer_is="index",
    # `qid` counts anew in each video
    kind="type",
)
IMPLICITQA = Layout(
    patterns=("ImplicitQA*.jsonl", "*.jsonl"),
    question="question_text",
    answer="answer_choice",
    answer_is="letter",
    video="video_id",
    # 327 clips of 315 videos
    source="video_url",
    kind="category",
    key="question_id",
)
LVBENCH = Layout(
    patterns=("video_info.meta.jsonl", "*.jsonl"),
    # "What year ...?\n(A) 1636\n(B) 1366"
    options=(),
    answer_is="letter",
    # a row is a video
    inside="qa",
    video="key",
    kind="question_type",
    key="uid",
)
MINERVA = Layout(
    patterns=("minerva.json", "*.json"),
    options=tuple(f"answer_choice_{number}" for number in range(5)),
    answer="answer_id",
    answer_is="index",
    video="video_id",
    kind="question_type",
    key="key",
)
MLVU = Layout(
    # 8 and 9 of the development set ask for sentences, and have no options
    patterns=("test_mcq_gt.json", "[1-7]_*.json", "*.json"),
    options=("candidates",),
    answer_is="text",
    kind="question_type",
)
MMR_V = Layout(
    patterns=("test-*.parquet", "*.parquet", "*.json"),
    # "(C)", and "(C) The house ..." among the options
    answer="correctAnswer",
    answer_is="letter",
    kind="abilityType_L2",
    key="question_idx",
)
RTV_BENCH = Layout(
    patterns=("QA.json", "*.json"),
    answer_is="letter",
    kind="type",
    key="questionID",
)
VIDEO_HOLMES = Layout(
    patterns=("test_Video-Holmes.json", "*Video-Holmes*.json"),
    question="Question",
    options=("Options",),
    answer="Answer",
    answer_is="letter",
    video="video ID",
    kind="Question Type",
    key="Question ID",
)
POPE = Layout(
    # adversarial, popular and random: a file each, and each counts its questions from 1
    patterns=("coco_pope_*.json", "*pope*.json", "*.json"),
    question="text",
    options=(),
    fixed=("yes", "no"),
    answer="label",
    answer_is="text",
    video="image",
    kind="",
    pictures=("image",),
)
POPE_TABLE = Layout(
    patterns=("*.parquet",),
    options=(),
    fixed=("yes", "no"),
    answer_is="text",
    video="image_source",
    kind="category",
    pictures=("image",),
)
SEED_BENCH = Layout(
    patterns=("SEED-Bench*.json", "*.json", "*.parquet"),
    options=("choice_a", "choice_b", "choice_c", "choice_d"),
    answer_is="letter",
    # beside it stand the names of the kinds
    inside="questions",
    video="data_id",
    kind="question_type_id",
    key="question_id",
    pictures=("data_id",),
)
SCIENCEQA = Layout(
    # an object: a question is named by its number
    patterns=("problems.json", "test-*.parquet", "*.parquet"),
    options=("choices",),
    answer_is="index",
    # "image.png" throughout: each question has a folder of its own
    video=None,
    kind="topic",
    key="key",
    pictures=("image",),
)
AI2D = Layout(
    # a file a picture, whose questions are named by their text
    patterns=("questions/*.json", "*.json"),
    options=("answerTexts",),
    answer="correctAnswer",
    answer_is="index",
    inside="questions",
    video="imageName",
    key="questionId",
    pictures=("imageName",),
)
AI2D_TABLE = Layout(
    patterns=("test-*.parquet", "*.parquet"),
    answer_is="index",
    # the picture itself: 3,088 questions have no other name for it
    video="image",
    pictures=("image",),
)
# <image 1> in the question is the first of them
IMAGES = tuple(f"image_{number}" for number in range(1, 8))
MMMU = Layout(
    patterns=("validation-*.parquet", "*.parquet"),
    # "[]" where the answer is open
    answer_is="letter",
    # of the test set
    unknown="?",
    video=None,
    kind="subfield",
    key="id",
    pictures=IMAGES,
)
MMMU_PRO = Layout(
    patterns=(
        "standard (10 options)/*.parquet",
        "standard*/*.parquet",
        "*.parquet",
    ),
    answer_is="letter",
    video=None,
    kind="subject",
    key="id",
    pictures=IMAGES,
)
MMSTAR_TABLE = Layout(
    patterns=("MMStar.tsv", "*.tsv"),
    options=("A", "B", "C", "D"),
    answer_is="letter",
    video="image",
    kind="category",
    key="index",
    picture_of=True,
    pictures=("image",),
)
MMSTAR = Layout(
    patterns=("mmstar.parquet", "*.parquet", "MMStar.tsv", "*.tsv"),
    # "Which ...?\nOptions: A: The book., B: The cat."
    options=(),
    answer_is="letter",
    video="image",
    kind="category",
    key="index",
    pictures=("image",),
)
MMBENCH = Layout(
    patterns=("*.tsv", "dev-*.parquet", "*.parquet"),
    # those that a question lacks are empty, or "nan"
    options=("A", "B", "C", "D"),
    answer_is="letter",
    video="image",
    kind="category",
    key="index",
    # a copy with its options turned has the number of the first one for a picture
    picture_of=True,
    pictures=("image",),
)
