"""The models that the law is about: stored reports of real ones, or scripted reasoners.

Of scripted reasoners it is known whether grounding drives what they keep.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from cuescope_sdk import Report, Request, UserError
from cuescope_step_grounding.law.components import RIGHT, VERIFIED, figures_of
from cuescope_step_grounding.law.law import MeasuredModel
from cuescope_step_grounding.options import DrivenBy

# The least and the most of what reasoners are drawn with.
GROUNDING = (0.2, 1.0)
ACCURACY = (0.6, 0.95)
RETENTION = (0.4, 0.95)


# --------------------------------------------------------------------------------- stored reports


def model_of(report: Report, other: Report, group: str = "") -> MeasuredModel:
    """A model from its two reports; raises UserError for reports of two models or methods."""
    own = report.provenance
    of_other = other.provenance
    for provenance in (own, of_other):
        if provenance.method.dist != "cuescope-step-grounding":
            raise UserError(
                f"a run of {provenance.method.spec}",
                expected="runs of step-grounding",
                remedy="`cuescope audit step-grounding ...` makes them",
            )
    # by fingerprint: one SPEC may stand for other weights later
    if own.model.fingerprint != of_other.model.fingerprint:
        raise UserError(
            "runs of two models",
            expected="the same model in distribution and out of it",
            got=f"{own.model.spec} and {of_other.model.spec}",
            remedy="Name the runs of both lists in the same order",
        )
    return MeasuredModel(
        model=own.model.spec,
        sgr=_figure(report, VERIFIED),
        accuracy=_figure(report, RIGHT),
        ood_accuracy=_figure(other, RIGHT),
        group=group,
        benchmark=own.data.spec,
        figures=figures_of(report),
    )


def models_of(
    reports: Sequence[Report],
    others: Sequence[Report],
    groups: Sequence[str] = (),
) -> list[MeasuredModel]:
    """Models from two lists of reports in the same order; `groups` name models of one capacity."""
    if len(reports) != len(others) or (groups and len(groups) != len(reports)):
        raise UserError(
            "step-grounding: runs of models",
            expected="as many runs out of distribution as in it, and as many groups if any",
            got=f"{len(reports)}, {len(others)} and {len(groups)}",
        )
    return list(map(model_of, reports, others, groups or [""] * len(reports)))


def _figure(report: Report, name: str) -> float:
    """A figure of the reasoning as a whole, from 0 to 1."""
    value = figures_of(report).get(name)
    if value is None:
        run = report.provenance
        raise UserError(
            f"the run of {run.model.spec} on {run.data.spec} has no {name}",
            expected="traces with claims, and answers that can be right",
        )
    return value


# ----------------------------------------------------------------------------- scripted reasoners


@dataclass(frozen=True)
class Dials:
    """How a reasoner is made: all shares from 0 to 1."""

    grounding: float
    accuracy: float
    ood_accuracy: float


def random_dials(count: int, rng: Generator) -> list[Dials]:
    """Reasoners drawn evenly, whose retention follows their grounding."""
    dials = []
    # drawn by reasoner, first its grounding: another order would be another population
    low, high = zip(GROUNDING, ACCURACY, strict=True)
    for grounding, accuracy in rng.uniform(low, high, (count, 2)).tolist():
        kept = kept_accuracy(grounding, accuracy, "grounding", rng)
        dials.append(Dials(grounding, accuracy, kept))
    return dials


def kept_accuracy(
    grounding: float,
    accuracy: float,
    driven_by: DrivenBy,
    rng: Generator,
) -> float:
    """The accuracy out of distribution that its cause leaves to a reasoner."""
    # Drawn whatever the cause is, so that populations of one seed differ in their cause alone.
    kept = {
        "grounding": np.interp(grounding, GROUNDING, RETENTION),
        "accuracy": np.interp(accuracy, ACCURACY, RETENTION),
        "nothing": rng.uniform(*RETENTION),
    }[driven_by]
    return accuracy * float(kept)


def requests(dials: Dials, videos: int, seed: int) -> tuple[Request, Request]:
    """The audits of a reasoner: on shapes that it knows, and on others."""
    known, other = (
        Request(
            method="step-grounding",
            model="scripted",
            data=f"shape-world:{split}",
            model_options=asdict(dials) | {"seed": seed},
            data_options={split: videos},
            # what the law does not read is not paid for
            method_options={"perturbations": [], "shown": 0},
        )
        for split in ("test", "ood")
    )
    return known, other


# ------------------------------------------------------------------------------- models of yours


Data = tuple[str, Mapping[str, Any]]  # SPEC and options


def live_requests(
    models: Sequence[str],
    known: Data,
    other: Data,
    verifier: str,
) -> list[tuple[Request, Request]]:
    """The audits of models by SPEC on two data sets; raises UserError where one is not named."""
    if not (known[0] and other[0]):
        raise UserError(
            "bench step-grounding: models without data",
            expected="--data SPEC and --ood-data SPEC",
        )
    tools = {"claim-verifier": verifier} if verifier else {}

    def request(model: str, data: Data, **options: Any) -> Request:
        spec, given = data
        return Request(
            method="step-grounding",
            model=model,
            data=spec,
            data_options=dict(given),
            tools=tools,
            method_options=options,
        )

    return [
        # of the other data only the accuracy counts
        (request(model, known), request(model, other, perturbations=[]))
        for model in models
    ]
