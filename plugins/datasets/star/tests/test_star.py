"""The authors' layout becomes clips with scenes; splits by category do not overlap."""

import json
from pathlib import Path
from typing import Any

import pytest
from media_files import MediaFile

from cuescope_sdk import HasBenchmark
from cuescope_sdk.grounding import SCENE, TIMES, Action, Relation, SceneFrame
from cuescope_star import STAR
from cuescope_star.layout import phrases_of
from cuescope_star.samples import choose_frames
from cuescope_testing import LayoutContract, Mistake

OBJECTS = [
    "person",
    "closet/cabinet",
    "book",
    "hands",
    "towel",
    "bag",
    "sofa/couch",
    "window",
]
VERBS = ["close", "hold", "wash", "sit", "tidy"]
ACTIONS = [
    "close a closet/cabinet",
    "hold a book",
    "wash their hands",
    "sit on sofa/couch",
    "tidy up a towel/s",
]
MAPPING = [
    "a000 v000 o001",
    "a001 v001 o002",
    "a002 v002 o003",
    "a003 v003 o006",
    "a004 v004 o004",
]
RELATIONS = ["in_front_of", "holding", "covered_by", "sitting_on", "beneath"]


def lines(letter: str, names: list[str]) -> str:
    return "".join(
        f"{letter}{number:03d} {name}\n" for number, name in enumerate(names)
    )


def graph(**changes: Any) -> dict[str, Any]:
    """A frame: a closet in front of the person, who holds an unseen book and shuts the closet."""
    return {
        "rel_pairs": [["o000", "o001"], ["o000", "o002"]],
        "rel_labels": ["r000", "r001"],
        "bbox": [[10.5, 2, 40, 30], None, [1, 2, 20, 30]],
        "bbox_labels": ["o001", "o002", "o000"],
        "actions": ["a000"],
        **changes,
    }


def entry(
    number: int,
    video: str,
    asked: str = "close",
    answer: str = "closet/cabinet",
    **changes: Any,
) -> dict[str, Any]:
    things = [answer, *(name for name in ("book", "towel", "bag") if name != answer)]
    return {
        "question_id": f"Interaction_T1_{number}",
        "question": f"Which object did the person {asked}?",
        "video_id": video,
        "start": 0.2,
        "end": 1.0,
        "answer": f"The {answer}.",
        "question_program": [
            {"function": "Situations", "value_input": []},
            {"function": "Filter_Actions_with_Verb", "value_input": [asked]},
        ],
        "choices": [
            {
                "choice_id": 3 - place,
                "choice": f"The {name}.",
                "choice_program": [{"function": "Equal", "value_input": [name]}],
            }
            for place, name in enumerate(things)
        ],
        "situations": {"000009": graph(actions=[]), "000005": graph()},
        **changes,
    }


SPLITS = {
    "train": [entry(1, "AAAAA"), entry(2, "AAAAA")],
    "val": [
        entry(3, "BBBBB"),
        entry(4, "BBBBB", "wash", "hands"),
        entry(5, "CCCCC", situations={"000003": graph(actions=["a002"])}),
        entry(6, "CCCCC", "hold", "window"),
        entry(8, "EEEEE"),
    ],
    "test": [entry(7, "DDDDD")],
}
CLASSES, VAL = "annotations/STAR_classes", "STAR_val.json"


def spoilt(**changes: Any) -> str:
    return json.dumps([{**entry(3, "BBBBB"), **changes}])


