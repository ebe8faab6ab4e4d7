"""MSRVTT-QA (Xu et al., 2017): open questions about short web clips.

The authors' `train_qa.json`, `val_qa.json` and `test_qa.json`. The question type is that of
JustAsk's evaluation and so of QUAG's Table 9: "Color" where the question says so, else its first
word.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from cuescope_sdk import UserError
from cuescope_sdk.data import Question, VideoQuestions

# MSR-VTT's category.txt, where the number of a category is its line, counted from 0.
_CATEGORIES = (
    "music, people, gaming, sports/actions, news/events/politics, education, tv shows, "
    "movie/comedy, animation, vehicles/autos, howto, travel, science/technology, animals/pets, "
    "kids/family, documentary, food/drink, cooking, beauty/fashion, advertisement"
)
CATEGORIES = tuple(_CATEGORIES.split(", "))
LISTS = ("train_val_videodatainfo.json", "test_videodatainfo.json")
FIRST_WORDS = ("what", "who", "how", "when", "where")


class QuestionRow(BaseModel):
    """An entry of `{split}_qa.json`; video 7010 is the file `video7010`."""

    id: int
    video_id: int
    question: str
    answer: str
    category_id: Annotated[int, Field(ge=0, lt=len(CATEGORIES))]


class VideoRow(BaseModel):
    """An entry of "videos" of MSR-VTT's own list: clip `video7010` is of the upload `url`."""

    video_id: str
    url: str


class VideosFile(BaseModel):
    """`train_val_videodatainfo.json` or `test_videodatainfo.json` of MSR-VTT (Xu et al., 2016)."""

    videos: list[VideoRow]


class MSRVTTQA(VideoQuestions):
    """A sample a question, open-ended: the label is the authors' answer.

    The group is the upload, of which several clips may be, where MSR-VTT's own lists of videos lie
    beside the questions; else it is the clip.
    """

    title: ClassVar[str] = "msrvtt-qa"
    benchmark: str | None = "MSRVTT-QA"

    def read(self, split: str) -> Iterator[Question]:
        """The questions of a split."""
        uploads = self._uploads()
        for row in self.file(f"{split}_qa.json").json_rows(QuestionRow):
            video = f"video{row.video_id}"
            if uploads and video not in uploads:
                raise UserError(
                    f"{self.title}: no upload of {video}",
                    expected=f"it in {' or '.join(LISTS)}",
                    remedy="Put both files there, or none",
                )
            yield Question(
                f"q{row.id}",
                video,
                row.question,
                label=row.answer,
                annotations={
                    "question_type": question_type(row.question),
                    "category": CATEGORIES[row.category_id],
                },
                group=uploads.get(video),
            )

    def _uploads(self) -> dict[str, str]:
        """The address of each clip's upload; none where there is no list of videos."""
        tables = list(filter(None, map(self.find, LISTS)))
        if not tables:
            self.facts["uploads"] = (
                f"not known: there is no {LISTS[0]}; a clip is a group"
            )
        urls: dict[str, str] = {}
        for table in tables:
            rows = table.json_object(VideosFile).videos
            urls |= {row.video_id: row.url for row in rows}
        return urls


def question_type(question: str) -> str:
    """ "Color", "What", "Who", "How", "When" or "Where"; "Other" for what begins otherwise."""
    words = question.lower().split()
    # Before the first word, as JustAsk does it: "what color is the car" is of "Color".
    if "color" in question.lower():
        return "Color"
    return words[0].title() if words and words[0] in FIRST_WORDS else "Other"
