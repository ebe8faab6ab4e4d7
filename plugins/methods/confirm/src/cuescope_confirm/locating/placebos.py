"""What a finding is held against: a cue that nobody found, and labels that it leaves alone."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import itemgetter

import numpy as np

from cuescope_confirm.asking import most_moved, run_answers
from cuescope_confirm.locating import Target, locate
from cuescope_confirm.scores import Control
from cuescope_confirm.study import Cue, Study
from cuescope_sdk import Feature

Placebo = Target | str  # why there is none
TRIED = 2  # other cues that are located, until one is located well
ALIKE = 1.0  # standard errors: another cue that goes with answers by more may be one not found
FEWEST = 10  # of the run's samples of a label, with the cue and without, that tell it is untouched


def with_placebos(
    study: Study,
    target: Target,
    unfound: dict[object, Placebo],
) -> Target:
    """The target with its placebos; `unfound` remembers those of findings of the same sort."""
    if target.located is None:
        return target
    cue = target.cue
    direction = target.direction
    if direction.toward == "its own answer":
        none = "each sample shows what the finding is about"
        return replace(target, placebos={"unfound cue": none, "other labels": none})
    # findings of one sort share a placebo: it is located and asked about once
    sort = cue.run, cue.kind, cue.labels, direction.toward, direction.sign
    if sort not in unfound:
        unfound[sort] = _other_cue(study, target)
    placebos: dict[Control, Placebo] = {
        "unfound cue": unfound[sort],
        "other labels": _other_labels(study, target),
    }
    return replace(target, placebos=placebos)


def _other_cue(study: Study, target: Target) -> Placebo:
    """Of the cues that the run scored for the label and that are no finding, the nearest in size.

    One that goes with the answers as the finding does is left out: it may be a cue all the same.
    """
    tried = 0
    for cue in others(study, target.cue):
        if not _leaves_alone(study, cue, target):
            continue
        placebo = locate(study, cue, target.direction, "unfound cue")
        # at an uncertain place something else may be changed: that is no placebo
        if placebo.located is not None and placebo.located.is_sure:
            return placebo
        tried += 1
        if tried >= TRIED:
            return "other cues of its kind cannot be located"
    return "the run has no other cue of its kind that is unrelated to the answers"


def others(study: Study, cue: Cue) -> Iterator[Cue]:
    """Features of a cue's kind, scored for its label and no finding, the nearest in size first."""
    report = study.reports[cue.run]
    labels = cue.labels or (None,)
    taken = {score.feature for score in report.findings}
    for other in study.cues:
        # a feature that --feature tests is no placebo either
        taken.add(other.feature.key)
    # of a feature that was not scored for this label the run says nothing
    scored = {score.feature for score in report.scores if score.label in labels}
    able = []
    size = max(len(cue.feature.occurrences), 1)
    for feature in report.features:
        is_free = feature.key in scored - taken
        if is_free and feature.kind == cue.kind and feature.occurrences:
            # as a ratio: twice as large is as far away as half as large
            ratio = np.log(len(feature.occurrences) / size)
            # the key too, so that equals in size have one order
            able.append((abs(ratio), feature.key, feature))
    for *_, feature in sorted(able, key=itemgetter(0, 1)):
        name = report.names[feature.key]
        # the name that a check gave, and the members, are those of the finding
        yield replace(cue, feature=feature, name=name, checked=None, members=())


def _leaves_alone(study: Study, cue: Cue, target: Target) -> bool:
    """Whether a cue does not go with answers in the run as the finding does.

    What the run measured of an object's name is taken as it is; nothing more is asked.
    """
    if cue.is_object:
        for score in study.reports[cue.run].headlines:
            is_measured = score.feature == cue.feature.key and score.value is not None
            if is_measured and (score.low or 0.0) <= 0 <= (score.high or 0.0):
                return True
        return False
    answers = run_answers(study, cue)
    if target.direction.toward == "the label":
        _, z = answers.pull(cue)
        return z < ALIKE
    _, z = answers.gap(answers.of_label, answers.probability)
    # one-sided: only a gap in the finding's direction would look like a cause
    return -target.direction.sign * z < ALIKE


def _other_labels(study: Study, target: Target) -> Placebo:
    """The cue where samples of other labels show it, whose answers it leaves alone in the run."""
    cue = target.cue
    if target.direction.toward != "the right answer" or not cue.about:
        return "the finding is about the answers to all labels"
    if cue.is_object:
        return _other_object(study, target)
    answers = run_answers(study, cue)
    untouched: dict[str, float] = {}
    for label in np.unique(answers.labels[~answers.of_label]).tolist():
        among = (answers.labels == label) & ~answers.of_label
        shown = (among & answers.present).sum()
        if min(shown, among.sum() - shown) < FEWEST:
            continue
        # two-sided: on these labels the cue should do nothing at all
        _, z = answers.gap(among)
        # of what is tested, by equivalence: a label that may suffer as well would veto a cause
        most = most_moved(*answers.gap(among, answers.probability), target.direction)
        if abs(z) < ALIKE and most < study.options.margin:
            untouched[label] = max(most, 0.0)
    if not untouched:
        return "no other label shows the cue often enough without being affected by it"
    return replace(
        target,
        role="other labels",
        labels=frozenset(untouched),
        placebos={},
        allowance=max(untouched.values()),
    )


def _other_object(study: Study, target: Target) -> Placebo:
    """The same thing, and a question about another object that does not go with it."""
    task, _, thing = _parts(target.cue.feature)
    report = study.reports[target.cue.run]
    taken = {score.feature for score in report.findings}
    size = len(target.cue.feature.occurrences)

    def distance(feature: Feature) -> int:
        return abs(len(feature.occurrences) - size)

    # nearest in size, as for other cues: a rare thing is located in few samples
    for feature in sorted(report.features, key=distance):
        other_task, label, other_thing = _parts(feature)
        is_free = feature.occurrences and feature.key not in taken
        if not is_free or (other_task, other_thing) != (task, thing):
            continue
        cue = Cue(feature, report.names[feature.key], (label,), target.cue.run)
        if _leaves_alone(study, cue, target):
            return locate(study, cue, target.direction, "other labels")
    return "the run has no other object whose answers are unrelated to the thing"


def _parts(feature: Feature) -> tuple[str, str, str]:
    """Task, object and thing of an object's feature, "recognition/bird/tree"."""
    task, _, rest = feature.key.partition("/")
    label, _, thing = rest.rpartition("/")
    return task, label, thing


def name_of_placebo(
    placebos: Mapping[Control, Placebo],
    role: Control,
) -> str:
    """What a placebo is, or why there is none, in a few words."""
    placebo = placebos.get(role, "the cue is not located")
    if isinstance(placebo, str):
        return f"none: {placebo}"
    if placebo.labels is not None:
        return ", ".join(sorted(placebo.labels))
    return placebo.cue.name
