"""A small network that sees motion, trained from nothing on the clips alone.

Its filters reach over space and time at once, so that it tells a drone that climbs from one that
sinks. A frame by itself is a clip in which nothing moves.
"""

import numpy as np
import torch
from drawn_training import descend
from jaxtyping import Float, Int
from torch import nn

from drones.scene import FRAMES, NAMES

HIDDEN = 48
EPOCHS = 16
BATCH = 32
RATE = 6e-3
AT_ONCE = 100
HEADS = ("temporal",)


def to_pixels(clips: np.ndarray) -> torch.Tensor:
    """(clip, channel, frame, row, col) about 0."""
    return torch.from_numpy(clips).permute(0, 4, 1, 2, 3).float() / 64 - 2


def stage(channels: int, more: int, size: int) -> nn.Sequential:
    """Filters over two frames each; a frame less, half the rows and columns."""
    shape, pad = (2, size, size), (0, size // 2, size // 2)
    return nn.Sequential(
        nn.Conv3d(channels, more, shape, (1, 2, 2), pad),
        nn.BatchNorm3d(more),
        nn.ReLU(),
    )


class Temporal(nn.Module):
    """Three stages, after which one moment is left, then a hidden layer."""

    def __init__(self) -> None:
        super().__init__()
        self.maps = nn.Sequential(stage(3, 16, 5), stage(16, 32, 3), stage(32, 48, 3))
        self.hidden = nn.Linear(96, HIDDEN)
        self.out = nn.Linear(HIDDEN, len(NAMES))

    def read(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, dim)."""
        maps = self.maps(pixels)
        parts = [maps.mean(dim=(2, 3, 4)), maps.amax(dim=(2, 3, 4))]
        return torch.relu(self.hidden(torch.cat(parts, dim=1)))

    def see(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, frame, dim) of frames by themselves, each held for a whole clip."""
        frames = pixels.unbind(dim=2)
        held = (frame[:, :, None].expand(-1, -1, FRAMES, -1, -1) for frame in frames)
        return torch.stack([self.read(clip) for clip in held], dim=1)


def initialise(network: nn.Module, generator: torch.Generator) -> None:
    """Weights from a generator; normalisation stays as it is built."""
    for name, parameter in network.named_parameters():
        if parameter.ndim > 1:
            nn.init.kaiming_uniform_(parameter, a=1, generator=generator)
        elif "bias" in name:
            nn.init.zeros_(parameter)


def fit(
    head: str, clips: np.ndarray, label: Int[np.ndarray, " clip"], seed: int
) -> Temporal:
    """A network trained on (clip, frame, row, col, channel) bytes; there is one kind of head."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    network = Temporal()
    initialise(network, generator)
    pixels = to_pixels(clips)
    wanted = torch.from_numpy(label)
    descend(
        network,
        pixels,
        wanted,
        generator,
        epochs=EPOCHS,
        batch=BATCH,
        rate=RATE,
    )
    return network.eval()


def answers(
    network: Temporal, clips: np.ndarray
) -> tuple[
    Float[np.ndarray, "clip frame dim"],
    Float[np.ndarray, "clip frame label"],
    Float[np.ndarray, "clip label"],
]:
    """Embeddings and logits of the frames by themselves, and logits of the clips."""
    embeddings, stills, logits = [], [], []
    with torch.inference_mode():
        for start in range(0, len(clips), AT_ONCE):
            pixels = to_pixels(clips[start : start + AT_ONCE])
            embedding = network.see(pixels)
            embeddings.append(embedding.numpy())
            stills.append(network.out(embedding).numpy())
            logits.append(network.out(network.read(pixels)).numpy())
    return np.concatenate(embeddings), np.concatenate(stills), np.concatenate(logits)
