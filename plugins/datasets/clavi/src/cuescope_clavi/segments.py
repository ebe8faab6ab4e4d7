"""From the timed actions of a video to segments that can be cut and swapped: CLAVI, appendix B.1.

Times are in seconds of a video, or in frames of a clip. All of it is pure: what is drawn at
random comes from the generator that is handed in.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

Span = tuple[float, float]
# Share of the region between two actions that in-extensions may take. Appendix B.1 says nothing;
# 78% is the most that is found in the published annotation (Rawal et al., 2024).
IN_EXTENSION_SHARE = 0.75


class Action(NamedTuple):
    """What is done from `start` to `end`."""

    name: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class TimedVideo:
    """A video with its timed actions, which nobody has opened yet.

    Times are in seconds, and borders move by milliseconds; or in frames, and move by `step` 1.
    """

    name: str
    length: float
    actions: tuple[Action, ...]
    step: float = 0.001


@dataclass(frozen=True, slots=True)
class Segment:
    """Two actions with what lies between them, cut at four increasing times.

    `cuts` are the outer and inner border of the first action's region, then the inner and outer
    border of the second's.
    """

    first: Action
    second: Action
    cuts: tuple[float, float, float, float]

    def spans(self, complement: bool) -> tuple[Span, Span, Span]:
        """What is shown one after another: in the complement the actions change places."""
        first, middle, second = pairwise(self.cuts)
        return (second, middle, first) if complement else (first, middle, second)


def exclusive_pairs(
    actions: Sequence[Action],
    shortest: float,
    never_asked: frozenset[str] = frozenset(),
) -> list[tuple[Action, Action]]:
    """Pairs of different actions, the first over before the second begins, in order of time.

    Both last `shortest` or longer, and neither name occurs again in the video. The paper asks for
    actions that are unique, and for none near the borders of the segment: the former says the
    latter. Names `never_asked` make no pair.
    """
    times = Counter(action.name for action in set(actions))
    asked = [
        action
        for action in actions
        if action.name not in never_asked
        and action.end - action.start >= shortest
        and times[action.name] == 1
    ]
    # by time: a whole action would be compared by its name first
    asked.sort(key=lambda action: action[1:])
    pairs = []
    for first, second in combinations(asked, 2):
        # <: something must lie between them, which stays in the middle
        if first.name != second.name and first.end < second.start:
            pairs.append((first, second))
    return pairs


def cut_segment(
    first: Action,
    second: Action,
    length: float,
    rng: np.random.Generator,
    *,
    most: float,
    step: float,
) -> Segment:
    """The pair with its borders moved at random, by multiples of `step`.

    Each action grows outwards by at most `most`, within a video of `length`, and both together
    grow inwards by as much: what separates the actions is then as long in the complement, where
    the outward parts meet the middle.
    """
    # In whole steps throughout: sums of floats would let the two growths differ by a bit.
    room = int(IN_EXTENSION_SHARE * (second.start - first.end) / step)
    # drawn, so that where an action lies in time tells nothing (appendix B.1)
    before = _draw_steps(min(most, first.start), step, rng)
    after = _draw_steps(min(most, length - second.end), step, rng)
    outwards = before + after
    # Inwards they grow by as much, and the middle must not be used up.
    if outwards > room:
        before = before * room // outwards
        after = after * room // outwards
        outwards = before + after
    # how both sides share it is drawn too, for the same reason
    inwards = int(rng.integers(outwards + 1))
    cuts = (
        first.start - before * step,
        first.end + inwards * step,
        second.start - (outwards - inwards) * step,
        second.end + after * step,
    )
    return Segment(first, second, cuts)


def _draw_steps(most: float, step: float, rng: np.random.Generator) -> int:
    """So many steps that they are at most that long."""
    return int(rng.integers(max(0, int(most / step)) + 1))


def source_times(spans: Sequence[Span], count: int) -> list[float]:
    """When to look at the source to see `count` frames of the spans one after another.

    Each is the middle of one of `count` equal parts of their whole length.
    """
    starts_of_spans, ends_of_spans = np.array(spans, float).T
    ends = np.cumsum(ends_of_spans - starts_of_spans)
    # middles: no frame lies on a cut
    wanted = (np.arange(count) + 0.5) / count * ends[-1]
    span = np.minimum(np.searchsorted(ends, wanted, side="right"), len(spans) - 1)
    times: list[float] = (ends_of_spans[span] - (ends[span] - wanted)).tolist()
    return times
