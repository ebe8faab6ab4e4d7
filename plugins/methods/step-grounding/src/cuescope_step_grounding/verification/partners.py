"""Where each claim is held beside its own place: other videos, other clips, other moments.

Three deals, each costs no model call:

- videos: a trace with the videos of other groups (other source videos, patients, scenes);
- clips: a trace with the other clips of its own group;
- moments: what a step claims at the moments of the other steps of its trace.

In the first, a claim that names what the question of a video names is not held against that video:
a model that only reads the question names it too. Words that all questions of a block share give
nothing away.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat
from math import ceil
from operator import attrgetter
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.random import Generator

from cuescope_sdk import Sample
from cuescope_sdk.grounding import KINDS, Claim, Judgement
from cuescope_sdk.language import normalise_words
from cuescope_step_grounding.beliefs import frames_of_step
from cuescope_step_grounding.claims.contents import flatten
from cuescope_step_grounding.trials import Claims
from cuescope_step_grounding.verification.swaps import FAILS, HOLDS, OPEN, Swaps

Deal = Literal["videos", "clips", "moments"]
DEALS: tuple[Deal, ...] = get_args(Deal)
T = TypeVar("T")
Rng = Callable[..., Generator]  # rng("name") is a generator of its own
Place = tuple[Sample, Claim]
_CODES = {"supported": HOLDS, "unsupported": FAILS}


@dataclass(frozen=True)
class TraceClaims:
    """What a trace claims step by step, and of which sample."""

    sample: Sample
    claims: Claims

    @property
    def group(self) -> str:
        """What was drawn independently; a sample without a group was drawn by itself."""
        # Two kinds of names must not meet: a group may be called as another sample.
        group = self.sample.group
        return f"sample {self.sample.key}" if group is None else f"group {group}"


@dataclass
class Plan:
    """The claims of one deal, each with its places; None is a place that its block has not."""

    claims: list[Claim] = field(default_factory=list)
    places: list[tuple[Place | None, ...]] = field(default_factory=list)
    unit: list[int] = field(default_factory=list)
    # its block, its own place there, and its group
    units: list[tuple[int, int, str]] = field(default_factory=list)

    def add_unit(self, block: int, place: int, group: str) -> int:
        self.units.append((block, place, group))
        return len(self.units) - 1

    def add_claim(
        self,
        claim: Claim,
        unit: int,
        places: Iterable[Place | None],
    ) -> None:
        self.claims.append(claim)
        self.unit.append(unit)
        self.places.append(tuple(places))

    def cases(self) -> Iterator[tuple[Sample, Iterable[Claim]]]:
        """All that has to be judged."""
        for sample, claim in filter(None, chain.from_iterable(self.places)):
            yield sample, (claim,)

    def swaps(self, judgement: Callable[[Sample, Claim], Judgement]) -> Swaps | None:
        """The verdicts in all places; None where there is nothing to swap."""
        if not self.places:
            return None
        most = max(map(len, self.places))
        verdicts = np.full((len(self.places), most), OPEN)
        for row, places in enumerate(self.places):
            for column, place in enumerate(places):
                if place is not None:
                    verdicts[row, column] = _CODES.get(judgement(*place).verdict, OPEN)
        wordings: dict[Claim, int] = {}
        wording = [wordings.setdefault(claim, len(wordings)) for claim in self.claims]
        block, own, group = zip(*self.units, strict=True)
        return Swaps(
            block=np.array(block),
            place=np.array(own),
            verdicts=verdicts,
            wording=np.array(wording),
            unit=np.array(self.unit),
            group=np.unique(group, return_inverse=True)[1],
        )


def plans(traces: Sequence[TraceClaims], partners: int, rng: Rng) -> dict[Deal, Plan]:
    """What each deal has to have judged, with at most so many `partners` for each claim."""
    by_group = defaultdict(list)
    for trace in traces:
        # a trace without claims has nothing that could hold elsewhere
        if any(trace.claims):
            by_group[trace.group].append(trace)
    groups = list(by_group.values())
    return {
        "videos": _videos(groups, partners, rng("swap videos")),
        "clips": _clips(groups, partners, rng("swap clips")),
        "moments": _moments(traces, partners, rng("swap moments")),
    }


def _videos(
    groups: Sequence[Sequence[TraceClaims]],
    partners: int,
    rng: Generator,
) -> Plan:
    """Whole groups, in blocks of groups that are alike in size and question."""
    plan = Plan()
    # shuffled before: the sort is stable, so groups that are alike stay in random order
    alike = sorted(
        _shuffle(groups, rng),
        key=lambda group: (len(group), group[0].sample.question or ""),
    )
    for number, block in enumerate(_blocks(alike, partners)):
        words = list(map(question_words, block))
        shared = set[str].intersection(*words)
        for place, group in enumerate(block):
            unit = plan.add_unit(number, place, group[0].group)
            for position, trace in enumerate(group):
                # another group may have fewer clips
                others = [other[position % len(other)].sample for other in block]
                for claim in distinct_claims(trace.claims):
                    places = list(_in_videos(claim, trace.sample, others))
                    for index, of_question in enumerate(words):
                        if repeats(claim, of_question - shared):
                            places[index] = None
                    plan.add_claim(claim, unit, places)
    return plan


def _clips(
    groups: Sequence[Sequence[TraceClaims]],
    partners: int,
    rng: Generator,
) -> Plan:
    """The clips of each group among themselves; clips of the same frames are one."""
    plan = Plan()
    number = 0
    for group in groups:
        distinct = {}
        for trace in group:
            keys = tuple(map(attrgetter("key"), trace.sample.frames))
            distinct[keys] = trace
        if len(distinct) < 2:
            continue
        for block in _blocks(_shuffle(list(distinct.values()), rng), partners):
            samples = list(map(attrgetter("sample"), block))
            for place, trace in enumerate(block):
                unit = plan.add_unit(number, place, trace.group)
                for claim in distinct_claims(trace.claims):
                    plan.add_claim(
                        claim,
                        unit,
                        _in_videos(claim, trace.sample, samples),
                    )
            number += 1
    return plan


def _moments(traces: Sequence[TraceClaims], partners: int, rng: Generator) -> Plan:
    """The steps of each trace that name a moment, at the moments of each other."""
    plan = Plan()
    number = 0
    for trace in traces:
        sample = trace.sample
        timed = []
        for step in trace.claims:
            named = frames_of_step(step) or ()
            # a step may name none that there is
            moment = tuple(frame for frame in named if 0 <= frame < len(sample.frames))
            if moment:
                timed.append((step, moment))
        # a single moment has none to change places with
        if len({moment for _, moment in timed}) < 2:
            continue
        for block in _blocks(_shuffle(timed, rng), partners):
            for place, (step, _) in enumerate(block):
                unit = plan.add_unit(number, place, trace.group)
                for claim in distinct_claims([step]):
                    # what names no moment is as true of any
                    if claim.frames:
                        moved = (claim.replace(frames=moment) for _, moment in block)
                        plan.add_claim(claim, unit, zip(repeat(sample), moved))
            number += 1
    return plan


def _shuffle(items: Sequence[T], rng: Generator) -> list[T]:
    return list(map(items.__getitem__, rng.permutation(len(items))))


def _blocks(items: Sequence[T], partners: int) -> list[Sequence[T]]:
    """Neighbours together, at most one more than the partners of each, evenly."""
    blocks = ceil(len(items) / (partners + 1))
    edges = [round(len(items) * index / max(blocks, 1)) for index in range(blocks + 1)]
    return [items[low:high] for low, high in pairwise(edges)]


def _in_videos(
    claim: Claim,
    own: Sample,
    samples: Sequence[Sample],
) -> Iterator[Place | None]:
    frames = len(own.frames)
    for sample in samples:
        if frames and sample.frames:
            yield sample, moved_claim(claim, frames, len(sample.frames))
        else:
            yield None


def moved_claim(claim: Claim, frames: int, others: int) -> Claim:
    """The claim of a video of another length: its moments are at the same share of it."""
    if frames == others:
        return claim
    parts = tuple(moved_claim(part, frames, others) for part in claim.parts)
    moment = claim.frames
    if moment:
        # a claim may name frames that its video does not have
        inside = claim.frames_meant(frames)
        # the middle of a frame tells which frame of the other video it falls into
        same_share = {int((frame + 0.5) * others / frames) for frame in inside}
        moment = tuple(sorted(same_share))
    return claim.replace(parts=parts, frames=moment)


def distinct_claims(claims: Iterable[Iterable[Claim]]) -> list[Claim]:
    """Each thing that is claimed once, without the step's words."""
    return list(dict.fromkeys(map(_without_text, chain.from_iterable(claims))))


def _without_text(claim: Claim) -> Claim:
    return claim.replace(
        text="",
        parts=tuple(map(_without_text, claim.parts)),
    )


# ---------------------------------------------------------------------------- what a question tells


def question_words(group: Iterable[TraceClaims]) -> set[str]:
    """The words of the questions and choices of some samples."""
    texts = []
    for trace in group:
        texts.append(trace.sample.question or "")
        texts.extend(trace.sample.choices)
    return _words(" ".join(texts))


def repeats(claim: Claim, told: set[str]) -> bool:
    """Whether a claim names a thing, or a camera's movement, in words of the question alone."""
    for part in flatten([claim]):
        phrases = [part.subject, part.object or ""]
        if "subject" not in KINDS[part.kind].says:
            phrases = [part.predicate or ""]
        for words in filter(None, map(_words, phrases)):
            if words <= told:
                return True
    return False


def _words(text: str) -> set[str]:
    """Words without the s of a plural, so that "cups" are a "cup"."""
    # "bus" is no plural
    singular = re.sub(r"(?<=\w{3})s\b", "", normalise_words(text))
    return set(re.findall(r"\w+", singular))
