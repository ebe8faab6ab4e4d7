"""Every format: the same answers written by each harness are read back as the same answers."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope_logs.dataset import LogData
from cuescope_logs.model import LogModel
from cuescope_logs.opening import find_format
from cuescope_sdk import Context, Sample, Trial, UserError
from cuescope_sdk.logs import Choices, listed_choices, split_options
from cuescope_testing import LogContract

from .written_logs import LETTERS, WRITERS, Item, accuracy_of, items, write_table

# logs that harnesses wrote of published runs: theirs, and not part of this repository
PUBLISHED = os.environ.get("CUESCOPE_PUBLISHED_LOGS")
WRITTEN = items(40)
# what these formats say of choices is their number alone
NUMBERS_ALONE = ("next-qa", "mmmu")


@pytest.mark.parametrize("name", WRITERS)
def test_a_reader_holds_its_contract(name: str, tmp_path: Path) -> None:
    context = Context()
    found = find_format(WRITERS[name](tmp_path, WRITTEN), context)

    class TestReader(LogContract):
        plugin = context.registry.load(context.registry.find("log", found))

        @classmethod
        def written(cls, folder: Path) -> Path:
            return WRITERS[name](folder, WRITTEN[:4])

    # imports are proved for all entry points together, in tests/test_architecture.py
    checks = [check for check in TestReader.checks() if "import" not in check]
    results = map(TestReader.run_check, checks)
    assert not [result for result in results if result.status != "ok"]


def opened(path: Path, **options: Any) -> tuple[Any, Any]:
    """The data and the model of a log."""
    context = Context()
    data: LogData = context.build("dataset", f"log:{path}", options)
    model: LogModel = context.for_dataset(data).build("model", f"log:{path}", options)
    return data, model


def predictions(data: LogData, model: LogModel) -> list[str]:
    trials = [Trial(sample=data[index]) for index in range(len(data))]
    answers = []
    for trial, response in zip(trials, model.respond(trials), strict=True):
        answers.append(trial.sample.choices[int(np.argmax(response.logits))])
    return answers


@pytest.mark.parametrize("name", WRITERS)
def test_a_format_is_read_back(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path, WRITTEN)
    data, model = opened(path)
    by_key = {data[index].key.rpartition("_")[2]: index for index in range(len(data))}
    assert len(data) == len(WRITTEN)
    answers = predictions(data, model)
    for item in WRITTEN:
        index = by_key.get(str(item.number), by_key.get(item.key))
        assert index is not None
        sample = data[index]
        letters = name in NUMBERS_ALONE
        choices = tuple(LETTERS[:4]) if letters else item.choices
        assert sample.label == choices[item.label]
        assert answers[index] == choices[item.answer]
        assert set(sample.choices) == set(choices)
        # no column names what belongs together, so no reader invents it
        assert sample.group == (
            item.key.partition("_")[0] if name == "next-qa" else None
        )
        if name.startswith("inspect"):
            # shuffled: the model saw them in another order
            assert sample.choices == item.choices[::-1]
    assert model.facts["accuracy"].startswith(f"{accuracy_of(WRITTEN):.2%} of 40")
    if "scores in the log" in data.facts:
        assert f"{accuracy_of(WRITTEN):.4g}" in data.facts["scores in the log"]


def test_likelihoods_are_probabilities(tmp_path: Path) -> None:
    path = WRITERS["lm-eval"](tmp_path, WRITTEN)
    data, model = opened(path)
    [response] = model.respond([Trial(sample=data[0])])
    logits = np.sort(np.asarray(response.logits))
    assert logits[-1] == -0.5
    assert logits[0] < -5
    assert data.facts["left out of the log"] == "40 lines of the filter 'other'"


def test_turned_options_are_one_group(tmp_path: Path) -> None:
    item = WRITTEN[0]
    turned = Item(
        1_000_000 + item.number, item.question, item.choices[::-1], 3 - item.label, 0
    )
    data, _ = opened(WRITERS["vlmevalkit tsv"](tmp_path, [item, turned]))
    assert [data[0].group, data[1].group] == ["0", "0"]
    assert data[0].key != data[1].key


def test_epochs_are_repeats(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    samples = []
    for epoch, said in enumerate(("Yes", "No", "Yes"), start=1):
        output = {"choices": [{"message": {"content": said}}]}
        about = {"id": 1, "epoch": epoch, "input": "Is it?", "target": "Yes"}
        samples.append(about | {"output": output, "scores": {}})
    path.write_text(
        json.dumps({"version": 2, "eval": {"task": "t"}, "samples": samples})
    )
    data, model = opened(path)
    text = frozenset({"text"})
    trials = [Trial(sample=data[0], repeat=time, outputs=text) for time in range(3)]
    assert [response.text for response in model.respond(trials)] == ["Yes", "No", "Yes"]
    assert model.random_answers


def test_what_nobody_asked_is_refused(tmp_path: Path) -> None:
    data, model = opened(write_table(tmp_path, WRITTEN))
    changed = data[0].with_frames((), "changed")
    # of the same content: a derived key alone is no change
    assert model.respond([Trial(sample=changed)])
    other = Sample(key="x", frames=(), question="Another?", choices=("a", "b"))
    with pytest.raises(UserError, match="nobody asked 'x'"):
        model.respond([Trial(sample=other)])


@pytest.mark.parametrize(
    ("labels", "closed"),
    [
        (("yes", "no"), ("no", "yes")),
        (("1.5", "2"), ()),
        (("1,000", "20"), ()),
        (("3/4", "1/2"), ()),
        (("10%", "20%"), ()),
    ],
)
def test_numbers_are_no_choices(
    tmp_path: Path, labels: tuple[str, str], closed: tuple[str, ...]
) -> None:
    path = tmp_path / "mine.csv"
    rows = [f'k{n},"{labels[n % 2]}","{labels[0]}"' for n in range(40)]
    path.write_text("\n".join(["key,answer,prediction", *rows]))
    data, _ = opened(path)
    assert data[0].choices == closed


def test_samples_that_are_no_list_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"version": 2, "eval": {}, "samples": 5}')
    with pytest.raises(UserError, match="expected a list of samples, got 5"):
        opened(path)
    path.write_text('{"version": 2, "eval": {}, "samples": [5]}')
    with pytest.raises(UserError, match=r"^inspect: run\.json sample 1: expected"):
        opened(path)


def test_an_answer_that_names_no_choice_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    rows = [f'k{n},"[""red"", ""blue""]",red,perhaps' for n in range(30)]
    path.write_text("\n".join(["key,options,answer,prediction", *rows]))
    data, model = opened(path)
    assert predictions(data, model) == ["blue"] * 30
    assert model.facts["no choice named"].startswith("30 answers")


OWN_TABLE = "id,question,A,B,answer,prediction"


def own_table(folder: Path, *rows: str, header: str = OWN_TABLE) -> Path:
    path = folder / "mine.csv"
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    return path


@pytest.mark.parametrize("mark", [",", ";"])
def test_a_table_of_ones_own_needs_no_options(tmp_path: Path, mark: str) -> None:
    rows = [f"q{n},What is in {n}?,red,blue,{'aB'[n % 2]},(A)" for n in range(30)]
    path = own_table(tmp_path)
    path.write_text("\n".join([OWN_TABLE, *rows]).replace(",", mark))
    assert find_format(path, Context()) == "table"
    data, model = opened(path)
    sample = data[1]
    assert (sample.key, sample.choices, sample.label) == ("q1", ("red", "blue"), "blue")
    assert "A" not in sample.annotations
    assert predictions(data, model) == ["red"] * 30


def test_keys_that_are_not_all_different_are_no_keys(tmp_path: Path) -> None:
    data, _ = opened(own_table(tmp_path, *["q0,What?,red,blue,A,A"] * 2))
    assert [data[0].key, data[1].key] == ["row-1", "row-2"]


def test_numbers_from_1_are_refused(tmp_path: Path) -> None:
    path = own_table(tmp_path, "q0,What?,red,blue,1,1", "q1,Where?,red,blue,2,1")
    with pytest.raises(
        UserError, match=r"line 3 'answer': expected .* from 0 to 1, got '2'"
    ):
        opened(path)


def test_closed_answers_may_be_written_otherwise_or_lack(tmp_path: Path) -> None:
    answers = ["yes", "Yes", "no", ""] * 10
    rows = [f"Is it {n}?,{answer},yes" for n, answer in enumerate(answers)]
    path = own_table(tmp_path, *rows, header="question,answer,prediction")
    data, model = opened(path)
    assert data.labels in (("no", "yes"), ("Yes", "no"))
    assert [data[n].label for n in range(4)].count(None) == 1
    assert model.facts["accuracy"] == "66.67% of 30 answers"


def test_what_a_table_lacks_is_said_by_its_reader(tmp_path: Path) -> None:
    path = own_table(tmp_path, "What?,yes", header="question,said")
    with pytest.raises(UserError, match=r"no column 'prediction'.*got question, said"):
        opened(path)
    path.write_text("")
    with pytest.raises(UserError, match=r"'mine.csv' is empty"):
        opened(path)


@pytest.mark.parametrize(
    ("said", "choices", "index"),
    [
        ("B", ("red", "blue"), 1),
        ("(b).", ("red", "blue"), 1),
        ("**B**", ("red", "blue"), 1),
        ("B: blue", ("red", "blue"), 1),
        ("A", ("d", "a"), 0),  # a letter, though an option is that letter
        ("A cat sits there.", ("dog", "cat"), 1),  # an article
        ("a dog and a cat", ("dog", "cat"), None),
        ("It is the polar bear", ("bear", "polar bear"), 1),
        ("<think>A or B? B.</think>A", ("red", "blue"), 0),
        ("I thought of A. The answer is (B)", ("red", "blue"), 1),
        (r"so \boxed{B}", ("red", "blue"), 1),
        ("Yes, there is.", ("No", "yes"), 1),
        ("I do not know", ("no", "yes"), None),
        ("", ("red", "blue"), None),
        ("E", ("red", "blue"), None),
    ],
)
def test_which_choice_an_answer_means(
    said: str, choices: tuple[str, ...], index: int | None
) -> None:
    assert Choices(choices).find(said) == index


def test_options_in_a_question_are_read() -> None:
    text = "What?\nOptions: A: red, or so, B: blue, C: a, b"
    assert split_options(text) == ("What?", ["red, or so", "blue", "a, b"])
    shots = "Q1\nA. x\nB. y\nAnswer: A\n\nQ2\nA. red\nB. blue\nAnswer:"
    assert listed_choices(shots) == ["red", "blue"]
    assert listed_choices("A. only one") == []


# --------------------------------------------------------------------------- joined with data


def questions_file(folder: Path, written: list[Item]) -> Path:
    path = folder / "questions.jsonl"
    with path.open("w") as file:
        for item in written:
            row = {"key": f"q{item.number}", "question": item.question}
            row |= {"options": item.choices, "answer": item.choices[item.label]}
            file.write(json.dumps(row) + "\n")
    return path


def test_a_log_without_keys_is_joined_by_rows_and_content(tmp_path: Path) -> None:
    log = WRITERS["lmms-eval"](tmp_path, WRITTEN)
    data_file = questions_file(tmp_path, WRITTEN)
    data = Context().build("dataset", f"questions:{data_file}")
    model = Context().for_dataset(data).build("model", f"log:{log}")
    chosen = [item.choices[item.answer] for item in WRITTEN]
    assert predictions(data, model) == chosen
    # another revision: one row is new, so that all others stand a row lower
    shifted = [Item(99, "Something new?", ("a", "b"), 0, 0), *WRITTEN]
    data = Context().build("dataset", f"questions:{questions_file(tmp_path, shifted)}")
    with pytest.raises(UserError, match="log and data do not fit"):
        Context().for_dataset(data).build("model", f"log:{log}")


def test_more_than_a_hundredth_unmatched_is_refused(tmp_path: Path) -> None:
    log = WRITERS["lmms-eval"](tmp_path, WRITTEN[:30])
    data_file = questions_file(tmp_path, WRITTEN)
    data = Context().build("dataset", f"questions:{data_file}")
    with pytest.raises(UserError, match="10 samples without an answer"):
        Context().for_dataset(data).build("model", f"log:{log}")
    given = {"allow_unmatched": True}
    model = Context().for_dataset(data).build("model", f"log:{log}", given)
    assert model.facts["answers"].startswith("30 of 40 samples have an answer")
    # as data, the log shows those that were answered alone
    given |= {"data": f"questions:{data_file}"}
    assert len(Context().build("dataset", f"log:{log}", given)) == 30


# ------------------------------------------------------------------------------ golden imports


def published(*parts: str) -> Path:
    path = Path(PUBLISHED or "none", *parts)
    if not path.exists():
        pytest.skip(f"needs {'/'.join(parts)} in CUESCOPE_PUBLISHED_LOGS=FOLDER")
    return path


@pytest.mark.parametrize(
    ("parts", "accuracy"),
    [
        (("nextqa", "HGA-bert-ft-h256-val.json"), "49.74% of 4,996"),
        # by its authors' own rule: 781 of 1,500
        (("vlmevalkit", "llava_next_yi_34b_MMStar.xlsx"), "52.07% of 1,500"),
        (("inspect", "log_streaming.eval"), "75.00% of 4"),
        (("inspect", "log_formats.eval"), "0.00% of 1"),
        (("inspect", "log_message_deduplication.eval"), "0.00% of 1"),
        (("inspect", "mmlu-summary-choices.eval"), "0.00% of 1"),
        (("inspect", "mmlu-no-summary-choices.eval"), "0.00% of 1"),
        (
            (
                "helm",
                "mmlu-subject=philosophy,method=multiple_choice_joint,model=openai_gpt2",
            ),
            "10.00% of 10",
        ),
        (
            (
                "lm-eval",
                "samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl",
            ),
            "0.00% of 10",
        ),
    ],
    ids=lambda value: value[-1][:30] if isinstance(value, tuple) else "",
)
def test_a_published_log_gives_its_published_accuracy(
    parts: tuple[str, ...], accuracy: str
) -> None:
    data, model = opened(published(*parts))
    assert model.facts["accuracy"].startswith(accuracy)
    if (own := data.facts.get("scores in the log")) is not None:
        share = float(accuracy.partition("%")[0]) / 100
        assert own.split(",")[0 if "none" not in own else -1].endswith(f" {share:.4g}")


@pytest.mark.parametrize(
    ("column", "keys", "note"),
    [
        ("id", ["a", "a", "b"], "the column 'id' does not tell rows apart (1 of 3"),
        ("id", ["a", "", "b"], "(1 of 3 have none of their own)"),
        ("id", ["a", "c", "b"], ""),
        ("key", ["a", "c", "b"], ""),
        ("other", ["a", "a", "b"], ""),
    ],
)
def test_ids_that_are_no_keys_are_told(
    column: str, keys: list[str], note: str, tmp_path: Path
) -> None:
    file = tmp_path / "log.csv"
    lines = [f"{key},seen?,cat,dog,A,B" for key in keys]
    file.write_text("\n".join([f"{column},question,A,B,answer,prediction", *lines]))
    data = LogData(LogData.Options(file=file), Context())
    told = data.facts.get("keys", "")
    assert (note in told) if note else not told


@pytest.mark.parametrize("column", ["path", "sample"])
def test_rows_that_name_samples_may_stand_in_any_order(
    column: str, tmp_path: Path
) -> None:
    data = Context().build(
        "dataset", f"questions:{questions_file(tmp_path, WRITTEN[:9])}"
    )
    log = tmp_path / "mine.csv"
    rows = [f"q{item.number},{item.choices[item.answer]}" for item in WRITTEN[:9]]
    log.write_text("\n".join([f"{column},prediction", *reversed(rows)]))
    model = Context().for_dataset(data).build("model", f"log:{log}")
    chosen = [item.choices[item.answer] for item in WRITTEN[:9]]
    assert predictions(data, model) == chosen
    # of other samples: rows are not taken for those that stand at their places
    strange = "\n".join([f"{column},prediction", *(f"x{row}" for row in rows)])
    log.write_text(strange)
    with pytest.raises(UserError, match="0 of 9 samples have an answer"):
        Context().for_dataset(data).build("model", f"log:{log}")


def test_a_right_answer_that_is_no_choice_is_named(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    lines = [f"q{n},seen {n}?,cat,dog,{right},A" for n, right in enumerate("ABEAE")]
    file.write_text("\n".join(["id,question,A,B,answer,prediction", *lines]))
    data = LogData(LogData.Options(file=file), Context())
    assert data.facts["right answers"] == (
        "2 questions without a label, since what the log calls right is none of the choices: "
        "'E' in 'q2', 'E' in 'q4'"
    )


@pytest.mark.parametrize("has_pictures", [True, False])
def test_one_question_of_many_pictures_is_told_apart_by_these(
    *, has_pictures: bool, tmp_path: Path
) -> None:
    lines = []
    for number in range(3):
        Image.new("RGB", (4, 4), (number, 0, 0)).save(tmp_path / f"{number}.png")
        shown = f"{number}.png" if has_pictures else ""
        lines.append(f"q{number},what?,cat,dog,A,A,{shown}")
    file = tmp_path / "log.csv"
    file.write_text("\n".join(["id,question,A,B,answer,prediction,image", *lines]))
    data = LogData(LogData.Options(file=file), Context())
    asked = [data[index].question for index in range(3)]
    if has_pictures:
        assert asked == ["what?"] * 3
        assert "alike" not in data.facts
    else:
        assert asked == ["what? [q0]", "what? [q1]", "what? [q2]"]
        assert data.facts["alike"].startswith(
            "3 questions without a picture, and with no text"
        )


def test_a_table_of_other_names_says_how_all_are_named(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("Q,opt_a,opt_b,gt,model_output\nseen?,cat,dog,A,B\n")
    options = {"file": file, "format": "table"}
    with pytest.raises(UserError) as caught:
        LogData(LogData.Options(**options), Context())
    said = str(caught.value)
    assert "reader={prediction: COLUMN, answer: COLUMN, question: COLUMN" in said
    assert "-O 'model.reader=...' and -O 'data.reader=...'" in said
