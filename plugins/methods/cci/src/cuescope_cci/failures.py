"""What a data set's wrong answers rely on, by our rule and by the paper's (Figure 1d, Table 4)."""

from collections import Counter

import numpy as np

from cuescope_cci.error_source import (
    Sources,
    answer_sources,
    by_rule,
    counted_sources,
    factor_words,
    groups,
    wrong_answers,
)
from cuescope_cci.error_source.regions import segment
from cuescope_cci.options import CCIOptions
from cuescope_cci.paper import TableRow, read_rows
from cuescope_cci.report import share_of
from cuescope_cci.scores import iou
from cuescope_sdk import Audit, Table
from cuescope_sdk.explain import foreground_of

RULES = {"": "hidden", ", IoU": "iou"}  # the paper's is the second
MOST_VALUES = 12  # of a factor that has rows of its own


def failures_table(audit: Audit, options: CCIOptions, name: str) -> Table:
    """Shares of the wrong answers, for all images and for each value of each factor."""
    sources = audit.once(answer_sources, audit, options)
    counted = counted_sources(sources)
    title = "What the wrong answers rely on"
    # the other tasks go on: a note says why this one has no figures
    if not counted:
        note = "Left out: no image has both a label and a foreground mask (--tools segmenter=SPEC)."
        return Table.of(title, ("images",), (), note)
    by_name = groups(counted)
    values = Counter(group.partition("=")[0] for group in by_name)
    rows = []
    for group, members in by_name.items():
        if values[group.partition("=")[0]] <= MOST_VALUES:
            images = factor_words(group) or name
            rows.append({"images": images, **_shares(members, options.confidence)})
    shown = {row["images"] for row in rows}
    return Table(
        title=title,
        columns=tuple(rows[0]),
        rows=tuple(rows),
        paper=tuple(row for row in paper_failures() if row["images"] in shown),
        notes=(
            f"{name}. BG-Er: wrong answers that rely on the background. Fine-Er: those that rely "
            "on an object and name a similar class. By hiding each region whole, and by the IoU of "
            "the map with each region, as in the paper. In brackets: the paper, CLIP ViT-B/16.",
        ),
    )


def _shares(members: Sources, confidence: float) -> TableRow:
    wrong = share_of(members, lambda source: source.wrong, confidence)
    shares: TableRow = {"wrong %": str(wrong)}
    for words, rule in RULES.items():
        judged = by_rule(wrong_answers(members), rule)
        background = share_of(judged, lambda source: source.on_background, confidence)
        fine = share_of(judged, lambda source: source.fine_grained, confidence)
        shares[f"BG-Er %{words}"] = str(background)
        shares[f"Fine-Er %{words}"] = str(fine)
    return shares


def paper_failures() -> list[TableRow]:
    """The paper's own: sections 1, 3.1 and 4.2, tables 3 and 4, CLIP ViT-B/16 of OpenAI."""
    return read_rows("failures.csv")


def masks_table(audit: Audit, spec: str) -> Table | None:
    """How well the segmenter's foregrounds fit the data's own masks (appendix A.3); None without.

    The paper has 0.93 for GroundedSAM on ImageNet-S.
    """
    if "segmenter" not in audit.tools:
        return None
    overlaps = []
    for sample in audit.samples:
        mask = foreground_of(sample)
        if mask is not None:
            overlaps.append(iou(segment(audit, sample), mask))
    if not overlaps:
        return None
    return Table.of(
        "Foreground masks: the segmenter's against the data's own",
        ("segmenter", "images", "mean IoU"),
        [(spec, len(overlaps), float(np.mean(overlaps)))],
        "The paper's GroundedSAM on ImageNet-S: 0.93.",
        decimals=3,
    )
