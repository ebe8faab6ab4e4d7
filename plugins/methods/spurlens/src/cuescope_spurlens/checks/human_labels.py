"""Do people see the cue where the detector does, and are the gaps the same (appendix F)?"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, field_validator

from cuescope_sdk import Audit, Evidence, LabelItem, StoredRun, UserError, nearest
from cuescope_sdk.data import read_csv
from cuescope_sdk.statistics import Groups, mean_interval, pearson_interval
from cuescope_spurlens.figures import side_rows
from cuescope_spurlens.questions import WITH, WITHOUT, with_article
from cuescope_spurlens.scores import CaseResult, Results, spurious_gap_interval

AGREES = 0.8  # the paper's people agree with its detector in 0.84 to 0.96
PEARSON = 0.5  # a correlation that would leave most of the gaps unexplained
LEAST_SPREAD = 0.5  # the cue in so many more images of the top than of the bottom
LEAST = 5  # images with a cue, and without, for a gap by people's labels
WORDS = {"yes": True, "no": False, "1": True, "0": False, "true": True, "false": False}
Verdict = Literal["supported", "refuted", "inconclusive"]
HumanLabels = Mapping[tuple[str, str], bool]  # image, cue -> is it there


class LabelRow(BaseModel):
    """A line of the file: the key of an image, a cue, and yes or no."""

    image: str
    cue: str
    present: Literal["yes", "no", "1", "0", "true", "false"]

    @field_validator("cue", "present", mode="before")
    @classmethod
    def _normalise(cls, text: str) -> str:
        return text.strip().lower()


def read_labels(path: Path) -> HumanLabels:
    """The file's lines `image,cue,present`; raises UserError for a line of another form."""
    rows = read_csv(path.expanduser(), LabelRow, "spurlens: labels")
    return {(row.image, row.cue): WORDS[row.present] for row in rows}


def label_items(run: StoredRun, each: int) -> Iterator[LabelItem]:
    """The first `each` images of both sides of each class's strongest cue (appendix F.1).

    Those that show it most and those that show it least of all, as `answers.parquet` has them.
    """
    sides: dict[tuple[str, str], dict[str, None]] = {}
    for row in run.answers:
        if row["condition"] in (WITH, WITHOUT) and row["feature"]:
            sides.setdefault((row["feature"], row["condition"]), {})[row["sample"]] = None
    for (feature, condition), samples in sides.items():
        task, _, cue = feature.split("/", 2)
        if task not in ("recognition", "hallucination"):
            continue  # the same images once more, without their object
        expected = condition == WITH
        # A bottom has the image that shows the cue least at its end.
        chosen = list(samples)[:each] if expected else list(samples)[-each:]
        for sample in chosen:
            key = sample.removesuffix("/spurlens")
            yield LabelItem(
                question=f"Is there {with_article(cue)} in the image?",
                row={"image": key, "cue": cue},
                column="present",
                answers=("yes", "no"),
                sample=key,
                expected="yes" if expected else "no",
                kind=f"images {condition}",
            )


def check_keys(audit: Audit, labels: HumanLabels) -> None:
    """Raises UserError for a label of an image that is not audited."""
    known = {sample.key for sample in audit.samples}
    for image, _ in labels:
        if image not in known:
            raise UserError(
                f"spurlens: the labels name an image '{image}' that is not audited",
                expected="the key of a sample",
                remedy=nearest(image, known),
            )


def verdict_of_share(low: float | None, high: float | None, threshold: float) -> Verdict:
    """Whether a share is surely at least so large, or surely smaller, by its interval."""
    if low is not None and low >= threshold:
        return "supported"
    return "refuted" if high is not None and high < threshold else "inconclusive"


def check_human_labels(audit: Audit, results: Results, labels: HumanLabels) -> Iterator[Evidence]:
    """Agreement in the top and bottom images, and of the gaps.

    Of a finding that is measured apart these are the images apart.
    """
    agreements: list[bool] = []
    images: list[str] = []
    gaps: list[tuple[float, float]] = []
    for result in results.cases:
        case = result.case
        keys = [sample.key for sample in case.samples]
        rates = dict(zip(case.asked_rows.tolist(), result.rates.tolist(), strict=True))
        for index, cue in enumerate(case.cues):
            present = {row: labels[k, cue] for row, k in enumerate(keys) if (k, cue) in labels}
            sides = [case.rows(case.top[index]), case.rows(case.bottom[index])]
            if index == result.strongest:
                sides = list(side_rows(audit, result))
            for side, expected in zip(sides, (True, False), strict=True):
                rows = [row for row in side if row in present]
                agreements += [present[row] is expected for row in rows]
                images += [case.samples[row].group or keys[row] for row in rows]
            # Any image that was asked about counts here, for whatever cue it was.
            with_cue = [rates[row] for row in present if row in rates and present[row]]
            without = [rates[row] for row in present if row in rates and not present[row]]
            if min(len(with_cue), len(without)) >= LEAST:
                by_people = float(np.mean(with_cue) - np.mean(without))
                gaps.append((float(result.gap[index]), by_people))
    yield _compare_presence(agreements, images)
    yield _compare_gaps(gaps)
    for result in results.findings:
        yield from _correct_gap(audit, result, labels)


