"""Each explainer against an independent computation on the same stock model."""

from collections.abc import Callable
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, linear, normalize

from cuescope_saliency import EXPLAINERS, Settings, explain
from cuescope_saliency.explainers.tracing import (
    AttentionCall,
    Case,
    Texts,
    attend,
    differentiate,
    heads_gradient,
    heads_of,
    join,
    similarity,
    weights_gradient,
    with_answers,
)
from cuescope_sdk import Frame, UserError
from cuescope_sdk.torch import Block, ImageTower, Masked

TEXT = "a bird"
GRID = (4, 4)
STOCK = Settings(form="stock")
HEADS = 2


def text_of(model: Any) -> Tensor:
    return torch.tensor(model.embed_choices((TEXT,))[0])


def visual_of(model: Any) -> Any:
    """open_clip's own image tower on the same files."""
    return open_clip.create_model(
        f"local-dir:{model.options.model}", load_weights=True
    ).visual.eval()


def blocks_of(model: Any) -> list[Any]:
    return list(visual_of(model).transformer.resblocks)


def embedded(model: Any, frame: Frame) -> Tensor:
    """Tokens that enter the first block, (1, token, dim)."""
    visual = visual_of(model)
    return visual._embeds(model.image_tower.prepare([frame.load()])["image"])  # type: ignore[no-any-return]


def explicit_block(
    block: Any, tokens: Tensor, weights: Callable[[Tensor], Tensor] = lambda own: own
) -> tuple[Tensor, Tensor, Tensor]:
    """A pre-norm block with softmax attention written out: tokens, attention, heads' answers."""
    attention = block.attn
    normed = block.ln_1(tokens)
    parts = linear(normed, attention.in_proj_weight, attention.in_proj_bias).chunk(
        3, dim=-1
    )
    q, k, v = (part[0].unflatten(-1, (HEADS, -1)).transpose(0, 1) for part in parts)
    attended = weights((q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).softmax(dim=-1))
    answers = attended @ v
    joined = answers.transpose(0, 1).flatten(1)[None]
    tokens = tokens + linear(joined, attention.out_proj.weight, attention.out_proj.bias)
    return tokens + block.mlp(block.ln_2(tokens)), attended, answers


def tail(model: Any, tokens: Tensor) -> Tensor:
    """Similarity from the last block's tokens."""
    visual = visual_of(model)
    return cosine_similarity(
        visual.ln_post(tokens[:, 0]) @ visual.proj, text_of(model)[None]
    )[0]


def native_attention(model: Any, frame: Frame) -> list[Tensor]:
    """Mean attention of each block, as nn.MultiheadAttention itself gives it."""
    tokens, maps = embedded(model, frame), []
    for block in blocks_of(model):
        normed = block.ln_1(tokens)
        maps.append(
            block.attn(normed, normed, normed, need_weights=True)[1][0].detach()
        )
        tokens = block(tokens)
    return maps


def test_raw_attention_is_the_library_s(model: Any, frame: Frame) -> None:
    expected = native_attention(model, frame)[-1][0, 1:].reshape(GRID)
    np.testing.assert_allclose(
        explain(model, frame, TEXT, "raw-attention"), expected, atol=1e-6
    )


def test_rollout_by_hand(model: Any, frame: Frame) -> None:
    flow = np.eye(17)
    for mean in native_attention(model, frame):
        residual = mean.numpy() + np.eye(17)
        flow = residual / residual.sum(axis=1, keepdims=True) @ flow
    expected = flow[0, 1:].reshape(GRID)
    np.testing.assert_allclose(
        explain(model, frame, TEXT, "rollout"), expected, atol=1e-6
    )


