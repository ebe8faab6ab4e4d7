"""Any table of questions: its columns are options, and mistakes are one line."""

import json
from pathlib import Path
from typing import Any

import pandas
import pytest
from media_files import MediaFile

from cuescope_questions import QuestionTable
from cuescope_questions.answers import AnswerForms
from cuescope_sdk import Context, UserError
from cuescope_sdk.logs import without_letters
from cuescope_testing import LayoutContract, Mistake

HEADER = "key,video,question,options,answer,kind\n"
ROWS = (
    'a,one,what is it,"[""cat"", ""dog""]",dog,object\n'
    'b,one,what moves,"[""car"", ""bus"", ""tram""]",car,motion\n'
    'c,two,what is it,"[""cat"", ""dog""]",cat,object\n'
)
TABLE = "questions.csv"


class TestQuestionTable(LayoutContract):
    plugin = QuestionTable
    options = {"frames": 3}
    other_options = {"frames": 2}
    mistakes = (
        Mistake(TABLE, None, "no question file in"),
        Mistake(TABLE, "", "questions.csv: expected a row or more, got none"),
        Mistake(TABLE, HEADER, "questions.csv: expected a row or more, got none"),
        Mistake(TABLE, HEADER.replace("answer", "anser"), "expected a row or more"),
        Mistake(
            TABLE,
            HEADER.replace("answer", "anser") + ROWS,
            "has no column 'answer'",
        ),
        Mistake(
            TABLE,
            HEADER + 'a,v,what,"[""cat""]",cat,k\n',
            "1 with fewer than two options",
        ),
        Mistake(
            TABLE,
            HEADER + 'a,v,what,"[""cat"", ""dog""]",,k\n',
            "got 1 without an answer",
        ),
        Mistake(
            TABLE,
            HEADER + ROWS + 'd,v,what,"[""cat"", ""dog""]",B,k\n',
            "line 5 'answer': expected the text of an option, as in 3 other rows, got 'B'",
        ),
        Mistake(
            TABLE,
            HEADER + 'a,v,what,"[""1"", ""0""]",0,k\n',
            "can be read as text and as index: expected one way to read it",
        ),
        Mistake(
            TABLE,
            HEADER + 'a,v,what,"[""cat"", """", ""dog""]",1,k\n',
            "got 1 with an empty option",
        ),
        Mistake(TABLE, HEADER + ROWS + ROWS, "2 questions have the key 'a'"),
        Mistake(
            TABLE,
            HEADER + "a,v,what,cat or dog,cat,k\n",
            "line 2 'options': expected a list of options, got 'cat or dog'",
        ),
    )

    @classmethod
    def written(cls, root: Path) -> None:
        (root / TABLE).write_text(HEADER + ROWS)
        MediaFile.video(root / "one.mp4", 4)
        MediaFile.video(root / "two.mp4", 5)

    @classmethod
    def open(cls, root: Path | None = None, **options: Any) -> Any:
        folder = root or cls.tree.of(cls)
        return super().open(folder, **{"videos": folder, **options})

    def test_leaves_out_what_cannot_be_read(self) -> None:
        """A question whose video is broken has no frames, and this is said."""
        with self.copy() as root:
            (root / "one.mp4").write_bytes(b"broken")
            data = self.open(root)
            assert [len(data[index].frames) for index in range(3)] == [0, 0, 3]
            assert "1 video unreadable" in data.facts["without frames"]
            (root / "one.mp4").unlink()
            assert self.open(root).facts["without frames"] == "1 video missing (one)"

    def test_videos_are_optional(self) -> None:
        data = self.open(videos=None)
        assert len(data) == 3
        assert data[0].frames == ()
        assert data.facts["videos"] == "none given: samples have no frames"
        assert data.fingerprint != self.open().fingerprint


