"""Each region is taken out and put in, beside regions of equal size that no map claims."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from jaxtyping import Bool, Float

from cuescope_maps.options import ELSEWHERE, LIKELY_PLACE, OTHER_ANSWER, MapsOptions
from cuescope_maps.scores import Proof, top_parts
from cuescope_maps.trials import Map, Target, draw_maps, find_answers
from cuescope_sdk import Audit, Outcome, Sample, Trial, UserError, how_to_install
from cuescope_sdk.interventions import Case, Intervention, Place

REGION = "region"
DONOR = "donor"
Parts = Bool[np.ndarray, " part"]


@dataclass(frozen=True, eq=False)
class Claim:
    """A map with its controls by name, and what it is tested with.

    `donor` is another sample, which is answered otherwise; None where there is none.
    """

    map: Map
    controls: Mapping[str, Parts]
    donor: Sample | None

    @property
    def key(self) -> tuple[str, str]:
        """Explainer and sample."""
        return self.map.explainer, self.map.target.sample.key


@dataclass(frozen=True, eq=False)
class Tested:
    """A claim with its answers: of each way, as the sample is, changed, and with the controls.

    `before` is the probability of the answer before the change, in the donor where something is put
    in; `ways` are the interventions that applied.
    """

    claim: Claim
    ways: tuple[Intervention, ...]
    names: tuple[str, ...]
    before: Float[np.ndarray, " way"]
    changed: Float[np.ndarray, " way"]
    controls: Float[np.ndarray, "way control"]

    @property
    def proof(self) -> Proof:
        """Changes that a cause would make, positive."""
        signs = np.array([1 if way.effect == "removes" else -1 for way in self.ways])
        moved = signs * (self.before - self.changed)
        control = signs * (self.before - self.controls.mean(axis=1))
        return Proof(moved, control)

    @property
    def removed(self) -> tuple[float, float]:
        """Mean probability without the region, and without a control."""
        removes = [way.effect == "removes" for way in self.ways]
        rows = np.array(removes) if any(removes) else np.ones(len(removes), bool)
        return float(self.changed[rows].mean()), float(self.controls[rows].mean())


def ways_of(audit: Audit, options: MapsOptions) -> dict[str, Intervention]:
    """The interventions by SPEC; raises UserError for one that does not fit; for `audit.once`."""
    ways: dict[str, Intervention] = {}
    context = audit.context
    if not context.registry.of_kind("intervention"):
        raise UserError(
            "maps: no intervention is installed",
            remedy=how_to_install("cuescope-interventions"),
        )
    for spec in options.interventions:
        way: Intervention = context.build("intervention", spec)
        reason = way.why_not({"region"}, audit.capabilities, list(audit.tools))
        if reason is not None:
            raise UserError(f"maps: {spec} cannot prove a region: {reason}")
        ways[spec] = way
    return ways


def claims(audit: Audit, options: MapsOptions) -> list[Claim]:
    """The maps with their controls and donors; for `audit.once`."""
    drawn = audit.once(draw_maps, audit, options)
    answers = audit.once(find_answers, audit, options)
    made = []
    for one in drawn:
        rng = audit.rng("controls", one.explainer, one.target.sample.key)
        controls = {ELSEWHERE: elsewhere(one, rng)}
        likely = likely_places(one, drawn)
        if likely is not None:
            controls[LIKELY_PLACE] = beside(likely, one.region)
        if one.target.other is not None:
            controls[OTHER_ANSWER] = beside(one.others, one.region)
        made.append(Claim(one, controls, _donor(one.target, answers, rng)))
    return made


def beside(importance: np.ndarray, region: Parts) -> Parts:
    """The most important parts outside of a region, as many as it has."""
    return top_parts(np.where(region, -np.inf, importance), int(region.sum()))


def elsewhere(one: Map, rng: np.random.Generator) -> Parts:
    """The region moved round the edges to where it meets itself least, in its own frames if it can.

    What still meets it is made up for by parts that do not.
    """
    cells = one.region.reshape(one.grid.shape)
    shifts = list(product(*map(range, one.grid.shape)))
    order = rng.permutation(len(shifts)).tolist()

    def cost(number: int) -> tuple[int, int]:
        shift = shifts[number]
        met = cells & np.roll(cells, shift, axis=(0, 1, 2))
        return int(met.sum()), shift[0]

    moved = np.roll(cells, shifts[min(order, key=cost)], axis=(0, 1, 2)).ravel()
    return beside(moved + rng.random(moved.size) / 2, one.region)


def likely_places(one: Map, drawn: Sequence[Map]) -> np.ndarray | None:
    """Mean rank of each part in the explainer's maps of other groups; None where there are none."""
    own = one.target.sample
    ranks = []
    for other in drawn:
        sample = other.target.sample
        together = (sample.group or sample.key) == (own.group or own.key)
        alike = other.explainer == one.explainer and other.grid == one.grid
        if alike and not together:
            ranks.append(other.rank)
    return np.mean(ranks, axis=0) if ranks else None


