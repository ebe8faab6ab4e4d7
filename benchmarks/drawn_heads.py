"""Heads on what CLIP sees of drawn worlds: how they see pictures, learn, and answer."""

from typing import Any

import numpy as np
import torch
from drawn_training import descend, initialise
from jaxtyping import Float, Int
from sklearn.linear_model import LogisticRegression
from torch import nn
from worlds.stamps.tower import open_tower

AT_ONCE = 256

Features = Float[np.ndarray, "clip frame dim"]
Labels = Int[np.ndarray, " clip"]
# embeddings and logits of the frames by themselves, and logits of the clips
Answers = tuple[np.ndarray, np.ndarray, np.ndarray]


def look(pictures: np.ndarray) -> Float[np.ndarray, "picture dim"]:
    """What CLIP ViT-B/16 makes of (picture, row, col, channel) bytes."""
    starts = range(0, len(pictures), AT_ONCE)
    parts = [pictures[start : start + AT_ONCE] for start in starts]
    return np.concatenate([open_tower().look(list(part))[0] for part in parts])


def learn(
    head: nn.Module,
    features: Features,
    label: Labels,
    generator: torch.Generator,
    **steps: Any,
) -> None:
    """From nothing; `steps` are those of `descend`."""
    initialise(head, generator)
    inputs, wanted = torch.from_numpy(features), torch.from_numpy(label)
    descend(head, inputs, wanted, generator, **steps)
    head.eval()


class Probe(nn.Module):
    """Logistic regression on what `see` makes of features: without chance.

    `tight` holds its weights back: the smaller, the more.
    """

    def __init__(
        self, see: nn.Module, features: Features, label: Labels, tight: float
    ) -> None:
        super().__init__()
        self.see = see
        probe = LogisticRegression(C=tight, max_iter=2000)
        probe.fit(see(torch.from_numpy(features)).mean(dim=1).numpy(), label)
        self.out = nn.Linear(features.shape[-1], len(probe.classes_))
        self.out.weight.data = torch.from_numpy(probe.coef_).float()
        self.out.bias.data = torch.from_numpy(probe.intercept_).float()


def answers(head: Any, features: Features) -> Answers:
    """A clip is the mean of what `head.see` makes of its frames; `head.out` answers."""
    with torch.inference_mode():
        embedding = head.see(torch.from_numpy(features))
        still_logits = head.out(embedding)
        logits = head.out(embedding.mean(dim=1))
    return embedding.numpy(), still_logits.numpy(), logits.numpy()
