"""QUAG's edits of attention against the paper's definition, written out."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from cuescope_sdk import UserError
from cuescope_sdk.fusion import (
    MODALITIES,
    OTHER,
    TEXT,
    VIDEO,
    AverageAttention,
    AverageTokens,
    FusionShape,
)
from cuescope_sdk.torch import Fusion, fused_attention, fused_self_attention
from cuescope_sdk.torch._fusion import attention

HEADS, DIM = 4, 8
QUADRANTS = ("VV", "VT", "TV", "TT")
LETTER = {OTHER: "O", VIDEO: "V", TEXT: "T"}
Masked = tuple[Tensor | None, bool, Tensor, Tensor]


def masks(kind: str, batch: int, tokens: int, draw: torch.Generator) -> Masked:
    """What is given as mask and causal, and what it means: seen (batch, 1, query, key), bias."""
    seen = torch.ones(batch, 1, tokens, tokens, dtype=torch.bool)
    bias = torch.zeros(batch, 1, tokens, tokens)
    first = torch.arange(tokens) < 1
    if kind == "causal":
        return None, True, seen.tril(), bias
    if kind == "padded":
        keep = (torch.rand(batch, 1, 1, tokens, generator=draw) < 0.7) | first
        return keep, False, seen & keep, bias
    if kind == "causal and padded":
        keep = (
            (torch.rand(batch, 1, 1, tokens, generator=draw) < 0.7) | first
        ) & seen.tril()
        return keep, False, keep, bias
    if kind == "additive":
        bias = torch.randn(batch, 1, tokens, tokens, generator=draw)
        hidden = (torch.rand(batch, 1, tokens, tokens, generator=draw) < 0.2) & ~first
        return bias.masked_fill(hidden, -torch.inf), False, ~hidden, bias
    return None, False, seen, bias


KINDS = ("open", "causal", "padded", "causal and padded", "additive")


@pytest.fixture
def draw() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def states(
    draw: torch.Generator,
    batch: int,
    tokens: int,
    kv_heads: int = HEADS,
    wide: int = DIM,
) -> tuple[Tensor, Tensor, Tensor]:
    def of(heads: int, dim: int) -> Tensor:
        return torch.randn(batch, heads, tokens, dim, generator=draw)

    return of(HEADS, DIM), of(kv_heads, DIM), of(kv_heads, wide)


def by_hand(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    seen: Tensor,
    bias: Tensor,
    modality: Tensor,
    quadrants: frozenset[str],
) -> Tensor:
    """Section 2.2, one row at a time."""
    group = query.shape[1] // key.shape[1]
    out = torch.zeros(*query.shape[:3], value.shape[-1])
    for sample in range(query.shape[0]):
        for head in range(query.shape[1]):
            for row in range(query.shape[2]):
                cols = [c for c in range(key.shape[2]) if seen[sample, 0, row, c]]
                scores = (
                    key[sample, head // group, cols]
                    @ query[sample, head, row]
                    * DIM**-0.5
                )
                weights = (scores + bias[sample, 0, row, cols]).softmax(0)
                of = {col: LETTER[int(modality[sample, col])] for col in cols}
                for quadrant in quadrants:
                    if LETTER[int(modality[sample, row])] != quadrant[0]:
                        continue
                    here = [
                        place
                        for place, col in enumerate(cols)
                        if of[col] == quadrant[1]
                    ]
                    if here:
                        weights[here] = weights[here].mean()
                out[sample, head, row] = weights @ value[sample, head // group, cols]
    return out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "layout", ["video first", "text first", "interleaved", "each its own"]
)
@pytest.mark.parametrize(
    "quadrants",
    [
        pytest.param(("VV", "TT"), marks=pytest.mark.long),
        ("VT", "TV"),
        ("VV", "TV"),
        pytest.param(("TT",), marks=pytest.mark.long),
        (),
    ],
)
def test_an_edit_is_the_papers_average(
    kind: str, layout: str, quadrants: tuple[str, ...], draw: torch.Generator
) -> None:
    batch, tokens = 2, 11
    modality = {
        "video first": torch.tensor([[0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 0]] * batch),
        "text first": torch.tensor([[0, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0]] * batch),
        "interleaved": torch.tensor([[2, 1, 1, 0, 2, 1, 1, 2, 2, 1, 2]] * batch),
        "each its own": torch.randint(0, 3, (batch, tokens), generator=draw),
    }[layout].to(torch.int8)
    query, key, value = states(draw, batch, tokens, kv_heads=2, wide=DIM + 3)
    mask, causal, seen, bias = masks(kind, batch, tokens, draw)
    edit = AverageAttention(quadrants=frozenset(quadrants))
    expected = by_hand(query, key, value, seen, bias, modality, edit.quadrants)
    with Fusion(modality, edit).use():
        mixed = fused_attention(query, key, value, layer=0, mask=mask, causal=causal)
    with Fusion(modality, edit, watch=lambda *_: None).use():
        matrix = fused_attention(query, key, value, layer=0, mask=mask, causal=causal)
    torch.testing.assert_close(mixed, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(matrix, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_matrix_is_made_some_rows_at_a_time(
    kind: str, draw: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = 70
    query, key, value = states(draw, 2, tokens)
    modality = torch.randint(0, 3, (2, tokens), generator=draw).to(torch.int8)
    mask, causal, _, _ = masks(kind, 2, tokens, draw)
    for edit in (
        AverageAttention(quadrants=frozenset(("VV", "TT", "TV"))),
        AverageTokens(modalities=frozenset(("video", "text"))),
    ):
        mixed = []
        for watch in (None, lambda *_: None):
            for most in (2**25, 9 * 2 * HEADS * tokens):
                monkeypatch.setattr(attention, "NUMBERS", most)
                with Fusion(modality, edit, watch=watch).use():
                    mixed.append(
                        fused_attention(
                            query, key, value, layer=0, mask=mask, causal=causal
                        )
                    )
        for other in mixed[1:]:
            torch.testing.assert_close(other, mixed[0], atol=1e-5, rtol=0)


def test_padding_alone_gets_nothing(draw: torch.Generator) -> None:
    query, key, value = states(draw, 2, 6)
    keep = torch.tensor([[True] * 6, [False] * 6])
    modality = torch.tensor([[1, 1, 1, 2, 2, 2], [0] * 6], dtype=torch.int8)
    for edit in (
        AverageAttention(quadrants=frozenset(("VT", "TV"))),
        AverageTokens(modalities=frozenset(("video",))),
    ):
        with Fusion(modality, edit).use():
            mixed = fused_attention(
                query, key, value, layer=0, mask=keep[:, None, None]
            )
        assert not mixed[1].any()
        assert mixed.isfinite().all()


@pytest.mark.parametrize("kind", KINDS)
def test_double_precision_as_the_default(kind: str, draw: torch.Generator) -> None:
    """Of states in float32 and in float64, under torch's default of float64."""
    modality = torch.tensor([[0, 1, 1, 1, 2, 2, 2, 2, 0]] * 2, dtype=torch.int8)
    query, key, value = states(draw, 2, 9)
    mask, causal, _, _ = masks(kind, 2, 9, draw)
    wide = [tensor.double() for tensor in (query, key, value)]
    wide_mask = mask.double() if mask is not None and mask.is_floating_point() else mask
    edits = (
        AverageAttention(quadrants=frozenset(("VT", "TV"))),
        AverageTokens(modalities=frozenset(("video",))),
    )
    for edit in edits:
        with Fusion(modality, edit).use():
            expected = fused_attention(
                query, key, value, layer=0, mask=mask, causal=causal
            )
            torch.set_default_dtype(torch.float64)
            try:
                single = fused_attention(
                    query, key, value, layer=0, mask=mask, causal=causal
                )
                double = fused_attention(*wide, layer=0, mask=wide_mask, causal=causal)
            finally:
                torch.set_default_dtype(torch.float32)
        assert (single.dtype, double.dtype) == (torch.float32, torch.float64)
        torch.testing.assert_close(single, expected)
        torch.testing.assert_close(double.float(), expected, atol=1e-6, rtol=0)


