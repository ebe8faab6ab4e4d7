"""Older: parts of the picture that mislead the model."""

from collections.abc import Iterator, Sequence
from functools import partial

import cuescope_sdk as sdk
from cuescope_sdk.data import independent_samples
from cuescope_sdk.statistics import Groups, benjamini_hochberg, paired_flips
from PIL import Image
from pydantic import Field

PARTS = {"top left": (0, 0), "top right": (1, 0), "bottom left": (0, 1), "bottom right": (1, 1)}


class OlderOptions(sdk.Options):
    """What counts as a finding; add your own options, each with a default and a description."""

    min_gain: float = Field(0.1, description="a finding wins at least this accuracy when hidden")
    fdr: float = Field(0.05, description="false discovery rate over all that was tried")


class Older(sdk.Plugin):
    """Hides each quarter of the frames; where the answers get better, it misled the model."""

    title = "Older: parts of the picture that mislead the model"
    requires = sdk.Requirements(outputs=frozenset({"logits"}))
    metrics = (sdk.Metric(name="gain", title="Gain", meaning="accuracy won by hiding it"),)
    Options = OlderOptions

    @sdk.hookimpl
    def propose_features(self, audit: sdk.Audit) -> Iterator[sdk.Feature]:
        for name in PARTS:
            boxes = {s.key: box_of(name, s.frames[0].load().size) for s in audit.samples}
            places = [sdk.Occurrence(sample=key, region=box) for key, box in boxes.items()]
            yield sdk.Feature(key=name, kind="part", name=f"the {name}", occurrences=tuple(places))

    @sdk.hookimpl
    def perturb(self, audit: sdk.Audit, features: Sequence[sdk.Feature]) -> Iterator[sdk.Trial]:
        for sample in audit.samples:
            yield sdk.Trial(sample=sample)
            for key in (feature.key for feature in features):
                yield sdk.Trial(sample=without(sample, key), feature=key, condition="hidden")

    @sdk.hookimpl
    def compute_scores(
        self, audit: sdk.Audit, features: Sequence[sdk.Feature], outcomes: Sequence[sdk.Outcome]
    ) -> Iterator[sdk.Score]:
        keys, groups = [feature.key for feature in features], Groups.of(audit.samples)
        right = {k: [o.correct() for o in outcomes if o.trial.feature == k] for k in (None, *keys)}
        flips = [paired_flips(right[None], right[key], groups, audit.rng(key)) for key in keys]
        q_values = benjamini_hochberg([flip.p_value for flip in flips])
        rows = zip(keys, flips, q_values, strict=True)
        for key, flip, q in sorted(rows, key=lambda row: -row[1].change):
            found = q is not None and q <= self.options.fdr and flip.change >= self.options.min_gain
            yield sdk.Score(
                feature=key, label=None, metric="gain", value=flip.change, low=flip.low,
                high=flip.high, n=flip.n, p_value=flip.p_value, q_value=q, finding=found,
                statement=f"Hiding {{feature}} wins {flip.change:.0%} accuracy.",
            )  # fmt: skip

    @sdk.hookimpl
    def verify(self, audit: sdk.Audit) -> Iterator[sdk.Evidence]:
        yield from independent_samples(audit)  # how they were drawn


def box_of(name: str, size: tuple[int, int]) -> tuple[int, int, int, int]:
    (col, row), (width, height) = PARTS[name], (size[0] // 2, size[1] // 2)
    return col * width, row * height, (col + 1) * width, (row + 1) * height


def without(sample: sdk.Sample, name: str) -> sdk.Sample:
    frames = [frame.derive(f"grey {name}", partial(greyed, name)) for frame in sample.frames]
    return sample.with_frames(tuple(frames), f"without {name}")


def greyed(name: str, image: Image.Image) -> Image.Image:
    image.paste((128, 128, 128), box_of(name, image.size))
    return image
