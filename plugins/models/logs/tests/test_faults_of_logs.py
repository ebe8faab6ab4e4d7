"""A matrix of readers and faults: each is named or read right, and sound logs raise no alarm."""

import copy
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from cuescope_sdk import Context, UserError

from .written_logs import LETTERS, WRITERS, Item, accuracy_of, items

CONTEXT = Context()
COUNT = 120
EACH = 20  # a fault is put into every so many rows: 5%


@dataclass
class Opened:
    """What is said of a log: faults by check, the accuracy, or the line that refuses it."""

    faults: dict[str, str]
    notes: dict[str, str]
    accuracy: float | None = None
    error: str = ""
    groups: int = 0

    @property
    def words(self) -> str:
        return " ".join([*self.faults, *self.faults.values(), self.error])


def opened(path: Path) -> Opened:
    try:
        data: Any = CONTEXT.build("dataset", f"log:{path}")
        model: Any = CONTEXT.for_dataset(data).build("model", f"log:{path}")
    except UserError as error:
        return Opened({}, {}, error=str(error))
    by_status: dict[str, dict[str, str]] = {"fault": {}, "note": {}, "ok": {}}
    for check in data.input_checks:
        by_status[check.status][check.check] = check.detail
    share = model.facts["accuracy"].partition("%")[0]
    groups = {data[index].group for index in range(len(data))}
    return Opened(
        by_status["fault"], by_status["note"], float(share) / 100, groups=len(groups)
    )


# ----------------------------------------------------------------------- harnesses with JSON lines


def rewrite(
    path: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> Path:
    """The log with its lines, rows or samples changed."""
    if path.suffix == ".jsonl":
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(line) + "\n" for line in change(lines)))
        return path
    document = json.loads(path.read_text())
    rows = document["samples"] if isinstance(document, dict) else document
    rows = change(rows)
    path.write_text(
        json.dumps(
            {**document, "samples": rows} if isinstance(document, dict) else rows
        )
    )
    return path


def write_inspect_json(folder: Path, written: Sequence[Item]) -> Path:
    from .written_logs import inspect_header, shuffled_by_solver

    samples = [shuffled_by_solver(item) for item in written]
    for sample in samples:
        # as they were asked: the order of the data
        sample["scores"]["choice"]["explanation"] = sample["messages"][1]["content"]
    header = inspect_header(written)
    header["eval"]["dataset"]["samples"] = len(written)
    path = folder / "2026-01-01T00-00-00+00-00_task_abc.json"
    path.write_text(json.dumps({**header, "samples": samples}))
    return path


def write_judged_vlm(folder: Path, written: Sequence[Item]) -> Path:
    path = WRITERS["vlmevalkit json"](folder, written)
    rows = json.loads(path.read_text())
    for row, item in zip(rows, written, strict=True):
        row |= {"prediction": LETTERS[item.answer], "hit": int(item.right)}
    path.write_text(json.dumps(rows))
    return path


def write_table_lines(folder: Path, written: Sequence[Item]) -> Path:
    path = folder / "mine.jsonl"
    with path.open("w") as file:
        for item in written:
            row = {"id": f"q{item.number}", "question": item.question}
            row |= {"options": list(item.choices), "answer": LETTERS[item.label]}
            row |= {"prediction": LETTERS[item.answer], "right": float(item.right)}
            file.write(json.dumps(row) + "\n")
    return path


def write_lm_written(folder: Path, written: Sequence[Item]) -> Path:
    """Answers by letter, of one filter."""
    path = WRITERS["lm-eval"](folder, written)
    lines = []
    for line in map(json.loads, path.read_text().splitlines()):
        if line["filter"] != "none":
            continue
        item = written[line["doc_id"]]
        line["filtered_resps"] = [LETTERS[item.answer]]
        line["target"] = LETTERS[item.label]
        lines.append(line)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@dataclass(frozen=True)
class Harness:
    """How the rows of a harness say what was said, what is right and how it was judged."""

    write: Callable[[Path, Sequence[Item]], Path]
    said: tuple[Any, ...]
    label: tuple[Any, ...]
    figure: tuple[Any, ...]
    options: tuple[Any, ...] = ()
    correct: Any = 1.0
    wrong: Any = 0.0
    counted: bool = False  # the harness says how many it asked, or counts rows
    own: bool = False  # it states its own accuracy


HARNESSES = {
    "lmms-eval": Harness(
        WRITERS["lmms-eval"], ("filtered_resps",), ("target",), ("average", "score"),
        ("input",), counted=True, own=True,
    ),
    "lm-eval": Harness(
        write_lm_written, ("filtered_resps", 0), ("target",), ("acc",),
        ("doc", "choices"), counted=True, own=True,
    ),
    "inspect": Harness(
        write_inspect_json, ("output", "choices", 0, "message", "content"), ("target",),
        ("scores", "choice", "value"), ("choices",), "C", "I", counted=True, own=True,
    ),
    "vlmevalkit": Harness(
        write_judged_vlm, ("prediction",), ("answer",), ("hit",), ("B",), 1, 0,
    ),
    "evalscope": Harness(
        WRITERS["evalscope"], ("messages", 1, "content"), ("target", 0),
        ("sample_score", "score", "value", "acc"), ("messages", 0, "content"), own=True,
    ),
    "table": Harness(
        write_table_lines, ("prediction",), ("answer",), ("right",), ("options",),
    ),
}  # fmt: skip


