"""Number of samples that will show each cue where it is tested, told before the work."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cuescope_core.amounts import count_of

if TYPE_CHECKING:
    from cuescope_core.stored_run import StoredRun

MOST = 0.4  # of the samples of a run: a feature in more of them ranks them all


def expected_samples(
    run: "StoredRun", top: int, *, parts: int, folds: int | None, least: int
) -> Iterator[str]:
    """How many samples will show each cue where it is tested, a line each.

    By the samples of its label that show it in the run; of equal `parts` one is held out.
    """
    for about, count in _shown_cues(run, top):
        line = f"{about}: {count_of(count, 'samples')} of the run show it, and "
        if folds:
            line += "all samples are tested"
            # the run lists a few of them: where it looks again it may find others
            if count < least:
                line += (
                    f": the runs without a part may find it in more of them. {least} are the "
                    "fewest that decide"
                )
        else:
            held = count // parts
            line += f"about {held} of them are held out"
            if held < least:
                remedy = "; --folds 4 tests all" if count >= least else ""
                line += f", too few ({least} are the fewest{remedy})"
        yield f"{line}."


def _shown_cues(run: "StoredRun", top: int) -> Iterator[tuple[str, int]]:
    """Findings whose samples can be counted, in words, with how many of their label show them."""
    # a method that asks nothing has no answers, which name the labels
    if not run.has_answers:
        return
    report = run.report
    labels = {row["sample"]: row["label"] for row in run.answers}
    features = {feature.key: feature for feature in report.features}
    for finding in report.findings[:top]:
        feature = features[finding.feature]
        shown = {occurrence.sample for occurrence in feature.occurrences}
        # a finding about one label is tested on its samples alone
        of_label = [key for key in shown if finding.label in (None, labels.get(key))]
        # features without places have no samples to count; those that rank all list all
        if not of_label or len(shown) > MOST * len(labels):
            continue
        name = report.names[feature.key]
        about = name if finding.label is None else f"{name} on '{finding.label}'"
        yield about, len(of_label)
