"""The hooks. A method implements the first four, an observer the last four.

pluggy calls every registered implementation with keywords, so an implementation may take fewer
arguments than its specification. Return or yield; None adds nothing.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pluggy

from cuescope_core.conclusions import Evidence, Feature, Report, Score
from cuescope_core.types import Outcome, Trial

if TYPE_CHECKING:
    from cuescope_core.auditing import Audit

# pluggy calls all that is registered, so each audit has a manager (docs/adr/0001)
hookspec = pluggy.HookspecMarker("cuescope")
hookimpl = pluggy.HookimplMarker("cuescope")


@hookspec
def propose_features(audit: "Audit") -> Iterable[Feature] | None:
    """Candidate cues, with where each occurs. `audit.respond` may be asked on the way."""


@hookspec
def perturb(
    audit: "Audit", features: Sequence[Feature]
) -> Iterable[Trial | Outcome] | None:
    """The trials that tell whether the model relies on the features.

    What proposing asked already is handed on as the outcome itself: each trial is asked once.

    A change of the input is another sample (`sample.with_frames(...)`, `sample.static(i)`);
    a change inside the model is an edit.
    """


@hookspec
def compute_scores(
    audit: "Audit",
    features: Sequence[Feature],
    outcomes: Sequence[Outcome],
) -> Iterable[Score] | None:
    """Scores, strongest first. `outcomes` are those of `perturb`, in order.

    The row of the first metric in `method.metrics` is the headline of its (feature, label); it
    carries `finding` and `statement`.
    """


@hookspec
def verify(
    audit: "Audit",
    features: Sequence[Feature],
    scores: Sequence[Score],
) -> Iterable[Evidence] | None:
    """Checks of the findings. From here on `audit.samples` show their "cues" annotation.

    With `--verify-with` another method's features and scores come here, and `audit.outcomes` are
    that method's: `audit.options is self.options` tells whether the audit is one's own.
    """


@hookspec
def audit_started(audit: "Audit") -> None:
    """Everything is built; nothing has been asked yet."""


@hookspec
def responses_progressed(
    audit: "Audit",
    done: int,
    total: int,
    cached: int,
    inputs: int,
    all_inputs: int,
) -> None:
    """`done` of the `total` trials asked for are answered, `cached` of them were known before.

    `inputs` are the pictures that the model has looked at for the others, of about `all_inputs`:
    what takes the time, where clips and stills are asked about in turn.
    """


@hookspec
def answered(audit: "Audit", outcomes: Sequence[Outcome]) -> None:
    """See the outcomes of one call of the method, in its order; a trial may come again."""


@hookspec
def audit_finished(audit: "Audit", report: Report) -> None:
    """The report is whole and stored."""
