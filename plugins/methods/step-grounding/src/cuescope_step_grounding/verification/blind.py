"""The model's own blind self: the same questions, about another video of the same kind of scene.

What a model knows without the video, it says of any video. No other control settles whether its
steps rest on what it was shown: a text that is guessed from the question may fit by the question.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from cuescope_sdk import Audit, Sample
from cuescope_sdk.grounding import TIMES
from cuescope_step_grounding.trials import (
    Reasoning,
    TraceRequest,
    baseline_traces,
    is_recorded,
    trial_of,
)
from cuescope_step_grounding.verification.strata import TraceClaims, by_group, strata
from cuescope_step_grounding.verification.swaps import BlindTrace, moved_claim

CONDITION = "other video"


def blind_requests(audit: Audit) -> list[TraceRequest]:
    """The question of each sample about another video; none of what was recorded."""
    style = audit.options.style
    requests = []
    for sample, other in audit.once(_with_other_video, audit):
        asked = _show(sample, other)
        trial = trial_of(audit, asked, style, CONDITION)
        requests.append(TraceRequest(asked, style, trial))
    return requests


def _with_other_video(audit: Audit) -> list[tuple[Sample, Sample]]:
    """Each sample, and one of the next group of its stratum."""
    if is_recorded(audit) or not audit.options.blind:
        return []
    traces = audit.once(baseline_traces, audit)
    groups = by_group(TraceClaims(trace.sample, trace.claims) for trace in traces)
    if len(groups) < 2:
        return []
    encoder = audit.tools.get("sentence-encoder")
    blocks = strata(groups, audit.options.partners, encoder)
    everyone = list(chain.from_iterable(blocks))
    pairs = []
    for block in blocks:
        # who is alone in its stratum is shown a video of another one
        around = block if len(block) > 1 else everyone
        for group in block:
            others = around[(around.index(group) + 1) % len(around)]
            for position, trace in enumerate(group):
                pairs.append((trace.sample, others[position % len(others)].sample))
    return pairs


def _show(sample: Sample, other: Sample) -> Sample:
    """The question about the other video: all that is known of the own one stays behind."""
    shown = sample.with_frames(other.frames, CONDITION)
    times = other.annotations.get(TIMES)
    return replace(shown, annotations={} if times is None else {TIMES: times})


def blind_traces(
    audit: Audit,
    traces: Iterable[Reasoning],
) -> dict[str, BlindTrace]:
    """By key of a sample what was claimed of the other video, at the same share of its own."""
    claimed = {}
    pairs = audit.once(_with_other_video, audit)
    for (sample, other), trace in zip(pairs, traces, strict=True):
        frames = len(sample.frames)
        claims = tuple(
            tuple(moved_claim(claim, len(other.frames), frames) for claim in step)
            for step in trace.claims
        )
        claimed[sample.key] = BlindTrace(other, claims)
    return claimed
