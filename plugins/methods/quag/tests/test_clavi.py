"""CLAVI: consistent accuracies by hand, aligned distances by brute force, planted complements."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from cuescope_quag import QUAG
from cuescope_quag.clavi.consistency import (
    ConsistentPair,
    consistent_accuracy,
    consistent_pairs,
    group_pairs,
)
from cuescope_quag.clavi.sensitivity import (
    aligned_distance,
    choose_pairs,
    compare_distances,
)
from cuescope_quag.paper import CONSISTENT, cells_by_question, paper_rows
from cuescope_sdk import (
    Capabilities,
    Frame,
    Plugin,
    Report,
    Response,
    Sample,
    Table,
    Trial,
)
from cuescope_sdk.fusion import TEXT, VIDEO, FusionShape
from cuescope_testing import Setup, run_audit, temporary_cache

FRAME = Frame.from_array(np.zeros((2, 2, 3), np.uint8))
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
                            **(
                                {}
                                if control
                                else {"text": here + ("second", "first")[asked]}
                            ),
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
        outputs=frozenset({"logits"}),
        edits=frozenset({"average-attention"}),
        exposes=frozenset({"fusion"}),
        min_frames=0,
    )
    facts: dict[str, str] = {}
    fingerprint = "shortcut"
    fusion = FusionShape(
        layers=1, heads=1, kv_heads=1, head_dim=2, dim=2, mlp_multiplications=4
    )

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [Response(logits=np.array([self.yes(trial), 0.5])) for trial in trials]

    def yes(self, trial: Trial) -> float:
        first, asked = self.order(trial), trial.sample.question
        known = ("first", "there") if first else ("second", "there")
        return float(
            asked in (("first", "second", "there") if first is None else known)
        )

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
        return np.asarray(
            np.eye(4) if known else np.full((4, 4), 0.25), dtype=np.float32
        )[None]


class Knowing(Shortcut):
    """Knows the order in every video but the first eight."""

    fingerprint = "knowing"

    def order(self, trial: Trial) -> bool | None:
        pixels = [np.asarray(frame.load())[0, 0] for frame in trial.sample.frames]
        return None if not pixels or pixels[0][0] < 8 else bool(pixels[0][1] == 0)


def table_of(report: Report, title: str) -> Table:
    (match,) = [table for table in report.tables if table.title.startswith(title)]
    return match


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
    assert "Videos: 4, so few that the intervals are rough" in consistent.notes[-1]


def test_a_shortcut_is_told_by_its_complements() -> None:
    report = run_audit(QUAG, Shortcut, Complements)
    baseline = table(report, "Consistent accuracy")["baseline"]
    assert baseline["CAcc_V control"] == "100.0 [91.2, 100.0]"
    assert baseline["CAcc_V complement"] == "0.0 [0.0, 8.8]"
    assert baseline["CAcc_T complement"] == "0.0 [0.0, 8.8]"
    assert baseline["CAcc_V"].startswith("50.0 ")
    consistent = table(report, "Consistent accuracy")
    assert [*consistent] == ["pairs (videos)", *table(report, "Accuracy")]
    assert consistent["pairs (videos)"] == {
        "condition": "pairs (videos)",
        "CAcc_V": "160 (40)",
        "CAcc_T": "80 (40)",
        "CAcc_V control": "80 (40)",
        "CAcc_V complement": "80 (40)",
        "CAcc_T complement": "80 (40)",
    }
    assert "complements left out" not in report.notes
    assert "balanced accuracy" in report.notes  # yes or no


def turned_controls() -> Iterator[Sample]:
    """Of each video and its complement: whether something absent came before A, and after."""
    for sample in ALL:
        if sample.question == "absent":
            video, shown, _ = sample.key.split("-")
            for word, other in (("before", "after"), ("after", "before")):
                yield replace(
                    sample,
                    key=f"{video}-{shown}-{word}",
                    question=f"absent {word}",
                    annotations={
                        **sample.annotations,
                        "question_type": "BA-NC",
                        "counterparts": {
                            "video": f"{video}-{1 - int(shown)}-{word}",
                            "text": f"{video}-{shown}-{other}",
                        },
                    },
                )


def with_forms(sample: Sample) -> Sample:
    """With the names of table 15: V and V', Q and Q'."""
    shown, form = (
        sample.key.split("-")[1],
        {"first": "Q", "second": "Q'"}.get(str(sample.question)),
    )
    names = {"video": ("original", "complement")[int(shown)]}
    forms = {} if form is None else {"question_form": form}
    return replace(sample, annotations={**sample.annotations, **names, **forms})


PUBLISHED = tuple(map(with_forms, (*ALL, *turned_controls())))


class Published(Complements):
    """As CLAVI itself, with control questions of both kinds."""

    benchmark = "CLAVI"
    fingerprint = "published"

    def __len__(self) -> int:
        return len(PUBLISHED)

    def __getitem__(self, index: int) -> Sample:
        return PUBLISHED[index]


class Doubting(Shortcut):
    """Does not see that A is there."""

    fingerprint = "doubting"

    def yes(self, trial: Trial) -> float:
        return 0.0 if trial.sample.question == "there" else super().yes(trial)


def test_the_papers_control_stands_beside_the_like_column_only() -> None:
    """Table 3 counts questions with a complement question; section 5.1 names E as well."""
    report = run_audit(QUAG, Doubting, Published, beside="JustAsk", captures=0)
    figures = table_of(report, "Consistent accuracy")
    baseline = table(report, "Consistent accuracy")["baseline"]
    # of 4 questions that A is not seen in
    assert baseline["CAcc_V control"].startswith("75.0 ")
    assert baseline["CAcc_V control (Q')"].startswith("100.0 ")
    assert baseline["CAcc_V (Q')"].startswith("50.0 ")
    [paper] = figures.paper
    assert paper["CAcc_V control (Q')"] == 98.0
    assert not {"CAcc_V", "CAcc_V control"} & set(paper)


def test_the_table_of_videos_and_questions_is_that_of_the_paper() -> None:
    by_question = table_of(
        run_audit(QUAG, Shortcut, Published, captures=0), "Accuracy by video"
    )
    rows = {
        row["condition"]: (str(row["accuracy"])[:5], row["n"])
        for row in by_question.rows
    }
    assert list(rows) == [*(f"V {k}" for k in KINDS), *(f"V' {k}" for k in KINDS)]
    assert rows["V BA Q"] == ("100.0", 40)
    assert rows["V BA Q'"] == ("0.0 [", 40)
    assert rows["V' BA Q"] == ("0.0 [", 40)
    paper = {row["condition"]: row["accuracy"] for row in by_question.paper}
    assert paper["V' BE Q'"] == 70.0  # FrozenBiLM


KINDS = ("E", "BA Q", "BA Q'", "BA-NC")


@pytest.mark.parametrize("model", ["JustAsk", "Singularity-T", "All-in-one+"])
def test_table_3_cannot_count_e_among_its_control(model: str) -> None:
    """No pair is right more often than the worse of its two: table 15 bounds table 3."""
    cells = {
        row["condition"]: float(row["accuracy"] or 0)
        for row in cells_by_question(model)
    }
    worse = {
        kind: min(cells[f"V {kind}"], cells[f"V' {kind}"])
        for kind in ("E", "E-NC", "BA-NC")
    }
    [paper, *_] = paper_rows(model, CONSISTENT)
    every = (2 * worse["E"] + worse["E-NC"] + 8 * worse["BA-NC"]) / 11
    # of means of three runs, each within its own error
    assert every < float(paper["CAcc_V control (Q')"] or 0) - (
        0.8 if model != "Singularity-T" else 0
    )
    assert float(paper["CAcc_V control (Q')"] or 0) <= worse["BA-NC"]


def test_a_model_that_knows_the_order_is_told_too() -> None:
    report = run_audit(QUAG, Knowing, Complements)
    rows = table(report, "Consistent accuracy")
    assert rows["baseline"]["CAcc_T complement"].startswith("80.0 ")
    assert rows["without question"]["CAcc_T complement"] == "0.0 [0.0, 8.8]"


def test_complements_far_apart_are_evidence_where_they_are_right() -> None:
    report = run_audit(QUAG, Knowing, Complements)
    checks = {
        check.check: check for check in report.evidence if "appendix B.7" in check.check
    }
    assert set(checks) == {
        "attention differs between complements, video (appendix B.7)",
        "attention differs between complements, text (appendix B.7)",
    }
    for check in checks.values():
        # one pair of each of the eight videos where not both are right
        assert check.n == 20 + 8
        assert "for 20 pairs that are both answered rightly" in check.detail
    # table 16: all weight on itself is sqrt(3) from even weights
    rows = {row["pairs"]: row for row in table_of(report, "Distance of").rows}
    assert rows["video, not both right"]["mean"] == pytest.approx(0.0)
    assert rows["video, both right"]["mean"] == pytest.approx(np.sqrt(3))
    assert rows["video, both right"]["variance"] == pytest.approx(0.0, abs=1e-12)
    assert rows["video, not both right"]["n"] == 8
    assert "Distance of complements' attention, video" in {
        p.title for p in report.pictures
    }
    without = run_audit(QUAG, Knowing, Complements, pairs=0)
    assert not [check for check in without.evidence if "appendix B.7" in check.check]


def test_no_question_is_asked_twice() -> None:
    """The check of complements finds the answers of `perturb` again."""
    with temporary_cache() as cache:
        session = Setup(QUAG, Knowing, Complements).session(cache)
        respond, names = session.audit.respond, []

        def log(trials: Any) -> list[Any]:
            trials = list(trials)
            names.extend(
                (t.sample.key, t.condition) for t in trials if t.readout is None
            )
            return respond(trials)

        session.audit.respond = log
        report = session.run()
    assert len(names) == len(set(names)) == 7 * len(ALL)
    assert [check.n for check in report.evidence if "appendix B.7" in check.check] == [
        28,
        28,
    ]


def test_checks_another_method_by_answers_of_its_own() -> None:
    """As an extra verifier (--verify-with) it finds none of its own trials among the outcomes."""
    with temporary_cache() as cache:
        session = Setup(QUAG, Knowing, Complements).session(cache)
        own = session.run()
        other = QUAG(QUAG.Options(), session.audit.context)
        session.audit.outcomes = []
        first, *rest = own.evidence
        assert first.check == "independent samples"
        assert list(other.verify(session.audit, [], [])) == rest


def test_pairs_by_column() -> None:
    groups = group_pairs(consistent_pairs(ALL))
    counts = {name: len(pairs) for name, pairs in groups.items()}
    assert counts == {
        "CAcc_V": 4 * VIDEOS,
        "CAcc_T": 2 * VIDEOS,
        "CAcc_V control": 2 * VIDEOS,
        "CAcc_V complement": 2 * VIDEOS,
        "CAcc_T complement": 2 * VIDEOS,
    }


def test_pairs_are_chosen_of_both_kinds() -> None:
    pairs = [ConsistentPair("text", f"a{n}", f"b{n}", None, str(n)) for n in range(9)]
    correct = {f"{side}{n}": n < 3 or side == "a" for n in range(9) for side in "ab"}
    both, others = choose_pairs(pairs, correct, 4, np.random.default_rng(0))
    again = choose_pairs([*pairs, *pairs], correct, 9, np.random.default_rng(0))
    assert [len({pair.video for pair in group}) for group in again] == [
        len(g) for g in again
    ]
    assert [len(group) for group in again] == [3, 6]  # no video twice
    assert (len(both), len(others)) == (3, 4)
    assert all(pair.first in ("a0", "a1", "a2") for pair in both)


def test_distances_are_compared_by_rank() -> None:
    far, near = np.arange(8, 16) / 10, np.arange(8) / 10
    evidence = compare_distances("check", far, near)
    assert evidence.verdict == "supported"
    # one choice of the eight that are far
    assert evidence.value == pytest.approx(1 / comb(16, 8))
    assert compare_distances("check", near, far).verdict == "inconclusive"
    assert "5 of each" in compare_distances("check", far[:4], near).detail


# ------------------------------------------------------------------- consistent accuracy by hand


def pair_member(key: str, subset: str = "complement", **annotations: object) -> Sample:
    return Sample(
        key=key, frames=(FRAME,), annotations={"subset": subset, **annotations}
    )


def square(video: str) -> list[Sample]:
    """Two videos by two questions, each the complement of its neighbours."""

    def key(shown: int, asked: int) -> str:
        return f"{video}-v{shown}-q{asked}"

    return [
        pair_member(
            key(v, q),
            video_id=video,
            counterparts={"video": key(1 - v, q), "text": key(v, 1 - q)},
        )
        for v, q in product((0, 1), repeat=2)
    ]


def test_each_pair_is_found_once_and_keeps_its_kind() -> None:
    pairs = consistent_pairs(square("a"))
    assert {(p.complement, p.first, p.second) for p in pairs} == {
        ("video", "a-v0-q0", "a-v1-q0"),
        ("video", "a-v0-q1", "a-v1-q1"),
        ("text", "a-v0-q0", "a-v0-q1"),
        ("text", "a-v1-q0", "a-v1-q1"),
    }
    assert {(p.subset, p.video) for p in pairs} == {("complement", "a")}


def test_a_counterpart_that_is_not_shown_makes_no_pair() -> None:
    assert len(consistent_pairs(square("a")[:3])) == 2
    assert (
        consistent_pairs(
            [pair_member("alone"), pair_member("no", counterparts={"video": None})]
        )
        == ()
    )


def test_without_a_name_samples_of_the_same_frames_are_one_video() -> None:
    other = Frame.from_array(np.ones((2, 2, 3), np.uint8))
    shown = [
        Sample(key=key, frames=frames, annotations={"counterparts": {"text": text}})
        for key, text, frames in [
            ("a", "b", (FRAME, other)),
            ("b", "a", (FRAME, other)),
            ("c", "d", (other, FRAME)),
            ("d", "c", (other, FRAME)),
            ("e", "f", (other,)),
            ("f", "e", (other,)),
        ]
    ]
    first, second, third = (pair.video for pair in consistent_pairs(shown))
    assert first == second != third


def test_both_of_a_pair_must_be_right() -> None:
    samples = square("a") + square("b")
    pairs = consistent_pairs(samples)
    wrong = {"a-v0-q0", "b-v1-q1"}
    correct = {s.key: s.key not in wrong for s in samples}
    text = [pair for pair in pairs if pair.complement == "text"]
    accuracy = consistent_accuracy(correct, text)
    assert accuracy is not None
    assert (accuracy.value, accuracy.pairs, accuracy.videos) == (0.5, 4, 2)
    always_yes = {s.key: s.key.endswith("q0") for s in samples}
    accuracy = consistent_accuracy(always_yes, text)
    assert accuracy is not None
    assert (accuracy.value, accuracy.low) == (0, 0)
    assert accuracy.high > 0.8  # two videos prove little


def test_pairs_without_both_answers_are_left_out() -> None:
    pairs = consistent_pairs(square("a"))
    correct = {"a-v0-q0": True, "a-v0-q1": True, "a-v1-q0": False}
    accuracy = consistent_accuracy(correct, pairs)
    assert accuracy is not None
    assert (accuracy.value, accuracy.pairs) == (0.5, 2)
    assert consistent_accuracy({}, pairs) is None


def test_the_interval_is_of_whole_videos() -> None:
    """One pair a video: Clopper and Pearson's. Four that stand together: no less wide than that."""
    rights = np.arange(30) < 18
    widths = []
    for copies in (1, 4):
        pairs, correct = [], {}
        for video, right in enumerate(rights.tolist()):
            for index in range(copies):
                first, second = f"{video}-{index}", f"{video}-{index}-other"
                pairs.append(ConsistentPair("video", first, second, None, str(video)))
                correct |= {first: True, second: right}
        accuracy = consistent_accuracy(correct, pairs)
        assert accuracy is not None
        assert (accuracy.value, accuracy.videos) == (0.6, 30)
        widths.append(accuracy.high - accuracy.low)
        if copies == 1:
            exact = binomtest(18, 30).proportion_ci(0.95, method="exact")
            assert (accuracy.low, accuracy.high) == pytest.approx(
                (exact.low, exact.high)
            )
    assert widths[1] == pytest.approx(widths[0], rel=0.1)


