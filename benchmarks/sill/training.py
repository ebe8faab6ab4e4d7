"""Training of a network from nothing, and its answers."""

import numpy as np
import torch
from drawn_training import descend
from jaxtyping import Float, Int
from torch import nn

from sill.networks import AT_ONCE, HEADS, Network

BATCH = 16


def initialise(network: Network, generator: torch.Generator) -> None:
    """Weights from a generator; normalisation stays as it is built."""
    for name, parameter in network.named_parameters():
        if name in ("place", "frame", "query"):
            nn.init.normal_(parameter, std=0.1, generator=generator)
        elif parameter.ndim > 1:
            nn.init.kaiming_uniform_(parameter, a=1, generator=generator)
        elif "bias" in name:
            nn.init.zeros_(parameter)


def fit(
    head: str,
    clips: np.ndarray,
    label: Int[np.ndarray, " clip"],
    seed: int,
) -> Network:
    """A network trained on (clip, frame, row, col, channel) bytes."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    network = HEADS[head]()
    initialise(network, generator)
    network.prepare(clips, generator)
    measured = network.measure(clips)
    wanted = torch.from_numpy(label)
    descend(
        network,
        measured,
        wanted,
        generator,
        epochs=network.epochs,
        batch=BATCH,
        rate=network.rate,
    )
    return network.eval()


def answers(
    network: Network, clips: np.ndarray
) -> tuple[
    Float[np.ndarray, "clip frame dim"],
    Float[np.ndarray, "clip frame label"],
    Float[np.ndarray, "clip label"],
]:
    """Embeddings and logits of the frames by themselves, and logits of the clips."""
    found: list[tuple[np.ndarray, ...]] = []
    with torch.inference_mode():
        for start in range(0, len(clips), AT_ONCE):
            measured = network.measure(clips[start : start + AT_ONCE])
            embedding = network.see(measured)
            clip = network.out(network.read(measured))
            frames = network.out(embedding)
            found.append((embedding.numpy(), frames.numpy(), clip.numpy()))
    embeddings, stills, logits = map(np.concatenate, zip(*found, strict=True))
    return embeddings, stills, logits
