"""Boxes for the claims of many samples, and what they say: presence, places, movement."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from operator import attrgetter

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Detection, Detector, Frame
from cuescope_sdk.grounding import RELATIONS, Claim, Judgement
from cuescope_sdk.language import normalise_words
from cuescope_verifiers.phrases import Movement, describe, movement, plain_words, query

# by frame and name, best first
Boxes = Mapping[tuple[int, str], Sequence["TrackedBox"]]
Box = tuple[float, float, float, float]
At = Callable[[Claim, int], Judgement]
SAME_THING = 0.8  # of the larger of two boxes is in both


@dataclass(frozen=True)
class TrackedBox:
    """A detection, and the number of its `track`, never 0; None where nothing was tracked."""

    detection: Detection
    track: int | None = None


def find_boxes(
    detector: Detector,
    videos: Sequence[Sequence[Frame]],
    names: Sequence[Sequence[set[str]]],
    threshold: float,
) -> list[Boxes]:
    """For each video the boxes by frame and name, best first; no box, no thing.

    `names` are those to look for in each frame of each video; boxes must score more than
    `threshold`. Each frame is shown to the detector once, for all names.
    """
    detections = _detect_once(detector, videos, names)
    by_video: list[Boxes] = []
    for video, of_video in zip(videos, names, strict=True):
        boxes: dict[tuple[int, str], list[TrackedBox]] = {}
        for index, frame in enumerate(video):
            # also where nothing was found: `tracks` reads each name in each frame
            for name in of_video[index]:
                boxes[index, name] = []
            for detection in detections.get(frame.key, ()):
                place = (index, detection.name)
                if place in boxes and detection.score > threshold:
                    boxes[place].append(TrackedBox(detection))
        by_video.append(boxes)
    return by_video


def _detect_once(
    detector: Detector,
    videos: Sequence[Sequence[Frame]],
    names: Sequence[Sequence[set[str]]],
) -> dict[str, tuple[Detection, ...]]:
    """What is found in each frame, by its key; videos may share frames."""
    frame_of: dict[str, Frame] = {}
    names_of: dict[str, set[str]] = defaultdict(set)
    for video, of_video in zip(videos, names, strict=True):
        for frame, of_frame in zip(video, of_video, strict=True):
            frame_of[frame.key] = frame
            names_of[frame.key] |= of_frame
    # frames with the same names to look for go in one call
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for key, of_frame in names_of.items():
        # of the others nothing is asked, so the detector need not see them
        if of_frame:
            # sorted, so that equal sets are one call
            wanted = tuple(sorted(of_frame))
            alike[wanted].append(key)
    detections: dict[str, tuple[Detection, ...]] = {}
    for wanted, keys in alike.items():
        frames = [frame_of[key] for key in keys]
        answers = detector.detect(frames, wanted)
        detections |= zip(keys, answers, strict=True)
    return detections


@dataclass(frozen=True)
class BoxEvidence:
    """What the boxes of one video say of an undenied claim, frame by frame.

    A thing without a box is not there. With a closed `vocabulary` an adjective is out of it where
    the noun alone was found. `width` is that of the pictures and `step` the least way that counts
    as moving, both in pixels.
    """

    boxes: Boxes
    frames: int
    vocabulary: frozenset[str] | None
    width: int
    step: float

    def at(self, claim: Claim, index: int) -> Judgement:
        judgement = self._at(claim, index)
        if judgement.reason is not None:
            return judgement

        def names_of(phrase: str) -> tuple[str, ...]:
            return query(normalise_words(phrase), self.vocabulary).names

        general = judgement.verdict == "supported" and claim.is_general(names_of)
        return judgement.replace(frame=index, general=general)

    def _at(self, claim: Claim, index: int) -> Judgement:
        subject, predicate, other = plain_words(claim)
        match claim.kind:
            case "entity":
                return self._judge_presence(index, subject)
            case "count":
                return self._judge_count(index, subject, claim)
            case "attribute" if claim.in_sight:
                return self._judge_presence(index, subject)
            case "attribute" if claim.in_sight is False:
                return self._judge_absence(index, subject)
            case "attribute" if how := movement(predicate):
                return self._judge_movement(index, subject, how)
            case "attribute":
                return self._judge_presence(index, describe(subject, predicate))
            case "relation" if beside := claim.beside_agent:
                return self._judge_side(index, *beside)
            case "relation":
                return self._judge_relation(index, subject, predicate, other)
            # a passive may not say who does it
            case "action" if not subject:
                return Judgement.open("unclear reference")
            case "action" if how := movement(predicate):
                return self._judge_movement(index, subject, how)
        return Judgement.open("out of vocabulary")

    # -------------------------------------------------------------------------- presence and place

    def _boxes(self, index: int, phrase: str) -> list[TrackedBox]:
        boxes: list[TrackedBox] = []
        for name in query(phrase, self.vocabulary).names:
            boxes += self.boxes.get((index, name), ())
        return boxes

    def _detections(self, index: int, phrase: str) -> list[Detection]:
        return [box.detection for box in self._boxes(index, phrase)]

    def _of_phrase(self, phrase: str, judgement: Judgement) -> Judgement:
        """The judgement, unless it was not made of the whole phrase.

        With a closed vocabulary "red cup" is looked for as "cup": no cup refutes it, and a cup
        says nothing of its colour.
        """
        of_phrase = query(phrase, self.vocabulary)
        inexact = judgement.verdict == "supported" and not of_phrase.exact
        if inexact or not of_phrase.names:
            return Judgement.open("out of vocabulary")
        return judgement

    def _judge_presence(self, index: int, phrase: str) -> Judgement:
        judgement = Judgement.of(False)
        detections = self._detections(index, phrase)
        if detections:
            best = max(detections, key=attrgetter("score"))
            judgement = _judge(True, best)
        return self._of_phrase(phrase, judgement)

    def _judge_absence(self, index: int, phrase: str) -> Judgement:
        presence = self._judge_presence(index, phrase)
        if presence.verdict == "supported":
            return Judgement.of(False)
        # gone or covered, boxes do not tell
        return Judgement.open("occluded")

    def _judge_count(self, index: int, phrase: str, claim: Claim) -> Judgement:
        detections = self._detections(index, phrase)
        things = count_things([detection.box for detection in detections])
        number = claim.predicate or ""
        # "red cup" was looked for as "cup": too few cups refute it, the rest says nothing
        enough = number.isdecimal() and things >= int(number)
        judgement = self._of_phrase(phrase, Judgement.of(enough))
        if judgement.reason is not None:
            return judgement
        return Judgement.of_count(claim, things)

    def _judge_relation(
        self,
        index: int,
        subject: str,
        relation: str,
        other: str,
    ) -> Judgement:
        spatial = RELATIONS.get(relation)
        if spatial is None or spatial.in_depth:
            return Judgement.open("complex relation")
        detections = []
        for phrase in (subject, other):
            of_phrase = self._detections(index, phrase)
            if not of_phrase:
                return self._judge_presence(index, phrase)
            detections.append(of_phrase)
        judgements = []
        for detection, beside in product(*detections):
            box = detection.box
            # two names may have found one thing, which stands in no relation to itself
            if not overlaps(box, beside.box):
                holds = bool(spatial.holds(box, beside.box))
                judgements.append(Judgement.of(holds, box=box))
        judgement = Judgement.of(False)
        if judgements:
            judgement = Judgement.best(judgements)
        judgement = self._of_phrase(other, judgement)
        return self._of_phrase(subject, judgement)

    def _judge_side(self, index: int, phrase: str, side: str) -> Judgement:
        """Of who holds the camera."""
        detections = self._detections(index, phrase)
        # who is not in the picture may be behind
        if not detections:
            absent = self._judge_presence(index, phrase)
            return absent.seen_from_agent(side, self.width)
        present = map(partial(_judge, True), detections)
        sides = [seen.seen_from_agent(side, self.width) for seen in present]
        return self._of_phrase(phrase, Judgement.best(sides))

    # ------------------------------------------------------------------------------------ movement

    def _judge_movement(self, index: int, phrase: str, how: Movement) -> Judgement:
        """Whether any track does it since the frame before; in the first frame, until the next."""
        if self.frames < 2:
            return Judgement.open("no evidence")
        # before a thing appears, and after it has gone, there is no box of it
        if how in ("appear", "disappear"):
            appearance = self._judge_appearance(index, phrase, how)
            return self._of_phrase(phrase, appearance)
        if not self._boxes(index, phrase):
            return self._judge_presence(index, phrase)
        start = max(index - 1, 0)
        before = self._tracks(start, phrase)
        after = self._tracks(start + 1, phrase)
        judgements = []
        for track, detection in after.items():
            if track in before:
                old = before[track].box
                moved = has_moved(old, detection.box, how, self.step)
                judgements.append(_judge(moved, detection))
        if judgements:
            return self._of_phrase(phrase, Judgement.best(judgements))
        # a track that was lost tells nothing; a thing that was not there did not move
        if before and after:
            return Judgement.open("no evidence")
        return Judgement.of(False)

    def _judge_appearance(self, index: int, phrase: str, how: Movement) -> Judgement:
        """Whether a track begins here, or is in its last frame, or ended in the frame before."""
        # the first and the last frame have no neighbour: nothing has changed there
        previous = max(index - 1, 0)
        following = min(index + 1, self.frames - 1)
        before = self._tracks(previous, phrase)
        now = self._tracks(index, phrase)
        after = self._tracks(following, phrase)
        if how == "appear":
            changed = _missing_from(before, now)
            elsewhere = range(index)
        else:
            changed = _missing_from(after, now) | _missing_from(now, before)
            elsewhere = range(index + 1, self.frames)
        # a track that is missing here and seen elsewhere was only lost for some frames
        for track in self._tracks_in(elsewhere, phrase):
            changed.pop(track, None)
        if not changed:
            return Judgement.of(False)
        first, *_ = changed.values()
        return Judgement.of(True, box=first.box)

    def _tracks_in(self, frames: range, phrase: str) -> set[int]:
        """The tracks that are seen in any of these frames."""
        tracks: set[int] = set()
        for frame in frames:
            tracks.update(self._tracks(frame, phrase))
        # track 0 is whatever is best in a frame, and another thing in another
        return tracks - {0}

    def _tracks(self, index: int, phrase: str) -> dict[int, Detection]:
        """The box of each track; where nothing is tracked the best box alone, as track 0."""
        boxes = self._boxes(index, phrase)
        best_first = sorted(boxes, key=lambda box: -box.detection.score)
        best: dict[int, Detection] = {}
        for box in best_first:
            # the first one stays
            best.setdefault(box.track or 0, box.detection)
        return best


def _judge(holds: bool, detection: Detection) -> Judgement:
    return Judgement.of(holds, box=detection.box, score=detection.score)


def _missing_from(
    others: Mapping[int, Detection], tracks: Mapping[int, Detection]
) -> dict[int, Detection]:
    """The tracks that are not among the others."""
    return {track: box for track, box in tracks.items() if track not in others}


# ------------------------------------------------------------------------------ geometry


def has_moved(before: Box, after: Box, how: Movement, step: float) -> bool:
    """Whether a box went that way: more than `step` pixels, and mainly along that axis."""
    old_centre, new_centre = _corners(before, after).mean(axis=1)
    right, down = map(float, new_centre - old_centre)
    farthest = max(abs(right), abs(down))
    if how in ("any", "none"):
        return (farthest > step) == (how == "any")
    ways = {
        "right": (right, down),
        "left": (-right, down),
        "down": (down, right),
        "up": (-down, right),
    }
    along, across = ways[how]
    # a diagonal is both, and an even one too
    return along > step and along >= abs(across)


def _corners(box: Box, other: Box) -> Float[np.ndarray, "box corner axis"]:
    """Left top and right bottom of two boxes, x and y of each."""
    return np.reshape([box, other], (2, 2, 2))


def count_things(boxes: Sequence[Box]) -> int:
    """How many things the boxes are of: two names may have found the same one."""
    counted: list[Box] = []
    for box in boxes:
        is_counted = any(overlaps(box, other) for other in counted)
        if not is_counted:
            counted.append(box)
    return len(counted)


def overlaps(box: Box, other: Box) -> bool:
    """Whether two boxes are of the same thing: nearly the same place and size."""
    # of both boxes
    left_top, right_bottom = _corners(box, other).swapaxes(0, 1)
    sides = right_bottom.min(axis=0) - left_top.max(axis=0)
    # clipped: of boxes that lie apart on both sides the product would be above 0
    shared = sides.clip(min=0).prod()
    areas = (right_bottom - left_top).prod(axis=1)
    return bool(shared > SAME_THING * areas.max())