def _donor(
    target: Target, answers: Sequence[Outcome], rng: np.random.Generator
) -> Sample | None:
    """A sample of another group that is answered otherwise, with as many frames."""
    own = target.sample
    fitting = []
    for outcome in answers:
        other = outcome.trial.sample
        together = (other.group or other.key) == (own.group or own.key)
        as_long = len(other.frames) == len(own.frames)
        if outcome.prediction != target.answer and as_long and not together:
            fitting.append(other)
    return fitting[int(rng.integers(len(fitting)))] if fitting else None


# -------------------------------------------------------------------------------------- asking


@dataclass(frozen=True, eq=False)
class Arm:
    """One trial of a claim: by which way, of which region; `way` is None for the donor as it is."""

    claim: Claim
    way: str | None
    condition: str
    trial: Trial


def arms(audit: Audit, options: MapsOptions) -> list[Arm]:
    """All trials of the proof, in order; for `audit.once`."""
    ways = audit.once(ways_of, audit, options)
    return [
        arm
        for claim in audit.once(claims, audit, options)
        for arm in _arms_of(claim, ways, audit)
    ]


def _arms_of(
    claim: Claim, ways: Mapping[str, Intervention], audit: Audit
) -> Iterator[Arm]:
    target = claim.map.target
    if claim.donor is not None:
        yield _arm(claim, None, DONOR, Trial(sample=_in_donor(claim)))
    regions = {REGION: claim.map.region, **claim.controls}
    for spec, way in ways.items():
        if not _applies(way, claim):
            continue
        cases = [
            _case(claim, way, parts, audit.derive_seed(spec, target.sample.key))
            for parts in regions.values()
        ]
        trials = way.intervene(cases, audit.tools)
        for condition, trial in zip(regions, trials, strict=True):
            yield _arm(claim, spec, condition, trial)


def _applies(way: Intervention, claim: Claim) -> bool:
    needs_donor = way.effect == "inserts" or way.placebo == "other donor"
    return claim.donor is not None or not needs_donor


def _arm(claim: Claim, way: str | None, condition: str, trial: Trial) -> Arm:
    asked = claim.map.target.trial(trial)
    return Arm(claim, way, condition, replace(asked, condition=condition))


def _in_donor(claim: Claim) -> Sample:
    """The sample's question about the donor's frames."""
    assert claim.donor is not None
    return claim.map.target.sample.with_frames(
        claim.donor.frames, f"with-frames-of-{claim.donor.key}"
    )


def _case(claim: Claim, way: Intervention, parts: Parts, seed: int) -> Case:
    own = claim.map.target.sample
    place = place_of(claim.map, parts, own)
    if way.effect == "removes":
        return Case(sample=own, place=place, donor=claim.donor, seed=seed)
    taker = _in_donor(claim)
    return Case(
        sample=taker,
        place=place_of(claim.map, parts, taker),
        donor=own,
        donor_place=place,
        seed=seed,
    )


def place_of(one: Map, parts: Parts, sample: Sample) -> Place:
    """The pixels of some parts in a sample."""
    # PIL's size is (width, height)
    sizes = [frame.load().size[::-1] for frame in sample.frames]
    masks = one.grid.masks(parts, sizes)
    frames = tuple(number for number, mask in enumerate(masks) if mask.any())
    return Place(masks=masks, frames=frames)


def read(
    audit: Audit, options: MapsOptions, outcomes: Sequence[Outcome]
) -> list[Tested]:
    """The claims with what came of them, from the outcomes of `arms`; for `audit.once`.

    A claim to which fewer than two ways applied is left out.
    """
    asked = audit.once(arms, audit, options)
    ways = audit.once(ways_of, audit, options)
    answers: dict[tuple[str, str], dict[tuple[str | None, str], float]] = {}
    for arm, outcome in zip(asked, outcomes, strict=True):
        found = answers.setdefault(arm.claim.key, {})
        value = arm.claim.map.target.probability(outcome)
        found[arm.way, arm.condition] = value
    tested = []
    for claim in audit.once(claims, audit, options):
        of_claim = answers.get(claim.key, {})
        used = [spec for spec in ways if (spec, REGION) in of_claim]
        if len(used) < 2:
            continue
        before = [
            claim.map.intact
            if ways[spec].effect == "removes"
            else of_claim[None, DONOR]
            for spec in used
        ]
        tested.append(
            Tested(
                claim=claim,
                ways=tuple(ways[spec] for spec in used),
                names=tuple(used),
                before=np.array(before),
                changed=np.array([of_claim[spec, REGION] for spec in used]),
                controls=np.array(
                    [[of_claim[spec, name] for name in claim.controls] for spec in used]
                ),
            )
        )
    return tested
