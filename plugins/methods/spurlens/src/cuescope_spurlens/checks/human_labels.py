"""Do people see the cue where the detector does, and are the gaps the same (appendix F)?"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, field_validator

from cuescope_sdk import Audit, Evidence, LabelItem, StoredRun, UserError, nearest
from cuescope_sdk.data import TextFile
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Correlation, Groups, mean_interval
from cuescope_spurlens.analysis import Results
from cuescope_spurlens.answers import yes_rates
from cuescope_spurlens.checks.evidence import judge, judge_share
from cuescope_spurlens.questions import WITH, WITHOUT, with_article
from cuescope_spurlens.spuriosity.cases import Case

AGREES = 0.8  # people agree with the detector in 0.84 to 0.96 (appendix F)
PEARSON = 0.5  # a correlation that would leave most of the gaps unexplained
LEAST = 5  # images with a cue, and without, for a gap by people's labels
WORDS = {"yes": True, "no": False, "1": True, "0": False, "true": True, "false": False}
HumanLabels = Mapping[tuple[str, str], bool]  # image, cue -> is it there


class LabelRow(BaseModel):
    """A line of the file: the key of an image, a cue, and yes or no."""

    image: str
    cue: str
    present: Literal["yes", "no", "1", "0", "true", "false"]

    @field_validator("image", "cue")
    @classmethod
    def _without_apostrophe(cls, text: str) -> str:
        # `cuescope label` puts one before a text that a spreadsheet would run
        return text.removeprefix("'")

    @field_validator("cue", "present", mode="before")
    @classmethod
    def _normalise(cls, text: str) -> str:
        return text.strip().lower()


def read_labels(path: Path) -> HumanLabels:
    """The file's lines `image,cue,present`; raises UserError for a line of another form."""
    rows = TextFile(path.expanduser(), "spurlens: labels").csv_rows(LabelRow)
    return {(row.image, row.cue): WORDS[row.present] for row in rows}


def label_items(run: StoredRun, each: int) -> Iterator[LabelItem]:
    """The first `each` images of both sides of each class's strongest cue (appendix F.1).

    Those that show it most and those that show it least of all, as `answers.parquet` has them.
    """
    # a dict in a dict: an image stands once for its wordings, in its order
    sides: dict[tuple[str, str], dict[str, None]] = {}
    for row in run.answers:
        if row["condition"] in (WITH, WITHOUT) and row["feature"]:
            side = sides.setdefault((row["feature"], row["condition"]), {})
            side[row["sample"]] = None
    for (feature, condition), samples in sides.items():
        # two cuts at most: the name of a cue may hold a slash
        task, _, rest = feature.partition("/")
        _, slash, cue = rest.partition("/")
        # the same images once more, without their object, or a row of somebody else's
        if task not in ("recognition", "hallucination") or not slash:
            continue
        # A bottom has the image that shows the cue least at its end.
        chosen = slice(each) if condition == WITH else slice(-each, None)
        for sample in list(samples)[chosen]:
            # questions have keys of their own; people label the data set's image
            key = sample.removesuffix("/spurlens")
            yield LabelItem(
                question=f"Is there {with_article(cue)} in the image?",
                row={"image": key, "cue": cue},
                column="present",
                answers=("yes", "no"),
                sample=key,
                expected="yes" if condition == WITH else "no",
                kind=f"images {condition}",
            )


def check_keys(audit: Audit, labels: HumanLabels) -> None:
    """Raises UserError for a label of an image that is not audited."""
    audited = {sample.key for sample in audit.samples}
    # a misspelt key would only be a label less, and nobody would see it
    for image, _ in labels:
        if image not in audited:
            raise UserError(
                f"spurlens: the labels name an image '{image}' that is not audited",
                expected="the key of a sample",
                remedy=nearest(image, audited),
            )


def check_human_labels(results: Results, labels: HumanLabels) -> Iterator[Evidence]:
    """Agreement in the top and bottom images, and of the gaps.

    Of a finding that is measured apart these are the images apart.
    """
    agreements = []
    images = []
    gaps = []
    for result in results.cases:
        case = result.case
        rates = yes_rates(results.study.questions(case), results.answers)
        for index, cue in enumerate(case.cues):
            present = _labels_of(case, cue, labels)
            sides = case.side_rows(index)
            if index == result.strongest:
                sides = result.shown_rows
            for rows, expected in zip(sides, (True, False), strict=True):
                for row in filter(present.__contains__, rows):
                    agreements.append(present[row] is expected)
                    # labels of one group's images stand or fall together
                    images.append(case.samples[row].group or case.samples[row].key)
            # Any image that was asked about counts here, for whatever cue it was.
            asked = case.asked_rows.tolist()
            with_cue = rates[[present.get(row) is True for row in asked]]
            without = rates[[present.get(row) is False for row in asked]]
            if min(len(with_cue), len(without)) >= LEAST:
                by_people = float(with_cue.mean() - without.mean())
                gaps.append((float(result.gap[index]), by_people))
    yield _compare_presence(agreements, images)
    yield _compare_gaps(gaps)


def _labels_of(case: Case, cue: str, labels: HumanLabels) -> dict[int, bool]:
    """Whether people see the cue, by row of the images that they labelled for it."""
    return {
        row: labels[sample.key, cue]
        for row, sample in enumerate(case.samples)
        if (sample.key, cue) in labels
    }


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
        verdict=judge_share(low, high, AGREES),
        detail=f"people and detector agree in {share:.0%} of {len(agreements)} labels of images "
        f"that show a cue most or least (95% interval {low:.0%} to {high:.0%}; paper: 84 to 96%)",
        value=share,
        threshold=AGREES,
        n=len(agreements),
    )


def _compare_gaps(gaps: Sequence[tuple[float, float]]) -> Evidence:
    check = "people's labels: are the gaps the same?"
    # A correlation needs three points, and none where all of a side are equal.
    if len(gaps) < 3 or np.ptp(gaps, axis=0).min() == 0:
        pairs = "; ".join(
            f"{gap:.2f}, and {by_people:.2f} by people" for gap, by_people in gaps
        )
        nothing = f"no cue has {LEAST} labelled images with it, and as many without"
        return Evidence(
            check=check,
            verdict="inconclusive",
            n=len(gaps),
            detail=pairs or nothing,
        )
    # Correlated, not subtracted: people's gaps are over other images, so their size differs.
    r, low, high = Correlation.pearson_interval(*np.array(gaps, dtype=float).T)
    return Evidence(
        check=check,
        verdict=judge(low > 0, high < PEARSON),
        detail=f"the correlation is {r:.2f} [{low:.2f}, {high:.2f}] over "
        f"{count_of(len(gaps), 'cues')}; refuted "
        f"where it is surely below {PEARSON:g}",
        value=r,
        threshold=0.0,
        n=len(gaps),
    )
