"""Cross-fitting: a remedy is learned on all parts of the data but one, and measured on that one.

Of few samples thirds are too small: one to find a cue, one to learn a remedy, one to measure it.
Of several runs each leaves one part out. What was found and learned without a part answers there,
and what all parts say is one measurement (after Chernozhukov et al., 2018; docs/adr/0043).
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, compress

import numpy as np
from jaxtyping import Bool, Float

from cuescope_mitigation import trials
from cuescope_mitigation.naming import NUMBERED
from cuescope_mitigation.options import MitigationOptions
from cuescope_mitigation.trials import (
    Comparison,
    Cue,
    Parts,
    check_labels,
    compare,
    cues_of,
    frame_keys,
    measured_features,
    note_subject,
    part_of,
    route,
    save,
    task_of,
)
from cuescope_sdk import Audit, Feature, Occurrence, Sample, StoredRun, UserError
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Overlap
from cuescope_sdk.stills import FrameId


@dataclass(frozen=True, eq=False)
class Folds:
    """All parts of the data, each measured by what was learned in the others.

    `joined` has all measured samples with the cues as they are one of all runs; of each part
    `columns` names which of these its own cues are. `whole` is the run on all data, by which the
    remedy is learned that is kept.
    """

    joined: Parts
    parts: Sequence[Parts]
    columns: Sequence[Sequence[int]]
    whole: Parts

    def shown_features(self) -> Iterator[Feature]:
        """The cues where they are on screen, as the run says that has not seen the sample."""
        found: dict[int, list[Occurrence]] = {}
        # what shows a cue is told part by part, and the page shows all parts together
        for parts, columns in zip(self.parts, self.columns, strict=True):
            by_key = {feature.key: feature for feature in measured_features(parts)}
            for cue, column in zip(parts.cues, columns, strict=True):
                shown = by_key[cue.feature.key].occurrences
                found.setdefault(column, []).extend(shown)
        told = set[str]()
        for column, cue in enumerate(self.joined.cues):
            # a cue may hurt several labels
            if cue.feature.key in told:
                continue
            # the clearest first: a page shows only some
            told.add(cue.feature.key)
            occurrences = found.get(column, [])
            occurrences.sort(key=lambda occurrence: -(occurrence.strength or 0.0))
            update = {"occurrences": tuple(occurrences), "name": cue.name}
            yield cue.feature.model_copy(update=update)


def prepare(audit: Audit, options: MitigationOptions) -> Parts | Folds:
    """What is learned where, and measured where; raises UserError where cues cannot be told."""
    if not options.folds:
        return trials.prepare(audit, options)
    run = StoredRun(options.run, audit.context)
    # a part without findings has nothing to learn from, and tests nothing
    runs = [StoredRun(folder, audit.context) for folder in options.folds]
    found = [fold for fold in runs if fold.report.findings]
    if not found:
        raise UserError(
            f"none of the {len(runs)} runs has a finding",
            expected="a run that found a cue",
            remedy="There is nothing to mitigate; take more samples",
        )
    # by key: what is drawn does not depend on the order of the data
    samples = sorted(audit.samples, key=lambda sample: sample.key)
    cues, columns = match(options, run, found)
    parts = []
    for fold, of_fold in zip(found, columns, strict=True):
        parts.append(part_without(audit, options, fold, of_fold, samples))
    everything = np.ones(len(samples), bool)
    its_cues = cues_of(run.report, options)
    whole = route(audit, options, run, its_cues, samples, lambda shows: everything)
    joined = in_one(whole, parts, cues, [list(of_fold) for of_fold in columns])
    # about the run that the person named, not about its parts
    note_subject(audit, options, run.report, its_cues)
    counts = ", ".join(str(len(fold.report.findings)) for fold in runs)
    # all runs are counted, those without a finding too: that is what was tried
    audit.note(
        "parts",
        f"findings: {counts} in {count_of(len(runs), 'runs')}, each of which left one part of "
        f"{count_of(len(samples), 'samples')} out; there the remedy is measured that was "
        "learned of the others; the one that is kept is learned of all of them",
    )
    if missed := len(samples) - len(joined.samples):
        audit.note(
            "left out",
            f"{count_of(missed, 'samples')} of parts without which no cue was found",
        )
    return Folds(joined, parts, [list(of_fold) for of_fold in columns], whole)


def part_without(
    audit: Audit,
    options: MitigationOptions,
    run: StoredRun,
    cues: Mapping[int, Cue],
    samples: Sequence[Sample],
) -> Parts:
    """One run's cues, with the samples that it has seen to learn of, and others to measure on."""
    seen = run.part
    contents = set(map(frame_keys, seen.values()))
    # None is no group: it must not join all samples without one
    groups = {sample.group for sample in seen.values()} - {None}
    kept = []
    for sample in samples:
        # a sample of a group that was looked at would be an acquaintance, no test
        is_alike = sample.group in groups or frame_keys(sample) in contents
        # the same frames under another key are the same sample
        if sample.key in seen or not is_alike:
            kept.append(sample)
    fitted = np.array([sample.key in seen for sample in kept])
    check_labels(audit, list(compress(kept, fitted)))
    if fitted.all():
        raise UserError(
            f"{run.path} has looked at all samples",
            expected="a run that leaves a part out, as one with --part 2+3/3",
            remedy="`cuescope mitigate RUN --with NAME --folds N` makes them",
        )
    return route(audit, options, run, list(cues.values()), kept, lambda shows: fitted)


# ---------------------------------------------------------------------------- one cue of all runs


