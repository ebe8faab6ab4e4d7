"""Theorem 2.1 and lemma 2.2 on matrices by hand, and as evidence about a model."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cuescope_quag.verify import (
    conformability_error,
    fused_part,
    quadrant,
    rank_bound,
    ranks,
    row_averaged,
    sees_alike,
    visible_keys,
)
from cuescope_sdk import Evidence, Report
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO, AverageAttention

Audited = Callable[..., Report]
TOKENS = np.array([VIDEO, VIDEO, VIDEO, TEXT, TEXT], dtype=np.int8)
# Figure 1 of the paper
FIGURE = np.array(
    [
        [
            [0.3, 0.2, 0.1, 0.4, 0.0],
            [0.1, 0.2, 0.0, 0.5, 0.2],
            [0.5, 0.2, 0.2, 0.0, 0.1],
            [0.1, 0.2, 0.3, 0.3, 0.1],
            [0.1, 0.3, 0.1, 0.2, 0.3],
        ]
    ]
)
ALL = np.ones((5, 5), dtype=bool)


def random_attention(
    count: int, tokens: np.ndarray, causal: bool = False
) -> np.ndarray:
    rng = np.random.default_rng(count)
    weights = rng.random((count, len(tokens), len(tokens)))
    weights = np.tril(weights) if causal else weights
    return np.asarray(weights / weights.sum(axis=2, keepdims=True))


def test_the_papers_figure_1() -> None:
    averaged = row_averaged(FIGURE, TOKENS, TOKENS, ALL, ["VV"])
    expected = FIGURE.copy()
    expected[0, :3, :3] = [[0.2], [0.1], [0.3]]
    assert averaged == pytest.approx(expected)


def test_a_quadrant_has_queries_of_the_first_and_keys_of_the_second() -> None:
    assert quadrant(TOKENS, TOKENS, "VT")[:3, 3:].all()
    assert quadrant(TOKENS, TOKENS, "VT").sum() == 6


def test_only_visible_keys_are_averaged() -> None:
    weights = random_attention(2, TOKENS, causal=True)
    averaged = row_averaged(
        weights, TOKENS, TOKENS, visible_keys(weights), ["VV", "TT"]
    )
    assert averaged[:, 1, :2] == pytest.approx(
        weights[:, 1, :2].mean(axis=1, keepdims=True)[..., [0, 0]]
    )
    assert (averaged[:, 1, 2:] == 0).all()
    assert averaged.sum(axis=2) == pytest.approx(np.ones((2, 5)))
    error = conformability_error(
        averaged, TOKENS, TOKENS, visible_keys(weights), ["VV", "TT"]
    )
    assert error < 1e-12


@pytest.mark.parametrize("fault", ["not constant", "mass", "hidden"])
def test_each_fault_is_seen(fault: str) -> None:
    weights = random_attention(1, TOKENS, causal=True)
    visible = visible_keys(weights)
    averaged = row_averaged(weights, TOKENS, TOKENS, visible, ["VV"])
    if fault == "not constant":
        averaged[0, 2, :2] += [0.01, -0.01]
    elif fault == "mass":
        averaged[0, 2, 2] += 0.01
        averaged[0, 2, :2] += 0.01
    else:
        averaged[0, 0, 0] -= 0.01
        averaged[0, 0, 4] += 0.01  # a key that the first query may not see
    assert conformability_error(averaged, TOKENS, TOKENS, visible, ["VV"]) > 0.005


def test_the_rank_bound_holds_where_all_see_alike_and_is_reached_within_one() -> None:
    tokens = np.array([OTHER, *[VIDEO] * 9, *[TEXT] * 3], dtype=np.int8)
    weights = random_attention(4, tokens)
    visible = visible_keys(weights)
    assert sees_alike(visible, tokens, tokens)
    averaged = row_averaged(weights, tokens, tokens, visible, ["VV", "TV"])
    assert rank_bound(tokens) == 5
    # one column, and three of text
    assert max(ranks(fused_part(averaged, tokens, tokens))) == 4
    assert min(ranks(fused_part(weights, tokens, tokens))) == 12


def test_causal_attention_escapes_the_lemma() -> None:
    tokens = np.array([VIDEO] * 9 + [TEXT] * 3, dtype=np.int8)
    weights = random_attention(2, tokens, causal=True)
    assert not sees_alike(visible_keys(weights), tokens, tokens)
    averaged = row_averaged(
        weights, tokens, tokens, visible_keys(weights), ["VV", "TV"]
    )
    assert max(ranks(averaged)) > rank_bound(tokens)


@given(
    modality=st.lists(st.sampled_from([OTHER, VIDEO, TEXT]), min_size=2, max_size=14),
    quadrants=st.sets(st.sampled_from(["VV", "VT", "TV", "TT"]), min_size=1),
    causal=st.booleans(),
    seed=st.integers(0, 2**16),
)
@settings(max_examples=40)
def test_the_theory_holds_on_the_attention_of_every_model(
    modality: list[int], quadrants: set[str], causal: bool, seed: int
) -> None:
    """Any order of tokens, as the sdk's edit leaves it, and as a fusion layer would see it."""
    import torch

    from cuescope_sdk.torch import Fusion, fused_attention

    draw = torch.Generator().manual_seed(seed)
    states = [torch.randn(1, 3, len(modality), 4, generator=draw) for _ in range(3)]
    maps: list[np.ndarray] = []

    def attention_under(edit: AverageAttention | None) -> np.ndarray:
        tokens = torch.tensor([modality], dtype=torch.int8)
        fusion = Fusion(
            tokens, edit, watch=lambda _, attention: maps.append(attention[0].numpy())
        )
        with fusion.use():
            fused_attention(*states, layer=0, causal=causal)
        return maps.pop()

    tokens = np.array(modality, dtype=np.int8)
    plain = attention_under(None)
    edited = attention_under(AverageAttention(quadrants=frozenset(quadrants)))  # type: ignore[arg-type]
    quadrant_cells = tokens, tokens, visible_keys(plain), sorted(quadrants)
    assert conformability_error(edited, *quadrant_cells) < 1e-6
    assert np.abs(edited - row_averaged(plain, *quadrant_cells)).max() < 1e-6
    if {"VV", "TV"} <= quadrants and sees_alike(visible_keys(plain), tokens, tokens):
        assert max(ranks(fused_part(edited, tokens, tokens)), default=0) <= rank_bound(
            tokens
        )


