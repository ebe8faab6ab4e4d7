"""Explainers that compare each patch with the text: MaskCLIP and CLIP Surgery."""

from contextlib import ExitStack

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from cuescope_saliency.explainers.tracing import (
    AttentionCall,
    Case,
    Texts,
    heads_of,
    patch_embeddings,
    record,
    with_answers,
)
from cuescope_sdk.torch import hook_input, hook_output

SURGERY_BLOCKS = 6  # as the authors' code (Li et al., 2023)


def maskclip(case: Case) -> Tensor:
    """MaskCLIP (Zhou et al., 2022): the last attention gives each token its own value.

    The rest of the last block, the last norm and the projection are the model's own.
    """
    [block] = case.last_blocks(1)
    call = AttentionCall(block)

    def answer_by_value(output: Tensor) -> Tensor:
        heads = heads_of(call.block, call.input, case.tokens)
        return with_answers(call, heads, heads.values)

    with ExitStack() as hooks:
        # Hooks run in the order of their entry: `record` must see the output before it is replaced.
        record(hooks, call)
        hooks.enter_context(hook_output(block.attention, answer_by_value))
        embeddings = patch_embeddings(case, lambda output: output)
    return case.patch_map(embeddings @ case.texts.row)


def clip_surgery(case: Case) -> Tensor:
    """CLIP Surgery (Li et al., 2023): a second path of value-value attention, without MLPs.

    It leaves the model's own path `layers` blocks before the end, and adds up softmax(v v^T) v of
    what that path gives each attention. The original changes the model; ours reads its stock
    forward pass. What the text shares with all choices is taken off, unless `form` is "stock".
    """
    blocks = case.last_blocks(case.settings.layers or SURGERY_BLOCKS)
    calls = [AttentionCall(block) for block in blocks]
    start: list[Tensor] = []

    def second_path(output: Tensor) -> Tensor:
        [path] = start
        for call in calls:
            heads = heads_of(call.block, call.input, case.tokens)
            values = heads.values
            # recorded queries have it already, values do not
            scale = values.shape[-1] ** -0.5
            # Values in the place of queries and keys: tokens attend to those of their own kind.
            alike = (values @ values.transpose(1, 2) * scale).softmax(dim=-1)
            path = path + with_answers(call, heads, alike @ values)
        return path

    with ExitStack() as hooks:
        hooks.enter_context(hook_input(blocks[0].module, start.append))
        for call in calls:
            record(hooks, call)
        embeddings = patch_embeddings(case, second_path)
    if case.settings.form == "stock":
        return case.patch_map(embeddings @ case.texts.row)
    [whole] = normalize(case.encode().float(), dim=-1)
    return case.patch_map(without_common_part(embeddings, whole, case.texts))


def without_common_part(
    embeddings: Float[Tensor, "patch dim"],
    whole: Float[Tensor, " dim"],
    texts: Texts,
) -> Float[Tensor, " patch"]:
    """Similarity of the patches to a text, less what they share with all the choices.

    The products of features with each choice are weighted by how much the whole image is like it
    (softmax of twice the cosine, over its mean), and their mean over the choices is taken off. Of
    a lone text the similarity to the empty text is taken off, where the model has one.
    """
    # a text alone has nothing in common with other choices that could be taken off
    if len(texts.choices) == 1:
        text = texts.row if texts.empty is None else texts.row - texts.empty
        return embeddings @ text
    cosines = texts.choices @ whole
    weight = (2 * cosines).softmax(dim=0)
    # over the mean, so that choices that are all alike weigh 1 each
    relative = weight / weight.mean()
    weighted = (embeddings @ texts.choices.T) * relative
    return weighted[:, texts.index] - weighted.mean(dim=1)
