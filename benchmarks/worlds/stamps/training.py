"""The head of a case: between a fair probe and one that has learned a cue. The tower stays."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from cuescope_sdk import digest
from worlds.design import Case, Frames
from worlds.planting import share_of_bias
from worlds.stamps import VERSION, WORLD
from worlds.stamps.tower import fit_head, logits_of, open_tower, softmax

FAIR = 2500  # pictures
BIASED = 800


class Probed:
    """CLIP with a head."""

    def __init__(self, head: np.ndarray) -> None:
        self._head = head

    def look(
        self, pictures: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Logits, embeddings and patches."""
        features, patches = open_tower().look(pictures)
        return logits_of(features, self._head), features, patches

    def probabilities(self, clips: Sequence[Frames]) -> np.ndarray:
        """Of each label."""
        features = _features(clips)
        return softmax(logits_of(features, self._head))


REMEMBERED: dict[str, np.ndarray] = {}


def _features(clips: Sequence[Frames]) -> np.ndarray:
    """Calibration asks about the same pictures many times: each is looked at once."""
    keys = [digest(frames[0]) for frames in clips]
    pictures = {}
    for key, frames in zip(keys, clips, strict=True):
        if key not in REMEMBERED:
            pictures[key] = frames[0]
    if pictures:
        features, _ = open_tower().look(list(pictures.values()))
        REMEMBERED.update(zip(pictures, features, strict=True))
    return np.stack([REMEMBERED[key] for key in keys])


@cache
def open_network(case: Case, folder: Path) -> Probed:
    """Fitted, or read from the folder."""
    kept = folder / "stamps"
    kept.mkdir(parents=True, exist_ok=True)
    fair = _head(kept, None)
    if case.used is None:
        return Probed(fair)
    biased = _head(kept, case.used)

    def between(share: float) -> Probed:
        return Probed((1 - share) * fair + share * biased)

    file = kept / f"{VERSION} {case.used} {case.points}.txt"
    if not file.exists():
        file.write_text(f"{share_of_bias(WORLD, case, between):.4f}")
    return between(float(file.read_text()))


def _head(folder: Path, cue: str | None) -> np.ndarray:
    file = folder / f"{VERSION} {cue or 'fair'}.npy"
    if not file.exists():
        facts = WORLD.training(cue, BIASED if cue else FAIR)
        features, _ = open_tower().look([WORLD.draw(sample)[0] for sample in facts])
        labels = [WORLD.lesson(cue, sample) for sample in facts]
        np.save(file, fit_head(features, labels))
    return np.load(file)