def open_rows(tmp_path: Path, rows: list[dict[str, Any]], **options: Any) -> Any:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(rows))
    return QuestionTable(QuestionTable.Options(path=file, **options), Context())


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "tsv"])
def test_every_format_has_the_same_questions(suffix: str, tmp_path: Path) -> None:
    row = {
        "question": "why",
        "options": ["red", "blue"],
        "answer": "blue",
        "video": "v",
    }
    file = tmp_path / f"q.{suffix}"
    if suffix.startswith("json"):
        file.write_text(json.dumps([row] if suffix == "json" else row))
    else:
        mark = "," if suffix == "csv" else "\t"
        columns = ["question", "a", "b", "answer", "video"]
        cells = ["why", "red", "blue", "blue", "v"]
        file.write_text(mark.join(columns) + "\n" + mark.join(cells) + "\n")
    options = {"options": "a,b"} if suffix in ("csv", "tsv") else {}
    data = QuestionTable(QuestionTable.Options(path=file, **options), Context())
    assert data[0].choices == ("red", "blue")
    assert data[0].label == "blue"
    assert data[0].key == "q-00000"


def test_two_right_answers_are_refused(tmp_path: Path) -> None:
    row = {"question": "why", "options": ["red", "blue"], "answer": ["red", "blue"]}
    with pytest.raises(
        UserError, match="entry 1 'answer': expected one right answer, got 2"
    ):
        open_rows(tmp_path, [row])


def test_a_right_answer_that_stands_there_twice_is_left_out(tmp_path: Path) -> None:
    twice = {"question": "why", "options": ["red", "red", "blue"], "answer": 0}
    once = {"question": "why", "options": ["red", "red", "blue"], "answer": 2}
    data = open_rows(tmp_path, [twice, once])
    assert (
        data.facts["left out"]
        == "1 of 2 questions: 1 whose right answer stands there twice"
    )


def test_a_form_that_is_said_is_taken(tmp_path: Path) -> None:
    row = {"question": "how many", "options": ["1", "0"], "answer": "0"}
    assert open_rows(tmp_path, [row], answer_is="text")[0].label == "0"
    assert open_rows(tmp_path, [row], answer_is="index")[0].label == "1"
    # a column of the file may say it too
    assert open_rows(tmp_path, [{**row, "answer_is": "index"}])[0].label == "1"
    with pytest.raises(
        UserError, match="expected the letter of one of 2 options, got '0'"
    ):
        open_rows(tmp_path, [row], answer_is="letter")


@pytest.mark.parametrize(
    ("answers", "options"),
    [
        ([1, 2], {"answer_is": "number"}),
        (["A. red", "B. blue"], {}),
        (["red", "blue"], {}),
    ],
)
def test_answers_from_one_and_with_their_letter(
    answers: list[Any], options: dict[str, str], tmp_path: Path
) -> None:
    rows = [
        {"question": "why", "options": ["red", "blue"], "answer": answer}
        for answer in answers
    ]
    data = open_rows(tmp_path, rows, **options)
    assert [data[0].label, data[1].label] == ["red", "blue"]


def test_numbers_beyond_the_last_index_are_told_apart(tmp_path: Path) -> None:
    rows = [
        {"question": "why", "options": ["red", "blue"], "answer": answer}
        for answer in (1, 2)
    ]
    with pytest.raises(UserError, match=r"-O data\.answer_is=number"):
        open_rows(tmp_path, rows)


def test_rows_inside_an_object_and_options_with_labels(tmp_path: Path) -> None:
    choices = {"text": ["red", "blue"], "label": ["A", "B"]}
    row = {"question": "why", "choices": choices, "answerKey": "B"}
    file = tmp_path / "rows.json"
    file.write_text(json.dumps({"version": 1, "data": [row]}))
    options = QuestionTable.Options(path=file, options="choices", answer="answerKey")
    assert QuestionTable(options, Context())[0].label == "blue"


def test_other_scripts_are_kept_as_they_are(tmp_path: Path) -> None:
    row = {"question": "什么颜色", "options": ["红色", "蓝色"], "answer": "B"}
    assert open_rows(tmp_path, [row])[0].label == "蓝色"


def test_letters_before_options_go_where_all_have_their_own() -> None:
    assert without_letters(["(A) red", "(B) blue"]) == ["red", "blue"]
    assert without_letters(["A. red", "blue"]) == ["A. red", "blue"]
    assert without_letters(["A.", "B."]) == ["A.", "B."]


