"""Charades-STA (Gao et al., 2017): household videos with sentences and actions that are timed.

The authors' `charades_sta_{split}.txt`; and of Charades (Sigurdsson et al., 2016), whose videos
they are, `Charades_v1_{split}.csv` and `Charades_v1_classes.txt`.
"""

from collections.abc import Iterator
from typing import ClassVar

from cuescope_charades_sta.layout import read_moments, read_videos, sort_by_start
from cuescope_sdk import UserError
from cuescope_sdk.data import Question, VideoQuestions


class CharadesSTA(VideoQuestions):
    """A sample a video, with no question of its own: what is known of it is in the annotations.

    "moments" are (sentence, start, end) and "timed_actions" (name, start, end), in seconds of the
    video, by their start, as the annotators gave them: an end may lie past that of the video.
    "duration" is in seconds too; "scene", "objects", "script" and "descriptions" are of Charades.
    The group is the video.
    """

    title: ClassVar[str] = "charades-sta"
    benchmark: str | None = "Charades-STA"
    split_names: ClassVar[tuple[str, ...]] = ("train", "test")

    def read(self, split: str) -> Iterator[Question]:
        """The videos of a split, in the order of their sentences; raises UserError for a misfit."""
        classes = self.file("Charades_v1_classes.txt").codes()
        table = self.file(f"Charades_v1_{split}.csv")
        videos = read_videos(table, classes)
        moments = read_moments(self.file(f"charades_sta_{split}.txt"))
        # Charades has videos without any sentence; they are no part of Charades-STA.
        for name, timed in moments.items():
            video = videos.get(name)
            if video is None:
                raise UserError(
                    f"{table.name} has no video '{name}'",
                    expected=f"every video of charades_sta_{split}.txt",
                )
            yield Question(
                name,
                name,
                annotations={"moments": sort_by_start(timed), **video},
            )
