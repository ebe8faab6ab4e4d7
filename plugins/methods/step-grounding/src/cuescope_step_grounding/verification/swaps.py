"""Claims held against other videos: one permutation of traces within strata of like questions.

A trace that was written without its video is as true of other videos of its stratum. Two deals,
which cost no model call:

- videos: each trace with the videos of the other groups of its stratum;
- blind: each trace and one that the same model wrote of another video, with both videos. Under the
  null the two texts of a question could be exchanged.

A claim in words of a video's question is not held against that video: a model that only reads the
question names it too. Words that all questions of a stratum share are no such words.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from cuescope_sdk import Sample
from cuescope_sdk.grounding import Claim, ClaimKind, Judgement
from cuescope_sdk.language import normalise_words
from cuescope_sdk.statistics import (
    DetectionLimit,
    Estimate,
    Groups,
    Placement,
    change_interval,
    student_interval,
)
from cuescope_step_grounding.claims.contents import flatten
from cuescope_step_grounding.trials import Claims
from cuescope_step_grounding.verification.strata import Group, TraceClaims

Deal = Literal["videos", "blind"]
Place = tuple[Sample, Claim]
HOLDS = 1
FAILS = 0
OPEN = -1
_CODES = {"supported": HOLDS, "unsupported": FAILS}
DRAWS = 9999  # the default of scipy.stats.permutation_test
POWER = 0.8  # Cohen (1988)


@dataclass(frozen=True)
class BlindTrace:
    """The claims of the same model where it is `shown` another video than the question's."""

    shown: Sample
    claims: Claims


@dataclass
class Plan:
    """Claims of one deal with their places; None is a place that tells nothing of the claim.

    `units` are the traces: block, own place, group.
    """

    places: list[tuple[Place | None, ...]] = field(default_factory=list)
    unit: list[int] = field(default_factory=list)
    units: list[tuple[int, int, str]] = field(default_factory=list)

    def add_unit(self, block: int, place: int, group: str) -> None:
        self.units.append((block, place, group))

    def add_claims(
        self,
        claims: Claims,
        own: Sample,
        samples: Sequence[Sample],
        given_away: Iterable[Set[str]],
    ) -> None:
        """Each claim of the last unit, held against each of the samples."""
        told = list(given_away)
        for claim in distinct_claims(claims):
            self.places.append(tuple(_in_videos(claim, own, samples, told)))
            self.unit.append(len(self.units) - 1)

    def cases(self) -> Iterator[tuple[Sample, Iterable[Claim]]]:
        """All that has to be judged."""
        for sample, claim in filter(None, chain.from_iterable(self.places)):
            yield sample, (claim,)

    def swaps(self, judgement: Callable[[Sample, Claim], Judgement]) -> "Swaps | None":
        """The verdicts in all places; None where there is nothing to swap."""
        if not self.places:
            return None
        most = max(map(len, self.places))
        verdicts = np.full((len(self.places), most), OPEN)
        for row, places in enumerate(self.places):
            for column, place in enumerate(places):
                if place is not None:
                    verdicts[row, column] = _CODES.get(judgement(*place).verdict, OPEN)
        block, own, group = zip(*self.units, strict=True)
        return Swaps(
            block=np.array(block),
            place=np.array(own),
            verdicts=verdicts,
            unit=np.array(self.unit),
            group=np.unique(group, return_inverse=True)[1],
        )


def plans(
    blocks: Sequence[Sequence[Group]],
    blind: Mapping[str, BlindTrace],
) -> dict[Deal, Plan]:
    """The deals of traces in strata; `blind` has traces by the key of the question's sample."""
    videos = Plan()
    both = Plan()
    pairs = 0
    for number, block in enumerate(blocks):
        words = list(map(question_words, block))
        shared = set[str].intersection(*words)
        given_away = [of_question - shared for of_question in words]
        for place, group in enumerate(block):
            name = group[0].group
            videos.add_unit(number, place, name)
            for position, trace in enumerate(group):
                samples = [other[position % len(other)].sample for other in block]
                videos.add_claims(trace.claims, trace.sample, samples, given_away)
            if any(trace.sample.key in blind for trace in group):
                _add_pair(both, pairs, group, blind, shared)
                pairs += 1
    return {"videos": videos, "blind": both}


