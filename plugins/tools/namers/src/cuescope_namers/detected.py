"""Words by a detector: whichever it finds in the cluster's frames, and not in the others."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from cuescope_namers.words import read_words
from cuescope_sdk import Context, Detection, Names, Options, Plugin, UserError, digest
from cuescope_sdk.tools import CachedDetector, FrameGroup, NameGuess


class DetectedOptions(Options):
    """Options of `detected-names`; the part after `detected-names:` is `detector`."""

    argument = "detector"

    detector: Annotated[str, Names.plugin()] = Field(
        description="SPEC of the detector: owl, onnx-detector:FILE"
    )
    detector_options: Annotated[Mapping[str, Any], Names.plugin()] = Field(
        {}, description="options of that tool"
    )
    words: Path | None = Field(
        None,
        description="a file with one name a line; default: those that the detector knows",
    )


def k_scores(
    detections: Sequence[Sequence[Detection]], names: Sequence[str]
) -> np.ndarray:
    """(frame, name): highest box score of a name, 0 without a box (SpurLens, section 4)."""
    best = np.zeros((len(detections), len(names)))
    for row, of_frame in enumerate(detections):
        rising = sorted(of_frame, key=lambda detection: detection.score)
        highest = {detection.name: detection.score for detection in rising}
        best[row] = [highest.get(name, 0.0) for name in names]
    return best


class DetectedNames(Plugin):
    """The name whose best score in a frame is larger in the cluster's frames than in the others.

    Frames are some of each: the most typical of the cluster, and of other clusters.
    """

    Options = DetectedOptions
    options: DetectedOptions

    def __init__(self, options: DetectedOptions, context: Context) -> None:
        super().__init__(options, context)
        self._words = (
            None
            if options.words is None
            else read_words(options.words, "detected-names")
        )
        if not hasattr(self._detector, "detect"):
            raise UserError(
                f"detected-names: tool {options.detector} finds nothing",
                expected="one with detect()",
            )
        detector = getattr(self._detector, "fingerprint", None)
        # names depend on what it finds: without its fingerprint there is none
        self.fingerprint = detector and digest(
            "detected-names", 1, detector, self._words
        )

    @cached_property
    def _detector(self) -> Any:
        return self.context.build(
            "tool", self.options.detector, self.options.detector_options
        )

    @property
    def facts(self) -> Mapping[str, str]:
        return {
            **getattr(self._detector, "facts", {}),
            "names": f"by {self.options.detector}",
        }

    def name_groups(self, groups: Sequence[FrameGroup]) -> list[NameGuess | None]:
        """The name that the detector is surer of in each group than in the rest."""
        names = self._names()
        # cached: the same frames may be asked about again
        finder = CachedDetector(self._detector, self.context)
        requests = []
        for group in groups:
            requests += [(group.frames, names), (group.others, names)]
        answers = iter(finder.detect_all(requests))
        guesses: list[NameGuess | None] = []
        # one iterator twice: it gives inside and outside in turn
        for group, inside, outside in zip(groups, answers, answers, strict=True):
            guess = None
            # without frames on both sides there is nothing to compare
            if group.frames and group.others:
                scores = k_scores(inside, names).mean(axis=0)
                elsewhere = k_scores(outside, names).mean(axis=0)
                guess = NameGuess.best(names, scores, elsewhere)
            guesses.append(guess)
        return guesses

    def _names(self) -> tuple[str, ...]:
        if self._words is not None:
            return self._words
        names = getattr(self._detector, "names", None)
        if not names:
            raise UserError(
                f"detected-names: {self.options.detector} finds whatever is asked for",
                expected="names to ask for",
                remedy="-O tool.namer.words=FILE, one a line",
            )
        # a set has another order in each run
        return tuple(sorted(names))
