"""Claims held against the boxes that a detector finds."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from pydantic import Field

from cuescope_sdk import Context, LazyWeights, Options, Plugin, Sample, UserError, digest
from cuescope_sdk.grounding import Case, Claim, Judgement, judge_claim, per_frame
from cuescope_sdk.tools import CachedDetector, cached_detector
from cuescope_verifiers.boxes import BoxEvidence
from cuescope_verifiers.looking import Found, look
from cuescope_verifiers.phrases import wanted


class BoxOptions(Options):
    """Options of every verifier that looks through a detector."""

    argument: ClassVar[str | None] = "detector"

    detector: str = Field("owl", description="SPEC of the tool that finds boxes: owl:MODEL ...")
    detector_options: Mapping[str, Any] = Field({}, description="options of that tool")
    threshold: float = Field(
        0.1, ge=0, lt=1, description="boxes must score more than this to be evidence"
    )
    step: float = Field(
        0.01, ge=0, lt=1, description="what moves goes further than this from frame to frame, in "
        "widths of the picture",
    )  # fmt: skip


class BoxGeometry(Plugin, LazyWeights):
    """Presence, attributes, places and movement by boxes; the best box of a name is the thing.

    Every phrase of every claim about a frame is asked in one pass of that frame, and what was found
    is remembered. A detector with a closed vocabulary says so by an attribute `names`.
    """

    Options: ClassVar[type[Options]] = BoxOptions
    options: BoxOptions
    owner: ClassVar[str] = "box-geometry"

    def __init__(self, options: BoxOptions, context: Context) -> None:
        super().__init__(options, context)
        self._detector = context.build("tool", options.detector, options.detector_options)
        if not hasattr(self._detector, "detect"):
            raise UserError(
                f"{self.owner}: tool {options.detector} is no detector",
                expected="one with detect()",
            )
        self._vocabulary: frozenset[str] | None = getattr(self._detector, "names", None)
        found_by = getattr(self._detector, "fingerprint", None)
        self.fingerprint: str | None = found_by and digest(
            self.owner, 2, found_by, options.model_dump(exclude={"detector", "detector_options"})
        )
        self.facts = {
            **getattr(self._detector, "facts", {}),
            "evidence": f"boxes of {options.detector} above {options.threshold:g}",
        }

    def open_weights(self) -> None:
        """Open the detector's weights now, if it opens them late."""
        if isinstance(self._detector, LazyWeights):
            self._detector.open_weights()

    @cached_property
    def finder(self) -> CachedDetector:
        """The detector with its memory; `passes` counts the frames that it was shown."""
        return cached_detector(self._detector, self.context)

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """A judgement a claim, for each sample with its claims."""
        asked = [self.asked(sample, claims) for sample, claims in cases]
        found = look(
            self.finder, [sample.frames for sample, _ in cases], asked, self.options.threshold
        )
        return [
            self._judged(sample, claims, self.joined(sample, of_sample))
            for (sample, claims), of_sample in zip(cases, found, strict=True)
        ]

    def asked(self, sample: Sample, claims: Sequence[Claim]) -> list[set[str]]:
        """The names to look for in each frame."""
        return wanted(claims, len(sample.frames), self._vocabulary)

    def joined(self, sample: Sample, found: Found) -> Found:
        """The boxes with their tracks; here there are none."""
        return found

    def _judged(self, sample: Sample, claims: Sequence[Claim], found: Found) -> list[Judgement]:
        frames = len(sample.frames)
        width = sample.frames[0].load().width if frames else 0
        evidence = BoxEvidence(found, frames, self._vocabulary, width, self.options.step * width)
        return [judge_claim(claim, frames, per_frame(evidence.at)) for claim in claims]
