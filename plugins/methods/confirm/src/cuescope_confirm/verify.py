"""Each witness as a check of the finding, and the places against what was planted or annotated."""

from collections.abc import Iterator, Mapping
from operator import itemgetter

from sklearn.metrics import balanced_accuracy_score

from cuescope_confirm.analysis import Results
from cuescope_confirm.companions.difficulty import Drawn
from cuescope_confirm.scores import NO_MORE, Control, Decision
from cuescope_confirm.testimony.votes import Testimony
from cuescope_confirm.verdicts.row import Row
from cuescope_confirm.verdicts.sentences import points
from cuescope_sdk import Audit, Evidence, Verdict

BESIDE: dict[Control, str] = {
    "without the cue": "without the cue",
    "unfound cue": "at another cue that is no finding",
    "other labels": "on labels that the cue does not affect",
}
VERDICTS: Mapping[Decision, Verdict] = {
    "confirms": "supported",
    "placebo does as much": "refuted",
    "undecided": "inconclusive",
}
SPEAKS: Mapping[Decision, str] = {
    "confirms": "this speaks for a cause",
    "placebo does as much": "the placebo does about as much, which speaks against a cause",
    "undecided": "this decides nothing",
}
LOCATED = 0.8  # balanced accuracy from which on places are those of a planted cue
HARD = (
    "But the wrong answers that come with it are of many kinds, as with pictures that are hard to "
    "see: it may be no cue."
)
COMPANY = (
    "But something that nearly always goes with it may be the cause instead: no change of pictures "
    "tells them apart."
)


def evidence(results: Results) -> Iterator[Evidence]:
    """A check of each witness that decides, then of where the cues are."""
    audit = results.study.audit
    for row in results.rows:
        name = results.name_of(row)
        with audit.spare(f"checks of the witnesses of {name}"):
            for testimony in row.measured:
                yield _check(results, row, testimony)
        is_cause = row.ruling.verdict == "causes"
        if is_cause and row.ruling.inside:
            yield company_check(results, row)
        if is_cause and row.drawn is not None:
            yield difficulty_check(results, row, row.drawn)
        with audit.spare(f"check of where {name} is"):
            planted = planted_check(audit, row)
            if planted is not None:
                yield planted


def _check(results: Results, row: Row, testimony: Testimony) -> Evidence:
    effect = testimony.effect
    where = ""
    for name, value in effect.controls.items():
        where += f", {BESIDE[name]} {points(value)}"
    verdict = VERDICTS[testimony.decision]
    words = SPEAKS[testimony.decision]
    if testimony.decision == NO_MORE and effect.low > 0:
        words = f"this is less than {points(results.study.options.margin)}, which counts as nothing"
        # a part of the cue does a part of what all of it does
        if row.ruling.together:
            verdict = "inconclusive"
            words = "this is too little to decide alone"
    return Evidence(
        check=f"witness: {testimony.spec}",
        verdict=verdict,
        detail=f"{results.name_of(row)}: {testimony.plugin.title}: "
        f"{points(effect.value)} points beyond the placebo (between {points(effect.low)} "
        f"and {points(effect.high)}){where}; {words}",
        value=effect.value,
        threshold=0.0,
        n=effect.n,
        feature=row.target.cue.feature.key,
        label=row.target.cue.label,
    )


def company_check(results: Results, row: Row) -> Evidence:
    """What the model's embedding says of a cue, it may say of the cue's company.

    Erasing a direction, and samples as they are, tell the two no better than they come apart.
    """
    return Evidence(
        check="cue or company",
        verdict="inconclusive",
        detail=f"{results.name_of(row)}: no change of pictures takes it out, so the model's "
        "embedding decides alone; pairs of your own (--pairs FOLDER) would tell",
        feature=row.target.cue.feature.key,
        label=row.target.cue.label,
        doubt=COMPANY,
    )


def difficulty_check(results: Results, row: Row, drawn: Drawn) -> Evidence:
    """What is hard to see is answered this and that; a cue stands for one answer."""
    is_told = drawn.is_told(results.study.options.margin)
    return Evidence(
        check="cue or hard to see",
        verdict="supported" if is_told else "inconclusive",
        detail=f"{results.name_of(row)}: of the wrong answers that come with it {drawn.share:.0%} "
        f"are '{drawn.answer}', the commonest of {drawn.many}",
        value=drawn.share,
        threshold=drawn.least,
        n=drawn.n,
        feature=row.target.cue.feature.key,
        label=row.target.cue.label,
        doubt=None if is_told else HARD,
    )


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
