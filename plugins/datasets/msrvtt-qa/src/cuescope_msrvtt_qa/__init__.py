"""MSRVTT-QA (Xu et al., 2017): open questions about short web clips.

The authors' `train_qa.json`, `val_qa.json` and `test_qa.json`. The question type is that of
JustAsk's evaluation and so of QUAG's Table 9: "Color" where the question says so, else its first
word.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from cuescope_sdk.data import Question, VideoQuestions, read_json

# MSR-VTT's category.txt, where the number of a category is its line, counted from 0.
_CATEGORIES = (
    "music, people, gaming, sports/actions, news/events/politics, education, tv shows, "
    "movie/comedy, animation, vehicles/autos, howto, travel, science/technology, animals/pets, "
    "kids/family, documentary, food/drink, cooking, beauty/fashion, advertisement"
)
CATEGORIES = tuple(_CATEGORIES.split(", "))
FIRST_WORDS = ("what", "who", "how", "when", "where")


class QuestionRow(BaseModel):
    """An entry of `{split}_qa.json`; video 7010 is the file `video7010`."""

    id: int
    video_id: int
    question: str
    answer: str
    category_id: Annotated[int, Field(ge=0, lt=len(CATEGORIES))]


class MSRVTTQA(VideoQuestions):
    """A sample a question, open-ended: the label is the authors' answer."""

    title: ClassVar[str] = "msrvtt-qa"
    benchmark: str | None = "MSRVTT-QA"

    def read(self, split: str) -> Iterator[Question]:
        """The questions of a split."""
        for row in read_json(self.file(f"{split}_qa.json"), QuestionRow, self.title):
            yield Question(
                f"q{row.id}",
                f"video{row.video_id}",
                row.question,
                label=row.answer,
                annotations={
                    "question_type": question_type(row.question),
                    "category": CATEGORIES[row.category_id],
                },
            )


def question_type(question: str) -> str:
    """ "Color", "What", "Who", "How", "When" or "Where"; "Other" for what begins otherwise."""
    words = question.lower().split()
    # Before the first word, as JustAsk does it: "what color is the car" is of "Color".
    if "color" in question.lower():
        return "Color"
    return words[0].title() if words and words[0] in FIRST_WORDS else "Other"
