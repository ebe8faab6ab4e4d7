"""Number of samples that will show each cue where it is tested, told before the work."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuescope_core.amounts import count_of

if TYPE_CHECKING:
    from cuescope_core.stored_run import StoredRun

MOST = 0.4  # of the samples of a run: a feature in more of them ranks them all


@dataclass(frozen=True)
class ShownCue:
    """A finding in words, and the `samples` of its label that show it in the run, by their keys.

    `found` are its p-value and q-value, None where its method tests nothing. `feature` and `label`
    are those of the finding.
    """

    about: str
    samples: tuple[str, ...]
    found: tuple[float, float] | None = None
    feature: str | None = None
    label: str | None = None


def shown_cues(run: "StoredRun", top: int) -> Iterator[ShownCue]:
    """Yield the findings whose samples can be counted."""
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
        p_value = finding.p_value
        q_value = finding.q_value
        found = None
        if p_value is not None and q_value is not None:
            found = p_value, q_value
        samples = tuple(sorted(of_label))
        yield ShownCue(about, samples, found, feature.key, finding.label)


def expected_samples(
    run: "StoredRun", top: int, *, parts: int, folds: int | None, least: int
) -> Iterator[str]:
    """How many samples will show each cue where it is tested, a line each.

    By the samples of its label that show it in the run; of equal `parts` one is held out.
    """
    for cue in shown_cues(run, top):
        count = len(cue.samples)
        line = f"{cue.about}: {count_of(count, 'samples')} of the run show it, and "
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
