"""Where each claim is held beside its own place: other videos, other clips, other moments.

Deals, each costs no model call:

- videos: a trace with the videos of other groups (other source videos, patients, scenes) that show
  the same kind of scene;
- opening: the same, for what the first frame of a video does not show already;
- clips: a trace with the other clips of its own group;
- moments: what a step claims at the moments of the other steps of its trace;
- blind: the trace and one that the same model wrote about another video, both in the same places,
  of which the last is that other video.

In all but clips and moments, a claim that names what the question of a video names is not held
against that video: a model that only reads the question names it too. Words that all questions of a
block share give nothing away.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, pairwise, repeat
from math import ceil
from operator import attrgetter
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.random import Generator

from cuescope_sdk import Sample, SentenceEncoder
from cuescope_sdk.grounding import Claim, ClaimKind, Judgement
from cuescope_sdk.language import normalise_words
from cuescope_step_grounding.beliefs import frames_of_step
from cuescope_step_grounding.claims.contents import flatten
from cuescope_step_grounding.trials import Claims
from cuescope_step_grounding.verification.likeness import Distances, distances, kinds
from cuescope_step_grounding.verification.swaps import FAILS, HOLDS, OPEN, Swaps

Deal = Literal["videos", "opening", "clips", "moments", "blind"]
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


@dataclass(frozen=True)
class BlindTrace:
    """What the same model claims where it is `shown` another video than that of its question."""

    shown: Sample
    claims: Claims


@dataclass
class Plan:
    """The claims of one deal, each with its places; None is a place that its block has not.

    Beyond the `opening` nothing is known of a claim where the first frame shows it already.
    """

    opening: bool = False
    claims: list[Claim] = field(default_factory=list)
    places: list[tuple[Place | None, ...]] = field(default_factory=list)
    unit: list[int] = field(default_factory=list)
    # its block, its own place there, its group, and the place of what a blind trace was shown
    units: list[tuple[int, int, str, int]] = field(default_factory=list)

    def add_unit(self, block: int, place: int, group: str, shown: int = 0) -> int:
        self.units.append((block, place, group, shown))
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

    def add_claims(
        self,
        claims: Claims,
        unit: int,
        own: Sample,
        samples: Sequence[Sample],
        given_away: Iterable[Set[str]] = repeat(frozenset()),
    ) -> None:
        """Each claim of a sample, held in each of the samples."""
        for claim in distinct_claims(claims):
            if self.opening and claim.frames == (0,):
                # else nothing that it says could be beyond the first frame
                claim = claim.replace(frames=None)
            places = _in_videos(claim, own, samples, given_away)
            self.add_claim(claim, unit, places)

    def cases(self) -> Iterator[tuple[Sample, Iterable[Claim]]]:
        """All that has to be judged."""
        for sample, claim in filter(None, chain.from_iterable(self.places)):
            yield sample, (claim, at_opening(claim)) if self.opening else (claim,)

    def _code(
        self,
        judgement: Callable[[Sample, Claim], Judgement],
        place: Place,
    ) -> int:
        sample, claim = place
        code = _CODES.get(judgement(sample, claim).verdict, OPEN)
        if self.opening and code == HOLDS:
            shown_first = judgement(sample, at_opening(claim)).verdict
            return OPEN if shown_first == "supported" else HOLDS
        return code

    def swaps(self, judgement: Callable[[Sample, Claim], Judgement]) -> Swaps | None:
        """The verdicts in all places; None where there is nothing to swap."""
        if not self.places:
            return None
        most = max(map(len, self.places))
        verdicts = np.full((len(self.places), most), OPEN)
        for row, places in enumerate(self.places):
            for column, place in enumerate(places):
                if place is not None:
                    verdicts[row, column] = self._code(judgement, place)
        wordings: dict[Claim, int] = {}
        wording = [wordings.setdefault(claim, len(wordings)) for claim in self.claims]
        block, own, group, shown = zip(*self.units, strict=True)
        return Swaps(
            block=np.array(block),
            place=np.array(own),
            verdicts=verdicts,
            wording=np.array(wording),
            unit=np.array(self.unit),
            group=np.unique(group, return_inverse=True)[1],
            shown=np.array(shown),
        )


def plans(
    traces: Sequence[TraceClaims],
    partners: int,
    rng: Rng,
    *,
    encoder: SentenceEncoder | None = None,
    blind: Mapping[str, BlindTrace] | None = None,
) -> dict[Deal, Plan]:
    """What each deal has to have judged, with at most so many `partners` for each claim.

    The `encoder` tells how alike questions are; without one their words do. `blind` has blind
    traces by the key of the sample whose question they answer.
    """
    groups = by_group(traces)
    shuffled = _shuffle(groups, rng("swap videos"))
    unlike = group_distances(shuffled, encoder)
    alike = _of_kinds(shuffled, kinds(unlike), partners)
    # What was claimed blindly is compared with what was not, so that no kind is mixed up.
    near = _of_kinds(shuffled, kinds(unlike, cut=False), partners)
    return {
        "videos": _videos(alike, Plan()),
        "opening": _videos(alike, Plan(opening=True)),
        "clips": _clips(groups, partners, rng("swap clips")),
        "moments": _moments(traces, partners, rng("swap moments")),
        "blind": _blind(near, blind or {}),
    }


def _of_kinds(
    items: Sequence[T],
    indices: Iterable[Sequence[int]],
    partners: int,
) -> list[Sequence[T]]:
    """Blocks of one kind each."""
    blocks: list[Sequence[T]] = []
    for kind in indices:
        blocks += _blocks([items[index] for index in kind], partners)
    return blocks


def by_group(traces: Iterable[TraceClaims]) -> list[list[TraceClaims]]:
    groups = defaultdict(list)
    for trace in traces:
        # a trace without claims has nothing that could hold elsewhere
        if any(trace.claims):
            groups[trace.group].append(trace)
    return list(groups.values())


def group_distances(
    groups: Sequence[Sequence[TraceClaims]],
    encoder: SentenceEncoder | None,
) -> Distances:
    described = [[(trace.sample, trace.claims) for trace in group] for group in groups]
    return distances(described, encoder)


def _videos(blocks: Iterable[Sequence[Sequence[TraceClaims]]], plan: Plan) -> Plan:
    """Whole groups in blocks."""
    for number, block in enumerate(blocks):
        given_away = _given_away(block)
        for place, group in enumerate(block):
            unit = plan.add_unit(number, place, group[0].group)
            for position, trace in enumerate(group):
                samples = _samples_at(block, position)
                plan.add_claims(trace.claims, unit, trace.sample, samples, given_away)
    return plan


def _blind(
    blocks: Iterable[Sequence[Sequence[TraceClaims]]],
    blind: Mapping[str, BlindTrace],
) -> Plan:
    """Each group of traces, and then what was claimed blindly, in the places of its block.

    One more place is the video that the blind trace was shown: there it should fit better.
    """
    plan = Plan()
    for number, block in enumerate(blocks):
        given_away = _given_away(block)
        shared = set[str].intersection(*map(question_words, block))
        for place, group in enumerate(block):
            asked = [trace for trace in group if trace.sample.key in blind]
            if not asked:
                continue
            for blindly in (False, True):
                unit = plan.add_unit(number, place, group[0].group, len(block))
                for position, trace in enumerate(asked):
                    other = blind[trace.sample.key]
                    told = question_words([TraceClaims(other.shown, ())]) - shared
                    samples = [*_samples_at(block, position), other.shown]
                    claims = other.claims if blindly else trace.claims
                    plan.add_claims(
                        claims,
                        unit,
                        trace.sample,
                        samples,
                        [*given_away, told],
                    )
    return plan


def _given_away(block: Sequence[Sequence[TraceClaims]]) -> list[set[str]]:
    """What the question of each group tells of its video; what all of them say tells nothing."""
    words = list(map(question_words, block))
    shared = set[str].intersection(*words)
    return [of_question - shared for of_question in words]


def _samples_at(
    block: Sequence[Sequence[TraceClaims]],
    position: int,
) -> list[Sample]:
    """A sample of each group; another group may have fewer clips."""
    return [group[position % len(group)].sample for group in block]


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
                plan.add_claims(trace.claims, unit, trace.sample, samples)
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
    given_away: Iterable[Set[str]],
) -> Iterator[Place | None]:
    """The claim in each video but those whose question gives it away."""
    frames = len(own.frames)
    # strict=False: by default nothing is given away, as often as is asked
    for sample, told in zip(samples, given_away, strict=False):
        if frames and sample.frames and not repeats(claim, told):
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


def at_opening(claim: Claim) -> Claim:
    """What it says, of the first frame."""
    return claim.replace(parts=tuple(map(at_opening, claim.parts)), frames=(0,))


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
    return set(_words(" ".join(texts)))


def repeats(claim: Claim, told: Set[str]) -> bool:
    """Whether a claim names a thing, or a camera's movement, in words of the question alone."""
    if not told:
        return False
    for part in flatten([claim]):
        phrases = [part.subject, part.object or ""]
        if "subject" not in ClaimKind.declared[part.kind].says:
            phrases = [part.predicate or ""]
        for words in filter(None, map(_words, phrases)):
            if words <= told:
                return True
    return False


# the same few phrases are asked about in each video
@lru_cache(maxsize=65_536)
def _words(text: str) -> frozenset[str]:
    """Words without the s of a plural, so that "cups" are a "cup"."""
    # "bus" is no plural
    singular = re.sub(r"(?<=\w{3})s\b", "", normalise_words(text))
    return frozenset(re.findall(r"\w+", singular))
