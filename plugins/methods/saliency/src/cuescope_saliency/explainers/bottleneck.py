"""M2IB: noise comes in wherever it does not cost the similarity."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import logsigmoid

from cuescope_saliency.explainers.chance import generator_for
from cuescope_saliency.explainers.tracing import Case, repeat, similarity
from cuescope_sdk.torch import Block, ImageTower, hook_input

OPEN = 5.0  # sigmoid(5) = 0.993: nearly all passes at the start (Wang et al., 2023)
LEARNING_RATE = 1.0  # of Adam (Wang et al., 2023)

PerToken = Float[Tensor, "token dim"]
VARIANCE = 1.0  # of the noise (Wang et al., 2023)
DRAWS = 10  # of noise in each step (Wang et al., 2023)


def m2ib(case: Case) -> Tensor:
    """M2IB (Wang et al., 2023): bits of each patch that an information bottleneck lets pass.

    Behind one block the tokens h become z = lambda h + (1 - lambda) noise. Adam finds the lambda
    in (0, 1), one for each token and channel, that keeps the similarity and passes little:
    minimise beta * mean KL - mean similarity over the draws. A patch's importance is its KL in
    nats, summed over channels. The published code shows the lambda before its last step, ours with
    `form` "stock" the one after it.
    """
    settings = case.settings
    device = case.tower.device
    block = _block_after(case.tower)
    generator = generator_for(case, "m2ib")
    entered: list[Tensor] = []
    with torch.no_grad(), hook_input(block.module, entered.append):
        case.encode()
        tokens = entered[0][0].float()
    alpha = torch.full(tokens.shape, OPEN, device=device, requires_grad=True)
    optimizer = torch.optim.Adam([alpha], lr=LEARNING_RATE)
    shape = (DRAWS, *tokens.shape)
    with torch.enable_grad():
        for _ in range(settings.m2ib_steps):
            # Drawn on the CPU, where the same seed gives the same noise for every device.
            noise = torch.randn(shape, generator=generator).to(device) * VARIANCE**0.5
            share = alpha.sigmoid()
            noised = share * tokens + (1 - share) * noise
            passed = information(tokens, alpha, VARIANCE)
            embeddings = _encode_from(case, block, noised)
            fit = similarity(embeddings, case.texts.row).mean()
            loss = settings.m2ib_beta * passed.mean() - fit
            # The gradient of alpha alone: backward() would fill those of the user's model too.
            [alpha.grad] = torch.autograd.grad(loss, alpha)
            optimizer.step()
    if settings.form == "stock":
        passed = information(tokens, alpha, VARIANCE)
    # nats add up over channels, as their noise is independent
    nats_by_token = passed.detach().sum(dim=-1)
    return case.patch_map(nats_by_token[case.patches])


def information(tokens: PerToken, alpha: PerToken, variance: float) -> PerToken:
    """KL divergence in nats of N(share h, (1 - share)^2 variance) from N(0, variance).

    `share` is the sigmoid of alpha.
    """
    signal = (alpha.sigmoid() * tokens) ** 2 / variance
    # logsigmoid(-alpha) is log(1 - share), and stays finite where the share rounds to 1.
    passed_noise = alpha.neg().sigmoid() ** 2
    return 0.5 * (signal + passed_noise - 1) - logsigmoid(-alpha)


def _block_after(tower: ImageTower) -> Block:
    """The block that the noised tokens enter; patches behind the last one may count for nothing."""
    depth = len(tower.blocks)
    # 9 of 12 blocks in the paper: the same share of any depth; never behind the last block: there
    # nothing would mix patches with the class token
    return tower.blocks[min(depth * 3 // 4 + 1, depth - 1)]


def _encode_from(
    case: Case,
    block: Block,
    tokens: Float[Tensor, "image token dim"],
) -> Float[Tensor, "image embedding"]:
    """Embeddings where these tokens enter the block.

    The blocks before it see one image, unless there is padding, which the library masks by image.
    """
    inputs = case.inputs
    if block.masked.padded:
        inputs = repeat(inputs, len(tokens))
    with hook_input(block.module, lambda stock: tokens.to(stock.dtype)):
        return case.tower.encode(inputs)
