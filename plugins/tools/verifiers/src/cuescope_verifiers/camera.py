"""Claims about the camera's own motion: annotated, from poses, or estimated from the frames."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cache, partial
from itertools import pairwise, starmap
from math import cos, degrees, sin
from typing import Literal

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_sdk import Context, Frame, Plugin, Sample, UserError, digest
from cuescope_sdk.grounding import (
    SCENE,
    Case,
    Claim,
    Judgement,
    SceneFrame,
    SceneVerifier,
    judge_claims,
    turn_name,
)
from cuescope_verifiers.boxes import At
from cuescope_verifiers.options import CameraOptions

POSES = "poses"  # an annotation: (x, y, z, heading) of each frame
Picture = Float[np.ndarray, "row col"]  # brightness
Pose = tuple[float, float, float, float]  # metres, z up; radians clockwise from y
STEP = 0.2  # metres
# a shift tells them
FLAT = frozenset({"turn left", "turn right", "look up", "look down", "stop"})
Source = Literal["annotated", "poses", "frames"]
LONGEST = 128  # pixels; larger pictures are made smaller first


class Camera(Plugin):
    """Ego-motion by a scene's `motion`, by poses, else by shifts of the whole picture.

    A shift tells turns and tilts, and nothing of forward and backward. The motion of a frame is
    that since the frame before.
    """

    Options = CameraOptions
    options: CameraOptions

    def __init__(self, options: CameraOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("camera", 1, options)
        self.facts = {"evidence": "annotated, else poses, else shifts of the frames"}
        # samples by where their motion is known from
        self._sources: Counter[Source] = Counter()

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        judgements = [self._judge(sample, claims) for sample, claims in cases]
        by_source = sorted(self._sources.items())
        counts = [f"{source} {count}" for source, count in by_source]
        self.facts["samples, by where motion was known from"] = ", ".join(counts)
        return judgements

    def _judge(self, sample: Sample, claims: Sequence[Claim]) -> list[Judgement]:
        source = source_of(sample)
        self._sources[source] += 1
        evidence = self._evidence(sample, source)

        def at(claim: Claim, index: int) -> Judgement:
            if claim.kind != "ego-motion":
                return Judgement.open("out of vocabulary")
            return evidence(claim, index)

        return judge_claims(claims, len(sample.frames), at)

    def _evidence(self, sample: Sample, source: Source) -> At:
        if source == "annotated":
            # where nothing is annotated every frame is left open
            unknown = [SceneFrame()] * len(sample.frames)
            scene = sample.annotations.get(SCENE) or unknown
            return SceneVerifier.evidence(scene, sample.frames)
        if source == "poses":
            steps = list(starmap(motion_between, pairwise(poses_of(sample))))
            return evidence_of(
                SceneFrame.MOTIONS,
                # the first step leads to the second frame
                lambda at: steps[at - 1],
            )
        # several claims about a moment need its shift once
        motions = cache(partial(self._motions, sample.frames))
        return evidence_of(FLAT, motions)

    def _motions(self, frames: Sequence[Frame], index: int) -> frozenset[str] | None:
        """What the shift since the frame before tells; None where there is no clear one."""
        before = grey(frames[index - 1].load())
        after = grey(frames[index].load())
        # pictures of two sizes cannot be laid over each other
        if before.shape != after.shape:
            return None
        right, down, peak = shift(before, after)
        if peak < self.options.peak:
            return None
        return camera_turn(right, down, self.options.turn)


def source_of(sample: Sample) -> Source:
    # a scene that is closed in "motion" says that the camera stands where it names none
    for frame in sample.annotations.get(SCENE) or ():
        if frame.motion is not None or "motion" in frame.closed:
            return "annotated"
    return "poses" if POSES in sample.annotations else "frames"


def poses_of(sample: Sample) -> tuple[Pose, ...]:
    """The annotated poses, one a frame; raises UserError for others."""
    annotated = sample.annotations.get(POSES, ())
    count = len(sample.frames)
    try:
        poses = np.array(annotated, np.float64).reshape(-1, 4)
    # words, poses of unlike length, or no poses at all
    except (TypeError, ValueError):
        poses = np.empty((0, 4))
    if len(poses) != count or not np.isfinite(poses).all():
        raise UserError(
            f"camera: the poses of sample {sample.key}",
            expected=f"(x, y, z, heading), numbers, for each of its {count} frames",
            got=f"{annotated!r:.60}",
        )
    return tuple((x, y, z, heading) for x, y, z, heading in poses.tolist())


def motion_between(before: Pose, after: Pose) -> frozenset[str]:
    """The motions that lead from one pose to another."""
    heading = before[3]
    right, ahead, up, turned = np.subtract(after, before).tolist()
    # along the heading before the step
    forward = right * sin(heading) + ahead * cos(heading)
    motions = set()
    turn = turn_name(degrees(turned))
    if turn:
        motions.add(turn)
    if abs(forward) > STEP:
        motions.add("move forward" if forward > 0 else "move backward")
    if abs(up) > STEP:
        motions.add("go up" if up > 0 else "go down")
    return frozenset(motions or {"stop"})


def camera_turn(right: float, down: float, least: float) -> frozenset[str]:
    """The motions by which the content goes right and down: the camera turns the other way."""
    motions = set()
    if abs(right) > least:
        motions.add("turn left" if right > 0 else "turn right")
    if abs(down) > least:
        motions.add("look up" if down > 0 else "look down")
    return frozenset(motions or {"stop"})


def evidence_of(
    known: Collection[str], motions: Callable[[int], frozenset[str] | None]
) -> At:
    """Evidence of motions since the frame before; before the first frame there is none.

    `motions` None is an unclear moment, a motion that is not among `known` is never clear.
    """

    def at(claim: Claim, index: int) -> Judgement:
        current = motions(index) if index else frozenset[str]()
        if claim.predicate not in SceneFrame.MOTIONS:
            return Judgement.open("out of vocabulary")
        if current is None or claim.predicate not in known:
            return Judgement.open("no evidence")
        return Judgement.of(claim.predicate in current, frame=index)

    return at


# --------------------------------------------------------------- phase correlation by FFT


def grey(image: Image.Image) -> Picture:
    """Brightness of a picture, at most `LONGEST` pixels a side."""
    small = image.convert("L")
    # a shift is told in shares: size does not matter
    small.thumbnail((LONGEST, LONGEST))
    return np.asarray(small, dtype=np.float64)


def shift(before: Picture, after: Picture) -> tuple[float, float, float]:
    """(right, down) in shares of width and height by which the content moved, and the peak.

    The cross-power spectrum of two pictures of the same content has one sharp peak at the shift
    (Kuglin and Hines, 1975). A Hann window keeps the borders, which do not wrap, from making one
    of their own at no shift. The peak is given in units of the highest that noise is expected to
    have over so many pixels: near 1 for unrelated pictures, many for a clean shift, infinite for
    the same picture.
    """
    if np.array_equal(before, after):
        return 0.0, 0.0, np.inf
    rows, cols = before.shape
    surface = _correlate_phases(before, after)
    row, col = np.unravel_index(surface.argmax(), surface.shape)
    down = _wrap(int(row), rows)
    right = _wrap(int(col), cols)
    # where shifting the whole picture explains no more than leaving it, one thing moved in it
    change_if_shifted = _change(before, after, right, down)
    change_if_left = _change(before, after, 0, 0)
    if change_if_shifted >= change_if_left:
        right = 0
        down = 0
    # the highest of n values of unit-variance noise is near sqrt(2 log n)
    pixels = surface.size
    by_chance = np.sqrt(2 * np.log(pixels) / pixels)
    peak = float(surface.max() / by_chance)
    return right / cols, down / rows, peak


def _correlate_phases(before: Picture, after: Picture) -> Float[np.ndarray, "row col"]:
    """How well each shift of the first explains the second; what goes out comes in again."""
    rows, cols = before.shape
    down = np.hanning(rows)
    across = np.hanning(cols)
    window = np.outer(down, across)
    old = _spectrum(before, window)
    new = _spectrum(after, window)
    cross = new * old.conj()
    size = np.abs(cross)
    # phase alone: each frequency counts the same, none where there is next to nothing of it
    least = 1e-9 * max(size.max(), 1e-12)
    phase = cross / np.maximum(size, least)
    return np.asarray(np.fft.irfft2(phase, s=(rows, cols)))


def _spectrum(picture: Picture, window: Float[np.ndarray, "row col"]) -> np.ndarray:
    # with its mean it would keep the window itself, which peaks at no shift
    centred = picture - picture.mean()
    return np.fft.rfft2(centred * window)


def _wrap(index: int, length: int) -> int:
    """A shift beyond half the length went the other way."""
    return (index + length // 2) % length - length // 2


def _change(before: Picture, after: Picture, right: int, down: int) -> float:
    """Mean difference of what both show once the first is shifted."""
    rows, cols = before.shape
    old = before[_overlap(rows, -down), _overlap(cols, -right)]
    new = after[_overlap(rows, down), _overlap(cols, right)]
    return float(np.abs(new - old).mean())


def _overlap(length: int, step: int) -> slice:
    """What a picture shares with itself that is shifted by so many pixels."""
    return slice(max(step, 0), length + min(step, 0))