def test_a_step_of_generation_is_the_last_row(draw: torch.Generator) -> None:
    """A cached key is what it was; tokens after the known ones are text."""
    query, key, value = states(draw, 2, 9)
    prompt = torch.tensor([[0, 1, 1, 1, 2, 2]] * 2, dtype=torch.int8)
    whole = torch.cat([prompt, torch.full((2, 3), TEXT, dtype=torch.int8)], dim=1)
    edit = AverageAttention(quadrants=frozenset(("TV", "TT")))
    with Fusion(whole, edit).use():
        at_once = fused_attention(query, key, value, layer=0, causal=True)
    with Fusion(prompt, edit).use():
        step = fused_attention(query[:, :, -1:], key, value, layer=0, causal=True)
        two = fused_attention(query[:, :, -2:], key, value, layer=0, causal=True)
    torch.testing.assert_close(step, at_once[:, :, -1:], atol=1e-5, rtol=0)
    torch.testing.assert_close(two, at_once[:, :, -2:], atol=1e-5, rtol=0)


def test_cross_attention_has_keys_of_its_own(draw: torch.Generator) -> None:
    query, key, value = states(draw, 1, 6)
    modality = torch.tensor([[0, 2, 2, 2, 2, 2]], dtype=torch.int8)
    cross = torch.full((1, 6), VIDEO, dtype=torch.int8)
    edit = AverageAttention(quadrants=frozenset(("TV",)))
    plain = fused_attention(query, key, value, layer=0, cross=True)
    with Fusion(modality, edit, cross).use():
        edited = fused_attention(query, key, value, layer=0, cross=True)
        own = fused_attention(query, key, value, layer=0)
    torch.testing.assert_close(
        edited[:, :, 1:], value.mean(2, keepdim=True).expand(-1, -1, 5, -1)
    )
    torch.testing.assert_close(edited[:, :, :1], plain[:, :, :1])
    torch.testing.assert_close(own, plain)


