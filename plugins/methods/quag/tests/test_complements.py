"""CLAVI's tables, words and distances on complements that are planted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
import pytest

from cuescope_quag import QUAG
from cuescope_quag.complements import grouped, in_words
from cuescope_quag.sensitivity import chosen, compared_distances
from cuescope_sdk import Capabilities, Frame, Plugin, Report, Response, Sample, Table, Trial
from cuescope_sdk.fusion import TEXT, VIDEO, FusionShape
from cuescope_sdk.maths import ConsistentAccuracy, ConsistentPair, consistent_pairs
from cuescope_sdk.testing import run_audit

VIDEOS, YES_NO = 40, ("yes", "no")


def samples() -> Iterator[Sample]:
    """Of each video and its complement: does A come first, or second, is it there, and is B."""
    for video in range(VIDEOS):
        for shown in (0, 1):
            for asked, words in enumerate(("first", "second", "there", "absent")):
                control = words in ("there", "absent")
                here, there = f"v{video:02d}-{shown}-", f"v{video:02d}-{1 - shown}-"
                pixels = np.full((1, 1, 3), (video, shown, 0), dtype=np.uint8)
                yield Sample(
                    key=f"{here}{words}",
                    frames=(Frame.from_array(pixels),),
                    question=words,
                    choices=YES_NO,
                    label="yes" if words == "there" or asked == shown else "no",
                    annotations={
                        "video_id": f"v{video:02d}",
                        "question_type": "E" if control else "BA",
                        "subset": "control" if control else "complement",
                        "counterparts": {
                            "video": there + words,
                            **({} if control else {"text": here + ("second", "first")[asked]}),
                        },
                    },
                )


ALL = tuple(samples())


class Complements(Plugin):
    """The samples as a data set."""

    labels = YES_NO
    facts: dict[str, str] = {}
    fingerprint = "complements"

    def __len__(self) -> int:
        return len(ALL)

    def __getitem__(self, index: int) -> Sample:
        return ALL[index]


class Shortcut(Plugin):
    """Sees that A is there, and says yes to whatever is asked about it."""

    capabilities = Capabilities(
        outputs=frozenset({"logits"}), edits=frozenset({"average-attention"}),
        exposes=frozenset({"fusion"}), min_frames=0,
    )  # fmt: skip
    facts: dict[str, str] = {}
    fingerprint = "shortcut"
    fusion = FusionShape(layers=1, heads=1, kv_heads=1, head_dim=2, dim=2, mlp_multiplications=4)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [Response(logits=np.array([self.yes(trial), 0.5])) for trial in trials]

    def yes(self, trial: Trial) -> float:
        first, asked = self.order(trial), trial.sample.question
        known = ("first", "there") if first else ("second", "there")
        return float(asked in (("first", "second", "there") if first is None else known))

    def order(self, trial: Trial) -> bool | None:
        """Whether A comes first, None where it does not know."""
        return None

    def modalities(self, trials: Sequence[Trial], layer: int) -> list[np.ndarray]:
        return [np.array([VIDEO, VIDEO, TEXT, TEXT] * 2, dtype=np.int8)] * len(trials)

    def attention(self, trials: Sequence[Trial], layer: int) -> list[np.ndarray]:
        return [self.weights(trial) for trial in trials]

    def weights(self, trial: Trial) -> np.ndarray:
        """The same whatever is shown, but where the order is known and asked about rightly."""
        known = self.order(trial) is not None and self.yes(trial)
        return np.asarray(np.eye(4) if known else np.full((4, 4), 0.25), dtype=np.float32)[None]


class Knowing(Shortcut):
    """Knows the order in every video but the first eight."""

    fingerprint = "knowing"

    def order(self, trial: Trial) -> bool | None:
        pixels = [np.asarray(frame.load())[0, 0] for frame in trial.sample.frames]
        return None if not pixels or pixels[0][0] < 8 else bool(pixels[0][1] == 0)


def table_of(report: Report, title: str) -> Table:
    (found,) = [one for one in report.tables if one.title.startswith(title)]
    return found


def table(report: Report, title: str) -> dict[str, dict[str, Any]]:
    return {str(row["condition"]): row for row in table_of(report, title).rows}


class Parted(Complements):
    """Three videos, and of a fourth three questions, without those about its complement."""

    def __len__(self) -> int:
        return 27


def test_parted_complements_are_counted_and_few_say_nothing() -> None:
    report = run_audit(QUAG, Shortcut, Parted)
    assert report.notes["complements left out"].startswith("3 of 27 samples: ")
    consistent = table_of(report, "Consistent accuracy")
    assert consistent.rows[0]["CAcc_V complement"] == "6 (3)"
    assert "complements" not in report.notes
    assert "Videos: 4; intervals over so few are rough" in consistent.notes[-1]


def test_a_shortcut_is_told_by_its_complements() -> None:
    report = run_audit(QUAG, Shortcut, Complements)
    baseline = table(report, "Consistent accuracy")["baseline"]
    assert baseline["CAcc_V control"] == "100.0 [100.0, 100.0]"
    assert baseline["CAcc_V complement"] == "0.0 [0.0, 0.0]"
    assert baseline["CAcc_T complement"] == "0.0 [0.0, 0.0]"
    assert baseline["CAcc_V"].startswith("50.0 ")
    assert "shortcuts answer the control questions" in report.notes["complements"]
    consistent = table(report, "Consistent accuracy")
    assert [*consistent] == ["pairs (videos)", *table(report, "Accuracy")]
    assert consistent["pairs (videos)"] == {
        "condition": "pairs (videos)", "CAcc_V": "160 (40)", "CAcc_T": "80 (40)",
        "CAcc_V control": "80 (40)", "CAcc_V complement": "80 (40)", "CAcc_T complement": "80 (40)",
    }  # fmt: skip
    assert "complements left out" not in report.notes
    [legend] = [note for note in table_of(report, "Accuracy").notes if "E: " in note]
    assert legend == "BA: before or after; E: existence of an action."
    assert "balanced accuracy" in report.notes  # yes or no


def test_a_model_that_knows_the_order_is_told_too() -> None:
    report = run_audit(QUAG, Knowing, Complements)
    rows = table(report, "Consistent accuracy")
    assert rows["baseline"]["CAcc_T complement"].startswith("80.0 ")
    assert rows["without question"]["CAcc_T complement"] == "0.0 [0.0, 0.0]"
    assert report.notes["complements"].startswith("neither a clear")  # the interval is below 75


def test_complements_far_apart_are_evidence_where_they_are_right() -> None:
    report = run_audit(QUAG, Knowing, Complements)
    found = {one.check: one for one in report.evidence if one.check.startswith("complement")}
    assert set(found) == {
        "complements are told apart inside, video (appendix B.7)",
        "complements are told apart inside, text (appendix B.7)",
    }
    for one in found.values():
        assert one.n == 20 + 16  # 16 pairs of eight videos are not both right
        assert "for 20 pairs that are both answered rightly" in one.detail
    assert not [
        one
        for one in run_audit(QUAG, Knowing, Complements, pairs=0).evidence
        if one.check.startswith("complement")
    ]


def test_pairs_by_column() -> None:
    groups = grouped(consistent_pairs(ALL))
    counts = {name: len(pairs) for name, pairs in groups.items()}
    assert counts == {
        "CAcc_V": 4 * VIDEOS, "CAcc_T": 2 * VIDEOS, "CAcc_V control": 2 * VIDEOS,
        "CAcc_V complement": 2 * VIDEOS, "CAcc_T complement": 2 * VIDEOS,
    }  # fmt: skip


def test_pairs_are_chosen_of_both_kinds() -> None:
    pairs = [ConsistentPair("text", f"a{n}", f"b{n}", None, str(n)) for n in range(9)]
    correct = {f"{side}{n}": n < 3 or side == "a" for n in range(9) for side in "ab"}
    both, others = chosen(pairs, correct, 4, np.random.default_rng(0))
    assert (len(both), len(others)) == (3, 4)
    assert all(pair.first in ("a0", "a1", "a2") for pair in both)


def test_distances_are_compared_by_rank() -> None:
    far, near = np.arange(8, 16) / 10, np.arange(8) / 10
    found = compared_distances("check", far, near)
    assert found.verdict == "supported"
    assert found.value == pytest.approx(1 / comb(16, 8))  # one choice of the eight that are far
    assert compared_distances("check", near, far).verdict == "inconclusive"
    assert "5 of each" in compared_distances("check", far[:4], near).detail


def accuracy(value: float) -> ConsistentAccuracy:
    return ConsistentAccuracy(value, value - 0.01, min(value + 0.01, 1.0), 100, 50)


@pytest.mark.parametrize(
    ("control", "complement", "said"),
    [
        (0.98, 0.024, "shortcuts answer the control questions"),  # JustAsk, table 3
        (0.93, 0.95, "together with their complements, control or not"),
        (0.93, 0.55, "neither a clear"),  # FrozenBiLM
        (0.40, 0.02, "neither a clear"),
    ],
)
def test_words_for_control_and_complement(control: float, complement: float, said: str) -> None:
    figures = {"CAcc_V control": accuracy(control), "CAcc_V complement": accuracy(complement)}
    assert said in str(in_words({**figures, "CAcc_T": None}))
    assert in_words({"CAcc_V control": accuracy(control)}) is None
    few = replace(accuracy(control), pairs=19)
    assert in_words({**figures, "CAcc_T control": few}) is None
