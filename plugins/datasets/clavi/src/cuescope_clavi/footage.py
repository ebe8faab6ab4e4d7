"""What can be looked at by time: videos on disk, and the clips of another data set."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from cuescope_clavi.curation import Action
from cuescope_sdk import Context, Frame, Sample, UserError, digest
from cuescope_sdk.data import Probe, clip_times, find_videos, frames_at, probe_all

ROUNDING = 1e-6
STEP_OF_FRAMES = 1.0


@dataclass(frozen=True, slots=True)
class Listed:
    """A video with its timed actions, which nobody has opened yet.

    Times are in seconds, and borders move by milliseconds; or in frames, and move by `step` 1.
    """

    video: str
    length: float
    actions: tuple[Action, ...]
    step: float = 0.001


@dataclass(frozen=True, slots=True)
class Footage:
    """`look` gives the frames that are on screen at times; `content` digests what can be seen."""

    look: Callable[[Sequence[float]], tuple[Frame, ...]]
    content: str


def open_videos(
    names: Iterable[str], root: Path, context: Context
) -> tuple[dict[str, Footage], dict[str, str]]:
    """The videos of these names under `root`, and what is wrong with each of the others."""
    wanted = {name: (name,) for name in names}
    files = find_videos(root, wanted, "clavi")
    probes = probe_all(files.values(), context)
    found, problems = {}, {}
    for name in wanted:
        if name not in files:
            problems[name] = "missing"
        elif problem := probes[files[name]].problem:
            problems[name] = f"unreadable: {problem}"
        else:
            probe = probes[files[name]]
            found[name] = Footage(partial(at_seconds, files[name], probe), probe.digest)
    return found, problems


def at_seconds(path: Path, probe: Probe, seconds: Sequence[float]) -> tuple[Frame, ...]:
    """What a video shows at these times: of a time after its end, the last frame."""
    times = clip_times(path, probe)
    shown = np.searchsorted(times, np.array(seconds) + ROUNDING, side="right") - 1
    return frames_at(path, probe, np.maximum(shown, 0).tolist())


def at_positions(frames: tuple[Frame, ...], positions: Sequence[float]) -> tuple[Frame, ...]:
    """The frames of a clip in which these positions fall, frame i being from i to i + 1."""
    return tuple(frames[min(int(place + ROUNDING), len(frames) - 1)] for place in positions)


def clips_of(samples: Iterable[Sample]) -> tuple[list[Listed], dict[str, Footage]]:
    """The samples that have timed actions.

    Their annotation "actions" says (name, first frame, frame after the last) of each. Raises
    UserError for one that is not within the sample.
    """
    listed, footage = [], {}
    for sample in samples:
        if entries := sample.annotations.get("actions"):
            actions = tuple(_action(sample, entry) for entry in entries)
            listed.append(Listed(sample.key, len(sample.frames), actions, STEP_OF_FRAMES))
            content = digest([frame.key for frame in sample.frames])
            footage[sample.key] = Footage(partial(at_positions, sample.frames), content)
    return listed, footage


def action_names(listed: Iterable[Listed]) -> tuple[str, ...]:
    """Every action that occurs, each once, in alphabetical order."""
    return tuple(sorted({action.name for video in listed for action in video.actions}))


def _action(sample: Sample, entry: object) -> Action:
    match entry:
        case (str(name), int(first), int(after)) if 0 <= first <= after <= len(sample.frames):
            return Action(name, float(first), float(after))
    raise UserError(
        f"clavi: an action of {sample.key}",
        expected=f"(name, first frame, frame after the last) within {len(sample.frames)} frames",
        got=repr(entry),
    )