def test_only_the_layers_of_the_edit_change(draw: torch.Generator) -> None:
    query, key, value = states(draw, 1, 6)
    modality = torch.tensor([[1, 1, 1, 2, 2, 2]], dtype=torch.int8)
    edit = AverageAttention(quadrants=frozenset(("VV",)), layers=(1,))
    plain = fused_attention(query, key, value, layer=0)
    with Fusion(modality, edit).use():
        torch.testing.assert_close(fused_attention(query, key, value, layer=0), plain)
        assert (fused_attention(query, key, value, layer=1) - plain).abs().max() > 0.01


def test_who_watches_sees_the_averaged_weights(draw: torch.Generator) -> None:
    query, key, value = states(draw, 1, 5)
    modality = torch.tensor([[1, 1, 1, 2, 2]], dtype=torch.int8)
    seen: list[tuple[int, Tensor]] = []
    edit = AverageAttention(quadrants=frozenset(("VV", "TV")))
    fusion = Fusion(
        modality, edit, watch=lambda layer, weights: seen.append((layer, weights))
    )
    with fusion.use():
        out = fused_attention(query, key, value, layer=3)
    [(layer, weights)] = seen
    assert layer == 3
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, HEADS, 5))
    torch.testing.assert_close(weights[..., :3], weights[..., :1].expand(-1, -1, -1, 3))
    torch.testing.assert_close(weights @ value, out)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("modalities", [("video",), ("text",), ("video", "text")])
