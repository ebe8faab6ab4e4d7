"""Explainers that compare each patch with the text: MaskCLIP and CLIP Surgery."""

from contextlib import ExitStack

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from cuescope_saliency.explainers.tracing import (
    AttentionCall,
    Texts,
    count_tokens,
    heads_of,
    last_blocks,
    patch_embeddings,
    record,
    with_answers,
)
from cuescope_saliency.options import Settings
from cuescope_sdk.torch import ImageTower, Inputs, hook_input, hook_output

SURGERY_BLOCKS = 6


def maskclip(tower: ImageTower, inputs: Inputs, texts: Texts, settings: Settings) -> Tensor:
    """MaskCLIP (Zhou et al., 2022): the last attention gives each token its own value.

    The rest of the last block, the last norm and the projection are the model's own.
    """
    call = AttentionCall(tower.blocks[-1])
    tokens = count_tokens(tower, inputs)

    def answer_by_value(output: Tensor) -> Tensor:
        heads = heads_of(call.block, call.input, tokens)
        return with_answers(call, heads, heads.values)

    with ExitStack() as hooks:
        # Hooks run in the order of their entry: `record` must see the output before it is replaced.
        record(hooks, call)
        hooks.enter_context(hook_output(call.block.attention, answer_by_value))
        embeddings = patch_embeddings(tower, inputs, lambda output: output)
    return (embeddings @ texts.row).reshape(tower.grid(inputs))


def clip_surgery(tower: ImageTower, inputs: Inputs, texts: Texts, settings: Settings) -> Tensor:
    """CLIP Surgery (Li et al., 2023): a second path of value-value attention, without MLPs.

    It leaves the model's own path `layers` blocks before the end, and adds up softmax(v v^T) v of
    what that path gives each attention. The original changes the model; ours reads its stock
    forward pass. What the text shares with all choices is taken off, unless `form` is "stock".
    """
    layers = last_blocks(tower, settings.layers or SURGERY_BLOCKS)
    calls = [AttentionCall(tower.blocks[layer]) for layer in layers]
    tokens = count_tokens(tower, inputs)
    start: list[Tensor] = []

    def second_path(output: Tensor) -> Tensor:
        path = start[0]
        for call in calls:
            heads = heads_of(call.block, call.input, tokens)
            values = heads.values
            scale = values.shape[-1] ** -0.5  # recorded queries have it already, values do not
            # Values in the place of queries and keys: tokens attend to those of their own kind.
            alike = (values @ values.transpose(1, 2) * scale).softmax(dim=-1)
            path = path + with_answers(call, heads, alike @ values)
        return path

    with ExitStack() as hooks:
        hooks.enter_context(hook_input(calls[0].block.module, start.append))
        for call in calls:
            record(hooks, call)
        embeddings = patch_embeddings(tower, inputs, second_path)
    if settings.form == "stock":
        return (embeddings @ texts.row).reshape(tower.grid(inputs))
    whole = normalize(tower.encode(inputs).float(), dim=-1)[0]
    scores = without_common_part(embeddings, whole, texts)
    return scores.reshape(tower.grid(inputs))


def without_common_part(
    embeddings: Float[Tensor, "patch dim"], whole: Float[Tensor, " dim"], texts: Texts
) -> Float[Tensor, " patch"]:
    """Similarity of the patches to a text, less what they share with all the choices.

    The products of features with each choice are weighted by how much the whole image is like it
    (softmax of twice the cosine, over its mean), and their mean over the choices is taken off. Of
    a lone text the similarity to the empty text is taken off, where the model has one.
    """
    if len(texts.choices) == 1:
        text = texts.row if texts.empty is None else texts.row - texts.empty
        return embeddings @ text
    cosines = texts.choices @ whole
    weight = (2 * cosines).softmax(dim=0)
    weighted = (embeddings @ texts.choices.T) * (weight / weight.mean())
    return weighted[:, texts.index] - weighted.mean(dim=1)
