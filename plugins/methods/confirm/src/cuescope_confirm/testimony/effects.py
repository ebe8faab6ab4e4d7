"""What changes do to the answers of a cue's samples, beside all where a cause would do nothing."""

from collections.abc import Sequence
from itertools import compress

import numpy as np
from jaxtyping import Bool, Float

from cuescope_confirm.scores import Control, Effect, Measure, effect_of
from cuescope_confirm.study import Study
from cuescope_confirm.testimony.witnesses import (
    AS_IS,
    CHANGED,
    PLACEBO,
    Answers,
    Dossier,
    Witness,
)
from cuescope_sdk.report import signed
from cuescope_sdk.statistics import Groups, change_interval

EXACT = ("words", "name", "modality", "question", "pair")  # what nobody has to locate
ALIKE = 2  # times as large is a region of the same size
DAMAGE = 1 / 3  # of what a change does beyond its placebo, that the placebo does alone
Party = Sequence[Witness]
Part = tuple[Witness, Bool[np.ndarray, " pair"]]


def effect_of_party(
    dossier: Dossier,
    party: Party,
    confidence: float,
) -> Effect:
    """What some witnesses do to a cue: of each sample the mean over those that changed it."""
    study = dossier.study
    showing = [(witness, witness.answers.with_cue) for witness in party]
    change, groups = _mean_changes(showing, PLACEBO)
    alone, _ = _mean_changes(showing, AS_IS)
    controls: dict[Control, Measure] = {}
    allowances: dict[Control, float] = {}
    for name, parts in controls_of(dossier, party).items():
        values, of_control = _mean_changes(parts, PLACEBO)
        # in the party's mean a control weighs as much as the witnesses that it belongs to
        share = len({witness.spec for witness, _ in parts}) / len(party)
        controls[name] = share * values, of_control
        # what the cue may do there all the same
        allowance = max(witness.target.allowance for witness, _ in parts)
        allowances[name] = share * allowance
    names = [witness.spec for witness in party]
    rng = study.rng("effect", party[0].target.cue.id, *names)
    return effect_of(change, groups, controls, rng, confidence, alone, allowances)


def _mean_changes(parts: Sequence[Part], column: int) -> Measure:
    """Beyond a column, of each sample the mean over some pairs of several witnesses."""
    changes: dict[str, list[float]] = {}
    samples = {}
    for witness, rows in parts:
        values = change_beyond(witness, column)[rows].tolist()
        for pair, value in zip(
            compress(witness.answers.pairs, rows), values, strict=True
        ):
            sample = pair.case.sample
            samples[sample.key] = sample
            changes.setdefault(sample.key, []).append(value)
    means = np.array(list(map(np.mean, changes.values())))
    return means, Groups.of(list(samples.values()))


def change_beyond(
    witness: Witness,
    column: int,
) -> Float[np.ndarray, " pair"]:
    """What the intervention does beyond a column, positive where it is what a cause would do."""
    values = witness.answers.values
    return turn_to_effect(witness, values[:, CHANGED] - values[:, column])


def turn_to_effect(
    witness: Witness,
    change: Float[np.ndarray, " pair"],
) -> Float[np.ndarray, " pair"]:
    sign = witness.target.direction.sign
    # putting a cue in does the reverse of taking it out
    return np.asarray(
        -sign * change if witness.plugin.effect == "inserts" else sign * change
    )


def groups_of(
    answers: Answers,
    rows: Bool[np.ndarray, " pair"],
) -> Groups:
    """The groups of the samples of some pairs."""
    pairs = compress(answers.pairs, rows)
    return Groups.of([pair.case.sample for pair in pairs])


def controls_of(dossier: Dossier, party: Party) -> dict[Control, list[Part]]:
    """Where a cause would do nothing, as far as enough samples tell what is done there."""
    study = dossier.study
    controls: dict[Control, list[Part]] = {}
    for witness in party:
        without = ~witness.answers.with_cue
        # fewer would decide nothing, and cost the power
        if without.sum() >= study.options.least:
            controls.setdefault("without the cue", []).append((witness, without))
        for name, placebo in witness.target.placebos.items():
            for other in dossier.witnesses_of(placebo):
                if is_held_against(study, witness, other):
                    # a placebo is changed where it is, and nowhere else
                    part = other, other.answers.with_cue
                    controls.setdefault(name, []).append(part)
    return controls


def is_held_against(study: Study, witness: Witness, other: Witness) -> bool:
    """Whether what is done to a placebo's cue tells what the same would do to a finding's."""
    if other.plugin is not witness.plugin or not is_tested(study, other):
        return False
    return _is_as_large(witness, other)


def _is_as_large(witness: Witness, other: Witness) -> bool:
    """Whether both change about as much of a frame: a larger region is more damage by itself."""
    if witness.plugin.needs != "region":
        return True
    areas = []
    for side in (witness, other):
        located = side.target.located
        areas.append((located.area or 0.0) if located else 0.0)
    return max(areas) <= ALIKE * min(areas)


def is_tested(study: Study, witness: Witness) -> bool:
    """Whether a witness can decide: it applies, has a placebo, and its place is well known.

    All of this is known before the answers.
    """
    count = witness.answers.with_cue.sum()
    if witness.plugin.placebo == "none" or count < study.options.least:
        return False
    return is_placed(witness)


def does_damage(study: Study, witness: Witness) -> bool:
    """Whether the placebo alone moves answers: by more than nothing, and a third of the rest.

    Then two damages are compared, which are never quite alike, and what is left is not the cue's.
    """
    damage = placebo_moves(witness)
    beyond = np.abs(change_beyond(witness, PLACEBO)[witness.answers.with_cue].mean())
    return bool(np.abs(damage) > max(study.options.margin, DAMAGE * beyond))


def harm_of(study: Study, witness: Witness) -> str | None:
    """Why it is no witness although it could be tested; None where it is one, or could not be."""
    if not is_tested(study, witness):
        return None
    if does_damage(study, witness):
        return f"its placebo alone moves answers ({_points(placebo_moves(witness))})"
    elsewhere = moves_elsewhere(study, witness)
    if elsewhere is None:
        return None
    return f"where the cue is not, it moves answers as well ({_points(elsewhere)})"


def _points(moved: float) -> str:
    return f"{signed(100 * moved, 0)} points"


def moves_elsewhere(study: Study, witness: Witness) -> float | None:
    """What it surely does at the likest place of samples without the cue; None where little.

    Then the place holds something else, too, which goes with the cue: the thing itself.
    """
    without = ~witness.answers.with_cue
    if without.sum() < study.options.least:
        return None
    beyond = change_beyond(witness, PLACEBO)
    elsewhere = beyond[without]
    groups = groups_of(witness.answers, without)
    low, high = change_interval(elsewhere, groups, confidence=study.options.confidence)
    is_sure = (low or 0.0) > 0 or (high or 0.0) < 0
    mean = float(elsewhere.mean())
    least = max(study.options.margin, DAMAGE * abs(beyond[~without].mean()))
    return mean if is_sure and abs(mean) > least else None


def placebo_moves(witness: Witness) -> float:
    """What the placebo alone does to the answers to a cue's samples, as a probability."""
    values = witness.answers.values[witness.answers.with_cue]
    return float((values[:, PLACEBO] - values[:, AS_IS]).mean())


def is_placed(witness: Witness) -> bool:
    """Whether what a witness does is done to its cue: its place is well known, or needs not be."""
    if witness.plugin.needs in EXACT:
        return True
    located = witness.target.located
    return located is not None and located.is_sure
