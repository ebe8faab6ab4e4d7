"""Claims held against the boxes that a detector finds."""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

from cuescope_sdk import Context, LazyWeights, Plugin, Sample, UserError, digest
from cuescope_sdk.grounding import Case, Claim, Judgement, judge_claims
from cuescope_sdk.tools import CachedDetector
from cuescope_verifiers.boxes import At, Boxes, BoxEvidence, find_boxes
from cuescope_verifiers.options import BoxOptions
from cuescope_verifiers.phrases import names_by_frame


class BoxGeometry(Plugin, LazyWeights):
    """Presence, attributes, places and movement by boxes; the best box of a name is the thing.

    Every phrase of every claim about a frame is asked in one pass of that frame, and what was found
    is remembered. A detector with a closed vocabulary says so by an attribute `names`.
    """

    Options = BoxOptions
    options: BoxOptions
    owner: ClassVar[str] = "box-geometry"

    def __init__(self, options: BoxOptions, context: Context) -> None:
        super().__init__(options, context)
        self._detector = context.build(
            "tool", options.detector, options.detector_options
        )
        if not hasattr(self._detector, "detect"):
            raise UserError(
                f"{self.owner}: tool {options.detector} is no detector",
                expected="one with detect()",
            )
        self._vocabulary: frozenset[str] | None = getattr(self._detector, "names", None)
        # what a detector without a fingerprint finds cannot be remembered, nor what rests on it
        detector = getattr(self._detector, "fingerprint", None)
        self.fingerprint: str | None = detector and digest(
            self.owner,
            3,
            detector,
            options.model_dump(exclude={"detector", "detector_options"}),
        )
        self.facts = {
            **getattr(self._detector, "facts", {}),
            "evidence": f"boxes of {options.detector} above {options.threshold:g}",
        }

    def open_weights(self) -> None:
        if isinstance(self._detector, LazyWeights):
            self._detector.open_weights()

    @cached_property
    def finder(self) -> CachedDetector:
        """The detector with its memory; `passes` counts the frames that it was shown."""
        return CachedDetector(self._detector, self.context)

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        names = [self.names(sample, claims) for sample, claims in cases]
        videos = [sample.frames for sample, _ in cases]
        boxes = find_boxes(self.finder, videos, names, self.options.threshold)
        judgements = []
        for (sample, claims), of_sample in zip(cases, boxes, strict=True):
            joined = self.join(sample, of_sample)
            evidence = self.evidence(sample, joined)
            judgements.append(judge_claims(claims, len(sample.frames), evidence))
        return judgements

    def names(self, sample: Sample, claims: Sequence[Claim]) -> list[set[str]]:
        return names_by_frame(claims, len(sample.frames), self._vocabulary)

    def join(self, sample: Sample, boxes: Boxes) -> Boxes:
        """The boxes with their tracks; here there are none."""
        return boxes

    def evidence(self, sample: Sample, boxes: Boxes) -> At:
        """Judges an undenied claim in one frame."""
        frames = len(sample.frames)
        width = sample.frames[0].load().width if frames else 0
        # a share of the picture's width, so that its resolution does not count
        step = self.options.step * width
        return BoxEvidence(boxes, frames, self._vocabulary, width, step).at
