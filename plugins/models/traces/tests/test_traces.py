"""Files of recorded traces, good and bad."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuescope_sdk import Context, Sample, Trial, UserError
from cuescope_testing import FakeDataset
from cuescope_traces import Traces, TracesOptions
from cuescope_traces.recording import read_recording

Written = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(*lines: Any) -> Path:
        file = tmp_path / "traces.jsonl"
        texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        file.write_text("\n".join(texts), encoding="utf-8")
        return file

    return write


def data(samples: int = 4) -> FakeDataset:
    return FakeDataset(FakeDataset.Options(samples=samples), Context())


def traces(file: Path, dataset: Any = None) -> Traces:
    return Traces(TracesOptions(file=file), Context(dataset=dataset or data()))


def said(model: Traces, sample: Sample) -> str | None:
    (answer,) = model.respond([Trial(sample=sample, outputs=frozenset({"text"}))])
    return answer.text


def test_steps_are_numbered_and_the_answer_comes_last(written: Written) -> None:
    file = written(
        {
            "sample": "a",
            "trace": ["A cup\n falls.", "It breaks."],
            "answer": " the\ncup ",
        },
        "",
        {"sample": "b", "trace": "1. As it is.\nAnswer: x", "model": "mine"},
        {"sample": "c", "trace": [], "answer": None},
    )
    assert read_recording(file) == {
        "a": "1. A cup falls.\n2. It breaks.\nAnswer: the cup",
        "b": "1. As it is.\nAnswer: x",
        "c": "",
    }


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"sample": "b", "trace": ', "line 2 is no JSON"),
        ("[" * 100_000, "line 2 is no JSON"),
        ('["b", "text"]', "expected a JSON object"),
        ({"sample": "b"}, "line 2: no 'trace'"),
        ({"sample": "b", "traces": "x"}, "Did you mean 'traces'?"),
        ({"trace": "x"}, "line 2: no 'sample'"),
        ({"sample": 3, "trace": "x"}, "'sample': expected text, got int"),
        ({"sample": "", "trace": "x"}, "a key without control characters, got ''"),
        (
            {"sample": "b\x1b[2J", "trace": "x"},
            r"without control characters, got 'b\x1b[2J'",
        ),
        ({"sample": "b\ud800", "trace": "x"}, r"got 'b\ud800'"),
        ({"sample": "a", "trace": "x"}, "sample 'a' is there already"),
        (
            {"sample": "b", "trace": 7},
            "'trace': expected text, got int",
        ),
        ({"sample": "b", "trace": ["x", {"y": 1}]}, "got dict"),
        ({"sample": "b", "trace": None}, "got NoneType"),
        (
            {"sample": "b", "trace": "x", "answer": True},
            "'answer': expected text, got bool",
        ),
    ],
)
def test_a_bad_line_is_told_by_its_number(
    written: Written, line: Any, words: str
) -> None:
    with pytest.raises(UserError) as told:
        read_recording(written({"sample": "a", "trace": "x"}, line))
    assert words in str(told.value)
    assert "\n" not in str(told.value)
    assert "line 2" in str(told.value)


def test_half_a_character_is_marked(written: Written) -> None:
    file = written(
        {"sample": "a", "trace": "A \ud83d\ude00, cut \ud83d.", "answer": "\ude00"}
    )
    assert read_recording(file) == {"a": "A \U0001f600, cut \ufffd.\nAnswer: \ufffd"}


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty").write_text("\n\n")
    for name, words in (
        ("missing", "No such file"),
        ("binary", "UTF-8"),
        ("empty", "is empty"),
    ):
        with pytest.raises(UserError, match=words):
            read_recording(tmp_path / name)


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(
        b'\xef\xbb\xbf{"sample": "a", "trace": "x"}\r\n{"sample": "b", "trace": "y"}'
    )
    assert read_recording(file) == {"a": "x", "b": "y"}


def test_samples_are_known_by_what_they_show(written: Written) -> None:
    samples = data()
    model = traces(written({"sample": samples[1].key, "trace": "It is green."}))
    assert said(model, samples[1]) == "It is green."
    assert said(model, replace(samples[1], key="other")) == "It is green."
    assert said(model, samples[0]) == ""
    assert said(model, samples[1].static(0)) == ""


def test_facts_count_what_belongs(written: Written) -> None:
    key = data()[0].key
    model = traces(
        written({"sample": key, "trace": "x"}, {"sample": "strange", "trace": "y"})
    )
    assert model.facts == {
        "recorded traces": "1 of 4 samples; 1 of no sample of the data ('strange')"
    }


def test_a_file_about_other_data_is_refused(written: Written) -> None:
    with pytest.raises(
        UserError, match=r"no trace of any sample .* 'vall-001'.*'val-001'"
    ):
        traces(written({"sample": "vall-001", "trace": "x"}))


class Doubled(FakeDataset):
    """Every sample twice, under another key."""

    def __getitem__(self, index: int) -> Sample:
        return replace(super().__getitem__(index // 2 * 2), key=f"s{index}")


def test_two_traces_of_what_looks_the_same_are_refused(written: Written) -> None:
    twins = Doubled(FakeDataset.Options(samples=4), Context())
    same = [{"sample": key, "trace": "x"} for key in ("s0", "s1")]
    assert said(traces(written(*same), twins), twins[1]) == "x"
    with pytest.raises(UserError, match="'s0' and 's1' show and ask the same"):
        traces(written(same[0], {"sample": "s1", "trace": "y"}), twins)


def test_another_file_has_another_fingerprint(written: Written) -> None:
    key = data()[0].key
    one, other, again = (
        traces(written({"sample": key, "trace": text})).fingerprint
        for text in ("x", "y", "x")
    )
    assert one == again != other


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "line",
    [
        '{"a":' * 40_000,
        "[" * 200_000,
        '{"sample": "a", "trace": "x", "n": ' + "1" * 200_000 + "}",
        "{" + ", ".join(f'"sampl{n}": 1' for n in range(100_000)) + "}",
        '{"sample": "a", "trace": ' + "[" * 900 + "]" * 900 + "}",
    ],
)
def test_a_line_of_any_nesting_is_one_line_of_error_at_once(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / "recorded.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(UserError, match="line 1") as caught:
        traces(tmp_path / "recorded.jsonl")
    assert "\n" not in str(caught.value)
