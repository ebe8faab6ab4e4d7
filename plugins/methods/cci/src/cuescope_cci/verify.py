"""Checks of what CCI found: planted backgrounds, and deletion and insertion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_cci.error_source import AnswerSource
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import importance_map
from cuescope_cci.trials import AnsweredImage, answers_about
from cuescope_sdk import Audit, Evidence, Sample, Verdict
from cuescope_sdk.explain import measure_faithfulness
from cuescope_sdk.maths import exceeds_rate_p_value

AGREEMENT = 0.9  # segmenters and patches are coarse, so one error in ten may be called wrongly
FEWEST_ERRORS = 5  # of fewer, a single one moves the agreement by more than a fifth
SIGNIFICANT = 0.05


def evidence(
    audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource]
) -> Iterator[Evidence]:
    """The planted truth where the data has an answer sheet, then faithfulness."""
    if (planted := check_planted(audit.samples, sources)) is not None:
        yield planted
    explainer = AuditedMaps(options, {source.sample.key: source for source in sources})
    steps, images = options.steps, options.faithfulness
    yield from measure_faithfulness(audit, explainer, "CCI", images=images, steps=steps)


@dataclass(frozen=True)
class AuditedMaps:
    """The maps of images that the audit has asked about: their answers are not asked again."""

    options: CCIOptions
    images: Mapping[str, AnsweredImage]

    def maps(
        self, audit: Audit, samples: Sequence[Sample], choices: Sequence[str]
    ) -> Iterator[np.ndarray]:
        """The importance map (row, col) of each canvas sample for its text."""
        images = [self.images[sample.key] for sample in samples]
        about = answers_about(audit, self.options, images, choices)
        for image, text in zip(about, choices, strict=True):
            yield importance_map(image.cluster, image.drops_for(text), self.options.negative)


def check_planted(samples: Sequence[Sample], sources: Sequence[AnswerSource]) -> Evidence | None:
    """Whether errors are called background errors exactly where the planted background misled.

    The answer sheet says "background of LABEL" for the label that a background was planted for: it
    misled where that label is the wrong answer. Where it did so no more often than chance would
    have it, nothing is decided. None without such a sheet, or without errors.
    """
    sheet = {sample.key: sample.annotations.get("cues", {}) for sample in samples}
    # A wrong label that the sheet has no background of could not have been planted.
    wrong = [
        source
        for source in sources
        if source.wrong and source.region and _cue(source) in sheet[source.key]
    ]
    if not wrong:
        return None
    planted = [any(sheet[source.key][_cue(source)]) for source in wrong]
    called = [source.region == "background" for source in wrong]
    agreement = float(np.mean(np.equal(planted, called)))
    # A model that ignores backgrounds still names the planted label by chance; to agree with the
    # sheet would then mean nothing.
    chance = float(np.mean([1 / len(source.sample.choices) for source in wrong]))
    misleads = exceeds_rate_p_value(sum(planted), len(wrong), chance) < SIGNIFICANT
    undecided = len(wrong) < FEWEST_ERRORS or not misleads
    verdict: Verdict = "supported" if agreement >= AGREEMENT else "refuted"
    return Evidence(
        check="planted background",
        verdict="inconclusive" if undecided else verdict,
        detail=f"of {len(wrong)} errors the planted background caused {sum(planted)} "
        f"({'more' if misleads else 'no more'} than by chance); CCI says that {sum(called)} come "
        f"from the background, and agrees on {agreement:.0%} of the errors",
        value=agreement,
        threshold=AGREEMENT,
        n=len(wrong),
    )


def _cue(source: AnswerSource) -> str:
    """The line of the answer sheet that would explain a wrong answer."""
    return f"background of {source.prediction}"