def test_nothing_consistent_has_an_interval_too() -> None:
    pairs = [ConsistentPair("text", f"a{n}", f"b{n}", None, str(n)) for n in range(40)]
    accuracy = consistent_accuracy(dict.fromkeys((*"a", *"b"), False), pairs)
    assert accuracy is None
    accuracy = consistent_accuracy(
        {f"{x}{n}": False for n in range(40) for x in "ab"}, pairs
    )
    assert accuracy is not None
    assert (accuracy.low, accuracy.high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 40)))


# --------------------------------------------------------------------------- aligned distance


def random_maps(rng: np.random.Generator, heads: int, tokens: int) -> np.ndarray:
    weights = rng.exponential(size=(heads, tokens, tokens)).astype(np.float32)
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("tokens", [1, 2, 7, 40])
def test_a_reordered_copy_is_at_distance_zero(tokens: int) -> None:
    rng = np.random.default_rng(tokens)
    first = random_maps(rng, 3, tokens)
    orders = [rng.permutation(tokens) for _ in first]
    second = np.stack([m[np.ix_(o, o)] for m, o in zip(first, orders, strict=True)])
    assert aligned_distance(first, second).tolist() == [0.0] * 3
    if tokens == 40:
        assert (np.linalg.norm(first - second, axis=(1, 2)) > 0.5).all()


