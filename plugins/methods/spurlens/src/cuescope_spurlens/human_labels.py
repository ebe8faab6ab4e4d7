"""Do people see the cue where the detector does, and are the gaps the same (appendix F)?"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, field_validator
from scipy import stats

from cuescope_sdk import Audit, Evidence, UserError, nearest
from cuescope_sdk.data import read_csv
from cuescope_spurlens.scores import Results

AGREES = 0.8  # the paper's people agree with its detector in 0.84 to 0.96
LEAST = 5  # images with a cue, and without, for a gap by people's labels
WORDS = {"yes": True, "no": False, "1": True, "0": False, "true": True, "false": False}
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


def check_human_labels(results: Results, labels: HumanLabels) -> Iterator[Evidence]:
    """Agreement in the top and bottom images, and of the gaps."""
    agreements: list[bool] = []
    gaps: list[tuple[float, float]] = []
    for result in results.cases:
        case = result.case
        keys = [sample.key for sample in case.samples]
        rates = dict(zip(case.asked_rows.tolist(), result.rates.tolist(), strict=True))
        for index, cue in enumerate(case.cues):
            present = {row: labels[k, cue] for row, k in enumerate(keys) if (k, cue) in labels}
            for rows, expected in ((case.top[index], True), (case.bottom[index], False)):
                agreements += [present[row] is expected for row in rows.tolist() if row in present]
            # Any image that was asked about counts here, for whatever cue it was.
            with_cue = [rates[row] for row in present if row in rates and present[row]]
            without = [rates[row] for row in present if row in rates and not present[row]]
            if min(len(with_cue), len(without)) >= LEAST:
                by_people = float(np.mean(with_cue) - np.mean(without))
                gaps.append((float(result.gap[index]), by_people))
    yield _compare_presence(agreements)
    yield _compare_gaps(gaps)


def _compare_presence(agreements: Sequence[bool]) -> Evidence:
    check = "people's labels: is the cue where the detector sees it?"
    if not agreements:
        nothing = "no labelled image is among those that show its cue most or least"
        return Evidence(check=check, verdict="inconclusive", detail=nothing)
    share = float(np.mean(agreements))
    return Evidence(
        check=check,
        verdict="supported" if share >= AGREES else "refuted",
        detail=f"people and detector agree in {share:.0%} of {len(agreements)} labelled images "
        "that show a cue most or least (paper: 84 to 96%)",
        value=share,
        threshold=AGREES,
        n=len(agreements),
    )


def _compare_gaps(gaps: Sequence[tuple[float, float]]) -> Evidence:
    check = "people's labels: are the gaps the same?"
    # A correlation needs three points, and none where all of a side are equal.
    if len(gaps) < 3 or np.ptp(gaps, axis=0).min() == 0:
        pairs = "; ".join(f"{gap:.2f}, and {by_people:.2f} by people" for gap, by_people in gaps)
        nothing = f"no cue has {LEAST} labelled images with it, and as many without"
        return Evidence(check=check, verdict="inconclusive", n=len(gaps), detail=pairs or nothing)
    # Correlated, not subtracted: people's gaps are over other images, so their size differs.
    pearson = stats.pearsonr(*zip(*gaps, strict=True))
    r, p_value = float(pearson.statistic), float(pearson.pvalue)
    return Evidence(
        check=check,
        verdict="supported" if p_value < 0.05 and r > 0 else "inconclusive",
        detail=f"the correlation is {r:.2f} over {len(gaps)} cues (p = {p_value:.3f})",
        value=r,
        threshold=0.0,
        n=len(gaps),
    )
