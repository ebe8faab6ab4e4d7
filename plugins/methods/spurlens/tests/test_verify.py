"""The checks: other K, another detector or proposer, people, the data, the answer sheet."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import (
    Context,
    Detection,
    Evidence,
    Frame,
    Report,
    UserError,
    generator,
)
from cuescope_sdk.statistics import GapTest
from cuescope_spurlens import SpurLens
from cuescope_spurlens.analysis import GapFigures
from cuescope_spurlens.checks.human_labels import label_items
from cuescope_spurlens.questions import WITH
from cuescope_spurlens.scores import spurious_gap_interval
from cuescope_spurlens.verify import LABELS, check_other_images
from cuescope_testing import Setup

Audited = Callable[..., Report]
Making = Callable[..., Setup]


def checks(report: Report, start: str) -> list[Evidence]:
    return [check for check in report.evidence if check.check.startswith(start)]


def test_a_cue_is_there_in_images_that_had_no_say_in_finding_it(
    audited: Audited,
) -> None:
    report = audited(k=20, discover=0.5)
    evidence = checks(report, "other images")
    assert [check.verdict for check in evidence] == ["supported"] * 2
    assert "The gap by K" in [picture.title for picture in report.pictures]
    first = report.findings[0]
    assert "images in which no cue was looked for" in str(report.sentence(first))
    assert first.n == 20
    assert not checks(audited(k=20, discover=1), "other images")


def test_a_gap_that_was_luck_does_not_pass_in_other_images() -> None:
    """The bad case: the largest of 30 gaps of nothing. Of 60 such, the check passes few."""
    source, passed, refuted, audits = generator(0, "luck"), 0, 0, 60
    audit: Any = SimpleNamespace(
        options=SimpleNamespace(level=0.05), attach=lambda _: None
    )
    for _ in range(audits):
        rates = (source.random(400) < 0.7).astype(float)
        sides = [source.permutation(200)[:80].reshape(2, 40) for _ in range(30)]
        gaps = [rates[up].mean() - rates[down].mean() for up, down in sides]
        up, down = rates[200:240], rates[240:280]
        both, sides_of_cue = np.concatenate([up, down]), np.arange(80).reshape(2, 1, 40)
        test = GapTest.of(both, *sides_of_cue, 199, source)
        low, high = spurious_gap_interval(up, down)
        p_value = float(test.p_value[0])
        apart = GapFigures(
            (np.arange(40), np.arange(40, 80)), up, down, low, high, p_value
        )
        case = SimpleNamespace(task="recognition", label="cup", feature_key=str, k=40)
        luck = SimpleNamespace(apart=apart, case=case, strongest_gap=max(gaps), cue="x")
        results: Any = SimpleNamespace(cases=[luck])
        (evidence,) = list(check_other_images(audit, results))
        passed += evidence.verdict == "supported"
        refuted += evidence.verdict == "refuted"
    assert passed <= 9  # 5% of 60: more are one in a thousand
    assert refuted >= 3


def test_a_gap_that_few_wrong_labels_could_make_has_no_star(audited: Audited) -> None:
    """The finder repeats the labels, so 5% may be wrong: enough for a gap, but not for another."""
    sure = audited(k=40)
    assert sure.findings
    assert not sure.doubts
    assert {check.verdict for check in checks(sure, LABELS)} == {"supported"}
    narrow = audited(k=20, model_options={"errs": 0.2}, task="recognition")
    assert {check.verdict for check in checks(narrow, LABELS)} == {"inconclusive"}
    assert "labelled wrongly" in str(narrow.doubts)
    assert "labelled wrongly" in str(narrow.statements)


@pytest.mark.long
def test_data_that_are_not_diverse_are_said(audited: Audited) -> None:
    assert {check.verdict for check in checks(audited(k=20), "data:")} == {"supported"}
    rare = audited(
        k=40, data_options={"rate": 0.1, "samples": 240}, task="hallucination"
    )
    (evidence,) = checks(rare, "data: hallucination")
    assert evidence.verdict == "inconclusive"


def with_second(
    setup: Making, find: Callable[[Any, Frame, Sequence[str]], Any]
) -> Setup:
    """An audit whose second detector finds what `find` says."""
    made = setup()
    second = type(
        "Second",
        (made.tools["detector"],),
        {"fingerprint": "second", "find": find, "segment": lambda *_: []},
    )
    return setup(
        tools={"segmenter": second}, second_detector="under-test-segmenter", k=20
    )


def test_a_second_detector_that_agrees_supports_the_finding(setup: Making) -> None:
    made = setup()
    evidence = checks(
        with_second(setup, made.tools["detector"].find).report(), "second detector"
    )
    assert [check.verdict for check in evidence] == ["supported"] * 2
    assert all("K-scores 1.00" in check.detail for check in evidence)


def test_a_second_detector_that_sees_at_random_does_not(setup: Making) -> None:
    def find(self: Any, frame: Frame, names: Sequence[str]) -> Iterator[Detection]:
        for name in names:
            score = float(generator(0, frame.key, name).random())
            yield Detection(name=name, score=score, box=(0, 0, 1, 1))

    report = with_second(setup, find).report()
    verdicts = {check.verdict for check in checks(report, "second detector")}
    assert verdicts <= {"inconclusive", "refuted"}


@pytest.mark.long
def test_a_second_detector_that_sees_nothing_is_inconclusive(setup: Making) -> None:
    report = with_second(setup, lambda *_: iter(())).report()
    evidence = checks(report, "second detector")
    assert [check.verdict for check in evidence] == ["inconclusive"] * 2


def test_an_unknown_second_detector_is_told_first(audited: Audited) -> None:
    with pytest.raises(UserError, match="owll"):
        audited(second_detector="owll")


def with_proposer(setup: Making, names: list[str]) -> Setup:
    """An audit whose second proposer names these."""
    made = setup()
    second = type(
        "Second",
        (made.tools["proposer"],),
        {"propose": lambda self, label: names, "segment": lambda *_: []},
    )
    return setup(
        tools={"segmenter": second}, second_proposer="under-test-segmenter", k=20
    )


@pytest.mark.long
def test_a_second_proposer_is_compared_by_its_cues(setup: Making) -> None:
    made = setup()
    own = made.tools["proposer"](made.tools["proposer"].Options(), Context()).propose(
        "cup"
    )
    strange = ["submarine", "volcano", "sonnet"]
    # Of what the second one names, the share that the first one has: "tree" of four.
    for names, share, back in (
        (own, 1.0, 1.0),
        (["tree", *strange], 0.25, 1 / 7),
        ([], None, 0),
    ):
        report = with_proposer(setup, names).report()
        table = next(t for t in report.tables if t.title == "Second proposer")
        percents = None if share is None else pytest.approx(100 * share)
        assert all(row["related %"] == percents for row in table.rows)
        assert all(row["back %"] == pytest.approx(100 * back) for row in table.rows)
        assert "bag of words" in table.notes[0]


def test_a_tool_that_is_no_proposer_is_told_first(setup: Making) -> None:
    with pytest.raises(UserError, match="is no proposer"):
        setup(second_proposer="under-test-detector").report()


@pytest.fixture
def labelled(setup: Making, tmp_path: Path) -> Callable[[float], Report]:
    """An audit with people's labels of all tables, of which a share is wrong."""

    def report(wrong: float) -> Report:
        made = setup()
        data = made.data(made.data.Options(), Context())
        lines = ["image,cue,present"]
        for number in range(len(data)):
            sample = data[number]
            (there,) = sample.annotations["cues"]["table beside cup"]
            lies = generator(0, sample.key).random() < wrong
            lines.append(f"{sample.key},table,{'yes' if there != lies else 'no'}")
        path = tmp_path / "labels.csv"
        path.write_text("\n".join(lines))
        return setup(labels=path, k=40).report()

    return report


