"""What people see: does the detector agree, and are the gaps the same (appendix F)?"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, field_validator
from scipy import stats

from cuescope_sdk import Audit, Evidence, UserError, nearest
from cuescope_sdk.data import read_csv
from cuescope_spurlens.scoring import Heard

AGREES = 0.8  # the paper's people agree with its detector in 0.84 to 0.96
LEAST = 5  # images with a cue, and without, for a gap by people's labels
WORDS = {"yes": True, "no": False, "1": True, "0": False, "true": True, "false": False}
Labels = Mapping[tuple[str, str], bool]  # image, cue -> is it there


class LabelRow(BaseModel):
    """A line of the file: the key of an image, a cue, and yes or no."""

    image: str
    cue: str
    present: Literal["yes", "no", "1", "0", "true", "false"]

    @field_validator("cue", "present", mode="before")
    @classmethod
    def _plain(cls, given: str) -> str:
        return given.strip().lower()


def read_labels(path: Path) -> Labels:
    """`image,cue,present` in lines; raises UserError for what is none."""
    rows = read_csv(path.expanduser(), LabelRow, "spurlens: labels")
    return {(row.image, row.cue): WORDS[row.present] for row in rows}


def check_keys(audit: Audit, labels: Labels) -> None:
    """Raises UserError where no image is meant."""
    known = {sample.key for sample in audit.samples}
    for image, _ in labels:
        if image not in known:
            raise UserError(
                f"spurlens: labels of an image '{image}' that is not audited",
                expected="the key of a sample", remedy=nearest(image, known),
            )  # fmt: skip


def check_with_people(heard: Heard, labels: Labels) -> Iterator[Evidence]:
    """Agreement in the top and bottom images, and of the gaps."""
    agreed, pairs = [], []
    for one in heard.cases:
        keys = [sample.key for sample in one.case.samples]
        for place, cue in enumerate(one.case.cues):
            said = {n: labels[key, cue] for n, key in enumerate(keys) if (key, cue) in labels}
            for rows, wanted in ((one.case.top[place], True), (one.case.bottom[place], False)):
                agreed += [said[row] is wanted for row in rows.tolist() if row in said]
            rates = dict(zip(one.case.asked.tolist(), one.rates.tolist(), strict=True))
            sides = [[rates[n] for n in said if n in rates and said[n] is w] for w in (True, False)]
            if min(map(len, sides)) >= LEAST:
                by_people = float(np.mean(sides[0]) - np.mean(sides[1]))
                pairs.append((float(one.gap[place]), by_people))
    yield _agreement(agreed)
    yield _gaps(pairs)


def _agreement(agreed: list[bool]) -> Evidence:
    check = "people's labels: is the cue where the detector sees it?"
    if not agreed:
        return Evidence(check=check, verdict="inconclusive",
                        detail="no labelled image is in the top or bottom of its cue")  # fmt: skip
    share = float(np.mean(agreed))
    return Evidence(
        check=check, verdict="supported" if share >= AGREES else "refuted",
        detail=f"in {share:.0%} of {len(agreed)} labelled images of tops and bottoms (paper: 84 "
        "to 96%)", value=share, threshold=AGREES, n=len(agreed),
    )  # fmt: skip


def _gaps(pairs: list[tuple[float, float]]) -> Evidence:
    check = "people's labels: are the gaps the same?"
    if len(pairs) < 3 or np.ptp(pairs, axis=0).min() == 0:
        told = "; ".join(f"{gap:.2f} and {people:.2f} by people" for gap, people in pairs)
        told = told or f"no cue has {LEAST} labelled images of each kind"
        return Evidence(check=check, verdict="inconclusive", n=len(pairs), detail=told)
    found = stats.pearsonr(*zip(*pairs, strict=True))
    return Evidence(
        check=check, n=len(pairs), value=float(found.statistic), threshold=0.0,
        verdict="supported" if found.pvalue < 0.05 and found.statistic > 0 else "inconclusive",
        detail=f"correlation {found.statistic:.2f} over {len(pairs)} cues (p = {found.pvalue:.3f})",
    )  # fmt: skip