def match(
    options: MitigationOptions, run: StoredRun, folds: Sequence[StoredRun]
) -> tuple[list[Cue], list[dict[int, Cue]]]:
    """The cues of all runs, those of the run on all data first; and each fold's own by these.

    One cue is one by `Overlap.link_findings`, as for `confirm`. What the run on all data calls it,
    or a person, it is called in all folds.
    """
    # keys of one run may be something else in another
    unnamed = options.model_copy(update={"names": {}})
    found = [cues_of(run.report, options)]
    found += [cues_of(fold.report, unnamed) for fold in folds]
    flat = list(chain.from_iterable(found))
    # the run on all data is source 0, and folds count from 1
    source = np.repeat(np.arange(len(found)), list(map(len, found))).tolist()
    seen = [seeing.part.keys() for seeing in (run, *folds)]
    cues: list[Cue] = []
    columns: list[dict[int, Cue]] = [{} for _ in folds]
    for rows in Overlap.link_findings(
        [cue.label for cue in flat],
        [None if cue.feature.kind in NUMBERED else cue.word for cue in flat],
        list(map(_frames, flat)),
        source,
        seen,
    ):
        first = flat[rows[0]]
        number = source[rows[0]]
        if number:
            # the run on all data has not found it, and another cue of it may have this key
            key = f"{first.feature.key}, without part {number}"
            feature = first.feature.model_copy(update={"key": key})
            name = key if first.name == first.feature.key else first.name
            first = replace(first, feature=feature, name=name)
        for row in rows:
            # of two of one fold the first is the stronger finding
            if source[row]:
                called = replace(flat[row], name=first.name, word=first.word)
                columns[source[row] - 1].setdefault(len(cues), called)
        cues.append(first)
    return cues, columns


def _frames(cue: Cue) -> Set[FrameId]:
    """None for what has a name: two things may be in the same frames."""
    if cue.feature.kind not in NUMBERED:
        return set()
    return {(seen.sample, seen.frame or 0) for seen in cue.feature.occurrences}


def in_one(
    whole: Parts,
    parts: Sequence[Parts],
    cues: Sequence[Cue],
    columns: Sequence[Sequence[int]],
) -> Parts:
    """The measured samples of all parts, with the cues of all runs."""
    shows: list[Bool[np.ndarray, "sample cue"]] = []
    judged: list[Bool[np.ndarray, "sample cue"]] = []
    # by fold: a part is judged by its own cues alone
    for part, of_part in zip(parts, columns, strict=True):
        measured = ~part.fitted
        count = int(measured.sum())
        shown = np.zeros((count, len(cues)), bool)
        known = np.zeros((count, len(cues)), bool)
        shown[:, of_part] = part.shows[measured]
        # a cue that a fold did not find is not judged there, which is not the same as absent
        known[:, of_part] = True
        shows.append(shown)
        judged.append(known)
    measured_samples = [list(compress(part.samples, ~part.fitted)) for part in parts]
    outcomes = [list(compress(part.outcomes, ~part.fitted)) for part in parts]
    samples = list(chain.from_iterable(measured_samples))
    return replace(
        whole,
        cues=cues,
        samples=samples,
        outcomes=list(chain.from_iterable(outcomes)),
        shows=np.vstack(shows),
        # frames are told part by part, in `shown_features`
        log_odds=(),
        fitted=np.zeros(len(samples), bool),
        judged=np.vstack(judged),
    )


# ---------------------------------------------------------------------------- fit and compare


def try_remedy(study: Parts | Folds) -> Comparison | None:
    """What the mitigator does; None where it fails, which costs the remedy and not the report."""
    if isinstance(study, Parts):
        return trials.try_remedy(study)
    audit = study.joined.audit
    with audit.spare(part_of(study.joined.options), trials.plain(study.joined)):
        return compare_folds(study)
    return None


def compare_folds(folds: Folds) -> Comparison:
    """Each part's answers by what was learned without it, as one; the remedy of all is kept."""
    # the folder is for what is learned of all parts
    unsaved = folds.joined.options.model_copy(update={"save": None})
    of_parts = [compare(replace(part, options=unsaved)) for part in folds.parts]
    # all parts have the same mitigator, built anew
    first = of_parts[0]
    whole = folds.whole
    if whole.options.save is not None:
        words = [cue.word for cue in whole.cues]
        task = task_of(whole, whole.shows, whole.router, words)
        save(whole, first.mitigator.fit(task))

    def all_of(name: str) -> Float[np.ndarray, "sample ..."]:
        return np.concatenate([getattr(part, name) for part in of_parts])

    def of_control(name: str) -> Float[np.ndarray, " sample"] | None:
        # a control that failed in one part is none
        values = [getattr(part, name) for part in of_parts]
        failed = any(value is None for value in values)
        return None if failed else np.concatenate(values)

    return Comparison(
        parts=folds.joined,
        mitigator=first.mitigator,
        logits_before=all_of("logits_before"),
        logits_after=all_of("logits_after"),
        before=all_of("before"),
        after=all_of("after"),
        random=of_control("random"),
        shifted=all_of("shifted"),
        refit=of_control("refit"),
    )


def parts_of(study: Parts | Folds) -> Parts:
    """What is measured, in one."""
    return study.joined if isinstance(study, Folds) else study


def shown_features(study: Parts | Folds) -> Iterator[Feature]:
    """The cues where they are on screen in what is measured."""
    if isinstance(study, Folds):
        return study.shown_features()
    return measured_features(study)
