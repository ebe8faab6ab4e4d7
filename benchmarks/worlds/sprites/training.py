"""The network of a case: a fair one, and its copy that has learned a cue, by their weights' mix."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from cuescope_sdk import derive
from worlds.design import Case, Frames
from worlds.planting import share_of_bias
from worlds.sprites import VERSION, WORLD
from worlds.sprites.network import EPOCHS_BIASED, EPOCHS_FAIR, FramesThenTime

FAIR = 6000  # clips
BIASED = 4000
AT_ONCE = 64


class Sprites:
    """A network that is asked with clips of equal length."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        self._network = FramesThenTime(len(WORLD.labels))
        self._network.load_state_dict(weights)

    def look(self, clips: Sequence[Frames]) -> tuple[np.ndarray, np.ndarray]:
        """Logits and embeddings, a row a clip."""
        embeddings = []
        with torch.inference_mode():
            for start in range(0, len(clips), AT_ONCE):
                pixels = as_tensor(clips[start : start + AT_ONCE])
                embeddings.append(self._network.embed(pixels.float() / 255 - 0.4))
            together = torch.cat(embeddings)
            return self._network.head(together).numpy(), together.numpy()

    def probabilities(self, clips: Sequence[Frames]) -> np.ndarray:
        """Of each label."""
        logits, _ = self.look(clips)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)


def as_tensor(clips: Sequence[Frames]) -> Tensor:
    """Bytes (clip, frame, channel, row, col)."""
    pixels = np.stack([np.stack(frames) for frames in clips])
    return torch.from_numpy(pixels).permute(0, 1, 4, 2, 3)


@cache
def open_network(case: Case, folder: Path) -> Sprites:
    """Trained, or read from the folder."""
    torch.set_num_threads(1)
    kept = folder / "sprites"
    kept.mkdir(parents=True, exist_ok=True)
    fair = _weights(kept, None)
    if case.used is None:
        return Sprites(fair)
    biased = _weights(kept, case.used)

    def mix(share: float) -> Sprites:
        weights = {}
        for name, weight in fair.items():
            weights[name] = weight + share * (biased[name] - weight)
        return Sprites(weights)

    file = kept / f"{VERSION} {case.used} {case.points}.txt"
    if not file.exists():
        file.write_text(f"{share_of_bias(WORLD, case, mix):.4f}")
    return mix(float(file.read_text()))


def _weights(folder: Path, cue: str | None) -> dict[str, Tensor]:
    file = folder / f"{VERSION} {cue or 'fair'}.safetensors"
    if not file.exists():
        generator = torch.Generator().manual_seed(derive(0, "sprites", cue or "fair"))
        network = FramesThenTime(len(WORLD.labels))
        if cue is None:
            network.draw_weights(generator)
        else:
            network.load_state_dict(_weights(folder, None))
        facts = WORLD.training(cue, BIASED if cue else FAIR)
        labels = [WORLD.lesson(cue, sample) for sample in facts]
        network.learn(
            as_tensor(list(map(WORLD.draw, facts))),
            torch.tensor(labels),
            generator,
            epochs=EPOCHS_BIASED if cue else EPOCHS_FAIR,
            rate=1e-3 if cue else 2e-3,
        )
        save_file(network.state_dict(), file)
    return load_file(file)
