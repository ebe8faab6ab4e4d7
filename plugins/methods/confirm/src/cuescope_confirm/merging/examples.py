"""The examples of a cue that draws answers to a label: not that label's own samples.

Frames are clustered by what the model makes of them, so a cluster of what is answered alike also
holds the samples that are answered so because this is right. Those need not show the cue.
"""

from dataclasses import replace
from itertools import chain, compress

from cuescope_confirm.asking import SHOWN, run_answers
from cuescope_confirm.companions.difficulty import drawn_in
from cuescope_confirm.locating.learned import by_pictures
from cuescope_confirm.locating.places import GOOD_AUROC
from cuescope_confirm.study import Cue, Study, root
from cuescope_sdk import Occurrence


def stands_for(study: Study, cue: Cue) -> str | None:
    """The wrong answer that a cue brings in the run; None where it brings several, or none."""
    answers = run_answers(study, cue)
    drawn = drawn_in(answers)
    if drawn is None or not drawn.is_one:
        return None
    _, z = answers.gap(
        answers.labels != drawn.answer, answers.probability_of(drawn.answer)
    )
    return drawn.answer if z >= SHOWN else None


def without_own_label(study: Study, cue: Cue, drawn_to: str) -> Cue:
    """The cue without the samples of a label that it draws answers to, unless they show it.

    What shows it is learned from the samples of other labels, by their pictures alone.
    """
    own: list[Occurrence] = []
    others: list[Occurrence] = []
    for occurrence in cue.feature.occurrences:
        side = own if _label_of(study, occurrence) == drawn_to else others
        side.append(occurrence)
    shown = {occurrence.sample for occurrence in others}
    if not own:
        return cue
    abroad = _with_occurrences(cue, others)
    # of too few nothing is learned, and what is answered so rightly is no example of a cue
    if len(shown) < study.options.least:
        return abroad
    told = by_pictures(study, abroad)
    if told.auroc < GOOD_AUROC:
        return abroad
    listed = study.frames_of(_with_occurrences(cue, own))
    is_shown = told.scores(study.seen, list(listed)) >= told.model.threshold
    kept = chain.from_iterable(compress(listed.values(), is_shown))
    return _with_occurrences(cue, [*others, *kept])


def _label_of(study: Study, occurrence: Occurrence) -> str | None:
    key = root(occurrence.sample, study.seen)
    return None if key is None else study.seen[key].label


def _with_occurrences(cue: Cue, occurrences: list[Occurrence]) -> Cue:
    update = {"occurrences": tuple(occurrences)}
    return replace(cue, feature=cue.feature.model_copy(update=update))