def _add_pair(
    plan: Plan,
    number: int,
    group: Group,
    blind: Mapping[str, BlindTrace],
    shared: Set[str],
) -> None:
    """The traces of a group, and its blind ones, with the video of each."""
    for place in (0, 1):
        plan.add_unit(number, place, group[0].group)
        for trace in group:
            if trace.sample.key not in blind:
                continue
            other = blind[trace.sample.key]
            samples = [trace.sample, other.shown]
            told = [
                question_words([TraceClaims(each, ())]) - shared for each in samples
            ]
            claims = other.claims if place else trace.claims
            plan.add_claims(claims, trace.sample, samples, told)


# ------------------------------------------------------------------------------------- the test


@dataclass(frozen=True, eq=False)
class Swaps(Placement):
    """Verdicts of claims in the places of their block: HOLDS, FAILS, or OPEN where it has none.

    `unit` is the trace of each claim, `group` what was drawn independently, by unit.
    """

    verdicts: Int[np.ndarray, "claim place"]
    unit: Int[np.ndarray, " claim"]
    group: Int[np.ndarray, " unit"]

    @property
    def own(self) -> Int[np.ndarray, " claim"]:
        """The verdict of each claim in its own place."""
        column = self.place[self.unit]
        return np.asarray(self.verdicts[np.arange(len(column)), column])

    @property
    def counts(self) -> Float[np.ndarray, "2 claim"]:
        """In how many places each claim holds, and in how many it is decided."""
        held = (self.verdicts == HOLDS).sum(axis=1)
        decided = (self.verdicts != OPEN).sum(axis=1)
        return np.stack([held, decided]).astype(float)

    @property
    def elsewhere(self) -> Float[np.ndarray, "2 claim"]:
        """The same without its own place."""
        return np.asarray(self.counts - [self.own == HOLDS, self.own != OPEN])

    @property
    def rate_elsewhere(self) -> float | None:
        """The share of the claims, of those decided in other places, that hold."""
        held, decided = self.elsewhere.sum(axis=1).tolist()
        return held / decided if decided else None

    @property
    def telling(self) -> Bool[np.ndarray, " claim"]:
        """Claims that hold in some places and not in others: all that a swap can show."""
        held, decided = self.counts
        return np.asarray((held > 0) & (held < decided))

    def table(self) -> Float[np.ndarray, "unit place"]:
        """The self-information (Shannon, 1948) of each unit's claims that hold, by place.

        So a claim that holds nearly everywhere tells little. A place where nothing can be said of
        a claim is as good as the mean of its others.
        """
        held, decided = self.counts
        surprise = np.log(np.maximum(decided, 1) / np.maximum(held, 1))
        known = self.verdicts != OPEN
        values = np.where(self.verdicts == HOLDS, surprise[:, None], 0.0)
        middle = values.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        values -= np.where(known, middle[:, None], 0.0)
        table = np.zeros((len(self.block), self.verdicts.shape[1]))
        # add.at, for a unit has several claims: += would add only one of them
        np.add.at(table, self.unit, values)
        return table


def swap_p_value(swaps: Swaps, rng: Generator, *, draws: int = DRAWS) -> float:
    """Share of the deals of places within blocks that fit the traces as well as their own."""
    return swaps.p_value(swaps.table(), rng, draws=draws)


