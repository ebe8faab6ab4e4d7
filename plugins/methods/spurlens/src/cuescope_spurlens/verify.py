"""Checks of what was found."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cuescope_sdk import Audit, Detector, Evidence, Proposer
from cuescope_spurlens.adequacy import check_adequacy
from cuescope_spurlens.cases import Study
from cuescope_spurlens.mitigations import compare
from cuescope_spurlens.people import Labels, check_with_people
from cuescope_spurlens.planted import check_planted
from cuescope_spurlens.probe import check_encoder
from cuescope_spurlens.scoring import Heard
from cuescope_spurlens.second import check_second_detector
from cuescope_spurlens.second_proposer import check_second_proposer
from cuescope_spurlens.sensitivity import check_other_k

if TYPE_CHECKING:
    from cuescope_spurlens import SpurLens

UNPARSED = 0.05


def evidence(
    audit: Audit,
    options: "SpurLens.Options",
    study: Study,
    heard: Heard,
    *,
    second: Detector | None,
    proposer: Proposer | None,
    labels: Labels,
) -> Iterator[Evidence]:
    """Every check that the data and the tools allow; nothing where nothing was compared."""
    if not heard.cases:
        return
    yield from check_planted(audit, heard)
    yield from check_other_k(audit, heard)
    if second is not None:
        yield from check_second_detector(audit, options, study, heard, second)
    if proposer is not None:
        yield from check_second_proposer(audit, study, proposer)
    if labels:
        yield from check_with_people(heard, labels)
    yield from check_adequacy(options, study)
    yield from check_encoder(audit, heard)
    yield check_answers(heard)
    if options.mitigation:
        compare(audit, options, study, heard)


def check_answers(heard: Heard) -> Evidence:
    """Words that are neither yes nor no count as no; too many of them tell of the prompt."""
    share = heard.unparsed / len(heard.answers)
    return Evidence(
        check="answers are yes or no",
        verdict="supported" if share <= UNPARSED else "inconclusive",
        detail=f"{share:.1%} of {len(heard.answers):,} answers are neither, and count as no yes",
        value=share, threshold=UNPARSED, n=len(heard.answers),
    )  # fmt: skip
