"""The pictures of some maps."""

from cuescope_saliency.figures import attach_examples
from cuescope_saliency.options import SaliencyOptions
from cuescope_saliency.trials import explained_images, trials
from cuescope_sdk import Audit


def attach_maps(audit: Audit, options: SaliencyOptions) -> None:
    """Show maps of the audited images."""
    # Other options than the audit's: another method is audited (--verify-with saliency), whose
    # outcomes are of no use here.
    outcomes = audit.outcomes
    if audit.options is not options:
        outcomes = audit.respond(trials(audit, options))
    images = audit.once(explained_images, audit, options, outcomes)
    attach_examples(audit, images)