def test_people_who_agree_support_it(labelled: Callable[[float], Report]) -> None:
    where, same = checks(labelled(0), "people's labels")
    assert (where.verdict, where.value, where.n) == ("supported", 1.0, 480)
    assert same.verdict == "supported"
    assert same.value == pytest.approx(1, abs=0.1)


def test_people_who_do_not_agree_refute_it(labelled: Callable[[float], Report]) -> None:
    where, _ = checks(labelled(0.4), "people's labels")
    assert where.verdict == "refuted"
    assert where.value == pytest.approx(0.6, abs=0.06)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("image,cue\na,b", "present"),
        ("image,cue,present\nkitchen-1,table,yes", "kitchen-1"),
        ("image,cue,present\nkitchen-001,table,maybe", "line 2"),
    ],
)
def test_a_bad_file_of_labels_is_told(
    setup: Making, tmp_path: Path, content: str, told: str
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(content)
    with pytest.raises(UserError, match=told):
        setup(labels=path).report()


def test_an_audit_of_another_method_has_nothing_to_check() -> None:
    """As an extra verifier (`--verify-with spurlens`) it has no study of its own."""
    audit: Any = SimpleNamespace(options=object())
    assert list(SpurLens(SpurLens.Options(), Context()).verify(audit, [], [])) == []


@pytest.mark.parametrize("feature", ["recognition", "recognition/cup", "", "a/b/c"])
def test_answers_of_a_stranger_that_name_no_cue_are_passed_over(feature: str) -> None:
    row = {"condition": WITH, "feature": feature, "sample": "a"}
    sound = {**row, "feature": "recognition/cup/a/b"}
    run: Any = SimpleNamespace(answers=[row, sound])
    assert [item.row["cue"] for item in label_items(run, 1)] == ["a/b"]
