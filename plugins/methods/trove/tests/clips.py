"""Clips in which red is a cue, and models that lean on it or do not."""

from functools import cache
from typing import Any

import numpy as np

from cuescope_sdk import (
    Capabilities,
    Evidence,
    Frame,
    Plugin,
    Report,
    Response,
    Sample,
    Trial,
)
from cuescope_testing import run_audit
from cuescope_trove import TRoVe

DIRECTIONS = ("north", "south", "east", "west")


class Clips(Plugin):
    """Sequences of five grey frames; in some, two show red. Half of all "south" does."""

    labels = DIRECTIONS
    facts: dict[str, str] = {}
    fingerprint = "clips"
    red_share = (0.3, 0.9, 0.3, 0.3)
    size = 160

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Sample:
        label, turn = index % 4, index // 4
        red = (turn * 7) % 40 < 40 * self.red_share[label]
        shows = tuple(red and frame in (1, 2) for frame in range(5))
        return Sample(
            key=f"clip-{index:03d}",
            group=f"clip-{index:03d}",
            frames=tuple(
                picture(index, frame, flag) for frame, flag in enumerate(shows)
            ),
            choices=self.labels,
            label=self.labels[label],
            annotations={"cues": {"red": shows}},
        )


def picture(index: int, frame: int, red: bool) -> Frame:
    """One pixel of red or grey; the second says which clip this is, the third which frame."""
    pixels = np.zeros((1, 3, 3), dtype=np.uint8)
    pixels[0, 0] = (255, 0, 0) if red else (90, 90, 90)
    pixels[0, 1, 0], pixels[0, 2, 0] = index, frame
    return Frame.from_array(pixels)


class Leaning(Plugin):
    """Reads the clip's number, as if it saw motion, unless any frame is red: then "south"."""

    capabilities = Capabilities(outputs=frozenset({"logits", "embedding"}))
    facts: dict[str, str] = {}
    fingerprint = "leaning"
    lean = 4.0

    def respond(self, trials: Any) -> list[Response]:
        return [self.answer(trial) for trial in trials]

    def answer(self, trial: Trial) -> Response:
        pixels = np.stack([np.asarray(frame.load()) for frame in trial.sample.frames])
        red = float((pixels[:, 0, 0, 1] == 0).any())
        clip = int(pixels[0, 0, 1, 0])
        still = len({frame.key for frame in trial.sample.frames}) == 1
        noise = np.random.default_rng(clip).normal(0, 0.6, 8)
        logits = noise[:4] + (0.0 if still else 2.5) * (np.arange(4) == clip % 4)
        logits[1] += self.lean * red
        embedding = np.concatenate([[red, 1 - red], 0.1 * noise[4:]])
        return Response(logits=logits, embedding=embedding)


class Honest(Leaning):
    """The same, and red is nothing to it."""

    lean = 0.0
    fingerprint = "honest"


@cache
def report_of_leaning() -> Report:
    """The audit that most tests look at: of a model that leans on red, by the defaults."""
    return run_audit(TRoVe, Leaning, Clips)


def by_check(evidence: tuple[Evidence, ...], start: str) -> Evidence:
    matching = [item for item in evidence if item.check.startswith(start)]
    assert len(matching) == 1, [item.check for item in evidence]
    return matching[0]
