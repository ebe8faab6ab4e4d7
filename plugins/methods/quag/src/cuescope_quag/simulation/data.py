"""Data of two modalities whose coupling is known (QUAG, section 3; Huang et al., 2021)."""

from dataclasses import dataclass
from math import pi

import torch
from jaxtyping import Float
from torch import Tensor

TOKENS = 15  # of each modality, section 3
DIM = 100  # section 3
AMPLITUDE = 10.0  # section 3


@dataclass(frozen=True, eq=False)
class Coupled:
    """Samples whose modalities hold a share of each other.

    `tokens` are text (its 15 tokens first), then video; `target` has a number for each of them.
    """

    tokens: Float[Tensor, "sample token dim"]
    target: Float[Tensor, "sample token"]

    def to(self, device: str) -> "Coupled":
        """The same samples there."""
        return Coupled(self.tokens.to(device), self.target.to(device))


def weighting() -> Float[Tensor, " dim"]:
    """p_j = 10 sin(j pi / 202), j from 1: a plain mean of so many draws would be near 0."""
    return AMPLITUDE * torch.sin(torch.arange(1, DIM + 1) * pi / 202)


def couple_variables(alpha: float, samples: int, generator: torch.Generator) -> Coupled:
    """Steps 1 to 3 of section 3.

    The target is the weighted mean of hidden draws m1 and m2; what is shown is
    t = (1 - alpha) m1 - alpha m2 and v = (1 - alpha) m2 - alpha m1. Below alpha = 1/2 the two
    together tell m1 and m2 exactly, for m1 = ((1 - alpha) t + alpha v) / (1 - 2 alpha).
    """
    # on the CPU, where a seed draws the same for every device
    hidden = torch.randn(samples, 2 * TOKENS, DIM, generator=generator)
    other = hidden.roll(TOKENS, dims=1)  # m2 in the place of m1, and m1 in that of m2
    return Coupled((1 - alpha) * hidden - alpha * other, hidden @ weighting() / DIM)


def target_variance() -> float:
    """Mean squared error of saying 0, whatever is shown."""
    # hidden draws have variance 1, so the squares of the weights add up
    return float((weighting() / DIM).square().sum())


def unimodal_error(alpha: float) -> float:
    """Least mean squared error of any model that sees one modality alone.

    The target given t is normal with mean (1 - alpha) / ((1 - alpha)^2 + alpha^2) times the
    weighted mean of t.
    """
    return target_variance() * alpha**2 / ((1 - alpha) ** 2 + alpha**2)
