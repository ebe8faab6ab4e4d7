"""One effect behind all that was done to a cue: a dose-response model of every row.

It is printed beside the verdict, and ranks cues.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from jaxtyping import Bool

from cuescope_confirm.analysis import Results
from cuescope_confirm.locating import Target
from cuescope_confirm.testimony.effects import EXACT, turn_to_effect
from cuescope_confirm.testimony.manipulation import beyond_placebo, share_left
from cuescope_confirm.testimony.witnesses import (
    AS_IS,
    CHANGED,
    PLACEBO,
    Dossier,
    Witness,
)
from cuescope_confirm.verdicts.row import Row
from cuescope_sdk.statistics import DoseResponse, Observed, Shift, dose_response

# of an intervention whose dose no picture shows, anything between none and all
UNKNOWN = 0.5, 12**-0.5
ALONE = (
    1e-3  # spread of what pairs of the user's own do beside the cue, which is nothing
)


@dataclass(frozen=True)
class Dose:
    """The share of a cue that goes or comes beyond the placebo, with its standard error.

    `left` is what the placebo seems to leave of it.
    """

    share: float
    error: float
    left: float | None = None


def with_posteriors(dossier: Dossier, results: Results) -> Results:
    """The results, with what the model says of each cue."""
    rows = []
    for row in results.rows:
        posterior = None
        with results.study.audit.spare(f"dose-response model of {row.target.cue.name}"):
            posterior = posterior_of(dossier, row)
        rows.append(replace(row, posterior=posterior))
    return replace(results, rows=rows)


def posterior_of(dossier: Dossier, row: Row) -> DoseResponse | None:
    """None where too few samples were changed by anything."""
    study = dossier.study
    target = row.target
    doses = {}
    for witness in dossier.witnesses_of(target):
        # what changes all of a frame changes all that goes with the cue
        if witness.plugin.needs != "frames" and _is_enough(dossier, witness):
            doses[witness] = dose_of(dossier, witness)
    # what has no dose tells nothing beside what has one
    known = {witness: dose for witness, dose in doses.items() if dose is not None}
    shifts = list(_shifts(dossier, known or doses, _purity(target)))
    if not shifts:
        return None
    for placebo in target.placebos.values():
        for other in dossier.witnesses_of(placebo):
            if _is_enough(dossier, other):
                shifts += _controls(other, other.answers.with_cue)
    observed = None
    if row.beside is not None:
        plain, alike = row.beside.plain, row.beside.alike
        observed = Observed(alike, abs(plain.value - alike.value), _purity(target))
    rng = study.rng("one effect", target.cue.id)
    if study.options.pairs is not None:
        return dose_response(shifts, rng, spread=ALONE)
    return dose_response(shifts, rng, observed)


def dose_of(dossier: Dossier, witness: Witness) -> Dose | None:
    """None where no picture shows it."""
    if witness.plugin.needs in EXACT:
        return Dose(1.0, 0.0)
    left = share_left(dossier.study, witness)
    if left is None:
        return None
    shares = beyond_placebo(witness.plugin, left)
    error = float(shares.std() / np.sqrt(len(shares)))
    of_placebo = (
        float(left[:, 1].mean()) if witness.plugin.effect == "removes" else None
    )
    return Dose(float(shares.mean().clip(-1, 1)), error, of_placebo)


def _shifts(
    dossier: Dossier, doses: Mapping[Witness, Dose | None], purity: float
) -> Iterator[Shift]:
    """Of each witness the change, its placebo, and both in samples without the cue."""
    off = _off([dose for dose in doses.values() if dose is not None])
    for witness, dose in doses.items():
        plugin = witness.plugin
        share, error = UNKNOWN if dose is None else (dose.share, dose.error)
        if plugin.needs not in EXACT:
            # samples that are taken for the cue's and are not cannot be moved by it
            share, error = purity * share, purity * float(np.hypot(error, off))
        shows = witness.answers.with_cue
        kind = plugin.needs, plugin.changes
        changed = _shift(witness, shows, CHANGED)
        yield replace(changed, kind=kind, dose=share, dose_error=error)
        if plugin.placebo != "none":
            yield _shift(witness, shows, PLACEBO)
            if (~shows).sum() >= dossier.study.options.least:
                yield from _controls(witness, ~shows)


def _controls(witness: Witness, rows: Bool[np.ndarray, " pair"]) -> Iterator[Shift]:
    """The change and its placebo where a cause would do nothing."""
    yield _shift(witness, rows, CHANGED)
    yield _shift(witness, rows, PLACEBO)


def _shift(witness: Witness, rows: Bool[np.ndarray, " pair"], column: int) -> Shift:
    answers = witness.answers
    moved = answers.values[:, column] - answers.values[:, AS_IS]
    pairs = compress(answers.pairs, rows)
    samples = [pair.case.sample for pair in pairs]
    # as `Groups` does: a key could be the name of another sample's group
    groups = [(one.key, None) if one.group is None else one.group for one in samples]
    return Shift([witness.spec], None, turn_to_effect(witness, moved)[rows], groups)


def _off(doses: Sequence[Dose]) -> float:
    """How far a recogniser errs on changed pictures, as a standard deviation.

    Each placebo leaves all of the cue: what it seems to leave differs from one to the next.
    """
    left = [dose.left for dose in doses if dose.left is not None]
    return float(np.std(left, ddof=1)) if len(left) > 1 else 0.0


def _purity(target: Target) -> float:
    """Of the samples that are taken for the cue's, the share that shows it."""
    return 1.0 if target.located is None else target.located.purity


def _is_enough(dossier: Dossier, witness: Witness) -> bool:
    count = int(witness.answers.with_cue.sum())
    return count >= dossier.study.options.least
