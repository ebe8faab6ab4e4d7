"""Questions about files of one's own: columns as people call them, choices, open answers."""

import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from cuescope_sdk import UserError

PINNED = "768a3aa910855e733147cdcd20aaf179", "2e59221697140c72db19e38e37f04c2a"


@pytest.fixture
def asked(data, image, opened):
    """`asked("question,answer", "What?,cat", ...)`: rows of a.png, b.png, ... in this order."""

    def asked(header, *rows, form="csv", **options):
        names = [f"{chr(ord('a') + index)}.png" for index in range(len(rows))]
        for name in names:
            image(data / name)
        separator = "\t" if form == "tsv" else ","
        lines = [f"{name},{row}" for name, row in zip(names, rows, strict=True)]
        text = "\n".join([f"path,{header}", *lines]).replace(",", separator)
        (data / f"manifest.{form}").write_text(text, "utf-8")
        return opened(**options)

    return asked


# ------------------------------------------------------------------------------------- choices


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_each_row_has_choices_of_its_own(asked, form):
    folder = asked(
        "question,answer,choices,question_type",
        "Is it red?,no,yes|no,yes-no",
        "Where?,at sea,in a wood | at sea| at home,place",
        form=form,
    )
    assert [s.choices for s in folder] == [
        ("yes", "no"),
        ("in a wood", "at sea", "at home"),
    ]
    assert [s.label for s in folder] == ["no", "at sea"]
    assert [s.annotations["question_type"] for s in folder] == ["yes-no", "place"]
    assert folder.labels == ()
    assert folder.facts["answers"] == "2 with the choices of their rows"


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_lists_are_choices_and_accepted_answers(data, image, opened, form):
    image(data / "a.png")
    rows = [
        {
            "path": "a.png",
            "question": "How many?",
            "answer": "2",
            "choices": ["1", "2"],
            "answers": None,
        },
        {"path": "a.png", "question": "What?", "answers": ["cat", "a cat"]},
    ]
    if form == "jsonl":
        (data / "manifest.jsonl").write_text("\n".join(map(json.dumps, rows)))
    else:
        parquet.write_table(pa.Table.from_pylist(rows), data / "manifest.parquet")
    first, second = opened()
    assert (first.choices, first.label) == (("1", "2"), "2")
    assert (second.choices, second.label) == ((), "cat")
    assert second.annotations["answers"] == ("cat", "a cat")


def test_one_set_of_choices_in_every_row_is_the_label_set(asked):
    folder = asked("answer,choices", "yes,yes|no", 'no,"[""yes"", ""no""]"')
    assert folder.labels == ("yes", "no")
    assert [s.choices for s in folder] == [("yes", "no")] * 2


def test_choices_enter_the_fingerprint(asked):
    prints = {
        asked("question,answer,choices", f"Who?,Eve,{choices}").fingerprint
        for choices in ("Eve|Ann", "Ann|Eve", "Eve|Ann|Tom")
    }
    prints.add(asked("question,answer", "Who?,Eve").fingerprint)
    assert len(prints) == 4


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        (
            "answer,choices",
            "B,yes|no",
            "line 2: answer 'B' is none of the row's choices: expected one of yes, no",
        ),
        (
            "answer,choices",
            "yes,yes",
            "line 2: column 'choices': expected two different choices",
        ),
        (
            "answer,choices",
            "yes,yes|yes",
            "expected two different choices or more.* got 'yes|yes'",
        ),
        (
            "answer,choices",
            "yes,yes||no",
            "line 2: expected a text for each of the choices",
        ),
        ("answer,answers", "yes,[]", "line 2: column 'answers': .* got '\\[\\]'"),
    ],
)
def test_choices_that_are_none(asked, header, row, message):
    with pytest.raises(UserError, match=message):
        asked(header, row)