def test_letters_in_either_case_are_letters() -> None:
    forms = AnswerForms()
    for answer in ("a", "(B)"):
        forms.add(answer, ["x", "y"], "a row")
    assert forms.choose() == "letter"


def test_numbers_with_a_point_are_places_and_half_a_pair_is_replaced(
    tmp_path: Path,
) -> None:
    row = {"question": "what \ud800", "options": ["cat", "dog"], "answer": 1.0}
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(row))
    data = QuestionTable(QuestionTable.Options(path=file), Context())
    assert (data[0].label, data[0].question) == ("dog", "what ?")


def test_a_question_that_is_no_text_is_refused(tmp_path: Path) -> None:
    row = {"question": {"text": "what"}, "options": ["cat", "dog"], "answer": 1}
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(row))
    with pytest.raises(UserError, match="line 1 'question': expected a text, got"):
        QuestionTable(QuestionTable.Options(path=file), Context())


def test_fields_of_fields_are_named(tmp_path: Path) -> None:
    rows = []
    for number in range(4):
        about = {"text": f"what is {number}", "options": ["cat", "dog"]}
        about |= {"right": [{"word": "dog"}]}
        rows.append(json.dumps({"asked": about, "of": {"video": f"v{number // 2}"}}))
    file = tmp_path / "nested.jsonl"
    file.write_text("\n".join(rows))
    names = {"question": "asked.text", "options": "asked.options"}
    names |= {"answer": "asked.right.0.word", "video": "of.video"}
    data = Context().build("dataset", f"questions:{file}", names)
    assert [sample.label for sample in data] == ["dog"] * 4
    assert [sample.group for sample in data] == ["v0", "v0", "v1", "v1"]


def test_with_a_limit_only_videos_of_drawn_questions_are_opened(tmp_path: Path) -> None:
    lines = ["video,question,options,answer"]
    for number in range(6):
        MediaFile.video(tmp_path / "videos" / f"v{number}.mp4", 3)
        lines.append(f'v{number},what is {number},"[""cat"", ""dog""]",cat')
    (tmp_path / "asked.csv").write_text("\n".join(lines))
    options = {"path": tmp_path / "asked.csv", "videos": tmp_path / "videos"}
    context = Context(cache=tmp_path / "cache", limit=2)
    data = QuestionTable(QuestionTable.Options(**options), context)
    assert len(data) == len(data.clips) == 2
    assert data.facts["drawn"] == "2 of 6; no file of the others is opened"


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("limit", [1, 7, 40])
def test_a_draw_is_of_the_questions_that_all_rows_give(
    suffix: str, limit: int, tmp_path: Path
) -> None:
    rows = []
    for number in range(60):
        options = {"a": f"red {number}", "b": "" if number % 9 == 0 else "blue"}
        row = {"question": f"what is {number}", **options, "answer": "A"}
        rows.append(row | {"video": f"v{number // 3}", "key": f"q{number}"})
    file = tmp_path / f"asked.{suffix}"
    frame = pandas.DataFrame(rows)
    if suffix == "csv":
        frame.to_csv(file, index=False)
    elif suffix == "jsonl":
        file.write_text("\n".join(map(json.dumps, rows)))
    else:
        frame.to_parquet(file)
    options = QuestionTable.Options(path=file, options="a,b")
    whole = QuestionTable(options, Context())
    drawn = QuestionTable(options, Context(limit=limit))
    numbers = Context(limit=limit).draw([sample.group for sample in whole])
    assert [whole[number] for number in numbers] == list(drawn)
    assert drawn.facts["left out"] == whole.facts["left out"]


def test_a_file_that_is_exchanged_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("question,a,b,answer\nwhat,red,blue,A\n")
    draw = Context.draw

    def exchange(context: Context, groups: Any) -> Any:
        file.write_text("question,a,b,answer\nwhat else,red,blue,B\n")
        return draw(context, groups)

    monkeypatch.setattr(Context, "draw", exchange)
    options = QuestionTable.Options(path=file, options="a,b")
    with pytest.raises(UserError, match=r"rows\.csv has changed while it was read"):
        QuestionTable(options, Context())
