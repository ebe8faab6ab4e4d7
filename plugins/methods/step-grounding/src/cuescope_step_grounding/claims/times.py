"""When: the words of a step that name a moment, and the frames that they mean.

People and prompts count frames from 1 ("frame 1" is the first); claims hold indices from 0.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from cuescope_step_grounding.claims.resources import read_toml

Frames = tuple[int, ...]

_PATTERNS = read_toml("claims/times.toml")
_OPENING = {"first", "opening", "initial"}
_NUMBERS = _PATTERNS["numbers"].split()
_ORDINALS = _PATTERNS["ordinals"].split()  # the first before the second
_PARTS: dict[str, str] = {}
# a part may be made of those above it
for _name, _pattern in _PATTERNS["parts"].items():
    _PARTS[_name] = _pattern.format(**_PARTS)
_FORMS = []
for _name, _forms in _PATTERNS["forms"].items():
    _form = "|".join(_forms).format(**_PARTS)
    _FORMS.append(rf"(?P<{_name}_>\b(?:{_form})(?!\w))")
_MENTIONS = re.compile("|".join(_FORMS), re.IGNORECASE)
_LISTED = re.compile(r"(\d+)(?:(?: to | through | ?[-–] ?)(\d+))?")


@dataclass(frozen=True)
class Clock:
    """The frames of a video, and the second that each shows (None: unknown, then no claim about
    seconds can be placed)."""

    frames: int
    times: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.times is not None and len(self.times) != self.frames:
            raise ValueError(f"expected a time for each of {self.frames} frames")

    def between(self, first: float, last: float) -> Frames | None:
        """The frames of these seconds; the nearest one where none falls between."""
        if self.times is None:
            return None
        times = np.array(self.times)
        inside = np.flatnonzero((first <= times) & (times <= last)).tolist()
        if inside:
            return tuple(inside)
        if not self.times:
            return ()
        middle = (first + last) / 2
        # Up to the distance of two frames beyond the last one a second is still in the video.
        margin = max(np.diff(times), default=1.0)
        if not times[0] - margin <= middle <= times[-1] + margin:
            return ()
        nearest = np.abs(times - middle).argmin()
        return (int(nearest),)

    def span(self, first: int, last: int) -> Frames:
        """The frames first to last, as far as there are."""
        start = max(first, 0)
        stop = min(last + 1, self.frames)
        return tuple(range(start, stop))

    def frame(self, index: int) -> Frames:
        """One frame, where there is such a one."""
        return self.span(index, index)

    @property
    def early(self) -> Frames:
        """The first quarter of the frames, rounded up."""
        return self.every[: self._quarter]

    @property
    def middle(self) -> Frames:
        """What is neither in the first nor in the last quarter."""
        # one or two frames have nothing between their quarters
        inner = self.every[self._quarter : self.frames - self._quarter]
        return inner or self.frame(self.frames // 2)

    @property
    def late(self) -> Frames:
        """The last quarter of the frames, rounded up."""
        return self.every[self.frames - self._quarter :]

    @property
    def every(self) -> Frames:
        return tuple(range(self.frames))

    @property
    def _quarter(self) -> int:
        return -(-self.frames // 4)


@dataclass(frozen=True)
class Mention:
    """Words at [start, end) of a text that name a moment; its frames are None where it has no
    place in the video for want of times, and () where it lies outside."""

    start: int
    end: int
    frames: Frames | None


def mentions(text: str, clock: Clock) -> list[Mention]:
    """Every moment that a text names, in order."""
    forms = {match: _form_of(match) for match in _MENTIONS.finditer(text)}
    exact = not _VAGUE.issuperset(forms.values())
    moments = []
    for match, form in forms.items():
        frames = None
        # "around frame 6, he finally finds": the number tells, "finally" only the order
        if not (exact and form in _VAGUE):
            frames = _RULES[form](match, clock)
        moments.append(Mention(match.start(), match.end(), frames))
    return moments


def _form_of(match: re.Match[str]) -> str:
    # The group of a whole form closes last, so that it names the form.
    return (match.lastgroup or "").removesuffix("_")


def frames_meant(words: str, clock: Clock) -> Frames | None:
    """The frames that words mean: all moments that they name; None where they name none."""
    return union(mention.frames for mention in mentions(words, clock))


def union(moments: Iterable[Frames | None]) -> Frames | None:
    """All frames of several moments; None where none has a place."""
    placed = [frames for frames in moments if frames is not None]
    if not placed:
        return None
    return tuple(sorted(set().union(*placed)))


def _number(word: str) -> float:
    word = word.lower()
    return float(_NUMBERS.index(word) if word in _NUMBERS else word)


def _point(words: str, clock: Clock) -> Frames | None:
    """One moment: a frame by number, a time, or a part of the video."""
    words = words.lower()
    if re.fullmatch(_PARTS["at_frame"], words):
        # People count frames from 1; "frame 0" means none.
        index = int(re.findall(r"\d+", words)[-1]) - 1
        return clock.frame(index) if index >= 0 else ()
    if match := re.search(_PARTS["clock"], words):
        second = 0.0
        # "1:02:03": each part is worth sixty of the next
        for part in match[0].split(":"):
            second = 60 * second + float(part)
        return clock.between(second, second)
    if match := re.search(rf"\b{_PARTS['number']}", words):
        second = _number(match[0])
        return clock.between(second, second)
    if "middle" in words or "midpoint" in words:
        return clock.middle
    return clock.late if "end" in words else clock.early


def _moment(match: re.Match[str], clock: Clock) -> Frames | None:
    words = match["clock"] or match["bare"]
    return _point(words or f"second {match['stamp']}", clock)


def _list(match: re.Match[str], clock: Clock) -> Frames:
    frames: set[int] = set()
    for first, last in _LISTED.findall(match["list"]):
        low = int(first) - 1
        high = int(last or first) - 1
        frames.update(clock.span(low, high))
    # "between frames 2 and 6" names the ends alone
    if match[0].lower().startswith(("from", "between")):
        return clock.span(min(frames, default=0), max(frames, default=-1))
    return tuple(sorted(frames))


def _range(match: re.Match[str], clock: Clock) -> Frames | None:
    low = _point(match["low"], clock)
    high = _point(match["high"], clock)
    if low is None or high is None:
        return None
    words = match[0].lower()
    # "at 0:04 and 0:10" are two moments, "between 0:04 and 0:10" is one
    if low and " and " in words and not words.startswith("between"):
        return union([low, high])
    # an end beyond the video: up to its last frame
    last = high[-1] if high else clock.frames - 1
    return clock.span(low[0], last) if low else ()


def _seconds(match: re.Match[str], clock: Clock) -> Frames | None:
    return clock.between(_number(match["first"]), _number(match["last"]))


def _count(match: re.Match[str], clock: Clock) -> Frames | None:
    first = match["side"].lower() in _OPENING
    # "in the first moments" gives no number
    if match["n"] is None or match["unit"] in {"moments", "shots"}:
        return clock.early if first else clock.late
    many = _number(match["n"])
    if match["unit"].lower() == "frames":
        frames = int(many)
        return clock.every[:frames] if first else clock.every[-frames:]
    if clock.times is None:
        return None
    if first:
        return clock.between(0.0, many)
    last = clock.times[-1] if clock.times else 0.0
    return clock.between(last - many, last)


def _open_range(match: re.Match[str], clock: Clock) -> Frames | None:
    point = _point(match["since"] or match["until"], clock)
    # () lies outside and None is not known: neither has a before or an after
    if not point:
        return point
    # "since" and "until" hold at the moment itself, "after" and "before" do not
    apart = match[0].lower().startswith(("after", "before"))
    if match["since"]:
        first = point[-1] + 1 if apart else point[0]
        return clock.every[first:]
    end = point[0] if apart else point[-1] + 1
    return clock.every[:end]


def _half(match: re.Match[str], clock: Clock) -> Frames:
    # of an odd number of frames the middle one is in both halves
    half = clock.frames // 2
    if match["half"] == "first":
        return clock.every[: clock.frames - half]
    return clock.every[half:]


def _edge(match: re.Match[str], clock: Clock) -> Frames:
    word = match["edge"].lower()
    # "last" and "final" have no number of their own
    number = clock.frames
    if word[0].isdigit():
        number = int(word[:-2])
    elif word in _OPENING:
        number = 1
    elif word in _ORDINALS:
        number = _ORDINALS.index(word) + 1
    if match[0].lower().startswith("until"):
        return clock.span(0, number - 1)
    return clock.frame(number - 1)


_VAGUE = {"early", "late"}
_RULES: dict[str, Callable[[re.Match[str], Clock], Frames | None]] = {
    "list": _list,
    "range": _range,
    "seconds": _seconds,
    "count": _count,
    "since": _open_range,
    "until": _open_range,
    "half": _half,
    "edge": _edge,
    "clock": _moment,
    "all": lambda _, clock: clock.every,
    "halfway": lambda _, clock: clock.frame(clock.frames // 2),
    "early": lambda _, clock: clock.early,
    "late": lambda _, clock: clock.late,
}
