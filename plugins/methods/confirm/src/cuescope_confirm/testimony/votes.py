"""Witnesses of one kind may err alike: together they have one vote."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from jaxtyping import Float

from cuescope_confirm.locating import Target
from cuescope_confirm.scores import NO_MORE, Decision, Effect
from cuescope_confirm.study import Study
from cuescope_confirm.testimony.effects import EXACT, Party, is_tested
from cuescope_confirm.testimony.manipulation import (
    A_PART,
    LEAST,
    change_made,
    part_taken,
    share_taken,
)
from cuescope_confirm.testimony.witnesses import Witness

# a change of all of the cue, of a part of it, of what the model makes of it, of all of the frames
# that show it
Standing = Literal["full", "partial", "inside", "coarse"]
Taken = Mapping[Witness, float | None]
ABOUT = 0.9  # of what another change of the same kind takes
PROPERTIES = 3  # of whole pictures that are asked about
INSTEAD = 2  # others of a kind that may be asked about in place of its best
NEARLY_ALL = 0.95  # of the use of the cue, where a change takes 0.9 of it in pictures
# of a cue's use that an edit of the embedding takes: between two thirds, as where a run's list is
# wrong about one sample in six, and all
INSIDE = 2 / (1 + 1 / 0.67)
OTHERS = "not needed: changes of other properties remove or add more of the cue"
ENOUGH = "not needed: two other kinds of change remove or add the whole cue"


class Sort(NamedTuple):
    """What witnesses of one kind have in common; `changes` is a property of whole pictures."""

    standing: Standing
    needs: str
    changes: str | None
    placebo: str
    effect: str


@dataclass(frozen=True, eq=False)
class Kind:
    """Changes of a cue of one sort, beside one sort of placebo, in one direction.

    `part` is the share of the cue's use that they take (see `part_taken`).
    """

    standing: Standing
    party: Party
    part: float

    @property
    def target(self) -> Target:
        """The cue that is changed."""
        return self.party[0].target

    @property
    def needs(self) -> str:
        """What it changes."""
        return self.party[0].plugin.needs

    @property
    def changes(self) -> str | None:
        """The property of whole pictures that it changes."""
        return self.party[0].plugin.changes

    @property
    def removes(self) -> bool:
        """Whether the cue is taken out."""
        return self.party[0].plugin.effect == "removes"

    @property
    def is_exact(self) -> bool:
        """Whether it changes what nobody has to locate."""
        return self.needs in EXACT


AnyKind = TypeVar("AnyKind", bound=Kind)


@dataclass(frozen=True, eq=False)
class Vote(Kind):
    """A kind with its effect, and what this says of the cue."""

    effect: Effect
    decision: Decision

    @property
    def can_acquit(self) -> bool:
        """Whether it changes all of the cue, or all of the frames that show it."""
        leaves_nothing = self.standing == "full" and (
            self.needs != "still" or self.part >= NEARLY_ALL
        )
        return leaves_nothing or self.standing == "coarse"

    @property
    def acquits(self) -> bool:
        """Whether all of the cue was changed, and this does no more than the placebo."""
        is_fine = self.standing == "full"
        return is_fine and self.can_acquit and self.decision == NO_MORE


@dataclass(frozen=True, eq=False, kw_only=True)
class Testimony(Witness):
    """A witness with its own effect, and the decision of its kind.

    `taken` is how much of the cue its change takes out of pictures, or puts into them, beyond the
    placebo; None where pictures cannot tell.
    """

    effect: Effect
    decision: Decision
    taken: float | None = None

    @property
    def removes(self) -> bool:
        """Whether the cue is taken out."""
        return self.plugin.effect == "removes"

    @property
    def is_inside(self) -> bool:
        """Whether the model's embedding is changed, and no picture."""
        return self.plugin.needs == "inside"

    @property
    def confirms(self) -> bool:
        """Whether its kind shows the cue to be a cause."""
        return self.decision == "confirms"

    @property
    def accuracy(self) -> Float[np.ndarray, "3"]:
        """Share of right answers as the samples are, changed, and with the placebo."""
        with_cue = self.answers.right[self.answers.with_cue]
        return np.asarray(with_cue.mean(axis=0))


