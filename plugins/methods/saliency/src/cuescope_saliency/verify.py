"""Checks of the maps: deletion and insertion against random maps; and the pictures of some."""

from collections.abc import Iterator

from cuescope_saliency.figures import attach_examples
from cuescope_saliency.options import SaliencyOptions
from cuescope_saliency.trials import explained_images, trials
from cuescope_sdk import Audit, Evidence
from cuescope_sdk.explain import Explainer, FaithfulnessCheck


def evidence(
    audit: Audit,
    method: Explainer,
    options: SaliencyOptions,
) -> Iterator[Evidence]:
    """Whether the explainer's maps find what the model relies on."""
    check = FaithfulnessCheck(options.faithfulness, options.steps)
    yield from check.evidence(audit, method, options.explainer)
    # Other options than the audit's: another method is audited (--verify-with saliency), whose
    # outcomes are of no use here.
    outcomes = audit.outcomes
    if audit.options is not options:
        outcomes = audit.respond(trials(audit, options))
    images = audit.once(explained_images, audit, options, outcomes)
    attach_examples(audit, images)
