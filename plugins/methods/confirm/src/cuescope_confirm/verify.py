"""Checks of a test: whether the places are those of a planted or annotated cue."""

from collections.abc import Iterator
from operator import itemgetter

from sklearn.metrics import balanced_accuracy_score

from cuescope_confirm.scores import Results, Row
from cuescope_sdk import Audit, Evidence

LOCATED = 0.8  # balanced accuracy from which on places are those of a planted cue


def evidence(results: Results) -> Iterator[Evidence]:
    """A check of where each cue is."""
    audit = results.study.audit
    for row in results.rows:
        with audit.spare(f"check of where {results.name_of(row)} is"):
            planted = planted_check(audit, row)
            if planted is not None:
                yield planted


def planted_check(audit: Audit, row: Row) -> Evidence | None:
    """Whether the samples that are said to show the cue are those of a planted or annotated one."""
    located = row.target.located
    if located is None:
        return None
    planted = {
        sample.key: sample.annotations.get("cues", {}) for sample in audit.samples
    }
    figures = []
    # no finding says which planted cue it is: the nearest counts
    for cue in audit.planted_cues:
        shown = []
        said = []
        for key in [*located.places, *located.without]:
            frames = planted.get(key, {}).get(cue.key)
            # a sample without this annotation says nothing of the cue
            if frames is not None:
                shown.append(any(frames))
                said.append(key in located.places)
        # accuracy is balanced between samples with the cue and without: both must be there
        if len(set(shown)) == 2:
            accuracy = float(balanced_accuracy_score(shown, said))
            figures.append((accuracy, cue.name))
    if not figures:
        return None
    accuracy, name = max(figures, key=itemgetter(0))
    return Evidence(
        check="located where a cue is annotated",
        # never refuted: a finding may be a cue that nobody annotated
        verdict="supported" if accuracy >= LOCATED else "inconclusive",
        detail=f"{row.target.cue.name}: of the annotated cues it is most like '{name}'. Whether a "
        f"sample shows it is told with {accuracy:.0%} balanced accuracy (50% is chance)",
        value=accuracy,
        threshold=LOCATED,
        n=len(located.places) + len(located.without),
        feature=row.target.cue.feature.key,
        label=row.target.cue.label,
    )