def kinds_of(witnesses: Party, taken: Taken) -> list[Kind]:
    """The kinds that have a vote on a cue.

    A change of whole pictures that takes less than a quarter of the cue is about something else,
    and has none.
    """
    by_kind = defaultdict[Sort, list[Witness]](list)
    for witness in witnesses:
        standing = _standing_of(witness, taken)
        if standing is not None:
            plugin = witness.plugin
            sort = Sort(
                standing,
                plugin.needs,
                plugin.changes,
                plugin.placebo,
                plugin.effect,
            )
            by_kind[sort].append(witness)
    # witnesses of one sort share a vote: three ways to blank a place are one opinion
    kinds = []
    for sort, party in by_kind.items():
        parts = [part_taken(taken[witness]) for witness in party]
        part = INSIDE if sort.standing == "inside" else float(np.mean(parts))
        kinds.append(Kind(sort.standing, party, part))
    return kinds


def cases_of(kinds: Sequence[AnyKind]) -> list[list[AnyKind]]:
    """The kinds that tell of a cue together: of those of whole pictures one property at a time.

    Which property a cue is of, nobody knows before: what changes another one says nothing of it.
    What is done inside the model is a case by itself: it is asked about where pictures do not
    answer, and what did nothing there, or something else, does not speak against it.
    """
    inside = [kind for kind in kinds if kind.standing == "inside"]
    stills = [kind for kind in kinds if kind.needs == "still"]
    others = [kind for kind in kinds if kind not in (*stills, *inside)]
    names = dict.fromkeys(kind.changes for kind in stills)
    cases = [
        others + [kind for kind in stills if kind.changes == name] for name in names
    ] or [others]
    if not inside:
        return cases
    return [*filter(None, cases), inside]


def jointly_telling(kinds: Sequence[AnyKind]) -> list[AnyKind]:
    """The kinds that are tested together: the full ones, with those of a part where one is alone.

    Where no picture lacks the cue, those inside the model, unless whole pictures are changed both
    ways. None where there are no two.
    """
    full = [kind for kind in kinds if kind.standing == "full"]
    partial = [kind for kind in kinds if kind.standing == "partial"]
    inside = [kind for kind in kinds if kind.standing == "inside"]
    joined = full if len(full) > 1 else full + partial
    if len(inside) > 1 and not full and not is_changed_both_ways(partial):
        joined = inside
    return joined if len(joined) > 1 else []


def is_changed_both_ways(kinds: Iterable[Kind]) -> bool:
    """Whether changes of whole pictures take a part of the cue out, and put a part in.

    An embedding tells a cue from its company worse.
    """
    return {kind.removes for kind in kinds if kind.needs == "still"} == {True, False}


def party_of(kinds: Iterable[Kind]) -> list[Witness]:
    """The witnesses of several kinds."""
    return list(chain.from_iterable(kind.party for kind in kinds))


def suffice(kinds: Sequence[Kind]) -> bool:
    """Whether kinds that each move answers show a cause together.

    It takes two: one of all of the cue, or of a part one that takes it out and one that puts it in.
    """
    has_full = any(kind.standing == "full" for kind in kinds)
    sides = {kind.removes for kind in kinds}
    return len(kinds) > 1 and (has_full or len(sides) > 1)


