"""Claims about the camera's own motion: annotated, from poses, or estimated from the frames."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise
from math import cos, degrees, sin
from typing import ClassVar, Literal

from pydantic import Field

from cuescope_sdk import Context, Frame, Options, Plugin, Sample, UserError, digest
from cuescope_sdk.grounding import (
    MOTIONS,
    Case,
    Claim,
    Judgement,
    SceneEvidence,
    SceneFrame,
    judge_claim,
    per_frame,
    scene_of,
    turn_name,
)
from cuescope_verifiers.shift import grey, shift

POSES = "poses"  # an annotation: (x, y, z, heading) of each frame
Pose = tuple[float, float, float, float]  # metres, z up; radians clockwise from y
MOVED = 0.2  # metres that are a step
FLAT = frozenset({"turn left", "turn right", "look up", "look down", "stop"})  # a shift tells them
Source = Literal["annotated", "poses", "frames"]
At = Callable[[Claim, int], Judgement]


class CameraOptions(Options):
    """Options of `camera`."""

    source: Literal["first", "annotated", "poses", "frames"] = Field(
        "first",
        description="where motion is known from: annotations, poses or the frames themselves; "
        "the first of them that a sample has",
    )
    turn: float = Field(
        0.02, gt=0, lt=0.5,
        description="frames: the picture shifts by more than this share of its side in a turn",
    )  # fmt: skip
    peak: float = Field(
        1.5, ge=0,
        description="frames: nothing is said where a shift is no clearer than so many times chance",
    )  # fmt: skip


class Camera(Plugin):
    """Ego-motion by a scene's `motion`, by poses, else by shifts of the whole picture.

    A shift tells turns and tilts, and nothing of forward and backward. The motion of a frame is
    that since the frame before.
    """

    Options: ClassVar[type[Options]] = CameraOptions
    options: CameraOptions

    def __init__(self, options: CameraOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("camera", 1, options)
        order = "annotated, else poses, else shifts of the frames"
        self.facts = {"evidence": order if options.source == "first" else options.source}
        self.told_by: Counter[Source] = Counter()  # samples by where their motion was known from

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """A judgement a claim, for each sample with its claims."""
        found = [self._judged(sample, claims) for sample, claims in cases]
        told = (f"{source} {count}" for source, count in sorted(self.told_by.items()))
        self.facts["samples, by where motion was known from"] = ", ".join(told)
        return found

    def _judged(self, sample: Sample, claims: Sequence[Claim]) -> list[Judgement]:
        source = source_of(sample) if self.options.source == "first" else self.options.source
        self.told_by[source] += 1
        look = per_frame(self._evidence(sample, source))
        return [judge_claim(claim, len(sample.frames), look) for claim in claims]

    def _evidence(self, sample: Sample, source: Source) -> At:
        if source == "annotated":
            scene = scene_of(sample) or (SceneFrame(),) * len(sample.frames)
            return _of_motion_alone(SceneEvidence(scene, sample.frames).at)
        if source == "poses":
            poses = poses_of(sample)
            since = [motion_between(*two) for two in pairwise(poses)]
            return _of_motion_alone(told_by(frozenset(MOTIONS), lambda index: since[index - 1]))
        return _of_motion_alone(told_by(FLAT, cache(partial(self._seen, sample.frames))))

    def _seen(self, frames: Sequence[Frame], index: int) -> frozenset[str] | None:
        """What the shift since the frame before tells; None where there is no clear one."""
        before, after = (grey(frame.load()) for frame in frames[index - 1 : index + 1])
        if before.shape != after.shape:
            return None
        right, down, peak = shift(before, after)
        return turned(right, down, self.options.turn) if peak >= self.options.peak else None


def source_of(sample: Sample) -> Source:
    """Where a sample's motion is known from."""
    scene = scene_of(sample) or ()
    if any(frame.motion is not None or "motion" in frame.closed for frame in scene):
        return "annotated"
    return "poses" if POSES in sample.annotations else "frames"


def poses_of(sample: Sample) -> tuple[Pose, ...]:
    """The annotated poses, one a frame; raises UserError for others."""
    poses = tuple(tuple(pose) for pose in sample.annotations.get(POSES, ()))
    if len(poses) != len(sample.frames) or any(len(pose) != 4 for pose in poses):
        raise UserError(
            f"camera: the poses of sample {sample.key}",
            expected=f"(x, y, z, heading) for each of its {len(sample.frames)} frames",
            got=f"{len(poses)} poses",
        )
    return poses


def motion_between(before: Pose, after: Pose) -> frozenset[str]:
    """The motions that lead from one pose to another."""
    right, ahead, up = (new - old for old, new in zip(before[:3], after[:3], strict=True))
    forward = right * sin(before[3]) + ahead * cos(before[3])
    found = {turn_name(degrees(after[3] - before[3]))}
    if abs(forward) > MOVED:
        found.add("move forward" if forward > 0 else "move backward")
    if abs(up) > MOVED:
        found.add("go up" if up > 0 else "go down")
    return frozenset(name for name in found if name) or frozenset({"stop"})


def turned(right: float, down: float, least: float) -> frozenset[str]:
    """The motions by which the content goes right and down: the camera turns the other way."""
    found = set()
    if abs(right) > least:
        found.add("turn left" if right > 0 else "turn right")
    if abs(down) > least:
        found.add("look up" if down > 0 else "look down")
    return frozenset(found or {"stop"})


def told_by(known: frozenset[str], motions: Callable[[int], frozenset[str] | None]) -> At:
    """Evidence of motions since the frame before; before the first frame there is none.

    `motions` None is an unclear moment, a motion that is not among `known` is never clear.
    """

    def at(claim: Claim, index: int) -> Judgement:
        seen = motions(index) if index else frozenset[str]()
        if claim.predicate not in MOTIONS:
            return Judgement.open("out of vocabulary")
        if seen is None or claim.predicate not in known:
            return Judgement.open("no evidence")
        return Judgement.of(claim.predicate in seen, frame=index)

    return at


def _of_motion_alone(at: At) -> At:
    def of_motion(claim: Claim, index: int) -> Judgement:
        if claim.kind != "ego-motion":
            return Judgement.open("out of vocabulary")
        return at(claim, index)

    return of_motion
