"""Two small networks over the frames of a clip, each trained from nothing on the clips alone.

`convolutional` looks at each frame by itself; a clip is the mean of its frames' last hidden layers.
`recurrent` reads the frames in turn, and a clip is its last state; a frame by itself is the state
after that frame was held for as long as a clip is.
"""

from collections.abc import Mapping

import numpy as np
import torch
from drawn_training import descend, initialise
from jaxtyping import Float, Int
from torch import nn

from belt.scene import FRAMES, NAMES

HIDDEN = 64
EPOCHS = 8
BATCH = 32
RATE = 1e-2
AT_ONCE = 100


def to_pixels(clips: np.ndarray) -> torch.Tensor:
    """(clip, frame, channel, row, col) about 0."""
    return torch.from_numpy(clips).permute(0, 1, 4, 2, 3).float() / 64 - 1


def stage(channels: int, more: int, size: int, stride: int) -> nn.Sequential:
    """Convolution, normalisation, rectification."""
    return nn.Sequential(
        nn.Conv2d(channels, more, size, stride, size // 2),
        nn.BatchNorm2d(more),
        nn.ReLU(),
    )


class Convolutional(nn.Module):
    """The frames are looked at one by one, by the mean and the maximum of their maps."""

    def __init__(self) -> None:
        super().__init__()
        self.maps = nn.Sequential(
            stage(3, 16, 5, 2), stage(16, 32, 3, 2), stage(32, 48, 3, 1)
        )
        self.hidden = nn.Linear(96, HIDDEN)
        self.out = nn.Linear(HIDDEN, len(NAMES))

    def see(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, frame, dim) of frames by themselves."""
        clips, frames = pixels.shape[:2]
        maps = self.maps(pixels.flatten(0, 1))
        pooled = torch.cat([maps.mean(dim=(2, 3)), maps.amax(dim=(2, 3))], dim=1)
        return torch.relu(self.hidden(pooled)).reshape(clips, frames, HIDDEN)

    def read(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, dim)."""
        return self.see(pixels).mean(dim=1)


class Recurrent(nn.Module):
    """The frames are read in turn, each by the maximum of its maps."""

    def __init__(self) -> None:
        super().__init__()
        self.maps = nn.Sequential(
            stage(3, 24, 7, 2),
            nn.MaxPool2d(2),
            stage(24, 48, 3, 1),
            stage(48, 48, 3, 2),
        )
        self.narrow = nn.Linear(48, HIDDEN)
        self.recurrent = nn.GRU(HIDDEN, HIDDEN, batch_first=True)
        self.out = nn.Linear(HIDDEN, len(NAMES))

    def steps(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, frame, dim) that the recurrent layer is given."""
        clips, frames = pixels.shape[:2]
        maps = self.maps(pixels.flatten(0, 1)).amax(dim=(2, 3))
        return torch.relu(self.narrow(maps)).reshape(clips, frames, -1)

    def see(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, frame, dim) of frames by themselves, each held for a whole clip."""
        steps = self.steps(pixels)
        clips, frames, dim = steps.shape
        held = steps.reshape(clips * frames, 1, dim).expand(-1, FRAMES, -1)
        last = self.recurrent(held)[0][:, -1]
        return last.reshape(clips, frames, HIDDEN)

    def read(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, dim)."""
        return self.recurrent(self.steps(pixels))[0][:, -1]


Network = Convolutional | Recurrent
HEADS: Mapping[str, type[Convolutional] | type[Recurrent]] = {
    "convolutional": Convolutional,
    "recurrent": Recurrent,
}


def fit(
    head: str,
    clips: np.ndarray,
    label: Int[np.ndarray, " clip"],
    seed: int,
) -> Network:
    """A network trained end to end on (clip, frame, row, col, channel) bytes."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    network = HEADS[head]()
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
            pixels = to_pixels(clips[start : start + AT_ONCE])
            embedding = network.see(pixels)
            clip = network.out(network.read(pixels))
            frames = network.out(embedding)
            found.append((embedding.numpy(), frames.numpy(), clip.numpy()))
    embeddings, stills, logits = map(np.concatenate, zip(*found, strict=True))
    return embeddings, stills, logits
