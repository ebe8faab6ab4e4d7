"""When: the words of a step that name a moment, and the frames that they mean.

People and prompts count frames from 1 ("frame 1" is the first); claims hold indices from 0.
"""

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

Frames = tuple[int, ...]

_PATTERNS = tomllib.loads(files(__package__).joinpath("times.toml").read_text("utf-8"))
_OPENING = frozenset({"first", "opening", "initial"})
_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_ORDINALS = {word: number for number, word in enumerate(_PATTERNS["ordinals"].split(), 1)}
_ORDINALS |= dict.fromkeys(_OPENING, 1)
_PARTS: dict[str, str] = {}
for _name, _pattern in _PATTERNS["parts"].items():
    _PARTS[_name] = _pattern.format(**_PARTS)
_FORMS = {name: "|".join(forms).format(**_PARTS) for name, forms in _PATTERNS["forms"].items()}
_MENTIONS = re.compile(
    "|".join(rf"(?P<{name}_>\b(?:{form})(?!\w))" for name, form in _FORMS.items()), re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
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
        inside = tuple(i for i, time in enumerate(self.times) if first <= time <= last)
        return inside or self._nearest((first + last) / 2)

    def span(self, first: int, last: int) -> Frames:
        """The frames first to last, as far as there are."""
        return tuple(range(max(first, 0), min(last, self.frames - 1) + 1))

    def _nearest(self, second: float) -> Frames:
        times = self.times or ()
        # Up to the distance of two frames beyond the last one a second is still in the video.
        apart = max((b - a for a, b in pairwise(times)), default=1.0)
        if not times or not times[0] - apart <= second <= times[-1] + apart:
            return ()
        return (min(range(len(times)), key=lambda i: abs(times[i] - second)),)

    @property
    def early(self) -> Frames:
        """The first quarter of the frames, rounded up."""
        return self.span(0, self._quarter - 1)

    @property
    def middle(self) -> Frames:
        """What is neither in the first nor in the last quarter."""
        inner = self.span(self._quarter, self.frames - self._quarter - 1)
        return inner or self.span(self.frames // 2, self.frames // 2)

    @property
    def late(self) -> Frames:
        """The last quarter of the frames, rounded up."""
        return self.span(self.frames - self._quarter, self.frames - 1)

    @property
    def every(self) -> Frames:
        return self.span(0, self.frames - 1)

    @property
    def _quarter(self) -> int:
        return -(-self.frames // 4)


@dataclass(frozen=True, slots=True)
class Mention:
    """Words at [start, end) of a text that name a moment; its frames are None where it has no
    place in the video for want of times, and () where it lies outside."""

    start: int
    end: int
    frames: Frames | None


def mentions(text: str, clock: Clock) -> list[Mention]:
    """Every moment that a text names, in order."""
    # The group of a whole form closes last, so that it names the form.
    matches = [(match, (match.lastgroup or "")[:-1]) for match in _MENTIONS.finditer(text)]
    exact = any(form not in _VAGUE for _, form in matches)
    return [
        # "around frame 6, he finally finds": the number tells, "finally" only the order
        Mention(m.start(), m.end(), None if exact and form in _VAGUE else _RULES[form](m, clock))
        for m, form in matches
    ]


def frames_meant(words: str, clock: Clock) -> Frames | None:
    """The frames that words mean: all moments that they name; None where they name none."""
    return union(mention.frames for mention in mentions(words, clock))


def union(moments: Iterable[Frames | None]) -> Frames | None:
    """All frames of several moments; None where none has a place."""
    placed = [frames for frames in moments if frames is not None]
    return tuple(sorted({frame for frames in placed for frame in frames})) if placed else None


def are_contradictory(moments: list[Frames | None]) -> bool:
    """Whether two moments told of the same happening share no frame."""
    placed = [set(frames) for frames in moments if frames is not None]
    return any(frames.isdisjoint(other) for frames, other in pairwise(placed))


def _number(word: str) -> float:
    return float(_WORDS.index(word.lower())) if word.lower() in _WORDS else float(word)


def _point(words: str, clock: Clock) -> Frames | None:
    """One moment: a frame by number, a time, or a part of the video."""
    words = words.lower()
    if re.fullmatch(_PARTS["at_frame"], words):
        # People count frames from 1; "frame 0" means none.
        index = int(re.findall(r"\d+", words)[-1]) - 1
        return clock.span(index, index) if index >= 0 else ()
    if match := re.search(_PARTS["clock"], words):
        parts = [float(part) for part in match[0].split(":")]
        second = sum(part * 60**power for power, part in enumerate(reversed(parts)))
        return clock.between(second, second)
    if match := re.search(rf"\b{_PARTS['number']}", words):
        return clock.between(_number(match[0]), _number(match[0]))
    if "middle" in words or "midpoint" in words:
        return clock.middle
    return clock.late if "end" in words else clock.early


def _moment(match: re.Match[str], clock: Clock) -> Frames | None:
    words = match["clock"] or match["bare"]
    return _point(words or f"second {match['stamp']}", clock)


def _list(match: re.Match[str], clock: Clock) -> Frames:
    indices: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:(?: to | through | ?[-–] ?)(\d+))?", match["list"]):
        indices.update(clock.span(int(first) - 1, int(last or first) - 1))
    words = match[0].lower()
    if words.startswith(("from", "between")):
        return clock.span(min(indices, default=0), max(indices, default=-1))
    return tuple(sorted(indices))


def _range(match: re.Match[str], clock: Clock) -> Frames | None:
    low, high = _point(match["low"], clock), _point(match["high"], clock)
    if low is None or high is None:
        return None
    if not low:
        return ()
    if " and " in match[0].lower() and not match[0].lower().startswith("between"):
        return tuple(sorted({*low, *high}))
    return clock.span(low[0], high[-1] if high else clock.frames - 1)


def _count(match: re.Match[str], clock: Clock) -> Frames | None:
    first = match["side"].lower() in _OPENING
    if match["n"] is None or match["unit"] in {"moments", "shots"}:
        return clock.early if first else clock.late
    many = _number(match["n"])
    if match["unit"].lower() == "frames":
        return clock.every[: int(many)] if first else clock.every[-int(many) :]
    if clock.times is None:
        return None
    last = clock.times[-1] if clock.times else 0.0
    return clock.between(0.0, many) if first else clock.between(last - many, last)


def _since(match: re.Match[str], clock: Clock) -> Frames | None:
    point = _point(match["since"], clock)
    after = match[0].lower().startswith("after")
    return clock.span(point[-1] + 1 if after else point[0], clock.frames - 1) if point else point


def _until(match: re.Match[str], clock: Clock) -> Frames | None:
    point = _point(match["until"], clock)
    before = match[0].lower().startswith("before")
    return clock.span(0, point[0] - 1 if before else point[-1]) if point else point


def _half(match: re.Match[str], clock: Clock) -> Frames:
    half = clock.frames // 2
    return clock.every[: clock.frames - half] if match["half"] == "first" else clock.every[half:]


def _edge(match: re.Match[str], clock: Clock) -> Frames:
    word = match["edge"].lower()
    number = int(word[:-2]) if word[0].isdigit() else _ORDINALS.get(word)
    index = clock.frames - 1 if number is None else number - 1
    if match[0].lower().startswith("until"):
        return clock.span(0, index)
    return clock.span(index, index)


_VAGUE = frozenset({"early", "late"})
_RULES: dict[str, Callable[[re.Match[str], Clock], Frames | None]] = {
    "list": _list,
    "range": _range,
    "seconds": lambda match, clock: clock.between(_number(match["first"]), _number(match["last"])),
    "count": _count,
    "since": _since,
    "until": _until,
    "half": _half,
    "edge": _edge,
    "clock": lambda match, clock: _moment(match, clock),
    "all": lambda _, clock: clock.every,
    "halfway": lambda _, clock: clock.span(clock.frames // 2, clock.frames // 2),
    "early": lambda _, clock: clock.early,
    "late": lambda _, clock: clock.late,
}
