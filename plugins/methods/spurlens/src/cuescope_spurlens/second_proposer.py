"""Whether another proposer names the same cues (appendix E)."""

from collections.abc import Iterator

import numpy as np

from cuescope_sdk import Audit, Evidence, Proposer, Table
from cuescope_sdk.language import THRESHOLDS, BagOfWords, filter_proposals, proposal_agreement
from cuescope_spurlens.cases import Study

CHECK = "second proposer: the cues are named again"
HALF = 0.5


def check_second_proposer(audit: Audit, study: Study, proposer: Proposer) -> Iterator[Evidence]:
    """The share of each class's cues that the other names too, or something close to them."""
    writer = audit.tools.get("text-generator")
    encoder = audit.tools.get("sentence-encoder") or BagOfWords()
    high, low = THRESHOLDS
    columns = ("class", "cues", "same %", "related %")
    rows, shares = [], []
    for label, cues in study.cues.items():
        others, _ = filter_proposals(proposer.propose(label), label, writer)
        found = proposal_agreement(others, cues, encoder)
        same, related = (found[threshold] for threshold in (high, low))
        if same is None or related is None:
            continue
        shares.append(related)
        rows.append(dict(zip(columns, (label, len(cues), 100 * same, 100 * related), strict=True)))
    if not rows:
        return
    compared = getattr(encoder, "title", None) or "the sentence encoder"
    note = f"Cosine of {high:g} or more, and of {low:g}, with a cue of the other; by {compared}."
    audit.attach(Table(title="Second proposer", columns=columns, rows=tuple(rows), notes=(note,)))
    share = float(np.mean(shares))
    yield Evidence(
        check=CHECK, verdict="supported" if share >= HALF else "inconclusive",
        detail=f"of the cues of a class, {share:.0%} are named by the other too, or close to it",
        value=share, threshold=HALF, n=len(rows),
    )  # fmt: skip