def _compare_presence(agreements: Sequence[bool], images: Sequence[str]) -> Evidence:
    check = "people's labels: is the cue where the detector sees it?"
    if not agreements:
        nothing = "no labelled image is among those that show its cue most or least"
        return Evidence(check=check, verdict="inconclusive", detail=nothing)
    agree = np.array(agreements, dtype=float)
    # An image may be labelled for several cues and classes, and counts once.
    names, codes = np.unique(images, return_inverse=True)
    low, high = mean_interval(agree, Groups(codes, len(names), declared=True))
    share = float(agree.mean())
    return Evidence(
        check=check,
        verdict=verdict_of_share(low, high, AGREES),
        detail=f"people and detector agree in {share:.0%} of {len(agreements)} labels of images "
        f"that show a cue most or least (95% interval {low:.0%} to {high:.0%}; paper: 84 to 96%)",
        value=share,
        threshold=AGREES,
        n=len(agreements),
    )


def _correct_gap(audit: Audit, result: CaseResult, labels: HumanLabels) -> Iterator[Evidence]:
    """The gap of a finding between images that have the cue and images that lack it.

    Some images of the top lack the cue and some of the bottom have it, so the gap between top and
    bottom is too small by the difference of the two shares (Rogan and Gladen, 1978). These shares
    are known from people's labels alone, with intervals of their own; all are propagated.
    """
    case, cue = result.case, result.strongest
    sides = []
    for rows in side_rows(audit, result):
        keys = [case.samples[row].key for row in rows]
        sides.append(np.array([labels[k, result.cue] for k in keys if (k, result.cue) in labels]))
    if min(map(len, sides)) < LEAST:
        return
    top, bottom = (side.astype(float) for side in sides)
    gap, (low, high) = float(result.gap[cue]), result.interval[cue].tolist()
    if result.apart is not None:
        gap, low, high = result.apart.gap, result.apart.low, result.apart.high
    spread = float(top.mean() - bottom.mean())
    least, most = spurious_gap_interval(top, bottom, 0.95)
    check = "people's labels: the gap without the detector's errors"
    facts = {"feature": case.feature_key(result.cue), "label": case.label, "check": check}
    if least <= 0:
        yield Evidence(
            verdict="refuted" if most < LEAST_SPREAD else "inconclusive",
            detail=f"{case.label} and {result.cue} ({case.task}): by people's labels the cue is "
            f"in {top.mean():.0%} of the images that show it most, and in {bottom.mean():.0%} of "
            "those that show it least: the detector may not see it at all",
            n=len(top) + len(bottom),
            **facts,
        )
        return
    ends = sorted(end / share for end in (low, high) for share in (least, most))
    yield Evidence(
        verdict="supported" if ends[0] > 0 else "inconclusive",
        detail=f"{case.label} and {result.cue} ({case.task}): {gap / spread:.2f} "
        f"[{ends[0]:.2f}, {min(ends[-1], 1.0):.2f}] in place of {gap:.2f} [{low:.2f}, {high:.2f}]; "
        f"people see the cue in {top.mean():.0%} of the images that show it most and in "
        f"{bottom.mean():.0%} of those that show it least",
        value=min(gap / spread, 1.0),
        threshold=0.0,
        n=len(top) + len(bottom),
        **facts,
    )


def _compare_gaps(gaps: Sequence[tuple[float, float]]) -> Evidence:
    check = "people's labels: are the gaps the same?"
    # A correlation needs three points, and none where all of a side are equal.
    if len(gaps) < 3 or np.ptp(gaps, axis=0).min() == 0:
        pairs = "; ".join(f"{gap:.2f}, and {by_people:.2f} by people" for gap, by_people in gaps)
        nothing = f"no cue has {LEAST} labelled images with it, and as many without"
        return Evidence(check=check, verdict="inconclusive", n=len(gaps), detail=pairs or nothing)
    # Correlated, not subtracted: people's gaps are over other images, so their size differs.
    r, low, high = pearson_interval(*np.array(gaps, dtype=float).T)
    return Evidence(
        check=check,
        verdict="supported" if low > 0 else "refuted" if high < PEARSON else "inconclusive",
        detail=f"the correlation is {r:.2f} [{low:.2f}, {high:.2f}] over {len(gaps)} cues; refuted "
        f"where it is surely below {PEARSON:g}",
        value=r,
        threshold=0.0,
        n=len(gaps),
    )
