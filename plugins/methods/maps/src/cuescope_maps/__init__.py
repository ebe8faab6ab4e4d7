"""Where a model looked for an answer, proved by taking the region out and putting it in."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from cuescope_maps.options import MapsOptions
from cuescope_sdk import (
    Audit,
    Capabilities,
    DataNeeds,
    Evidence,
    Feature,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Score,
    Trial,
    hookimpl,
)

if TYPE_CHECKING:
    from cuescope_maps.report import Result


class Maps(Plugin):
    """Draws maps of single answers by any explainer, and tests the region that each map claims."""

    title = "Maps: where the model looked for an answer, proved"
    finds = "The regions of pictures and clips that cause single answers."
    requires = Requirements(outputs=frozenset(), labels=0)
    # `cuescope investigate` leaves it out: regions of single pictures are no cue of others
    is_control = True
    data_needs = DataNeeds(
        each="data set",
        least=2,
        enough=12,
        enough_for="regions that move the probability of an answer by 30 points",
    )
    no_effect = 0.0
    metrics = (
        Metric(
            name="effect",
            title="Effect",
            meaning="by how much the regions move the probability of their answer, beyond equal "
            "regions elsewhere (-1 to 1)",
            unit="proportion",
        ),
        Metric(
            name="held",
            title="Hold",
            meaning="share of the maps whose region does more than equal regions elsewhere",
            unit="proportion",
            higher_is_better=True,
        ),
    )
    Options = MapsOptions
    options: MapsOptions

    @staticmethod
    def refuses(capabilities: Capabilities) -> str | None:
        """Why a model cannot be audited: what it gives where it answers nothing."""
        if {"logits", "text"} & capabilities.outputs:
            return None
        return " and ".join(sorted(capabilities.outputs)) or "no answers"

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """A feature an explainer and answer: the regions of its maps."""
        # late: scipy is not loaded to list plugins (docs/adr/0002)
        from cuescope_maps.proof import ways_of
        from cuescope_maps.report import features
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "maps")
        # before anything is asked: an intervention that does not fit costs no answer
        audit.once(ways_of, audit, self.options)
        yield from features(audit, self.options)

    @hookimpl
    def perturb(self, audit: Audit) -> list[Trial]:
        """Each region taken out, put in, and its controls; then the answers without pictures."""
        from cuescope_maps.prior import prior_trials
        from cuescope_maps.proof import arms

        proofs = [arm.trial for arm in audit.once(arms, audit, self.options)]
        asked = audit.once(prior_trials, audit, self.options)
        return [*proofs, *(trial for _, _, trial in asked)]

    @hookimpl
    def compute_scores(
        self, audit: Audit, outcomes: Sequence[Outcome]
    ) -> Iterable[Score]:
        """The effect of each explainer's regions on each answer."""
        from cuescope_maps.figures import contrasts
        from cuescope_maps.prior import prior_trials, priors
        from cuescope_maps.report import findings, scores

        asked = audit.once(prior_trials, audit, self.options)
        made = audit.once(_results, audit, self.options)
        for found in findings(made):
            audit.attach(found)
        audit.attach_each({"pictures": lambda: contrasts(made, self.options.margin)})
        rows = priors(asked, outcomes[len(outcomes) - len(asked) :])
        return list(scores(audit, made, rows))

    @hookimpl
    def verify(self, audit: Audit) -> Iterator[Evidence]:
        """Whether each explainer's order beats chance."""
        from cuescope_maps.verify import evidence
        from cuescope_sdk.data import independent_samples

        if audit.options is not self.options:  # another method's audit
            return
        yield from independent_samples(audit)
        made = audit.once(_results, audit, self.options)
        yield from evidence(audit, self.options, made)


def _results(audit: Audit, options: MapsOptions) -> "list[Result]":
    from cuescope_maps.proof import arms, read
    from cuescope_maps.report import results

    # the answers without pictures come behind those of the proof
    proofs = audit.outcomes[: len(audit.once(arms, audit, options))]
    return results(audit, options, read(audit, options, proofs))


__all__ = ["Maps", "MapsOptions"]
