"""Consistent accuracy: a question counts as answered where its complement is answered too.

CLAVI, section 5.1 (Rawal et al., 2024): CAcc_V asks for the same question about the complement
video, CAcc_T for the complement question about the same video. A data set says which sample is
the complement of which by `annotations["counterparts"]`, `{"video": key, "text": key}`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from cuescope_quag.options import QUAGOptions
from cuescope_quag.paper import CONSISTENT, paper_rows
from cuescope_quag.tables import few_videos
from cuescope_quag.trials import Answers, Samples, benchmark_of, video_name
from cuescope_sdk import Audit, Cell, Table
from cuescope_sdk.statistics import Estimate, Groups

Complement = Literal["video", "text"]
LETTERS = {"video": "V", "text": "T"}
TURNED = " (Q')"


@dataclass(frozen=True, slots=True)
class ConsistentPair:
    """Two samples that are complements in video or in text, each pair once.

    `subset` is theirs ("control", "complement"), None where none is annotated; `video` names what
    was drawn together. `turned` where the question has a complement, as those of table 3 have.
    """

    complement: Complement
    first: str
    second: str
    subset: str | None
    video: str
    turned: bool = False


Pairs = Sequence[ConsistentPair]


@dataclass(frozen=True, slots=True)
class ConsistentAccuracy:
    """Share of `pairs` of which both are correct, with its interval over `videos`."""

    value: float
    low: float
    high: float
    pairs: int
    videos: int

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def consistent_pairs(samples: Samples) -> tuple[ConsistentPair, ...]:
    """The pairs among these samples, in order; a counterpart that is not among them makes none."""
    keys = {sample.key for sample in samples}
    pairs: dict[tuple[Complement, frozenset[str]], ConsistentPair] = {}
    for sample in samples:
        counterparts = sample.annotations.get("counterparts", {})
        complement: Complement
        for complement in ("video", "text"):
            other = counterparts.get(complement)
            if other in keys:
                # by the annotation: the complement question need not be audited itself
                turned = counterparts.get("text") is not None
                pair = ConsistentPair(
                    complement,
                    sample.key,
                    other,
                    sample.annotations.get("subset"),
                    video_name(sample),
                    turned,
                )
                # Each of the two names the other, and the pair must not count twice.
                pairs.setdefault((complement, frozenset((sample.key, other))), pair)
    return tuple(pairs.values())


def consistent_accuracy(
    correct: Mapping[str, bool],
    pairs: Pairs,
) -> ConsistentAccuracy | None:
    """Accuracy over the pairs of which both samples are in `correct`; None where there is none.

    The interval is of whole videos, since the pairs of one video share its frames and stand or
    fall together.
    """
    both = []
    video_of_pair = []
    for pair in pairs:
        if pair.first in correct and pair.second in correct:
            both.append(correct[pair.first] and correct[pair.second])
            video_of_pair.append(pair.video)
    if not both:
        return None
    right = np.array(both, dtype=float)
    videos, codes = np.unique(video_of_pair, return_inverse=True)
    groups = Groups(codes, len(videos), declared=True)
    share = Estimate.of_mean(right, groups)
    return ConsistentAccuracy(
        share.value,
        share.low,
        share.high,
        len(both),
        len(videos),
    )


# ---------------------------------------------------------------------------------- the report


def attach_consistency(audit: Audit, options: QUAGOptions, answers: Answers) -> None:
    """Table 3 of the paper with a row a condition (section 5.2), and the baseline in words."""
    keys = [sample.key for sample in answers.samples]
    audited = set(keys)
    alone = 0
    for sample in answers.samples:
        counterparts = sample.annotations.get("counterparts", {})
        alone += not audited.issuperset(counterparts.values())
    if alone:
        audit.note(
            "complements left out",
            f"{alone} of {len(answers.samples)} samples: their counterpart is not among the "
            "audited samples, which can be due to --limit",
        )
    groups = group_pairs(consistent_pairs(answers.samples))
    if not groups:
        return
    counts = []
    for pairs in groups.values():
        videos = {pair.video for pair in pairs}
        counts.append(f"{len(pairs)} ({len(videos)})")
    rows: list[Sequence[Cell]] = [("pairs (videos)", *counts)]
    for condition, right in answers.columns.items():
        correct = dict(zip(keys, right.tolist(), strict=True))
        cells = [consistent_accuracy(correct, pairs) for pairs in groups.values()]
        rows.append(
            (condition, *(None if cell is None else str(cell) for cell in cells))
        )
    # other videos follow the recipe of CLAVI, but the paper has no figures of them
    clavi = benchmark_of(audit) == "CLAVI"
    paper = paper_rows(options.beside, CONSISTENT) if clavi else ()
    title = "Consistent accuracy on complements, %"
    columns = ("condition", *groups)
    notes = (_note(options, columns, bool(paper)), *few_videos(answers.groups))
    audit.attach(Table.of(title, columns, rows, *notes, paper=paper))


def group_pairs(pairs: Pairs) -> dict[str, list[ConsistentPair]]:
    """The pairs of each column of table 3 that has any: of either kind, overall and by subset."""
    groups: dict[str, list[ConsistentPair]] = {}
    # in the order of table 3
    for subset, (complement, letter) in product(
        (None, "control", "complement"), LETTERS.items()
    ):
        name = f"CAcc_{letter} {subset}" if subset else f"CAcc_{letter}"
        for pair in pairs:
            if pair.complement == complement and subset in (None, pair.subset):
                groups.setdefault(name, []).append(pair)
    # the other columns hold only pairs that have a complement question
    for name in ("CAcc_V", "CAcc_V control"):
        every = groups.get(name, [])
        members = [pair for pair in every if pair.turned]
        has_control = any(pair.subset == "control" for pair in members)
        # Else the figure is that of the column itself, or of the complement questions.
        if has_control and len(members) < len(every):
            groups[f"{name}{TURNED}"] = members
    return groups


def _note(options: QUAGOptions, columns: Sequence[str], beside_paper: bool) -> str:
    """What the columns are."""
    note = (
        "CAcc_V, consistent accuracy in video: one question is asked about a video and about its "
        "complement (the same actions in the other order). It is the share of such pairs with "
        "both answers right. CAcc_T, consistent accuracy in text: a question and its complement "
        "(before and after, or beginning and end, exchanged) are asked about one video. It is the "
        "share of such pairs with both answers right. Control questions need no order of events."
    )
    if any(column.endswith(TURNED) for column in columns):
        note += (
            " (Q'): only questions that have a complement question Q'. Of CLAVI's control these "
            "are BA-NC. The paper's table 3 counts these alone, as its table 15 shows, though "
            "section 5.1 names E and E-NC as well."
        )
    if beside_paper:
        note += f" In brackets: {options.beside} on CLAVI in the paper."
    return note
