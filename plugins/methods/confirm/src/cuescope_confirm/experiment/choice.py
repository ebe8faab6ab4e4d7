"""Which interventions are asked about: those that tell most of a cue's effect."""

from collections.abc import Mapping, Sequence

import numpy as np

from cuescope_confirm.experiment.arms import Arm, failed, part_of
from cuescope_confirm.experiment.doses import Dose, dose_of
from cuescope_confirm.scores import known_doses
from cuescope_confirm.study import Study
from cuescope_sdk.statistics import Design

# arms of a cue: four unlike ones that change all of it leave an error of 14 points, eight 10 and
# sixteen 7, at twice the calls (`Design.error` at the default spread)
MOST = 8
FIRST = (
    16  # pairs by which the dose of all that applies is told: its error is .12 at most
)
LEFT_OUT = "other interventions tell more of the effect: they change more of the cue, or otherwise"
NO_DOSE = "pictures do not show how much of the cue it changes, as they do of others"


def choose(study: Study, arms: Sequence[Arm]) -> list[Arm]:
    """The arms; those that are not asked about say why.

    One after the other the arm is taken by which the error of the effect falls most: it takes much
    of the cue, and what it does beside the cue is unlike what those before it do.
    """
    doses: dict[Arm, Dose | None] = {}
    broken = []
    for arm in arms:
        if arm.answers.pairs:
            broken.append(arm)
            # pictures are changed as they are opened
            with study.audit.spare(part_of(arm.spec)):
                doses[arm] = first_dose(study, arm)
                broken.remove(arm)
    known = known_doses(doses)
    reasons = dict.fromkeys([arm for arm in doses if arm not in known], NO_DOSE)
    chosen: list[Arm] = []
    while len(chosen) < min(MOST, len(known)):
        others = [arm for arm in known if arm not in chosen]
        chosen.append(min(others, key=lambda arm: error_of([*chosen, arm], known)))
    reasons |= dict.fromkeys([arm for arm in known if arm not in chosen], LEFT_OUT)
    able = [failed(study, arm) if arm in broken else arm for arm in arms]
    return [arm.unasked(reasons[arm]) if arm in reasons else arm for arm in able]


def first_dose(study: Study, arm: Arm) -> Dose | None:
    """The dose as a few pairs tell it; None where no picture shows it."""
    return dose_of(study, arm, FIRST)


def error_of(arms: Sequence[Arm], doses: Mapping[Arm, Dose]) -> float:
    """The standard deviation of an effect that these arms leave, however many samples there are."""
    shares = np.array([doses[arm].share for arm in arms])
    errors = np.array([doses[arm].error for arm in arms])
    kinds = dict.fromkeys(arm.kind for arm in arms)
    of_kind = [[float(arm.kind == kind) for kind in kinds] for arm in arms]
    beside = np.hstack([np.array(of_kind), np.eye(len(arms))])
    none = np.zeros(len(arms))
    return Design(shares, beside, np.diag(errors**2), none).error()
