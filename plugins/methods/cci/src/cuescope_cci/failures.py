"""What a data set's wrong answers lean on, by our rule and by the paper's (Figure 1d, Table 4)."""

import csv
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from cuescope_cci.error_source import AnswerSource, answer_sources, factor_words, groups
from cuescope_cci.error_source.regions import segment
from cuescope_cci.options import CCIOptions
from cuescope_cci.tables import share_of
from cuescope_sdk import Audit, Cell, Table
from cuescope_sdk.explain import foreground_of
from cuescope_sdk.maths import iou

RULES = {"": "hidden", ", IoU": "iou"}  # the paper's is the second
MOST_VALUES = 12  # of a factor that has rows of its own


def failures_table(audit: Audit, options: CCIOptions, name: str) -> Table:
    """Shares of the wrong answers, for all images and for each value of each factor."""
    sources = audit.once(answer_sources, audit, options)
    counted = [source for source in sources if source.is_counted]
    title = "What the wrong answers lean on"
    if not counted:
        note = "Left out: no image has both a label and a foreground mask (--tools segmenter=SPEC)."
        return Table(title=title, columns=("images",), rows=(), notes=(note,))
    by_name = groups(counted)
    values = Counter(group.partition("=")[0] for group in by_name)
    rows = [
        _row(factor_words(group) or name, members, options.confidence)
        for group, members in by_name.items()
        if values[group.partition("=")[0]] <= MOST_VALUES
    ]
    own = {row["images"] for row in rows}
    return Table(
        title=title,
        columns=tuple(rows[0]),
        rows=tuple(rows),
        paper=tuple(row for row in paper_failures() if row["images"] in own),
        notes=(
            f"{name}. BG-Er: wrong answers that lean on the background. Fine-Er: those that lean "
            "on an object and name its look-alike. By hiding each region whole, and by the IoU of "
            "the map with each region, as in the paper. In brackets: the paper, CLIP ViT-B/16.",
        ),
    )


def _row(name: str, members: Sequence[AnswerSource], confidence: float) -> dict[str, Cell]:
    wrong = [source for source in members if source.wrong]
    row: dict[str, Cell] = {
        "images": name,
        "wrong %": str(share_of([s.wrong for s in members], members, confidence)),
    }
    for words, rule in RULES.items():
        known = [source for source in wrong if source.by_rule.get(rule)]
        background = [source.by_rule[rule] == "background" for source in known]
        fine = [s.by_rule[rule] == "foreground" and s.alike is True for s in known]
        row[f"BG-Er %{words}"] = str(share_of(background, known, confidence))
        row[f"Fine-Er %{words}"] = str(share_of(fine, known, confidence))
    return row


def paper_failures() -> tuple[dict[str, Cell], ...]:
    """The paper's own: sections 1, 3.1 and 4.2, tables 3 and 4, CLIP ViT-B/16 of OpenAI."""
    text = files(__package__).joinpath("failures.csv").read_text("utf-8")
    return tuple(
        {key: value if key == "images" else float(value) for key, value in row.items() if value}
        for row in csv.DictReader(text.splitlines())
    )


def masks_table(audit: Audit, spec: str) -> Table | None:
    """How well the segmenter's foregrounds fit the data's own masks (appendix A.3); None without.

    The paper has 0.93 for GroundedSAM on ImageNet-S.
    """
    known = [
        (sample, mask) for sample in audit.samples if (mask := foreground_of(sample)) is not None
    ]
    if not known or "segmenter" not in audit.tools:
        return None
    overlaps = [iou(segment(audit, sample), mask) for sample, mask in known]
    return Table(
        title="Foreground masks: the segmenter's against the data's own",
        columns=("segmenter", "images", "mean IoU"),
        rows=({"segmenter": spec, "images": len(known), "mean IoU": float(np.mean(overlaps))},),
        notes=("The paper's GroundedSAM on ImageNet-S: 0.93.",),
        decimals=3,
    )
