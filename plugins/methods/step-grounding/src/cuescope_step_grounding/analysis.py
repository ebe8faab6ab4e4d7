"""What is worked out of rows and traces: findings, their order, where things are named, labels."""

from collections.abc import Sequence

from cuescope_sdk import Audit, Occurrence, Sample
from cuescope_sdk.grounding import Claim
from cuescope_sdk.statistics import benjamini_hochberg
from cuescope_step_grounding.claims.contents import all_claims
from cuescope_step_grounding.rows.keys import NAMED, SGR
from cuescope_step_grounding.rows.rows import Row
from cuescope_step_grounding.trials import Reasoning, baseline_traces
from cuescope_step_grounding.verification.agreement import labelled_claims, read_labels


def rank(rows: Sequence[Row], level: float) -> list[tuple[Row, float | None, bool]]:
    """Each row with its q-value and whether it is a finding; findings first, then by support.

    The tests are corrected for their number (Benjamini and Hochberg). Single things come after
    what is said of the whole.
    """
    ranked = []
    q_values = benjamini_hochberg([row.p_value for row in rows])
    for row, q_value in zip(rows, q_values, strict=True):
        ranked.append(
            (row, q_value, row.large and q_value is not None and q_value <= level)
        )

    def order(part: tuple[Row, float | None, bool]) -> tuple[bool, bool, float]:
        row, _, finding = part
        sgr = row.figures.get(SGR)
        # without a rate there is nothing to worry about: last
        return not finding, row.feature.startswith(NAMED), sgr.value if sgr else 1.0

    return sorted(ranked, key=order)


def occurrences_of(traces: Sequence[Reasoning], name: str) -> tuple[Occurrence, ...]:
    """Where traces name a thing, each trace once."""
    occurrences = []
    for trace in traces:
        entities = [
            claim for claim in all_claims([trace.claims]) if claim.kind == "entity"
        ]
        claims = [claim for claim in entities if claim.subject == name]
        if claims:
            # () means frames that the video does not have, so there is nothing to show
            frame = next((claim.frames[0] for claim in claims if claim.frames), None)
            occurrences.append(Occurrence(sample=trace.sample.key, frame=frame))
    return tuple(occurrences)


def labels_of(audit: Audit) -> list[tuple[Sample, Claim, str]]:
    """The claims that people have labelled, each with its verdict; [] without a file of labels."""
    path = audit.options.labels
    if path is None:
        return []
    traces = audit.once(baseline_traces, audit)
    return labelled_claims(path, audit.once(read_labels, path), traces)