def grounded_share(swaps: Swaps) -> Estimate[float] | None:
    """The share of claims that hold beyond chance: (own - elsewhere) / (1 - elsewhere).

    The correction of kappa (Cohen, 1960), with the interval of whole groups. None where nothing is
    decided in two places, or all that is claimed holds everywhere.
    """
    held, decided = swaps.elsewhere
    used = (swaps.own != OPEN) & (decided > 0)
    if not used.any():
        return None
    elsewhere = held[used] / decided[used]
    chance = float(elsewhere.mean())
    if chance == 1:
        return None
    more = (swaps.own[used] == HOLDS) - elsewhere
    # numbered anew: groups without a decided claim would leave gaps
    names, group = np.unique(swaps.group[swaps.unit[used]], return_inverse=True)
    low, high = change_interval(more, Groups(group, len(names), True), bound=None)
    shares = np.array([more.mean(), low, high], float) / (1 - chance)
    return Estimate(*np.clip(shares, 0.0, 1.0).tolist())


def least_share(swaps: Swaps, rng: Generator, level: float) -> float | None:
    """The grounded share that 8 of 10 audits like this one find; None where none is.

    The fit of dealt places is taken as normal, and to grow evenly with the share up to that of
    traces whose claims all hold in their own place.
    """
    fit = swaps.table()
    units = np.arange(len(fit))
    dealt = np.array([fit[units, swaps.deal(rng)].sum() for _ in range(DRAWS // 10)])
    spiked = replace(swaps, verdicts=_own_holds(swaps))
    gain = float(spiked.table()[units, swaps.place].sum() - dealt.mean())
    low, high = student_interval(dealt)
    # of one deal, not of their mean
    half = (high - low) / 2 * len(dealt) ** 0.5
    needed = DetectionLimit.of_intervals([half], level, POWER)
    return needed / gain if needed is not None and 0 < needed <= gain else None


def _own_holds(swaps: Swaps) -> Int[np.ndarray, "claim place"]:
    """The verdicts where all that is decided in its own place holds there."""
    verdicts = swaps.verdicts.copy()
    rows = np.flatnonzero(swaps.own != OPEN)
    verdicts[rows, swaps.place[swaps.unit[rows]]] = HOLDS
    return verdicts


def noisy(swaps: Swaps, rate: float, rng: Generator) -> Swaps:
    """The same audit by a verifier that takes the opposite of this share of its decisions."""
    verdicts = swaps.verdicts
    turned = (rng.random(verdicts.shape) < rate) & (verdicts != OPEN)
    return replace(swaps, verdicts=np.where(turned, 1 - verdicts, verdicts))


# ------------------------------------------------------------------------------------- claims


def _in_videos(
    claim: Claim,
    own: Sample,
    samples: Sequence[Sample],
    given_away: Sequence[Set[str]],
) -> Iterator[Place | None]:
    """The claim in each video but those whose question gives it away."""
    frames = len(own.frames)
    for sample, told in zip(samples, given_away, strict=True):
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


def distinct_claims(claims: Iterable[Iterable[Claim]]) -> list[Claim]:
    """Each thing that is claimed once, without the step's words."""
    return list(dict.fromkeys(map(_without_text, chain.from_iterable(claims))))


def _without_text(claim: Claim) -> Claim:
    return claim.replace(text="", parts=tuple(map(_without_text, claim.parts)))


def question_words(group: Iterable[TraceClaims]) -> set[str]:
    """The words of the questions and choices of some samples."""
    texts = []
    for trace in group:
        texts.append(trace.sample.question or "")
        texts.extend(trace.sample.choices)
    return set(_words(" ".join(texts)))


def repeats(claim: Claim, told: Set[str]) -> bool:
    """True if a claim names a thing, or a camera's movement, in words of the question alone."""
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


@lru_cache(maxsize=65_536)
def _words(text: str) -> frozenset[str]:
    """Words without the s of a plural, so that "cups" are a "cup"."""
    # "bus" is no plural
    singular = re.sub(r"(?<=\w{3})s\b", "", normalise_words(text))
    return frozenset(re.findall(r"\w+", singular))
