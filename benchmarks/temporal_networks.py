"""What small networks of filters over space and time share: pixels, stages, training, answers.

Their filters reach over space and time at once, so that they tell one motion from another. A frame
by itself is a clip in which nothing moves.
"""

import numpy as np
import torch
from drawn_training import descend, initialise
from jaxtyping import Float, Int
from torch import nn

AT_ONCE = 100


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


class OverTime(nn.Module):
    """`read` embeds clips, and `out` answers."""

    out: nn.Linear

    def read(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, dim)."""
        raise NotImplementedError

    def see(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, frame, dim) of frames by themselves, each held for a whole clip."""
        frames = pixels.unbind(dim=2)
        held = (frame[:, :, None].expand_as(pixels) for frame in frames)
        return torch.stack([self.read(clip) for clip in held], dim=1)


def teach(
    network: OverTime,
    clips: np.ndarray,
    label: Int[np.ndarray, " clip"],
    seed: int,
    *,
    epochs: int,
    batch: int,
    rate: float,
) -> None:
    """Train from nothing on (clip, frame, row, col, channel) bytes."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    initialise(network, generator)
    pixels = to_pixels(clips)
    wanted = torch.from_numpy(label)
    descend(network, pixels, wanted, generator, epochs=epochs, batch=batch, rate=rate)
    network.eval()


def answers(
    network: OverTime, clips: np.ndarray
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