def by_check(report: Report) -> dict[str, Evidence]:
    return {check.check.partition(" (")[0]: check for check in report.evidence}


@pytest.mark.parametrize(
    ("model", "verdicts"),
    [
        ({}, ("supported", "supported")),
        pytest.param(
            {"causal": True}, ("supported", "inconclusive"), marks=pytest.mark.long
        ),
        ({"broken": True}, ("refuted", "refuted")),
    ],
)
def test_the_theory_on_a_model(
    audited: Audited, model: dict[str, bool], verdicts: tuple[str, str]
) -> None:
    report = audited("both", "both", data_options={"samples": 12}, model_options=model)
    evidence = by_check(report)
    checks = (
        "averaged attention stays averaged",
        "rank of attention after the video short-circuit",
    )
    assert tuple(evidence[check].verdict for check in checks) == verdicts
    assert "(3 samples, layers 0, 1)" in evidence[checks[0]].detail
    if model.get("causal"):
        assert "causal" in evidence[checks[1]].detail


def test_long_sequences_are_not_looked_at(audited: Audited) -> None:
    report = audited("both", "both", data_options={"samples": 12}, longest=9)
    assert {check.verdict for check in report.evidence} == {"inconclusive"}
    assert "no sample has 9 tokens or fewer" in report.evidence[1].detail
    without = audited("both", "both", data_options={"samples": 12}, captures=0)
    assert [check.check for check in without.evidence] == ["independent samples"]


def test_multiplications_saved_are_noted(audited: Audited) -> None:
    """6 video, 3 text and 1 other token: 10 keys become 5 with the video's as one.

    A layer of 10 queries: 2 x 10 x 64 for queries and outputs, 2 x keys x 64 for keys and values,
    2 x 10 x keys x 8 for scores and mixing, 10 x 64 in the MLP.
    """
    report = audited("both", "both", data_options={"samples": 12})
    whole, less = (1280 + 128 * keys + 160 * keys + 640 for keys in (10, 5))
    words = f"video {1 - less / whole:.1%}, "
    assert report.notes["multiplications saved"].startswith(words)
    assert "(6 video and 3 text tokens)" in report.notes["multiplications saved"]
    [table] = [
        table
        for table in report.tables
        if table.title.startswith("Multiplications saved")
    ]
    by_condition = {row["condition"]: row for row in table.rows}
    # 10 tokens, 5 of them fewer keys; dim and heads of 8: (q + 2 k) of 8 x 8, and 2 q k of 8
    plain, fewer = 10 * 64 + 20 * 64 + 1600, 10 * 64 + 10 * 64 + 800
    expected = 100 * (1 - fewer / plain)
    assert by_condition["merged video"]["attention alone"] == pytest.approx(expected)
    assert not table.paper  # its figures are of its own benchmarks