# --------------------------------------------------------------------------- pooled or open


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (["Is it red?,yes", "Is it big?,no"], ("no", "yes")),
        (["Is it red?,Yes", "Is it big?,No"], ("No", "Yes")),
        (["Which?,a", "Which?,b", "Which?,b", "Which?,a"], ("a", "b")),
        (["Which?,a", "Which?,b", "What?,b", "What?,a"], ("a", "b")),
        (["Which?,a", "Which?,b", "What?,b", "What?,c"], ()),
        (["Which?,a", "Which?,b", "Which?,c", "Which?,d"], ()),
        (["Where?,sea", "What?,cat", "Who?,Eve"], ()),
        (["Is it red?,yes", "Is it big?,yes"], ()),
    ],
)
def test_labels_are_choices_where_the_questions_share_a_few_answers(
    asked, rows, labels
):
    folder = asked("question,answer", *rows)
    assert folder.labels == labels
    assert [s.choices for s in folder] == [labels] * len(rows)
    assert [s.label for s in folder] == [row.split(",")[1] for row in rows]
    pooled = tuple(sorted({sample.label for sample in folder}))
    assert asked("question,answer", *rows, answers="pooled").labels == pooled
    assert asked("question,answer", *rows, answers="open").labels == ()


def test_facts_say_which_it_is_and_how_to_change_it(asked):
    shared, free = ["Is it red?,yes", "Is it big?,no"], ["Where?,sea", "What?,cat"]
    said = asked("question,answer", *shared).facts["answers"]
    assert said == "2 with the choices no, yes (-O data.answers=open for free words)"
    said = asked("question,answer", *free).facts["answers"]
    assert (
        said
        == "2 in free words (-O data.answers=pooled for a choice of all labels, or -O data.choices)"
    )
    assert "answers" not in asked("label", "cat", "dog").facts


def test_beside_choices_of_their_own_the_other_rows_are_open(asked):
    folder = asked("question,answer,choices", "Is it red?,yes,yes|no", "Is it big?,no,")
    assert [s.choices for s in folder] == [("yes", "no"), ()]
    assert folder.facts["answers"].startswith(
        "1 with the choices of their rows; 1 in free words"
    )
    given = asked(
        "question,answer,choices", "A?,a,a|b", "B?,no,", choices=("no", "yes")
    )
    assert [s.choices for s in given] == [("a", "b"), ("no", "yes")]
    with pytest.raises(UserError, match=r"-O data\.choices with -O data\.answers=open"):
        asked("question,answer", "Is it big?,no", choices=("no", "yes"), answers="open")


def test_every_split_answers_alike(asked):
    rows = ["Which?,a,train", "Which?,b,train", "Which?,b,val", "Which?,a,val"]
    folder = asked("question,answer,split", *rows, "Which?,a,test", split="test")
    assert folder.labels == ("a", "b")


def test_accepted_answers_stand_beside_the_label(asked):
    sample = asked("question,answer,answers", "What?,a cat,cat|the cat")[0]
    assert (sample.label, sample.annotations["answers"]) == (
        "a cat",
        ("cat", "the cat"),
    )


# ---------------------------------------------------------------------------- names of columns


@pytest.mark.parametrize(
    "column", ["video", "image", "file", "filename", "Path", "Video"]
)
def test_files_go_by_several_names(data, image, opened, column):
    image(data / "a.png")
    (data / "manifest.csv").write_text(f"{column},Question,Answer\na.png,Is it?,yes\n")
    [sample] = opened()
    assert (sample.key, sample.question, sample.label) == ("a.png", "Is it?", "yes")
    assert dict(sample.annotations) == {"path": "a.png"}


def test_a_path_goes_before_the_other_names(data, image, opened):
    image(data / "a.png")
    (data / "manifest.csv").write_text("path,video,Label,label\na.png,seven,x,cat\n")
    [sample] = opened()
    assert sample.label == "cat"
    assert dict(sample.annotations) == {"path": "a.png", "video": "seven", "Label": "x"}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (
            "video,image,label",
            "no column 'path'.*got columns video, image. Rename one of them",
        ),
        ("clip,question,answer", "Name the column of the files: -O data.image=COLUMN$"),
        ("video_file,label,site", "Then add -O data.image=video_file"),
        ("pth,label,site", "Name the column of the files: -O data.image=COLUMN$"),
        (
            "path,question,split",
            "or 'answer' with the right answer to each question$",
        ),
        ("path,question,answer_type", "'answer' with the right answer"),
        ("path,question,right_answer", "Then add -O data.label=right_answer"),
        (
            "path,site,mask",
            "Name the column of the labels .-O data.label=COLUMN., or add a column",
        ),
    ],
)
def test_a_missing_column_is_told_with_the_one_that_is_meant(
    data, opened, header, message
):
    (data / "manifest.csv").write_text(f"{header}\nx,y,z\n")
    with pytest.raises(UserError, match=message) as caught:
        opened()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mark", [";", "\t"])
