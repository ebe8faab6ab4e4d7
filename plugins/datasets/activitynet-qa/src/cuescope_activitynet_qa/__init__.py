"""ActivityNet-QA (Yu et al., 2019): open questions about web videos.

The authors' `{split}_q.json` and `{split}_a.json`. Their answer types stand in the annotation
"question_type", under the names of QUAG's Table 4.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from cuescope_sdk import UserError
from cuescope_sdk.data import Question, VideoQuestions

# In the order that the authors' numbers count.
_NAMES = "Motion, Spatial, Temporal, Yes/No, Color, Object, Location, Number, Other"
TYPES = tuple(_NAMES.split(", "))


class QuestionRow(BaseModel):
    """An entry of `{split}_q.json`; `video_name` is the YouTube id."""

    question_id: str
    question: str
    video_name: str


class AnswerRow(BaseModel):
    """An entry of `{split}_a.json`; `type` counts from "Motion" = 0."""

    question_id: str
    answer: str
    type: Annotated[int, Field(ge=0, lt=len(TYPES))]


class ActivityNetQA(VideoQuestions):
    """A sample a question, open-ended: the label is the authors' answer, also of yes/no questions.

    The group is the upload, by its YouTube id.

    Videos are called by the YouTube id, or `v_` and the id as ActivityNet's own download does.
    """

    title: ClassVar[str] = "activitynet-qa"
    benchmark: str | None = "ActivityNet-QA"

    def read(self, split: str) -> Iterator[Question]:
        """The questions of a split, each with its answer; raises UserError where one has none."""
        questions = self.file(f"{split}_q.json").json_rows(QuestionRow)
        answers = {
            row.question_id: row
            for row in self.file(f"{split}_a.json").json_rows(AnswerRow)
        }
        for row in questions:
            # The two files are joined by id: nothing says that their order is the same.
            answer = answers.get(row.question_id)
            if answer is None:
                raise UserError(
                    f"{self.title}: {split}_a.json has no answer to question '{row.question_id}'",
                    remedy="Take both files from the same release",
                )
            yield Question(
                row.question_id,
                row.video_name,
                row.question,
                label=answer.answer,
                # by name: the number says nothing
                annotations={"question_type": TYPES[answer.type]},
            )

    def file_names(self, video: str) -> tuple[str, ...]:
        """The id, with and without ActivityNet's prefix."""
        return (f"v_{video}", video)  # ActivityNet's own download adds v_