def at(row: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        row = row[name]
    return row


def put(row: Any, path: tuple[Any, ...], value: Any) -> None:
    at(row, path[:-1])[path[-1]] = value


def some(rows: Sequence[Any]) -> list[Any]:
    return list(rows)[3::EACH]


@dataclass(frozen=True)
class Fault:
    """What is done to a log, and a word of what is said of it; "" where it is read right."""

    change: Callable[[Harness, list[dict[str, Any]]], list[dict[str, Any]]]
    named: tuple[str, ...] = ()
    needs: str = ""


def flip_judgement(harness: Harness, rows: list[Any]) -> list[Any]:
    for row in some(rows):
        was_correct = at(row, harness.figure) == harness.correct
        put(row, harness.figure, harness.wrong if was_correct else harness.correct)
    return rows


def set_all(value: Any, where: str) -> Callable[[Harness, list[Any]], list[Any]]:
    def change(harness: Harness, rows: list[Any]) -> list[Any]:
        for row in some(rows):
            put(row, getattr(harness, where), copy.deepcopy(value))
        return rows

    return change


def spell(correct: Any, wrong: Any) -> Callable[[Harness, list[Any]], list[Any]]:
    def change(harness: Harness, rows: list[Any]) -> list[Any]:
        for row in rows:
            is_correct = at(row, harness.figure) == harness.correct
            put(row, harness.figure, correct if is_correct else wrong)
        return rows

    return change


def reverse(harness: Harness, rows: list[Any]) -> list[Any]:
    return spell(harness.wrong, harness.correct)(harness, rows)


def answer_by(text: str) -> Callable[[Harness, list[Any]], list[Any]]:
    def change(harness: Harness, rows: list[Any]) -> list[Any]:
        for row in rows:
            letter = str(at(row, harness.said)).strip(".")[-1]
            put(row, harness.said, text.format(letter))
        return rows

    return change


def double(harness: Harness, rows: list[Any]) -> list[Any]:
    return [*rows, *copy.deepcopy(some(rows))]


def contradict(harness: Harness, rows: list[Any]) -> list[Any]:
    again = copy.deepcopy(some(rows))
    for row in again:
        letter = str(at(row, harness.said)).strip(".")[-1]
        other = "A" if letter != "A" else "B"
        put(row, harness.said, str(at(row, harness.said)).replace(letter, other))
    return [*rows, *again]


def drop(harness: Harness, rows: list[Any]) -> list[Any]:
    gone = set(map(id, some(rows)))
    return [row for row in rows if id(row) not in gone]


def blank_option(harness: Harness, rows: list[Any]) -> list[Any]:
    for row in some(rows):
        options = at(row, harness.options)
        if isinstance(options, list):
            options[1] = ""
        elif harness.options == ("B",):
            put(row, harness.options, "")
    return rows


def option_twice(harness: Harness, rows: list[Any]) -> list[Any]:
    for row in some(rows):
        options = at(row, harness.options)
        if isinstance(options, list):
            options[1] = options[0]
        elif harness.options == ("B",):
            row["B"] = row["A"]
        else:
            lines = options.split("\n")
            lines[2] = "B" + lines[1][1:]
            put(row, harness.options, "\n".join(lines))
    return rows


def garble(harness: Harness, rows: list[Any]) -> list[Any]:
    for row in some(rows):
        put(row, harness.said, "dÃ©jÃ  vu")
    return rows


FAULTS = {
    "judged against the words": Fault(flip_judgement, ("answer counts as",)),
    "reversed": Fault(reverse, ("lower is better", "right word for word", "own figure")),
    "no judgement": Fault(set_all("maybe so", "figure"), ("no judgement", "'maybe so'")),
    "scale of 5": Fault(set_all(4, "figure"), ("no judgement", "'4'")),
    "empty judgements": Fault(set_all(None, "figure"), ("not judged",)),
    "empty answers": Fault(set_all("", "said"), ("empty answers", "against", "count")),
    "refusals": Fault(set_all("I'm sorry, I can't assist with that.", "said"), ("refusals",)),
    "broken letters": Fault(garble, ("broken letters",)),
    "doubled rows": Fault(double, ("twice",)),
    "contradictory rows": Fault(contradict, ("two answers",)),
    "missing rows": Fault(drop, ("not here",), "counted"),
    "no right answer": Fault(set_all("", "label"), ("without one",)),
    "a right answer that is no option": Fault(set_all("G", "label"), ("none of the options",)),
    "an option twice": Fault(option_twice, ("option twice",)),
    "words": Fault(spell("correct", "incorrect")),
    "capitals": Fault(spell("TRUE", "FALSE")),
    "floats in text": Fault(spell("1.0", "0.0")),
    "decimal commas": Fault(spell("1,0", "0,0")),
    "pass and fail": Fault(spell("PASS", "fail")),
    "letters in brackets": Fault(answer_by("({})")),
    "letters in a sentence": Fault(answer_by("The answer is {}.")),
}  # fmt: skip


def case(harness: str, fault: str, folder: Path, seed: int = 0) -> tuple[bool, str]:
    """Whether a fault is named or read right, and what was said."""
    of = HARNESSES[harness]
    written = items(COUNT, accuracy=0.5 + 0.05 * (seed % 9), seed=seed)
    path = rewrite(
        of.write(folder, written), lambda rows: FAULTS[fault].change(of, rows)
    )
    told = opened(path)
    words = FAULTS[fault].named
    if not words:
        is_right = (
            told.accuracy is not None
            and abs(told.accuracy - accuracy_of(written)) < 1e-4
        )
        return is_right and not told.faults, f"{told.accuracy} {told.words}"
    if fault == "reversed" and told.accuracy is not None and not of.own:
        # nobody states a direction, and the rows show it
        is_right = abs(told.accuracy - accuracy_of(written)) < 1e-4
        return is_right or any(word in told.words for word in words), told.words
    return any(word in told.words for word in words), told.words


def cases() -> list[tuple[str, str]]:
    return [
        (harness, fault)
        for harness, of in HARNESSES.items()
        for fault, what in FAULTS.items()
        if not what.needs or getattr(of, what.needs)
    ]


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_sound_log_raises_no_alarm_and_gives_its_own_accuracy(
    harness: str, tmp_path: Path
) -> None:
    of = HARNESSES[harness]
    written = items(COUNT)
    told = opened(of.write(tmp_path, written))
    assert told.error == ""
    assert told.faults == {}
    assert told.accuracy == pytest.approx(accuracy_of(written), abs=1e-4)


@pytest.mark.parametrize(("harness", "fault"), cases())
def test_a_fault_is_named_or_read_right(
    harness: str, fault: str, tmp_path: Path
) -> None:
    is_told, words = case(harness, fault, tmp_path)
    assert is_told, words


@pytest.mark.long
def test_two_hundred_faulty_logs_and_forty_sound_ones(tmp_path: Path) -> None:
    rng = random.Random(0)
    named = 0
    drawn = [rng.choice(cases()) for _ in range(200)]
    missed = []
    for number, (harness, fault) in enumerate(drawn):
        folder = tmp_path / str(number)
        folder.mkdir()
        is_told, words = case(harness, fault, folder, seed=number)
        named += is_told
        if not is_told:
            missed.append((harness, fault, words))
    alarms = []
    worst = 0.0
    for number in range(40):
        harness = list(HARNESSES)[number % len(HARNESSES)]
        folder = tmp_path / f"sound-{number}"
        folder.mkdir()
        written = items(COUNT, accuracy=0.3 + 0.015 * number, seed=1000 + number)
        told = opened(HARNESSES[harness].write(folder, written))
        if told.faults or told.error:
            alarms.append((harness, told.words))
        worst = max(worst, abs(np.float64(told.accuracy or 0.0) - accuracy_of(written)))
    print(
        f"named {named} of 200; {len(alarms)} alarms in 40 sound logs; worst {worst:.5f}"
    )
    assert named >= 190, missed
    assert not alarms
    assert worst < 0.001


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize(
    ("right", "said", "is_fault"),
    [
        ((True, False), ("Yes", "No"), True),
        (("1,000", "2,500"), ("1000.0", "2500.0"), True),
        (("ja", "nein"), ("yes", "no"), True),
        (("a red car", "a blue car"), ("it is red", "it is blue"), True),
        (("yes", "no"), ("Yes.", "NO"), False),
        (("red", "blue"), ("blue", "green"), False),
    ],
)
def test_answers_that_are_worded_as_no_right_one_are_a_fault(
    suffix: str, right: Any, said: Any, is_fault: bool, tmp_path: Path
) -> None:
    rows = []
    for number in range(40):
        row = {"id": number, "question": f"is it {number}?"}
        row |= {"answer": right[number % 2], "prediction": said[number % 3 % 2]}
        rows.append(row)
    path = tmp_path / f"log.{suffix}"
    if suffix == "csv":
        pandas.DataFrame(rows).to_csv(path, index=False)
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    assert ("wording" in opened(path).faults) == is_fault


@pytest.mark.parametrize("values", [(0, 1), (True, False), ("pass", "fail")])
def test_a_judgement_that_nobody_named_is_told(values: Any, tmp_path: Path) -> None:
    lines = [
        json.dumps(
            {"id": n, "question": f"q{n}", "prediction": "a", "ok": values[n % 2]}
        )
        for n in range(10)
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(lines))
    data: Any = CONTEXT.build("dataset", f"log:{path}")
    assert "reader={right: ok}" in data.facts["judgements"]