def one_of_each_kind(study: Study, witnesses: Party) -> list[Witness]:
    """The witnesses; those that need not be asked about say why.

    Of each kind one is asked about, and a few others may be in its place; of whole pictures the
    properties that tell most of the cue. Where two kinds change all of the cue, what changes a
    part, or all of the frame, adds nothing. Where pictures do not tell the cue, none is left out.
    Told by pictures, before any answer.
    """
    able = [
        witness
        for witness in witnesses
        if witness.reason is None and is_tested(study, witness)
    ]
    # told by pictures alone, so that leaving out cannot depend on answers
    taken = shares_taken(study, able)
    if all(share is None for share in taken.values()):
        return list(witnesses)
    kinds = kinds_of(able, taken)
    is_enough = any(
        [kind.standing for kind in case].count("full") > 1 for case in cases_of(kinds)
    )
    properties = _most_telling(kinds, taken)
    reasons: dict[Witness, str] = {}
    instead: dict[Witness, tuple[Witness, ...]] = {}
    for kind in kinds:
        if kind.needs == "still" and kind.changes not in properties:
            reasons |= dict.fromkeys(kind.party, OTHERS)
            continue
        if is_enough and kind.standing != "full" and kind.needs != "still":
            reasons |= dict.fromkeys(kind.party, ENOUGH)
            continue
        best, *others = _best_first(kind, taken)
        reasons |= dict.fromkeys(others, f"{best.spec} changes as much in the same way")
        instead[best] = tuple(others[:INSTEAD])
    chosen = []
    for witness in witnesses:
        if witness in reasons:
            chosen.append(witness.unasked(reasons[witness]))
        else:
            chosen.append(replace(witness, instead=instead.get(witness, ())))
    return chosen


def is_told_by_pictures(study: Study, witnesses: Party) -> bool:
    """Whether any of these changes all of the cue in pictures, or some a part of it both ways."""
    able = [
        witness
        for witness in witnesses
        if witness.reason is None and is_tested(study, witness)
    ]
    kinds = kinds_of(able, shares_taken(study, able))
    is_full = any(kind.standing == "full" for kind in kinds)
    return is_full or any(map(is_changed_both_ways, cases_of(kinds)))


def _most_telling(kinds: Sequence[Kind], taken: Taken) -> list[str | None]:
    """The properties of whole pictures by which most of the cue goes, or comes."""
    shares: dict[str | None, float] = {}
    for kind in kinds:
        if kind.needs == "still":
            of_kind = [taken[witness] or 0.0 for witness in kind.party]
            shares[kind.changes] = max([*of_kind, shares.get(kind.changes, 0.0)])
    return sorted(shares, key=lambda name: -shares[name])[:PROPERTIES]


def _best_first(kind: Kind, taken: Taken) -> list[Witness]:
    """First those that take about as much of the cue as any, the one that changes least first."""
    # edits of the model leave pictures as they are
    shares = {
        witness: 0.0 if witness.edits_model else taken[witness] or 0.0
        for witness in kind.party
    }
    least = ABOUT * max(shares.values())
    able = [witness for witness, share in shares.items() if share >= least]
    others = [witness for witness in shares if witness not in able]
    others.sort(key=lambda witness: -shares[witness])
    return sorted(able, key=change_made) + others


def _standing_of(witness: Witness, taken: Taken) -> Standing | None:
    plugin = witness.plugin
    share = taken[witness]
    if plugin.needs == "frames":
        return "coarse"
    if plugin.needs == "inside":
        return "inside"
    if plugin.needs != "still":
        # None: pictures cannot tell, which is not the same as nothing taken
        took_it = share is None or share >= LEAST
        return "full" if took_it and not plugin.partial else "partial"
    # what changes a whole picture is about this cue only as far as pictures show it
    if share is None or share < A_PART:
        return None
    return "full" if share >= LEAST else "partial"


def shares_taken(
    study: Study,
    witnesses: Sequence[Witness],
) -> dict[Witness, float | None]:
    """How much of the cue each witness takes out or puts in; None where pictures cannot tell."""
    taken: dict[Witness, float | None] = dict.fromkeys(witnesses)
    for witness in witnesses:
        # the user's own pairs are what the change is told by, and not the other way round
        is_given = witness.plugin.needs == "pair"
        if not is_given:
            taken[witness] = study.audit.once(share_taken, study, witness)
    # edits of the model leave the pictures: of their region the others' changes tell
    shares = [
        share
        for witness, share in taken.items()
        if share is not None and witness.plugin.needs == "region"
    ]
    for witness in witnesses:
        if shares and witness.edits_model and witness.plugin.needs == "region":
            taken[witness] = max(shares)
    return taken
