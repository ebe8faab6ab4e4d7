"""Claims held against how far things are: before and behind, and the camera's way ahead."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Context, Frame, Sample, digest
from cuescope_sdk.grounding import RELATIONS, Claim, Judgement
from cuescope_verifiers.box_geometry import BoxGeometry
from cuescope_verifiers.boxes import At, Box, Boxes
from cuescope_verifiers.options import DepthOptions

Map = Float[np.ndarray, "row col"]
AHEAD = {"move forward": -1, "move backward": 1}  # how depth changes
MIDDLE = 0.5  # of a box or picture: its share of either side that is looked at


class Depth(BoxGeometry):
    """Depth maps of single pictures, as step grounding (section 3.2) has them for embodied tasks.

    Of two things in boxes the nearer is in front. With a metric network the camera goes ahead where
    what is before it comes nearer from frame to frame; others give no scale, and leave that open.
    All else is left to other verifiers (`combined`).
    """

    Options = DepthOptions
    options: DepthOptions
    owner: ClassVar[str] = "depth"

    def __init__(self, options: DepthOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_verifiers.depth_networks import DepthNetwork

        # its files are checked here, before any frame is looked at
        self.network = DepthNetwork(options.model, options.revision, context)
        detected = self.fingerprint
        self.fingerprint = detected and digest(
            self.owner, 1, detected, self.network.fingerprint
        )
        scale = "no scale: the camera's way ahead is left open"
        if self.network.metric:
            scale = "metres"
        self.facts |= self.network.files.facts
        self.facts["depth"] = f"{options.model}, in {scale}"

    def open_weights(self) -> None:
        super().open_weights()
        _ = self.network.files.network

    def names(self, sample: Sample, claims: Sequence[Claim]) -> list[set[str]]:
        """Of two things in depth alone."""
        in_depth = list(filter(_is_in_depth, claims))
        return super().names(sample, in_depth)

    def evidence(self, sample: Sample, boxes: Boxes) -> At:
        of_boxes = super().evidence(sample, boxes)

        def at(claim: Claim, index: int) -> Judgement:
            if _is_in_depth(claim):
                return self._in_depth(sample.frames[index], of_boxes, claim, index)
            if claim.kind == "ego-motion" and claim.predicate in AHEAD:
                return self._ahead(sample, claim, index)
            return Judgement.open("out of vocabulary")

        return at

    def _in_depth(
        self,
        frame: Frame,
        of_boxes: At,
        claim: Claim,
        index: int,
    ) -> Judgement:
        """A thing that is not there is neither before nor behind another."""
        boxes = []
        for phrase in (claim.subject, claim.object or ""):
            thing = Claim(kind="entity", text=claim.text, subject=phrase)
            presence = of_boxes(thing, index)
            if presence.verdict != "supported" or presence.box is None:
                return presence
            boxes.append(presence.box)
        depth = self.network.depth(frame)
        # boxes are in pixels of the frame, and its map may be smaller
        size = frame.load().size
        subject, other = (box_depth(depth, box, size) for box in boxes)
        nearer = is_nearer(depth, subject, other, self.options.nearer)
        if nearer is None:
            return Judgement.open("no evidence")
        claimed_nearer = claim.predicate == "in front of"
        return Judgement.of(nearer == claimed_nearer, frame=index, box=boxes[0])

    def _ahead(self, sample: Sample, claim: Claim, index: int) -> Judgement:
        # without a scale the maps of two frames cannot be compared
        if not self.network.metric or index == 0:
            return Judgement.open("no evidence")
        before = self.network.depth(sample.frames[index - 1])
        after = self.network.depth(sample.frames[index])
        # above 0 where depth changes as the claim says
        change = approach(before, after) * AHEAD[claim.predicate or ""]
        size = abs(change)
        step = self.options.step_ahead
        if size <= step / 2:
            return Judgement.of(False, frame=index)
        # between half a step and a whole one nothing is said
        if size <= step:
            return Judgement.open("no evidence")
        return Judgement.of(change > 0, frame=index)


def _is_in_depth(claim: Claim) -> bool:
    """Whether it says which of two things is nearer; of who holds the camera, boxes tell."""
    relation = RELATIONS.get(claim.predicate or "")
    if claim.kind != "relation" or relation is None:
        return False
    return relation.in_depth and claim.beside_agent is None


def box_depth(depth: Map, box: Box, size: tuple[int, int]) -> float:
    """Median depth in the middle of a box, given in pixels of a picture (width, height)."""
    rows, cols = depth.shape
    width, height = size
    left, top, right, bottom = box
    # from pixels of the picture to those of the map
    across = _middle(left / width * cols, right / width * cols, cols)
    down = _middle(top / height * rows, bottom / height * rows, rows)
    # the median: what is behind the thing may show in the middle of its box too
    return float(np.median(depth[down, across]))


def _middle(low: float, high: float, length: int) -> slice:
    """The middle of a span, at least a pixel wide, within `length`."""
    centre = (low + high) / 2
    half = (high - low) * MIDDLE / 2
    first = int(np.clip(centre - half, 0, length - 1))
    end = int(np.ceil(centre + half))
    # a slice ends where the picture does
    return slice(first, max(end, first + 1))


def is_nearer(depth: Map, subject: float, other: float, least: float) -> bool | None:
    """Whether the first depth is nearer; None where they differ by less than a share `least` of
    the depths of the picture (from its 5th to its 95th hundredth)."""
    low, high = np.percentile(depth, (5, 95))
    if abs(subject - other) <= least * (high - low):
        return None
    return subject < other


def approach(before: Map, after: Map) -> float:
    """Mean change of log depth in the middle of the picture: below 0 where it comes nearer."""
    return _log_depth_ahead(after) - _log_depth_ahead(before)


def _log_depth_ahead(depth: Map) -> float:
    rows, cols = depth.shape
    down = _middle(0, rows, rows)
    across = _middle(0, cols, cols)
    median = np.median(depth[down, across])
    # the floor keeps the logarithm finite where a network says 0
    median = max(median, 1e-6)
    return float(np.log(median))
