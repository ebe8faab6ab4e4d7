"""What a finding is held against: a cue that nobody found, and labels that it leaves alone."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from cuescope_confirm.asking import ABOUT_OBJECTS, pull_of, seen_of, stratified_gap
from cuescope_confirm.locating import Role, Target, locate
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.study import Cue, Study
from cuescope_sdk import Audit

BESIDE = 4  # placebo cues are changed in a quarter as many samples
TRIED = 2  # other cues that are located, until one is located well
ALIKE = 1.0  # standard errors: another cue that goes with answers by more may be one not found
FEWEST = 10  # of the run's samples of a label, with the cue and without, that tell it is untouched


def with_placebos(
    audit: Audit,
    options: ConfirmOptions,
    study: Study,
    target: Target,
    unfound: dict[object, Target | str],
) -> Target:
    """The target with its placebos; `unfound` remembers those of findings of the same sort."""
    if target.located is None:
        return target
    if target.direction.toward == "its own answer":
        none = "each sample shows what the finding is about"
        return replace(target, placebos={"unfound cue": none, "other labels": none})
    cue, direction = target.cue, target.direction
    about = cue.run, cue.feature.kind, cue.label, cue.labels
    sort = about, direction.toward, direction.sign
    if sort not in unfound:
        unfound[sort] = _unfound(audit, options, study, target)
    placebos: dict[Role, Target | str] = {
        "unfound cue": unfound[sort],
        "other labels": _other_labels(audit, options, study, target),
    }
    return replace(target, placebos=placebos)


def _unfound(audit: Audit, options: ConfirmOptions, study: Study, target: Target) -> Target | str:
    """Of the cues that the run scored for the label and that are no finding, the nearest in size.

    One that goes with the answers as the finding does is left out: it may be a cue all the same.
    """
    tried = 0
    for cue in others(study, target.cue):
        if not _leaves_alone(audit, study, cue, target):
            continue
        made = locate(
            audit,
            study,
            cue,
            options.samples // BESIDE,
            direction=target.direction,
            role="unfound cue",
        )
        if made.located is not None and made.located.quality.good:
            return made
        tried += 1
        if tried >= TRIED:
            return "other cues of its kind cannot be located"
    return "the run has no other cue of its kind that goes with no answers"


def others(study: Study, cue: Cue) -> Iterator[Cue]:
    """Features of a cue's kind, scored for its label and no finding, the nearest in size first."""
    report = study.reports[cue.run]
    labels = cue.labels or (cue.label,)
    taken = {score.feature for score in report.findings} | {c.feature.key for c in study.cues}
    scored = {score.feature for score in report.scores if score.label in labels}
    features = {f.key: f for f in report.features if f.kind == cue.feature.kind and f.occurrences}
    size = len(cue.feature.occurrences)
    able = [features[key] for key in sorted(scored - taken) if key in features]
    for feature in sorted(able, key=lambda f: abs(np.log(len(f.occurrences) / max(size, 1)))):
        name = report.names[feature.key]
        yield replace(cue, feature=feature, name=name, checked=None, members=())


def _leaves_alone(audit: Audit, study: Study, cue: Cue, target: Target) -> bool:
    """Whether a cue does not go with answers in the run as the finding does.

    What the run measured of an object's name is taken as it is; nothing more is asked.
    """
    if cue.feature.kind in ABOUT_OBJECTS:
        gaps = [s for s in study.reports[cue.run].headlines if s.feature == cue.feature.key]
        return any((s.low or 0.0) <= 0 <= (s.high or 0.0) for s in gaps if s.value is not None)
    seen = seen_of(audit, study, cue)
    if target.direction.toward == "the label":
        return pull_of(audit, seen, cue)[1] < ALIKE
    _, z = stratified_gap(seen.right, seen.present, seen.labels, seen.own)
    return -target.direction.sign * z < ALIKE


def _other_labels(
    audit: Audit, options: ConfirmOptions, study: Study, target: Target
) -> Target | str:
    """The cue where samples of other labels show it, whose answers it leaves alone in the run."""
    cue = target.cue
    if target.direction.toward != "the right answer" or not cue.about:
        return "the finding is about the answers to all labels"
    if cue.feature.kind in ABOUT_OBJECTS:
        return _other_object(audit, options, study, target)
    seen = seen_of(audit, study, cue)
    untouched = set()
    for label in np.unique(seen.labels[~seen.own]).tolist():
        among = (seen.labels == label) & ~seen.own
        fewest = min((among & seen.present).sum(), (among & ~seen.present).sum())
        _, z = stratified_gap(seen.right, seen.present, seen.labels, among)
        if fewest >= FEWEST and abs(z) < ALIKE:
            untouched.add(label)
    if not untouched:
        return "no other label shows the cue often enough and is answered as well with it"
    return replace(target, role="other labels", labels=frozenset(untouched), placebos={})


def _other_object(
    audit: Audit, options: ConfirmOptions, study: Study, target: Target
) -> Target | str:
    """The same thing, and a question about another object that does not go with it."""
    task, _, thing = _parts(target.cue.feature.key)
    report = study.reports[target.cue.run]
    taken = {score.feature for score in report.findings}
    size = len(target.cue.feature.occurrences)
    able = [
        feature
        for feature in report.features
        if feature.key not in taken
        and _parts(feature.key)[::2] == (task, thing)
        and feature.occurrences
    ]
    for feature in sorted(able, key=lambda f: abs(len(f.occurrences) - size)):
        cue = Cue(feature, _parts(feature.key)[1], report.names[feature.key], target.cue.run)
        if _leaves_alone(audit, study, cue, target):
            return locate(
                audit,
                study,
                cue,
                options.samples // BESIDE,
                direction=target.direction,
                role="other labels",
            )
    return "the run has no other object whose answers the thing does not go with"


def _parts(key: str) -> tuple[str, str, str]:
    """Task, object and thing of an object's feature, "recognition/bird/tree"."""
    task, _, rest = key.partition("/")
    named, _, thing = rest.rpartition("/")
    return task, named, thing


def said(placebos: Mapping[Role, Target | str], role: Role) -> str:
    """What a placebo is, or why there is none, in a few words."""
    placebo = placebos.get(role, "the cue is not located")
    if isinstance(placebo, str):
        return f"none: {placebo}"
    if placebo.labels is not None:
        return ", ".join(sorted(placebo.labels))
    return placebo.cue.name