class TestSTAR(LayoutContract):
    plugin = STAR
    options = {"frames": 4, "held_actions": ["wash"], "held_objects": ["window"]}
    other_options = {"frames": 2}
    split_names = ("train", "val", "test")
    mistakes = (
        Mistake(VAL, None, "no STAR_val.json"),
        Mistake(
            VAL,
            '[{"question_id": "x"}]',
            "STAR_val.json entry 1 'question': expected a",
        ),
        Mistake(
            VAL,
            spoilt(end=0.1),
            "question 'Interaction_T1_3': expected a start before the end, got 0.2 s to 0.1 s",
        ),
        Mistake(
            VAL,
            spoilt(answer="The dog."),
            "'Interaction_T1_3': expected an answer among the",
        ),
        Mistake(
            VAL,
            spoilt(situations={"000005": graph(actions=["a009"])}),
            "frame 000005: no class 'a009'. Did you mean 'a00",
        ),
        Mistake(
            VAL,
            spoilt(situations={"000005": graph(bbox=[])}),
            "frame 000005: expected as many bbox as bbox_labels, got 0 and 3",
        ),
        Mistake(
            VAL, spoilt(situations={"000000": graph()}), "entry 1 'situations' '000000'"
        ),
        Mistake(f"{CLASSES}/verb_classes.txt", None, "no verb_classes.txt"),
        Mistake(
            f"{CLASSES}/verb_classes.txt",
            "v000\n",
            "line 1: expected a code and a name",
        ),
        Mistake(
            f"{CLASSES}/action_mapping.txt",
            "a000 v009 o001\n",
            "line 1: no class 'v009'",
        ),
        Mistake(
            "",
            None,
            "no action 'wsh': expected one of close, hold, sit, tidy, wash. Did you mean 'wash'?",
            {"split": "ood", "held_actions": ["wsh"]},
        ),
        Mistake("", None, "no split 'odd'", {"split": "odd"}),
    )

    @classmethod
    def written(cls, root: Path) -> None:
        """Question files, the repository's class files, and videos of Charades."""
        folder = root / CLASSES
        folder.mkdir(parents=True)
        for name, letter, names in (
            ("object", "o", OBJECTS),
            ("verb", "v", VERBS),
            ("action", "a", ACTIONS),
            ("relationship", "r", RELATIONS),
        ):
            (folder / f"{name}_classes.txt").write_text(lines(letter, names))
        (folder / "action_mapping.txt").write_text("\n".join(MAPPING))
        for split, entries in SPLITS.items():
            (root / f"STAR_{split}.json").write_text(json.dumps(entries))
            for number, video in enumerate(sorted({e["video_id"] for e in entries})):
                MediaFile.video(root / "Charades_v1_480" / f"{video}.mp4", 12 - number)

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "STAR"

    def test_a_question_is_a_clip_with_scenes(self):
        data = self.open()
        assert [sample.key for sample in data][:2] == [
            "Interaction_T1_3",
            "Interaction_T1_4",
        ]
        sample = data[0]
        assert sample.question == "Which object did the person close?"
        assert sample.choices == (
            "The bag.",
            "The towel.",
            "The book.",
            "The closet/cabinet.",
        )
        assert sample.label == "The closet/cabinet."
        known = sample.annotations
        assert (known["question_type"], known["template"]) == ("Interaction", "T1")
        assert (known["clip"], known["video_id"]) == ((0.2, 1.0), "BBBBB")
        # Frames 2 to 9 are in four parts; numbers of frames count from 1.
        assert MediaFile.grey_levels(sample.frames) == [3, 4, 7, 8]
        assert sample.annotations[TIMES] == (0.1, 0.2, 0.5, 0.6)

    def test_a_question_is_of_its_seconds_of_the_file(self):
        """So that features of the whole video are not taken for it."""
        for sample in self.open():
            segments = {frame.source.segment for frame in sample.frames}
            [segment] = [seconds[:2] for seconds in segments]
            assert segment == sample.annotations["clip"]

    def test_a_situation_is_a_scene(self):
        nothing, shutting, _, holding = self.open()[0].annotations[SCENE]
        assert nothing == SceneFrame()
        assert {(t.id, t.name, t.box, t.visible) for t in shutting.things} == {
            ("o001", "closet/cabinet", (10.5, 2.0, 40.0, 30.0), True),
            ("o002", "book", None, False),
            ("o000", "person", (1.0, 2.0, 20.0, 30.0), True),
        }
        assert shutting.relations == (
            Relation(subject="o001", predicate="in front of", object="o000"),
            Relation(subject="o000", predicate="holding", object="o002"),
        )
        assert set(shutting.actions) == {
            Action(subject="o000", verb="hold", object="o002"),
            Action(subject="o000", verb="close", object="o001"),
        }
        assert set(holding.actions) == {
            Action(subject="o000", verb="hold", object="o002")
        }
        assert not shutting.closed

    def test_every_action_has_its_things_and_their_words(self):
        with self.copy() as root:
            bare = graph(
                rel_pairs=[["o000", "o006"]],
                rel_labels=["r003"],
                bbox=[[0, 0, 1, 1]] * 2,
                bbox_labels=["o005", "o005"],
                actions=["a002", "a003", "a004"],
            )
            (root / VAL).write_text(spoilt(situations={"000004": bare}))
            frame = self.open(root)[0].annotations[SCENE][0]
        assert [(thing.id, thing.name) for thing in frame.things] == [
            ("o005", "bag"),
            ("o005.2", "bag"),
            ("o000", "person"),
            ("o006", "sofa/couch"),
            ("o003", "hand"),
            ("o004", "towel"),
        ]
        assert frame.relations == (
            Relation(subject="o000", predicate="sitting on", object="o006"),
            Relation(subject="o000", predicate="on", object="o006"),
        )
        assert [(action.verb, action.object) for action in frame.actions] == [
            ("sit on", "o006"),
            ("sit", "o006"),
            ("wash", "o003"),
            ("tidy", "o004"),
            ("tidy up", "o004"),
        ]

    def test_parts_share_no_category_and_no_video(self):
        inside, outside = self.open(split="iid"), self.open().split("ood")
        # question 3 names nothing that is held out, but question 4 of the same video does
        assert [sample.key for sample in inside] == ["Interaction_T1_8"]
        assert [sample.key for sample in outside] == [
            "Interaction_T1_4",
            "Interaction_T1_6",
        ]
        assert inside.facts["held out"] == "actions wash; objects window"
        assert "1 are in, 2 out of it, and 2 neither" in inside.facts["distribution"]
        assert [sample.group for sample in outside] == ["BBBBB", "CCCCC"]
        assert {sample.group for sample in inside}.isdisjoint({"BBBBB", "CCCCC"})
        assert inside[0].annotations["split"] == "iid"

    def test_held_out_categories_are_drawn(self):
        drawn = {"held_actions": None, "held_objects": None, "split": "iid"}
        with self.copy() as root:
            asks_nothing = {
                "question_program": [],
                "choices": entry(1, "")["choices"][:1],
            }
            asks_nothing["choices"][0]["choice_program"] = []
            (root / VAL).write_text(spoilt(**asks_nothing, situations={}))
            words, again = (
                self.open(root, **drawn).facts["held out"] for _ in range(2)
            )
        assert words == again
        verbs, _, things = words.removeprefix("actions ").partition("; objects ")
        assert len(set(verbs.split(", ")) & set(VERBS)) == 3
        assert len(set(things.split(", ")) & set(OBJECTS[1:])) == 5

    def test_the_published_test_split_has_no_answers(self):
        bare = {
            key: value
            for key, value in entry(7, "DDDDD").items()
            if key not in ("answer", "question_program", "situations")
        }
        with self.copy() as root:
            (root / "STAR_test.json").write_text(json.dumps([bare]))
            sample = self.open(root, split="test")[0]
        assert sample.label is None
        assert sample.annotations[SCENE] == (SceneFrame(),) * 4

    def test_another_graph_is_other_data(self):
        with self.copy() as root:
            text = (root / VAL).read_text()
            (root / VAL).write_text(text.replace("10.5", "11.5"))
            assert self.open(root).fingerprint != self.open().fingerprint


@pytest.mark.parametrize(
    ("text", "thing", "phrases"),
    [
        ("watch/read/look at a book", "book", ("watch", "read", "look at")),
        ("reach for and grab a picture", "picture", ("reach for", "grab")),
        ("turn on a light", "light", ("turn on",)),
        ("put shoes somewhere", "shoe", ("put",)),
        ("take paper/notebook from somewhere", "paper/notebook", ("take",)),
        ("take/consume some medicine", "medicine", ("take", "consume")),
        ("watch/look outside of a window", "window", ("watch", "look outside of")),
    ],
)
def test_phrases_of_the_authors_action_classes(text, thing, phrases):
    assert phrases_of(text, thing) == phrases


@pytest.mark.parametrize(
    ("annotated", "shown"),
    [
        ((), (1, 3, 5)),
        ((0, 1, 4), (1, 3, 4)),
        ((2, 5, 9), (1, 2, 5)),
        ((4, 5), (1, 3, 5)),
    ],
)
def test_frames_go_to_annotated_ones_of_their_own_part(annotated, shown):
    assert choose_frames(range(6), annotated, 3) == shown


def test_a_short_clip_repeats_frames():
    assert choose_frames(range(7, 9), {8}, 4) == (7, 7, 8, 8)
