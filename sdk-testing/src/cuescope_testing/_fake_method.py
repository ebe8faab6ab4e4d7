"""A method that finds the planted cue: which corner, hidden, mends the answers?"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from PIL import Image
from pydantic import Field

from cuescope_sdk import (
    Audit,
    Feature,
    Metric,
    Occurrence,
    Options,
    Outcome,
    Plugin,
    Requirements,
    Sample,
    Score,
    Trial,
    hookimpl,
)
from cuescope_sdk.report import contrast
from cuescope_sdk.statistics import (
    Groups,
    PairedFlips,
    benjamini_hochberg,
    paired_flips,
)

# left and top edge of each quarter, as shares of the frame
QUARTERS = {
    "top left": (0.0, 0.0),
    "top right": (0.5, 0.0),
    "bottom left": (0.0, 0.5),
    "bottom right": (0.5, 0.5),
}


class FakeMethodOptions(Options):
    """When a quarter is a finding."""

    min_gain: float = Field(0.03, description="accuracy won by hiding it, at least")
    fdr: float = Field(0.05, description="false discovery rate over all that was tried")


class FakeMethod(Plugin):
    """Hides each quarter of the frames; where answers get better, it was a misleading cue."""

    title = "Fake: quarters of the frame that mislead"
    requires = Requirements(
        outputs=frozenset({"logits"}), may_use=frozenset({"detector"})
    )
    metrics = (
        Metric(
            name="gain",
            title="Gain",
            meaning="accuracy when hidden minus accuracy when shown",
            unit="proportion",
            accuracy_cost=True,
        ),
    )
    leans: ClassVar[bool] = False  # the cue is what a right model leans on
    Options: ClassVar[type[Options]] = FakeMethodOptions
    options: FakeMethodOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The four quarters."""
        for name in QUARTERS:
            places = []
            for sample in audit.samples:
                quarter = region(name, sample.frames[0].load().size)
                places.append(Occurrence(sample=sample.key, region=quarter))
            yield Feature(
                key=name,
                kind="quarter",
                name=f"the {name}",
                occurrences=tuple(places),
            )

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterator[Trial]:
        """Each sample as it is, then with each quarter hidden."""
        for sample in audit.samples:
            yield Trial(sample=sample)
            for feature in features:
                hidden = without(sample, feature.key)
                yield Trial(sample=hidden, feature=feature.key, condition="hidden")

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
        outcomes: Sequence[Outcome],
    ) -> Iterator[Score]:
        """Accuracy won by hiding, for each quarter and label."""
        labels = np.array([sample.label for sample in audit.samples])
        groups = Groups.of(audit.samples)
        shown = correct(outcomes, None)
        rows = []
        for feature in features:
            before = shown
            after = correct(outcomes, feature.key)
            if self.leans:
                # what a hidden cue costs, as a gain
                before, after = after, before
            # sorted: a set has another order in each process
            for label in map(str, sorted(set(labels))):
                # a generator a row: its draws do not depend on how many rows came before
                rng = audit.rng("interval", feature.key, label)
                own = labels == label
                flips = paired_flips(
                    before[own],
                    after[own],
                    groups.take(own),
                    rng,
                    alternative="greater",
                )
                rows.append((feature.key, label, flips))
        # over all rows: every quarter and label was tried
        q_values = benjamini_hochberg([flips.p_value for _, _, flips in rows])
        scores = [self.score(*row, q) for row, q in zip(rows, q_values, strict=True)]
        scores.sort(key=lambda score: (not score.finding, -(score.value or 0)))
        for score in scores:
            if score.finding:
                show(audit, score, outcomes)
        yield from scores

    def score(self, key: str, label: str, flips: PairedFlips, q_value: float) -> Score:
        """One row of the report."""
        value = flips.change
        finding = value >= self.options.min_gain and q_value <= self.options.fdr
        verb = "loses" if self.leans else "gains"
        statement = f"Without {{feature}}, '{label}' {verb} {value:.0%}"
        return Score(
            feature=key,
            label=label,
            metric=self.metrics[0].name,
            value=value,
            low=flips.low,
            high=flips.high,
            n=flips.n,
            p_value=flips.p_value,
            q_value=q_value,
            finding=finding,
            # the contract asks a sentence of findings alone
            statement=statement if finding else None,
        )


class FakeRelianceMethod(FakeMethod):
    """Hides each quarter of the frames; where answers get worse, the model was leaning on it."""

    title = "Fake: quarters of the frame that a correct model relies on"
    metrics = (
        Metric(
            name="loss",
            title="Loss",
            meaning="accuracy when shown minus accuracy when hidden",
            unit="proportion",
            accuracy_cost=True,
        ),
    )
    leans = True


def show(audit: Audit, score: Score, outcomes: Sequence[Outcome]) -> None:
    """Attach samples of the label as they are, beside the same with the quarter hidden."""
    title_of = {None: "as it is", score.feature: "with it hidden"}
    sides: dict[str, list[Outcome]] = {title: [] for title in title_of.values()}
    for outcome in outcomes:
        trial = outcome.trial
        if trial.sample.label == score.label and trial.feature in title_of:
            sides[title_of[trial.feature]].append(outcome)
    if shown := contrast(score.feature, sides, label=score.label):
        audit.attach(shown)


def correct(outcomes: Sequence[Outcome], feature: str | None) -> np.ndarray:
    """True if each sample is answered right with the feature hidden, or as it is (None)."""
    return np.array([o.correct() for o in outcomes if o.trial.feature == feature])


def region(name: str, size: tuple[int, int]) -> tuple[float, float, float, float]:
    """A quarter in pixels (x0, y0, x1, y1)."""
    left, top = QUARTERS[name]
    width, height = size
    return left * width, top * height, (left + 0.5) * width, (top + 0.5) * height


def without(sample: Sample, name: str) -> Sample:
    """The sample with a quarter painted grey."""
    # a module-level function: frames are pickled for workers
    hide = partial(_hide, name=name)
    # by name, so that another quarter has another key
    frames = [frame.derive(f"hide quarter {name}", hide) for frame in sample.frames]
    return sample.with_frames(tuple(frames), f"without {name}")


def _hide(image: Image.Image, name: str) -> Image.Image:
    x0, y0, x1, y1 = map(round, region(name, image.size))
    hidden = image.copy()
    hidden.paste((128, 128, 128), (x0, y0, x1, y1))
    return hidden
