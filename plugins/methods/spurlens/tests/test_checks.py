"""The checks: other K, another detector, people, the data, the answer sheet."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Context, Detection, Evidence, Frame, Report, UserError, generator
from cuescope_sdk.testing import Setup
from cuescope_spurlens.adequacy import largest_k
from cuescope_spurlens.sensitivity import gap_by_k

Audited = Callable[..., Report]
Making = Callable[..., Setup]


def checks(report: Report, start: str) -> list[Evidence]:
    return [one for one in report.evidence if one.check.startswith(start)]


def test_gap_by_k_is_that_of_each_k() -> None:
    rates = generator(0, "k").random(30)
    top, bottom = np.arange(10), np.arange(29, 19, -1)
    found = gap_by_k(rates, top, bottom)
    for k in range(1, 11):
        assert found[k - 1] == pytest.approx(rates[:k].mean() - rates[20 : 20 + k].mean())


def test_other_k_costs_nothing_and_is_drawn(audited: Audited) -> None:
    report = audited(k=20)
    found = checks(report, "other K")
    assert [one.verdict for one in found] == ["supported"] * 2
    assert "The gap by K" in [picture.title for picture in report.pictures]


def test_largest_k_against_brute_force() -> None:
    rng = generator(0, "adequacy")
    scores = np.where(rng.random((40, 6)) < 0.5, rng.random((40, 6)), 0)
    thresholds = (0.0, 0.3, 0.6)
    for cues in (1, 3, 6):
        by_hand = []
        for threshold in thresholds:
            fits = [
                k for k in range(41)
                if sum(
                    (scores[:, c] > threshold).sum() >= k and (scores[:, c] <= threshold).sum() >= k
                    for c in range(6)
                ) >= cues
            ]  # fmt: skip
            by_hand.append(max(fits))
        k, threshold = largest_k(scores, cues, thresholds)
        assert (k, threshold) == (max(by_hand), thresholds[int(np.argmax(by_hand))])
    assert largest_k(scores, 7)[0] == 0


def test_data_that_are_not_diverse_are_said(audited: Audited) -> None:
    assert {one.verdict for one in checks(audited(k=20), "data:")} == {"supported"}
    rare = audited(k=40, data_options={"rate": 0.1, "samples": 240}, task="hallucination")
    (found,) = checks(rare, "data: hallucination")
    assert found.verdict == "inconclusive"


def with_second(setup: Making, found: Callable[[Any, Frame, Sequence[str]], Any]) -> Setup:
    """An audit whose second detector finds what `found` says."""
    made = setup()
    second = type(
        "Second", (made.tools["detector"],),
        {"fingerprint": "second", "found": found, "segment": lambda *_: []},
    )  # fmt: skip
    return setup(tools={"segmenter": second}, second_detector="under-test-segmenter", k=20)


def test_a_second_detector_that_agrees_supports_the_finding(setup: Making) -> None:
    made = setup()
    found = checks(with_second(setup, made.tools["detector"].found).report(), "second detector")
    assert [one.verdict for one in found] == ["supported"] * 2
    assert all("K-scores 1.00" in one.detail for one in found)


def test_a_second_detector_that_sees_at_random_does_not(setup: Making) -> None:
    def found(self: Any, frame: Frame, names: Sequence[str]) -> Iterator[Detection]:
        for name in names:
            score = float(generator(0, frame.key, name).random())
            yield Detection(name=name, score=score, box=(0, 0, 1, 1))

    report = with_second(setup, found).report()
    assert {one.verdict for one in checks(report, "second detector")} <= {"inconclusive", "refuted"}


def test_a_second_detector_that_sees_nothing_is_inconclusive(setup: Making) -> None:
    report = with_second(setup, lambda *_: iter(())).report()
    found = checks(report, "second detector")
    assert [one.verdict for one in found] == ["inconclusive"] * 2


def test_an_unknown_second_detector_is_told_first(audited: Audited) -> None:
    with pytest.raises(UserError, match="owll"):
        audited(second_detector="owll")


def with_proposer(setup: Making, names: list[str]) -> Setup:
    """An audit whose second proposer names these."""
    made = setup()
    second = type(
        "Second", (made.tools["proposer"],),
        {"propose": lambda self, label: names, "segment": lambda *_: []},
    )  # fmt: skip
    return setup(tools={"segmenter": second}, second_proposer="under-test-segmenter", k=20)


def test_a_second_proposer_is_compared_by_its_cues(setup: Making) -> None:
    made = setup()
    own = made.tools["proposer"](made.tools["proposer"].Options(), Context()).propose("cup")
    for names, share in ((own, 1.0), (["submarine"], 0.0), ([], 0.0)):
        report = with_proposer(setup, names).report()
        (found,) = checks(report, "second proposer")
        assert found.value == pytest.approx(share)
        assert found.verdict == ("supported" if share else "inconclusive")
        table = next(t for t in report.tables if t.title == "Second proposer")
        assert {row["related %"] for row in table.rows} == {100 * share}
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
            (there,) = sample.annotations["cues"]["table for cup"]
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
    [("image,cue\na,b", "present"), ("image,cue,present\nkitchen-1,table,yes", "kitchen-1"),
     ("image,cue,present\nkitchen-001,table,maybe", "line 2")],
)  # fmt: skip
def test_a_bad_file_of_labels_is_told(
    setup: Making, tmp_path: Path, content: str, told: str
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(content)
    with pytest.raises(UserError, match=told):
        setup(labels=path).report()


def test_a_planted_cue_that_is_not_used_is_refuted(audited: Audited) -> None:
    found = checks(audited(model_options={"cue": "tree"}), "planted cue of 'cup'")
    assert [one.verdict for one in found] == ["refuted"] * 2
    assert all("the strongest is 'tree'" in one.detail for one in found)