def test_semicolons_and_tabs_part_cells_where_no_comma_does(data, image, opened, mark):
    image(data / "a.png")
    table = "path;label;site\na.png;a cat, big;north\n".replace(";", mark)
    (data / "manifest.csv").write_text(table)
    [sample] = opened()
    assert (sample.label, sample.annotations["site"]) == ("a cat, big", "north")


# ----------------------------------------------------------------------------- names of files


def test_a_name_without_suffix_is_the_one_file_of_that_stem(data, image, video, opened):
    image(data / "x" / "v_a.b.png")
    video(data / "c.mp4", 3)
    (data / "c.txt").write_text("")
    (data / "manifest.csv").write_text("path,label\nx/v_a.b,cat\nc,dog\nc.mp4,dog\n")
    assert [sample.key for sample in opened()] == ["x/v_a.b.png", "c.mp4", "c.mp4#2"]
    image(data / "c.png")
    with pytest.raises(
        UserError, match=r"line 3: several files are called 'c': got c.mp4, c.png"
    ):
        opened()


def test_a_name_without_suffix_may_not_lead_out_by_a_link(
    data, image, opened, tmp_path
):
    image(tmp_path / "secret.png")
    (data / "link.png").symlink_to(tmp_path / "secret.png")
    (data / "manifest.csv").write_text("path,label\nlink,cat\n")
    with pytest.raises(UserError, match="leads out of its folder"):
        opened()


def test_absolute_paths_within_the_folder(data, image, opened, tmp_path):
    image(data / "x" / "1.png")
    image(tmp_path / "2.png")
    (data / "manifest.csv").write_text(f"path,label\n{data / 'x' / '1.png'},cat\n")
    assert [sample.key for sample in opened()] == ["x/1.png"]
    (data / "manifest.csv").write_text(f"path,label\n{tmp_path / '2.png'},cat\n")
    with pytest.raises(
        UserError, match=r"line 2 leads out.*with -O data.manifest=FILE$"
    ):
        opened()
    (data / "manifest.csv").write_text(f"path,label\n{'what is it ' * 60},cat\n")
    with pytest.raises(
        UserError, match=r"line 2: cannot read 'what is it .*' ?: got File name"
    ):
        opened()


def test_loose_files_are_told_how_to_be_listed(data, video, opened):
    video(data / "one.mp4", 3)
    assert (
        "PATH/manifest.csv, a line 'path,label' or 'path,question,answer'"
        in (opened().facts["labels"])
    )
    table = data / "questions.csv"
    table.write_text("path,question,answer\none.mp4,Is it?,yes\n")
    with pytest.raises(UserError, match=r"Then add -O data.manifest=questions\.csv$"):
        opened()
    assert opened(manifest="questions.csv")[0].question == "Is it?"


def test_a_table_that_is_not_read_is_named(data, image, opened):
    image(data / "cat" / "1.png")
    (data / "list.tsv").write_text("")
    assert opened().facts["not read"] == "list.tsv (-O data.manifest=list.tsv reads it)"


def test_fingerprints_stay(data, opened):
    for name, level in (("1", 10), ("2", 20)):
        (data / "x").mkdir(exist_ok=True)
        (data / "x" / f"{name}.ppm").write_bytes(b"P5 4 3 255\n" + bytes([level]) * 12)
    cues = '"{""grass"": [true]}"'
    labelled = (
        f"path,label,split,site,cues\nx/1.ppm,cat,train,A,{cues}\nx/2.ppm,dog,dev,,\n"
    )
    questions = (
        "path,question,answer\nx/1.ppm,Is it a cat?,yes\nx/2.ppm,Is it a cow?,no\n"
    )
    for text, fingerprint in zip((labelled, questions), PINNED, strict=True):
        (data / "manifest.csv").write_text(text)
        assert opened().fingerprint == fingerprint


def test_a_tsv_with_commas_is_told(data, opened):
    (data / "manifest.tsv").write_text("path,label\na.png,cat\n")
    with pytest.raises(UserError, match="Put tabs between the columns"):
        opened()
