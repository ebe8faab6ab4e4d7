"""How the networks of drawn worlds are trained from nothing: one way for all of them."""

import torch
from torch import Tensor, nn


def initialise(network: nn.Module, generator: torch.Generator) -> None:
    """Weights from a generator; normalisation stays as it is built."""
    for name, parameter in network.named_parameters():
        if parameter.ndim > 1:
            nn.init.kaiming_uniform_(parameter, a=1, generator=generator)
        elif "bias" in name:
            nn.init.zeros_(parameter)


def descend(
    network: nn.Module,
    inputs: Tensor,
    wanted: Tensor,
    generator: torch.Generator,
    *,
    epochs: int,
    batch: int,
    rate: float,
) -> None:
    """AdamW under one cycle of rates; `network.read` embeds a batch, and `network.out` answers."""
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=rate, weight_decay=0.05)
    batches = epochs * -(-len(wanted) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, batches)
    for _ in range(epochs):
        order = torch.randperm(len(wanted), generator=generator)
        for rows in order.split(batch):
            logits = network.out(network.read(inputs[rows]))
            loss = nn.functional.cross_entropy(logits, wanted[rows])
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(weights, 1.0)
            optimiser.step()
            schedule.step()
