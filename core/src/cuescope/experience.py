"""What earlier audits took on this computer, and how far it was from what had been foreseen."""

import math
from collections.abc import Sequence

from cuescope.store import ResponseCache

# of a method beside the model: of each, and more for each frame of its samples, less where these
# ask different questions: then methods look at words
OWN_SECONDS = 2.0
FRAME_SECONDS = 0.005
ASKED_FRAME_SECONDS = 0.001
ASKED = 0.9  # of the calls that may follow what a plan knows
# How far a foresight is off, before any was looked at here. Of seconds: the natural logarithm of
# taken over foreseen. Of inputs: their difference, as a share of the most that may be asked.
GUESSED = {"seconds": math.log(3), "inputs": 0.3}
KNOWN = {"seconds": math.log(1.5), "inputs": 0.15}
WEIGHT = 4  # foresights: those guesses count as so many that were looked at
FARTHEST = 2.0  # one that was off by more counts as so much
SHORT = 0.5  # seconds: less is the noise of a clock


def share_asked(
    name: str,
    data: str,
    cache: ResponseCache,
    default: float = ASKED,
    most: float = 1.0,
) -> float:
    """Of what a method asks at most, how much it has asked here so far.

    Where that most is itself a guess, the share may be up to `most`.
    """
    asked = cache.pace(*(f"{kept} asked" for kept in _memory_key(name, data)))
    return default if asked is None else min(asked, most)


def share_said(name: str, data: str, cache: ResponseCache) -> float | None:
    """Of the most that a method said at its first word, how much it has asked here so far."""
    said = cache.pace(*(f"{kept} said" for kept in _memory_key(name, data)))
    return None if said is None else min(said, 1.0)


def own_seconds(
    name: str,
    data: str,
    cache: ResponseCache,
    size: float,
    default: float,
) -> float:
    """What a method takes beside the model, by what it has taken here for each of its `size`.

    Before its first time that is the `default`.
    """
    own = cache.pace(*(f"{kept} own" for kept in _memory_key(name, data)))
    return default if own is None else size * own


def guess_seconds(frames: float, *, asks_questions: bool) -> float:
    """What most methods take beside the model before their first time here."""
    each = ASKED_FRAME_SECONDS if asks_questions else FRAME_SECONDS
    return OWN_SECONDS + each * frames


def has_run(name: str, cache: ResponseCache) -> bool:
    """Whether this method has run here, so that its own seconds are no guess."""
    return cache.pace(f"method {name} own") is not None


def pace_of(name: str, models: Sequence[str], cache: ResponseCache) -> float | None:
    """Seconds of an input as this method asks it, of the first of these models that is known."""
    return cache.pace(*(_pace_key(name, model) for model in models))


def remember(
    name: str,
    data: str,
    models: Sequence[str],
    cache: ResponseCache,
    *,
    asked: tuple[float, float],
    said: tuple[float, float],
    own: tuple[float, float],
    timed: tuple[float, float],
    is_general: bool = True,
) -> None:
    """Keep what a method took, for the next time; what is not `is_general` for this data alone.

    `asked` are inputs of so many at most, `said` of the most that it said at first; `own` are its
    seconds beside the model for its size; `timed` are the seconds of so many inputs, kept for each
    of the names of its model.
    """
    of_data, of_method = _memory_key(name, data)
    for kept in (of_data, of_method) if is_general else (of_data,):
        for what, (taken, size) in {"asked": asked, "said": said, "own": own}.items():
            if size:
                cache.add_pace(f"{kept} {what}", round(size), taken)
    seconds, inputs = timed
    for model in models:
        if inputs:
            cache.add_pace(_pace_key(name, model), round(inputs), seconds)


def doubt(what: str, name: str, cache: ResponseCache, *, known: bool) -> float:
    """How far a foresight of "seconds" or "inputs" of this method is off, as a standard deviation.

    By how far those of all methods were off here, guesses apart from what was `known`, and then by
    those of this method.
    """
    guess = (KNOWN if known else GUESSED)[what]
    kind = _surprise_key(what, known)
    of_all = _root_mean_square(cache.numbers(kind), guess)
    return _root_mean_square(cache.numbers(f"{kind} of {name}"), of_all)


def keep_surprise(
    what: str, name: str, cache: ResponseCache, surprise: float, *, known: bool
) -> None:
    """Keep how far a foresight of this method was off."""
    kind = _surprise_key(what, known)
    held = max(-FARTHEST, min(FARTHEST, surprise))
    for key in (kind, f"{kind} of {name}"):
        cache.add_number(key, held)


def surprise_of_seconds(foreseen: float, taken: float) -> float | None:
    """The logarithm of taken over foreseen; None where both are short."""
    if max(foreseen, taken) < SHORT:
        return None
    return math.log((taken + SHORT / 2) / (foreseen + SHORT / 2))


def _root_mean_square(numbers: Sequence[float], guess: float) -> float:
    squares = WEIGHT * guess**2 + sum(number**2 for number in numbers)
    return math.sqrt(squares / (WEIGHT + len(numbers)))


def _pace_key(name: str, model: str) -> str:
    return f"method {name} of {model}"


def _surprise_key(what: str, known: bool) -> str:
    return f"surprise in {what}, {'known' if known else 'guessed'}"


def _memory_key(name: str, data: str) -> tuple[str, str]:
    # what a method finds, and so what follows, is more alike on the same data
    return f"method {name} on {data}", f"method {name}"