@pytest.mark.parametrize("size_term", ["add", "multiply"])
def test_quag_attention_averages_tokens_before_their_projection(
    kind: str, modalities: tuple[str, ...], size_term: str, draw: torch.Generator
) -> None:
    batch, tokens, width = 2, 9, 16
    hidden = torch.randn(batch, tokens, width, generator=draw)
    modality = torch.randint(0, 3, (batch, tokens), generator=draw).to(torch.int8)
    mask, causal, seen, bias = masks(kind, batch, tokens, draw)
    edit = AverageTokens.model_validate(
        {"modalities": modalities, "size_term": size_term}
    )
    weights = [torch.randn(HEADS * DIM, width, generator=draw) * 0.3 for _ in range(3)]
    project = [_linear(weight) for weight in weights]
    query, key, value = (_heads(of(hidden)) for of in project)
    with Fusion(modality, edit).use():
        stock = fused_attention(query, key, value, layer=0, mask=mask, causal=causal)
        own = None
        if kind in ("open", "padded"):
            keep = None if mask is None else mask[:, 0, 0]
            own = fused_self_attention(
                hidden, *project, heads=HEADS, layer=0, mask=keep
            )
    averaged = [MODALITIES[name] for name in modalities]
    for sample in range(batch):
        kinds = modality[sample].tolist()
        groups = [[token] for token in range(tokens) if kinds[token] not in averaged]
        groups += [
            [t for t in range(tokens) if kinds[t] == which] for which in averaged
        ]
        for row in range(tokens):
            groups_seen = [
                [t for t in group if seen[sample, 0, row, t]] for group in groups
            ]
            shown = [group for group in groups_seen if group]
            tokens_shown = torch.stack(
                [hidden[sample, group].mean(0) for group in shown]
            )[None]
            keys, values = (_heads(of(tokens_shown))[0] for of in project[1:])
            logits = (keys @ query[sample, :, row, :, None])[..., 0] * DIM**-0.5
            logits += torch.stack(
                [bias[sample, 0, row, group].mean() for group in shown]
            )
            size = torch.tensor([float(len(group)) for group in shown]).log()
            if size_term == "add":
                logits += size
            else:
                average = torch.tensor([kinds[group[0]] in averaged for group in shown])
                logits = torch.where(average, logits * size, logits)
            expected = (logits.softmax(-1)[:, None] @ values)[:, 0]
            torch.testing.assert_close(
                stock[sample, :, row], expected, atol=1e-5, rtol=0
            )
            if own is not None:
                mixed = _heads(own)[sample, :, row]
                torch.testing.assert_close(mixed, expected, atol=1e-5, rtol=0)


def _linear(weight: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda hidden: nn.functional.linear(hidden, weight)


def _heads(projected: Tensor) -> Tensor:
    return projected.view(*projected.shape[:2], HEADS, -1).transpose(1, 2)


def test_a_layer_that_is_not_there_is_told() -> None:
    sizes = {"heads": 1, "kv_heads": 1, "head_dim": 1, "dim": 1}
    shape = FusionShape(layers=4, mlp_multiplications=0, **sizes)
    shape.require_layers("toy", (1, 3))
    with pytest.raises(UserError, match=r"toy has no fusion layer 9.*layers 0 to 3"):
        shape.require_layers("toy", (1, 9))


@pytest.mark.parametrize("modalities", [("video",), ("video", "text")])
@pytest.mark.parametrize("kind", ["open", "causal", "padded"])
def test_half_precision_stays_half(
    kind: str, modalities: tuple[str, ...], draw: torch.Generator
) -> None:
    """In bfloat16 the answers are those of float32, to its precision."""
    hidden = torch.randn(2, 9, 16, generator=draw)
    modality = torch.randint(0, 3, (2, 9), generator=draw).to(torch.int8)
    mask, causal, _, _ = masks(kind, 2, 9, draw)
    weights = [torch.randn(HEADS * DIM, 16, generator=draw) * 0.3 for _ in range(3)]
    edits = (
        AverageTokens.model_validate({"modalities": modalities}),
        AverageAttention(quadrants=frozenset(("VT", "TV", "TT"))),
    )
    for edit in edits:
        found = []
        for dtype in (torch.float32, torch.bfloat16):
            project = [_linear(weight.to(dtype)) for weight in weights]
            states = hidden.to(dtype)
            query, key, value = (_heads(of(states)) for of in project)
            with Fusion(modality, edit).use():
                out = [
                    fused_attention(
                        query, key, value, layer=0, mask=mask, causal=causal
                    )
                ]
                if kind != "causal":
                    keep = None if mask is None else mask[:, 0, 0]
                    own = fused_self_attention(
                        states, *project, heads=HEADS, layer=0, mask=keep
                    )
                    out.append(_heads(own))
            assert all(one.dtype == dtype for one in out)
            found.append([one.float() for one in out])
        for whole, half in zip(*found, strict=True):
            torch.testing.assert_close(half, whole, atol=0.05, rtol=0.05)