@pytest.mark.parametrize("seed", range(6))
def test_the_distance_is_near_that_of_the_best_of_all_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = random_maps(rng, 2, 6), random_maps(rng, 2, 6)
    orders = [list(order) for order in permutations(range(6))]
    distance = aligned_distance(first, second)
    for head in range(2):
        every = [
            np.linalg.norm(first[head] - second[head][np.ix_(o, o)]) for o in orders
        ]
        assert min(every) <= distance[head] + 1e-6
        assert distance[head] < np.quantile(every, 0.2)


def test_the_order_of_either_side_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    first, second = random_maps(rng, 2, 12), random_maps(rng, 2, 12)
    order = rng.permutation(12)
    shuffled = second[:, order][:, :, order]
    np.testing.assert_allclose(
        aligned_distance(first, second), aligned_distance(first, shuffled), rtol=1e-12
    )


def test_a_change_of_one_weight_is_measured_as_it_is() -> None:
    first = random_maps(np.random.default_rng(2), 1, 9)
    second = first.copy()
    second[0, 3, 5] += 1e-3
    order = np.random.default_rng(3).permutation(9)
    moved = second[:, order][:, :, order]
    assert aligned_distance(first, moved)[0] == pytest.approx(1e-3, rel=1e-3)


def test_rows_and_columns_are_reordered_together() -> None:
    """Rows alone could turn a cycle into loops, but no order of the tokens does."""
    cycle = np.roll(np.eye(5, dtype=np.float32), 1, axis=1)
    loops = np.eye(5, dtype=np.float32)
    assert aligned_distance(cycle[None], loops[None])[0] == pytest.approx(np.sqrt(10))


def test_other_numbers_of_tokens_cannot_be_aligned() -> None:
    rng = np.random.default_rng(0)
    for other in (
        random_maps(rng, 2, 5),
        random_maps(rng, 1, 4),
        np.zeros((2, 4, 5), np.float32),
    ):
        with pytest.raises(ValueError, match="one shape"):
            aligned_distance(random_maps(rng, 2, 4), other)
