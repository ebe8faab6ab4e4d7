"""Data sets of questions about videos: a question file and a folder of videos, one sample each.

A data set subclasses `VideoQuestions` and reads its own layout with `read_json` or `read_csv`:

    class MyQuestions(VideoQuestions):
        title = "my-questions"

        def read(self, split):
            for row in read_json(self.file(f"{split}.json"), Row, self.title):
                yield Question(row.id, row.video, row.question, label=row.answer)
"""

from cuescope_sdk.data._annotation_files import find_file, read_csv, read_json, read_lines
from cuescope_sdk.data._video_questions.dataset import VideoQuestionOptions, VideoQuestions
from cuescope_sdk.data._video_questions.finding import find_videos, open_videos
from cuescope_sdk.data._video_questions.questions import (
    Question,
    describe_video_problems,
    require_enough_questions,
)

__all__ = [
    "Question",
    "VideoQuestionOptions",
    "VideoQuestions",
    "find_file",
    "find_videos",
    "require_enough_questions",
    "open_videos",
    "read_csv",
    "read_json",
    "read_lines",
    "describe_video_problems",
]
