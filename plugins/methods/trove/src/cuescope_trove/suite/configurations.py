"""The grid of appendix A: cue type, sequence length, strength, frames that show the cue."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil

CUES = ("background", "object", "attribute")
LENGTHS = (2, 3, 5, 10)
# A round of the grid comes so many rounds later where the association is weaker: most of the
# paper's 101 models have 0.95 or 0.9, as weaker ones rarely pass the quality filter.
ROUNDS_LATER = {0.95: 0, 0.9: 1, 0.8: 2, 0.7: 3}


@dataclass(frozen=True)
class Configuration:
    """One planted bias: its cue, the sequence length, the association, the frames that show it."""

    cue: str
    length: int
    cramers_v: float
    cue_frames: int

    @property
    def name(self) -> str:
        """For a row of the table."""
        return f"{self.cue} {self.cue_frames}/{self.length} V={self.cramers_v}"

    @property
    def share(self) -> float:
        """Share of the frames of a sequence that show the cue."""
        return self.cue_frames / self.length


def configurations() -> Iterator[Configuration]:
    """All 240, so that the first ones are varied: each dozen of the first round has every cue.

    A round is a number of frames that show the cue: three fifths of the sequence first, then all
    frames, then three tenths, then what is left.
    """
    windows = {length: _windows(length) for length in LENGTHS}
    rounds = range(max(LENGTHS))
    # stable: of equal turns the earlier number of cue frames goes first
    order = sorted(
        product(rounds, ROUNDS_LATER), key=lambda pair: pair[0] + ROUNDS_LATER[pair[1]]
    )
    for turn, cramers_v in order:
        for length, cue in product(LENGTHS, CUES):
            # a sequence has only as many numbers of cue frames as it has frames
            if turn < length:
                yield Configuration(cue, length, cramers_v, windows[length][turn])


def _windows(length: int) -> list[int]:
    # a short sequence has some of these twice: 0.6 of 2 frames are both of them
    first = [ceil(0.6 * length), length, ceil(0.3 * length)]
    return list(dict.fromkeys([*first, *range(1, length + 1)]))