def test_gradient_of_attention_weights_by_autograd(model: Any, frame: Frame) -> None:
    tokens = embedded(model, frame).detach()
    *before, final = blocks_of(model)
    for block in before:
        tokens = block(tokens)
    with torch.enable_grad():
        leaf: list[Tensor] = []

        def keep(weights: Tensor) -> Tensor:
            leaf.append(weights.detach().requires_grad_())
            return leaf[0]

        out, _, answers = explicit_block(final, tokens, keep)
        score = tail(model, out)
        by_weights, by_answers = torch.autograd.grad(score, [leaf[0], answers])

    tower, inputs = model.image_tower, model.image_tower.prepare([frame.load()])
    text = text_of(model)
    case = Case(tower, inputs, Texts(text, text[None]), Settings())
    similar, (call,) = differentiate(case, case.last_blocks(1))
    (gradient,) = torch.autograd.grad(similar, call.output)
    heads = heads_of(call.block, call.input.detach(), 17)
    ours = heads_gradient(call.block, gradient, heads)
    torch.testing.assert_close(similar, score, atol=1e-6, rtol=0)
    torch.testing.assert_close(ours, by_answers, atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(
        weights_gradient(ours, heads), by_weights, atol=1e-6, rtol=1e-4
    )


def test_a_norm_before_the_projection_is_gone_through() -> None:
    """EVA-02 norms its heads side by side; gradients and other answers go through that norm."""
    torch.manual_seed(0)
    norm, project = torch.nn.LayerNorm(8), torch.nn.Linear(8, 8)
    torch.nn.init.normal_(norm.weight)
    parts = [torch.randn(HEADS, 5, 4) for _ in range(3)]
    heads = attend(*parts)
    masked = Masked(project, "mask", 1, lambda visible: visible)
    block = Block(masked, project, lambda tokens: (), lambda: project.weight, norm)
    with torch.enable_grad():
        answers = (heads.weights @ heads.values).requires_grad_()
        output = project(norm(join(answers)))[None]
        change = torch.randn_like(output)
        (expected,) = torch.autograd.grad(output, answers, change)
    ours = heads_gradient(block, change, heads)
    torch.testing.assert_close(ours, expected, atol=1e-6, rtol=1e-5)
    call = AttentionCall(block, output=output.detach())
    with torch.no_grad():
        other = with_answers(call, heads, heads.values)
        by_hand = project(norm(join(heads.values)))[None]
    torch.testing.assert_close(other, by_hand, atol=1e-6, rtol=1e-5)


def test_game_by_autograd_through_explicit_attention(model: Any, frame: Frame) -> None:
    with torch.enable_grad():
        tokens, weights = embedded(model, frame).detach().requires_grad_(), []
        for block in blocks_of(model):
            tokens, attended, _ = explicit_block(block, tokens)
            weights.append(attended)
        gradients = torch.autograd.grad(tail(model, tokens), weights)
    relevance = torch.eye(17)
    for attended, gradient in zip(weights, gradients, strict=True):
        relevance = (
            relevance + (attended * gradient).clamp(min=0).mean(dim=0) @ relevance
        )
    expected = relevance[0, 1:].reshape(GRID).detach().numpy()
    np.testing.assert_allclose(
        explain(model, frame, TEXT, "game", STOCK), expected, atol=1e-6
    )
    assert np.ptp(expected) > 1e-4
    last = (
        (weights[-1] * gradients[-1])
        .clamp(min=0)
        .mean(dim=0)[0, 1:]
        .reshape(GRID)
        .detach()
    )
    np.testing.assert_allclose(explain(model, frame, TEXT, "game"), last, atol=1e-6)


def test_grad_cam_by_autograd(model: Any, frame: Frame) -> None:
    tokens = embedded(model, frame).detach()
    *before, final = blocks_of(model)
    for block in before:
        tokens = block(tokens)
    with torch.enable_grad():
        normed = final.ln_1(tokens).detach().requires_grad_()
        attended = final.attn(normed, normed, normed, need_weights=True)[0]
        middle = tokens + attended
        score = tail(model, middle + final.mlp(final.ln_2(middle)))
        (gradient,) = torch.autograd.grad(score, normed)
    weights = gradient[0, 1:].mean(dim=0)
    expected = (normed[0, 1:] * weights).sum(dim=1).clamp(min=0).reshape(GRID).detach()
    np.testing.assert_allclose(
        explain(model, frame, TEXT, "grad-cam"), expected, atol=1e-5
    )
    assert expected.max() > 0


@pytest.mark.parametrize("explainer", ["grad-eclip", "grad-eclip-no-lambda"])
def test_grad_eclip_by_its_formula(model: Any, frame: Frame, explainer: Any) -> None:
    tokens = embedded(model, frame).detach()
    *before, final = blocks_of(model)
    for block in before:
        tokens = block(tokens)
    normed, attention = final.ln_1(tokens)[0], final.attn
    q, k, v = linear(normed, attention.in_proj_weight, attention.in_proj_bias).chunk(
        3, dim=-1
    )
    with torch.enable_grad():
        out, _, answers = explicit_block(final, tokens.requires_grad_())
        (gradient,) = torch.autograd.grad(tail(model, out), answers)
    channels = gradient[:, 0].flatten()
    cosine = normalize(q[:1], dim=1) @ normalize(k[1:], dim=1).T
    loosened = (cosine - cosine.min()) / (cosine.max() - cosine.min())
    expected = (v[1:] @ channels).detach()
    if explainer == "grad-eclip":
        expected = expected * loosened[0].detach()
    expected = expected.clamp(min=0).reshape(GRID)
    np.testing.assert_allclose(
        explain(model, frame, TEXT, explainer, STOCK), expected, atol=1e-6
    )
    assert expected.max() > 0


@pytest.mark.parametrize("explainer", ["grad-eclip", "grad-eclip-no-lambda"])
def test_grad_eclip_as_published(model: Any, frame: Frame, explainer: Any) -> None:
    """One head as wide as the model; queries and keys behind the output projection."""
    tokens = embedded(model, frame).detach()
    *before, final = blocks_of(model)
    for block in before:
        tokens = block(tokens)
    normed, attention = final.ln_1(tokens)[0], final.attn
    q, k, v = linear(normed, attention.in_proj_weight, attention.in_proj_bias).chunk(
        3, dim=-1
    )
    projection = attention.out_proj
    with torch.enable_grad():
        answer = (
            ((q @ k.T / q.shape[1] ** 0.5).softmax(dim=-1) @ v)
            .detach()
            .requires_grad_()
        )
        out = tokens + projection(answer)[None]
        (gradient,) = torch.autograd.grad(
            tail(model, out + final.mlp(final.ln_2(out))), answer
        )
    cosine = normalize(projection(q[:1]), dim=1) @ normalize(projection(k[1:]), dim=1).T
    loosened = (cosine - cosine.min()) / (cosine.max() - cosine.min())
    expected = v[1:] @ gradient[0] * (loosened[0] if explainer == "grad-eclip" else 1)
    expected = expected.detach().clamp(min=0).reshape(GRID)
    np.testing.assert_allclose(
        explain(model, frame, TEXT, explainer), expected, atol=1e-6
    )
    assert expected.max() > 0


def test_maskclip_by_hand(model: Any, frame: Frame) -> None:
    visual, tokens = visual_of(model), embedded(model, frame)
    *before, final = blocks_of(model)
    for block in before:
        tokens = block(tokens)
    _, _, values = linear(
        final.ln_1(tokens), final.attn.in_proj_weight, final.attn.in_proj_bias
    ).chunk(3, dim=-1)
    tokens = tokens + final.attn.out_proj(values)
    tokens = tokens + final.mlp(final.ln_2(tokens))
    dense = visual.ln_post(tokens[0, 1:]) @ visual.proj
    expected = cosine_similarity(dense, text_of(model)[None]).reshape(GRID).detach()
    np.testing.assert_allclose(
        explain(model, frame, TEXT, "maskclip"), expected, atol=1e-5
    )


def test_clip_surgery_by_hand(model: Any, frame: Frame) -> None:
    visual, tokens = visual_of(model), embedded(model, frame)
    first, *after = blocks_of(model)
    tokens = first(tokens)
    path = tokens
    for block in after:
        attention = block.attn
        _, _, values = linear(
            block.ln_1(tokens), attention.in_proj_weight, attention.in_proj_bias
        ).chunk(3, dim=-1)
        v = values[0].unflatten(-1, (HEADS, -1)).transpose(0, 1)
        alike = (v @ v.transpose(1, 2) / v.shape[-1] ** 0.5).softmax(dim=-1)
        path = path + attention.out_proj((alike @ v).transpose(0, 1).flatten(1))
        tokens = block(tokens)
    dense = visual.ln_post(path[0, 1:]) @ visual.proj
    dense = normalize(dense, dim=1).detach()

    def explained(form: Any, choices: tuple[str, ...] = ()) -> np.ndarray:
        return explain(
            model, frame, TEXT, "clip-surgery", Settings(layers=2, form=form), choices
        )

    own, empty = (torch.tensor(model.embed_choices((text,))[0]) for text in (TEXT, ""))
    np.testing.assert_allclose(
        explained("stock"), (dense @ own).reshape(GRID), atol=1e-5
    )
    lone = (dense @ (own - empty)).reshape(GRID)
    np.testing.assert_allclose(explained("published"), lone, atol=1e-5)
    # among choices: the mean over them of the weighted products is taken off
    choices = ("a boat", TEXT, "a car")
    rows = torch.tensor(model.embed_choices(choices))
    whole = normalize(visual.ln_post(tokens[0, :1]) @ visual.proj, dim=1).detach()
    share = (2 * whole @ rows.T).softmax(dim=1)[0]
    products = dense[:, None] * rows * (3 * share)[:, None]
    expected = (
        (products - products.mean(dim=1, keepdim=True)).sum(dim=2)[:, 1].reshape(GRID)
    )
    np.testing.assert_allclose(explained("published", choices), expected, atol=1e-5)


def test_rise_by_brute_force(
    model: Any, frame: Frame, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuescope_saliency.explainers import chance

    tower, settings = model.image_tower, Settings(rise_masks=5, seed=4)
    image = tower.prepare([frame.load()])["image"]
    masks = torch.cat(list(chance._masks(settings, 32, 32)))
    assert masks.shape == (5, 32, 32)
    assert masks.min() == 0
    assert masks.max() == 1
    scores = [
        similarity(tower.encode({"image": image * m}), text_of(model)).item()
        for m in masks
    ]
    expected = sum(s * m for s, m in zip(scores, masks, strict=True)) / masks.sum(dim=0)
    monkeypatch.setattr(chance, "CHUNK", 2)  # the last chunk is smaller
    # a lone text has no probability
    ours = explain(model, frame, TEXT, "rise", settings)
    shown = masks.sum(dim=0) > 0
    np.testing.assert_allclose(ours[shown], expected[shown], atol=1e-5)
    np.testing.assert_array_equal(ours[~shown], 0)
    choices = ("a boat", TEXT, "a car")
    logits = [
        model.logits(tower.encode({"image": image * m}).numpy(), choices) for m in masks
    ]
    chances = torch.tensor(np.array(logits)).softmax(dim=1)[:, 1]
    among = (chances[:, None, None] * masks).sum(dim=0) / (5 * 0.5)
    ours = explain(model, frame, TEXT, "rise", settings, choices)
    np.testing.assert_allclose(ours, among, atol=1e-4)


def test_rise_masks_keep_the_share_they_should() -> None:
    from cuescope_saliency.explainers.chance import _masks

    masks = torch.cat(list(_masks(Settings(rise_masks=600), 21, 30)))
    assert masks.shape == (600, 21, 30)
    np.testing.assert_allclose(masks.mean(dim=0), 0.5, atol=0.09)


def test_m2ib_information_is_the_divergence_of_two_normals() -> None:
    from cuescope_saliency.explainers.bottleneck import information

    tokens, alpha = torch.tensor([[0.3, -2.0, 1.0]]), torch.tensor([[0.0, 2.0, -3.0]])
    share = alpha.sigmoid()
    passing = torch.distributions.Normal(share * tokens, (1 - share) * 2.0**0.5)
    noise = torch.distributions.Normal(torch.zeros(1, 3), torch.full((1, 3), 2.0**0.5))
    expected = torch.distributions.kl_divergence(passing, noise)
    torch.testing.assert_close(information(tokens, alpha, 2.0), expected)


def test_m2ib_lets_nothing_pass_when_only_that_counts(model: Any, frame: Frame) -> None:
    open_wide = explain(model, frame, TEXT, "m2ib", Settings(m2ib_beta=0.0))
    shut = explain(model, frame, TEXT, "m2ib", Settings(m2ib_beta=1e4))
    assert shut.max() < 0.1 * open_wide.min()


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_repeats_whatever_the_caller_s_mode(
    model: Any, frame: Frame, explainer: Any
) -> None:
    settings = Settings(rise_masks=40, seed=3)
    once = explain(model, frame, TEXT, explainer, settings)
    torch.rand(3)  # the global generator has no part
    with torch.inference_mode():
        again = explain(model, frame, TEXT, explainer, settings)
    np.testing.assert_array_equal(once, again)
    assert once.dtype == np.float32
    assert once.shape == ((32, 32) if explainer == "rise" else GRID)
    assert np.isfinite(once).all()
    assert np.ptp(once) > 0
    tower: ImageTower = model.image_tower
    modules = [m for b in tower.blocks for m in b.module.modules()]
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in modules)
    assert not any(
        p.requires_grad or p.grad is not None for m in modules for p in m.parameters()
    )


def test_draws_follow_seed_and_image(model: Any, frame: Frame) -> None:
    other = Frame.from_array(np.full((32, 32, 3), 7, dtype=np.uint8))
    for explainer in ("random", "m2ib"):
        first, seeded, imaged = (
            explain(model, image, TEXT, explainer, Settings(seed=seed))  # type: ignore[arg-type]
            for image, seed in ((frame, 1), (frame, 2), (other, 1))
        )
        assert not np.array_equal(first, seeded)
        assert not np.array_equal(first, imaged)


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_takes_average_pooling(build: Any, frame: Frame, explainer: Any) -> None:
    pooled = build(pool_type="avg")
    importance = explain(pooled, frame, TEXT, explainer, Settings(rise_masks=40))
    assert np.ptp(importance) > 0


def test_average_pooling_sums_over_all_that_answer(build: Any, frame: Frame) -> None:
    """In its last block the mean of the patches is what each of them answers."""
    pooled = build(pool_type="avg")
    expected = native_attention(pooled, frame)[-1][1:, 1:].mean(dim=0).reshape(GRID)
    np.testing.assert_allclose(
        explain(pooled, frame, TEXT, "raw-attention"), expected, atol=1e-6
    )


def test_takes_attention_pooling_or_says_who_does(build: Any, frame: Frame) -> None:
    pooled = build(attentional_pool=True, attn_pooler_queries=1, attn_pooler_heads=2)
    for explainer in EXPLAINERS:
        if explainer in ("raw-attention", "rollout", "game"):
            with pytest.raises(UserError, match=r"attention pooling.*Take grad-cam"):
                explain(pooled, frame, TEXT, explainer)
        else:
            importance = explain(
                pooled, frame, TEXT, explainer, Settings(rise_masks=40)
            )
            assert np.ptp(importance) > 0


def test_refuses_what_it_cannot_look_into(model: Any, frame: Frame) -> None:
    with pytest.raises(UserError, match="image tower"):
        explain(object(), frame, TEXT)
    with pytest.raises(UserError, match="Did you mean 'grad-eclip'"):
        explain(model, frame, TEXT, "grad-clip")  # type: ignore[arg-type]
