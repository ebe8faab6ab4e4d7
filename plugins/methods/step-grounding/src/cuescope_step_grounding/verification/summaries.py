"""What was judged, in words: how many traces and claims, and why some could not be verified."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from operator import attrgetter

from cuescope_sdk import Audit
from cuescope_sdk.report import percent
from cuescope_sdk.statistics import Groups
from cuescope_step_grounding.trials import is_recorded
from cuescope_step_grounding.verification.agreement import VERDICTS
from cuescope_step_grounding.verification.judged import JudgedTraces
from cuescope_step_grounding.verification.judging import has_no_evidence

ADD_VERIFIER = "--tool claim-verifier=box-geometry -O tool.claim-verifier.detector=owl"


def why_unmeasured(audit: Audit, judged: JudgedTraces) -> str:
    """Why no claim is supported or unsupported, and what would help."""
    # the first thing that is missing is told: without it the others are missing too
    steps = map(attrgetter("reasoning.trace.steps"), judged.baselines)
    written = sum(map(bool, steps))
    samples = len(judged.baselines)
    if not written and is_recorded(audit):
        return f"no trace is recorded for any of the {samples} samples"
    if not written:
        return f"none of the {samples} answers contains a reasoning step"
    if not judged.counts.claims:
        return f"the {written} traces claim nothing that can be seen"
    if has_no_evidence(audit):
        return f"there is nothing to hold its claims against. Add a verifier, as {ADD_VERIFIER}"
    return f"none of its claims could be verified ({', '.join(unverifiable_reasons(judged))})"


def unverifiable_reasons(judged: JudgedTraces) -> list[str]:
    """Of the claims that could not be verified the reasons, each with its share."""
    reasons = (judgement.reason for _, _, judgement in judged.claims())
    count = Counter(filter(None, reasons))
    total = count.total()
    return [f"{reason} {percent(n / total)}" for reason, n in count.most_common()]


def describe_traces(judged: JudgedTraces) -> str:
    """How many traces came, in which forms, and what is wrong with some."""
    traces = list(map(attrgetter("reasoning.trace"), judged.baselines))
    written = list(filter(attrgetter("steps"), traces))
    words = f"{len(written)} of {len(traces)} samples"
    if written:
        steps = sum(len(trace.steps) for trace in written)
        forms = _count_words(map(attrgetter("form"), written))
        words += f", with {steps / len(written):.1f} steps on average ({forms})"
    problems = map(attrgetter("problems"), traces)
    malformed = _count_words(chain.from_iterable(problems))
    return f"{words}; malformed, but kept: {malformed}" if malformed else words


def describe_claims(judged: JudgedTraces) -> str | None:
    """How many claims there are, and how many of them are supported; None where there is none."""
    counts = judged.counts
    if not counts.claims:
        return None
    shares = []
    for verdict in VERDICTS:
        share = getattr(counts, verdict) / counts.claims
        shares.append(f"{verdict} {percent(share)}")
    words = f"{counts.claims}: {', '.join(shares)}"
    # () is outside, None names no moment
    frames = [claim.frames for _, claim, _ in judged.claims()]
    if outside := frames.count(()):
        words += f"; {outside} about a moment outside the video"
    return words


def claim_shares(judged: JudgedTraces) -> str:
    """As "Of 88 claims 19% are supported, 10% refuted, and 70% could not be checked"."""
    counts = judged.counts
    words = f"Of {counts.claims} claims {percent(counts.supported / counts.claims)} are supported"
    general = sum(
        judgement.general and judgement.verdict == "supported"
        for _, _, judgement in judged.claims()
    )
    if general:
        words += f" ({percent(general / counts.claims)} by a more general word)"
    return (
        f"{words}, {percent(counts.unsupported / counts.claims)} refuted, and "
        f"{percent(counts.unverifiable / counts.claims)} could not be checked"
    )


def count_groups(groups: Groups) -> str:
    """As "12 groups", "3 that are taken as independent"."""
    if groups.declared:
        return f"{groups.count} {'group' if groups.count == 1 else 'groups'}"
    return f"{groups.count}, taken as independent"


def _count_words(words: Iterable[str]) -> str:
    """ "a 3, b 1", the commonest first."""
    return ", ".join(f"{word} {n}" for word, n in Counter(words).most_common())
