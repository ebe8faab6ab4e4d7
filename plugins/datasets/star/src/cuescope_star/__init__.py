"""STAR (Wu et al., 2021): situated reasoning about clips of Charades, with situation graphs.

The authors' `STAR_{train,val,test}.json` and the five files of `STAR_classes`. The splits "iid"
and "ood" hold action and object categories out (Rahman et al., section 4.1), and share no video.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from cuescope_sdk import Names, Sample, Words, digest
from cuescope_sdk.data import (
    Question,
    VideoQuestionOptions,
    VideoQuestions,
    held_out_categories,
)
from cuescope_sdk.grounding import SCENE, TIMES, SceneFrame
from cuescope_star.layout import (
    QuestionRow,
    check_question,
    read_all_classes,
    video_parts,
)
from cuescope_star.samples import choose_frames, scene_frame

# step grounding, section 4.1: "three action and five object categories"
HELD_ACTIONS = 3
HELD_OBJECTS = 5  # section 4.1


class STAROptions(VideoQuestionOptions):
    """Those of every question data set, and what is held out."""

    split: Annotated[str, Names.part()] = Field(
        "val", description="which split to show: train, val, test, iid or ood"
    )
    ood: Literal["train", "val"] = Field(
        "val", description="the split whose questions are parted into iid and ood"
    )
    held_actions: Annotated[tuple[str, ...] | None, Words()] = Field(
        None, description="held-out verbs: NAME,NAME; default three drawn by lot"
    )
    held_objects: Annotated[tuple[str, ...] | None, Words()] = Field(
        None, description="held-out objects: NAME,NAME; default five drawn by lot"
    )


class STAR(VideoQuestions):
    """A sample a question with four choices, about the seconds `clip` of a video, its group.

    "scene" has the situation graph of each annotated frame and an empty one of the others; "times"
    count from the start of the clip. "question_type" is Interaction, Sequence, Prediction or
    Feasibility, "template" the authors' finer one ("T1").
    """

    Options = STAROptions
    options: STAROptions
    title: ClassVar[str] = "star"
    benchmark: str | None = "STAR"
    split_names: ClassVar[tuple[str, ...]] = ("train", "val", "test", "iid", "ood")

    def read(self, split: str) -> Iterator[Question]:
        # iid and ood are parts of one of the authors' splits
        official = self.options.ood if split in ("iid", "ood") else split
        file = self.file(f"STAR_{official}.json")
        rows = file.json_rows(QuestionRow)
        self.classes = read_all_classes(self.file)
        for row in rows:
            check_question(
                row, self.classes, f"{file.name} question '{row.question_id}'"
            )
        if split in ("iid", "ood"):
            rows = self._part(rows, split)
        self.rows = {row.question_id: row for row in rows}
        for row in rows:
            kind, _, rest = row.question_id.partition("_")  # "Interaction_T1_13"
            annotations = {
                "question_type": kind,
                "template": rest.partition("_")[0],
                "clip": (row.start, row.end),
            }
            yield Question(
                row.question_id,
                row.video_id,
                row.question,
                row.answers,
                row.answer,
                annotations,
            )

    @cached_property
    def fingerprint(self) -> str:
        """Of everything that a sample shows, the situation graphs among it."""
        # the graphs are no annotations yet
        graphs = []
        for question in self.questions:
            row = self.rows[question.key]
            graphs.append(row.model_dump_json(include={"situations"}))
        return digest(super().fingerprint, self.classes, graphs)

    def __getitem__(self, index: int) -> Sample:
        question = self.questions[index]
        row = self.rows[question.key]
        video = self.clips[question.video]
        # of the whole video, as the graphs' frames are counted
        all_times = video.times()
        within, segment = video.between(row.start, row.end)
        annotated = row.annotated
        frames = choose_frames(within, annotated, self.options.frames)
        scene = []
        times = []
        for frame in frames:
            situation = annotated.get(frame)
            scene.append(
                scene_frame(situation, self.classes) if situation else SceneFrame()
            )
            seconds = round(float(all_times[frame]) - row.start, 3)
            # of a clip in which no frame begins, the one before it is shown
            times.append(max(0.0, seconds))
        sample = super().__getitem__(index)
        return replace(
            sample,
            frames=video.frames_at(frames, segment),
            annotations={
                **sample.annotations,
                SCENE: tuple(scene),
                TIMES: tuple(times),
            },
        )

    def _part(self, rows: list[QuestionRow], wanted: str) -> list[QuestionRow]:
        """The rows in or out of distribution; says in `facts` what is held out."""
        options = self.options
        classes = self.classes
        draw = partial(held_out_categories, title=self.title)
        verbs = draw(options.held_actions, classes.verbs, HELD_ACTIONS, what="action")
        things = draw(options.held_objects, classes.things, HELD_OBJECTS, what="object")
        parts = video_parts(rows, verbs | things, classes)
        count = Counter(parts)
        held_verbs = ", ".join(sorted(verbs))
        held_things = ", ".join(sorted(things))
        self.facts["held out"] = f"actions {held_verbs}; objects {held_things}"
        self.facts["distribution"] = (
            f"of the questions of STAR_{options.ood}.json {count['iid']:,} are in, "
            f"{count['ood']:,} out of it, and {count[None]:,} neither (a held-out category is on "
            "screen, a wrong choice, or asked for in the same video)"
        )
        # those between are in neither
        return [row for row, part in zip(rows, parts, strict=True) if part == wanted]
