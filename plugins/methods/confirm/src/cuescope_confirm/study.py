"""The run whose findings are tested, and the samples that it has not seen."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from cuescope_confirm.options import ConfirmOptions
from cuescope_sdk import (
    Audit,
    Feature,
    Model,
    Occurrence,
    Report,
    Sample,
    StoredRun,
    UserError,
    inside,
    read_sealed,
)
from cuescope_sdk.locating import Sight
from cuescope_sdk.report import count_of
from cuescope_sdk.stills import FrameId
from cuescope_sdk.tools import NameGuess

LISTED = "investigation.json"  # names the runs of a folder, and what was left out
REMEDY = "Give the same `cuescope investigate` again: what has run is not run again"
NOTHING_TO_CONFIRM = (
    "There is nothing to confirm; --feature KEY tests what is no finding"
)
MOST = 0.4  # share of all frames; a finding that lists more ranks them, and names none
LASTING = 0.9  # of the frames of clips: a cue that more of them show lasts
OBJECTS = ("recognition", "hallucination", "drop", "mask")  # kinds of an object's name
BACKGROUNDS = ("image-region", "regions")
MODALITIES = ("verdict", "short-circuit", "quag-attention", "modality", "mean")
# figures of whole runs
NOWHERE = (
    "reasoning",
    "answers",
    "claims",
    "steps",
    "reliance",
    "preference",  # lists the samples that are answered so: an effect, and no cue
)
# what no change of pictures takes away, and what each is
TELLS: Mapping[str, str] = {
    "tell": "found without looking at what pictures show",
    "way to ask": "found by other ways to ask",
}
THING = "thing"  # what reasoning names
WORDS = "word"  # of questions
SHOWN = "thing shown"  # annotated or detected in pictures
# a name that pictures alone gave, or such a name behind the number that a method gave
_GUESSED = re.compile(r"(.+) \(a guess(?:[,;].*)?\)|.+ \(a guess: (.+)\)")
T = TypeVar("T")
Samples = Mapping[str, Sample]  # by key
Frames = Sequence[FrameId]
MOST_BYTES = 2**20  # of a list of runs
LeftOut = dict[str, str]  # methods, and why they were not run


@dataclass(frozen=True)
class Cue:
    """A finding: a feature of the run, and the label that it is about.

    `labels` are () where it is about all, and several only where several findings are one cue (see
    merging): its `members`. `run` is the method that found it, `checked` the name that one of its
    checks gave. A `foreign` label answers no sample. `folds` are the numbers of the folds outside
    of which it was found, with what was found there (see `Study.folds`). `sight` is what its
    pictures show where it was found.
    """

    feature: Feature
    name: str
    labels: tuple[str, ...] = ()
    run: str = ""
    checked: str | None = None
    members: tuple["Cue", ...] = ()
    foreign: bool = False
    folds: tuple[tuple[int, "Cue"], ...] = ()
    sight: Sight | None = field(default=None, compare=False, repr=False)

    @property
    def id(self) -> str:
        """Tells it from other findings."""
        at = "@" if self.labels else ""
        return self.feature.key + at + "+".join(self.labels)

    @property
    def label(self) -> str | None:
        """The label that it is about; None for all or several."""
        return self.labels[0] if len(self.labels) == 1 else None

    @property
    def about(self) -> str:
        """The label or labels that it is about; "" for all."""
        return ", ".join(self.labels)

    @property
    def runs(self) -> set[str]:
        """What found its members."""
        return {member.run for member in self.members}

    @property
    def kind(self) -> str:
        """What sort of feature it is."""
        return self.feature.kind

    @property
    def is_numbered(self) -> bool:
        """Whether its name is a number, or a guess by its pictures: nobody calls it so."""
        return guess_in(self.name) is not None or any(map(str.isdigit, self.name))

    @property
    def word(self) -> str | None:
        """What a person calls it: the object's name, None for a cluster without a name.

        A kind of feature that is not known here and occurs nowhere is located by its name.
        """
        # "recognition/bird/tree" has task, object and thing
        if self.is_object:
            return self.feature.key.rpartition("/")[2]
        if self.kind == THING:
            return self.name.strip("'")
        if self.kind in (WORDS, SHOWN):
            return self.feature.key.partition(": ")[2]
        # the word alone: a detector would look for the figures of the guess too
        guess = NameGuess.name_in(self.name)
        if guess is not None:
            return guess
        is_placed = self.feature.occurrences or self.kind in NOWHERE
        return None if is_placed else self.feature.name

    @property
    def is_object(self) -> bool:
        """Whether it is an object's name, with a question of its own."""
        return self.kind in OBJECTS

    @property
    def factor(self) -> tuple[str, str] | None:
        """Factor and value of "background|size=small"; None for any other cue."""
        _, _, annotated = self.feature.key.partition("|")
        name, _, value = annotated.partition("=")
        return (name, value) if self.kind in BACKGROUNDS and value else None

    @property
    def is_background(self) -> bool:
        """Whether it is the background as a whole."""
        return self.kind in BACKGROUNDS and self.factor is None

    def samples_with_cue(self, samples: Samples) -> set[str]:
        """The samples that show it in the run."""
        if self.factor is None:
            return roots(self.feature.occurrences, samples)
        return {key for key, sample in samples.items() if self.has_factor(sample)}

    def has_factor(self, sample: Sample) -> bool:
        """Whether a sample's annotated factor has the cue's value; true without a factor."""
        if self.factor is None:
            return True
        name, value = self.factor
        factors = sample.annotations.get("factors", {})
        return str(factors.get(name)) == value


Cues = Sequence[Cue]


@dataclass(frozen=True, eq=False)
class Study:
    """The findings, the samples `seen` by their runs, and those `held` out; all by key, in order.

    `audit` is the one that tests them, with `options`. `reports` are those of the runs by what made
    them, `left_out` says why a method was not run. `log` is the model of the runs where it only
    says again what was recorded. `folds` are a study of each run, where each run left one fold of
    the data out: its cues are tested there, and this is all of them together.
    """

    audit: Audit
    options: ConfirmOptions
    cues: tuple[Cue, ...]
    seen: Samples
    held: Samples
    reports: Mapping[str, Report]
    left_out: Mapping[str, str]
    log: Model | None = None
    folds: tuple["Study", ...] = ()

    def rng(self, *names: str) -> np.random.Generator:
        """A generator of its own for these names."""
        return self.audit.rng("confirm", *names)

    def frames_of(self, cue: Cue) -> dict[FrameId, list[Occurrence]]:
        """Where the runs list the cue, frame by frame, the strongest first."""
        frames: dict[FrameId, list[Occurrence]] = {}
        for occurrence in cue.feature.occurrences:
            key = root(occurrence.sample, self.seen)
            if key is None or not self.seen[key].frames:
                continue
            count = len(self.seen[key].frames)
            # a feature may be listed in a longer clip that was made of this sample
            numbers = (
                range(count)
                if occurrence.frame is None
                else [min(occurrence.frame, count - 1)]
            )
            for number in numbers:
                frames.setdefault((key, number), []).append(occurrence)
        return frames

    def lasts(self, cue: Cue) -> bool:
        """Whether the runs list it in nearly all frames of the clips that show it."""
        listed = self.frames_of(cue)
        clips = {key for key, _ in listed}
        all_frames = sum(len(self.seen[key].frames) for key in clips)
        are_clips = all_frames > len(clips)
        return are_clips and len(listed) >= LASTING * all_frames


def guess_in(name: str) -> str | None:
    """What pictures alone say in a name; None where it has no guess.

    >>> guess_in("blue mark (a guess)"), guess_in("blue mark (a guess, 2 of 3)")
    ('blue mark', 'blue mark')
    >>> guess_in("failures of cup (a guess: blue mark)"), guess_in("failures of cup")
    ('blue mark', None)
    """
    found = _GUESSED.fullmatch(name)
    return None if found is None else found[1] or found[2]


def frames_in(samples: Samples) -> list[FrameId]:
    """Every frame of some samples."""
    frames = []
    for key, sample in samples.items():
        frames += [(key, number) for number in range(len(sample.frames))]
    return frames


def shuffle(
    items: Sequence[T],
    rng: np.random.Generator,
) -> list[T]:
    """The items in a random order."""
    # by number: permuting the items themselves would make an array of them
    return [items[row] for row in rng.permutation(len(items))]


def pick(samples: Samples, keys: Iterable[str]) -> Samples:
    """Some of the samples, in the order of their keys here."""
    return {key: samples[key] for key in keys}


def root(key: str, samples: Samples) -> str | None:
    """The sample of the data that a key is, or was made of: then it continues its key after a /."""
    while key not in samples:
        key, slash, _ = key.rpartition("/")
        if not slash:
            return None
    return key


def roots(occurrences: Iterable[Occurrence], samples: Samples) -> set[str]:
    """The samples of the data in which a feature occurs."""
    keys = (root(occurrence.sample, samples) for occurrence in occurrences)
    return set(filter(None, keys))


def prepare(audit: Audit, options: ConfirmOptions) -> Study:
    """The study; raises UserError where a run, its data or the other samples do not do."""
    if not options.folds:
        return _study_of_runs(audit, options)
    folds = []
    for run in (options.run, *options.others):
        alone = options.model_copy(update={"run": run, "others": ()})
        folds.append(_study_of_runs(audit, alone))
    return _across(audit, options, folds)


def _across(audit: Audit, options: ConfirmOptions, folds: Sequence[Study]) -> Study:
    """The study of all folds; raises UserError where they overlap or found nothing."""
    held: dict[str, Sample] = {}
    seen: dict[str, Sample] = {}
    cues: list[Cue] = []
    for fold in folds:
        if not held.keys().isdisjoint(fold.held):
            raise UserError(
                "two runs left out the same samples",
                expected="runs that each leave out a part of their own, as --part 2+3/3 and 1+3/3",
                remedy="`cuescope confirm RUN --folds N` makes them",
            )
        held |= fold.held
        seen |= fold.seen
        cues += fold.cues
    # the dossier of an investigation says so itself
    if not cues and not (options.run / LISTED).is_file():
        raise UserError(
            f"none of the {len(folds)} runs has a finding",
            expected="a run that found a cue",
            remedy="There is nothing to confirm; take more samples",
        )
    counts = ", ".join(str(len(fold.cues)) for fold in folds)
    audit.note(
        "findings",
        f"{counts} in {count_of(len(folds), 'runs')}, each of which left one part of "
        f"{count_of(len(held), 'samples')} out",
    )
    return replace(
        folds[0],
        options=options,
        cues=tuple(cues),
        seen=dict(sorted(seen.items())),
        held=dict(sorted(held.items())),
        folds=tuple(folds),
    )


def _study_of_runs(audit: Audit, options: ConfirmOptions) -> Study:
    """What runs found, and the samples that none of them has looked at."""
    folders, left_out = folders_of(options)
    runs = [StoredRun(folder, audit.context) for folder in folders]
    _require_one_subject(runs)
    # of several runs one may find nothing; one run without a finding is an error
    may_be_empty = options.folds or len(runs) > 1 or (options.run / LISTED).is_file()
    cues = []
    seen: dict[str, Sample] = {}
    data: Samples = {}
    reports: dict[str, Report] = {}
    for run in runs:
        report = run.report
        names = report.names
        wanted = _requests(run, runs, options)
        if not wanted and not may_be_empty:
            raise report.no_finding(run.path, NOTHING_TO_CONFIRM)
        # all runs are on the same data: its samples are opened once
        data = data or run.samples
        shown = run.part if options.folds else _samples_of_run(run, data)
        seen |= shown
        name = report.provenance.method.spec.partition(":")[0]
        # two runs of one method, whose features need keys of their own
        if name in reports:
            name = f"{name} {len(reports) + 1}"
        reports[name] = report
        checked = {check.feature: check.name for check in report.evidence if check.name}
        answers = set[str | None]()
        for sample in shown.values():
            answers.update(sample.choices, [sample.label])
        for feature, label in wanted:
            cue = Cue(
                strongest(feature, shown),
                names[feature.key],
                labels=() if label is None else (label,),
                run=name,
                checked=checked.get(feature.key),
                foreign=label not in answers,
            )
            cues.append(cue)
    held = _held_out_samples(audit, seen, is_fold=options.folds)
    _note_findings(audit, cues, reports, len(seen))
    # in one order, whichever run is named first: draws depend on it
    seen = dict(sorted(seen.items()))
    cues = _with_unlike_keys(cues)
    return Study(
        audit,
        options,
        tuple(cues),
        seen,
        held,
        reports,
        left_out,
        log=runs[0].recorded,
    )


def _note_findings(
    audit: Audit,
    cues: Cues,
    reports: Mapping[str, Report],
    samples: int,
) -> None:
    counts = Counter(cue.run for cue in cues)
    counted = ", ".join(f"{counts[name]} of {name}" for name in reports)
    if len(reports) == 1:
        [report] = reports.values()
        counted = f"{len(cues)} of {report.title}"
        samples = report.provenance.samples
    audit.note("findings", f"{counted}, found in {count_of(samples, 'samples')}")


def strongest(feature: Feature, seen: Samples) -> Feature:
    """The feature where it is; of one that ranks most of all frames, its first tenth.

    One that lists most of them alike, without an order, is taken as it is.
    """
    count = len(feature.occurrences)
    strengths = {occurrence.strength for occurrence in feature.occurrences}
    total = len(frames_in(seen))
    if count <= MOST * total or len(strengths) < 2:
        return feature
    first = feature.occurrences[: max(count // 10, 1)]
    return feature.model_copy(update={"occurrences": first})


def folders_of(options: ConfirmOptions) -> tuple[list[Path], LeftOut]:
    """The run folders, and the methods that `investigate` left out, with the reasons.

    What `investigate` wrote is a folder of runs, with a list of them.
    """
    folders = []
    left_out: LeftOut = {}
    for run in (options.run, *options.others):
        listed = run / LISTED
        if listed.is_file() and not (run / "report.json").exists():
            investigation = _read_investigation(listed)
            # the list may come from elsewhere: no name may lead out of its folder
            names = dict.fromkeys(investigation.runs)
            folders += [inside(run, name) for name in names]
            left_out |= investigation.left_out
        else:
            folders.append(run)
    return folders, left_out


class Investigation(BaseModel):
    """What `cuescope investigate` wrote: the names of its runs, and why methods have none."""

    # strict: a stranger's file may hold numbers, or text where a list belongs
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    runs: list[str]
    left_out: LeftOut


def _read_investigation(file: Path) -> Investigation:
    """Raises UserError where the file is damaged, edited or of another shape."""
    try:
        content = read_sealed(file, remedy=REMEDY, most=MOST_BYTES)
        return Investigation.model_validate_json(content)
    except ValidationError as error:
        fault = error.errors()[0]
        place = " ".join(map(str, fault["loc"]))
        raise UserError(
            f"{file} is no list of runs",
            expected="the names of the runs, and why methods were left out",
            got=f"{place} {fault['msg']}".strip(),
            remedy=REMEDY,
        ) from error


def _require_one_subject(runs: Sequence[StoredRun]) -> None:
    """Raise UserError for runs of different models or data sets: their cues are not one."""
    for run in runs:
        for role in ("model", "data"):
            expected = getattr(runs[0].report.provenance, role)
            stamp = getattr(run.report.provenance, role)
            # not the SPEC: the same words may mean other weights or files by now
            if stamp.fingerprint != expected.fingerprint:
                raise UserError(
                    f"{run.path} is about another {role} than {runs[0].path}",
                    expected=f"runs of one model on one data set, here {expected.spec}",
                    got=stamp.spec,
                    remedy="Confirm the runs of each by themselves",
                )


def _with_unlike_keys(cues: Cues) -> list[Cue]:
    """With keys that tell the features of different runs apart."""
    # two methods may both call a feature "cluster-01"
    runs: dict[str, set[str]] = {}
    for cue in cues:
        runs.setdefault(cue.feature.key, set()).add(cue.run)
    renamed = []
    for cue in cues:
        if len(runs[cue.feature.key]) > 1:
            key = f"{cue.run} {cue.feature.key}"
            name = key if cue.name == cue.feature.key else cue.name
            feature = cue.feature.model_copy(update={"key": key})
            cue = replace(cue, feature=feature, name=name)
        renamed.append(cue)
    return renamed


def _requests(
    run: StoredRun,
    runs: Sequence[StoredRun],
    options: ConfirmOptions,
) -> list[tuple[Feature, str | None]]:
    """The findings of a run, or the features that are asked for, which one of the runs has."""
    features = {feature.key: feature for feature in run.report.features}
    if not options.features:
        findings = run.report.findings[: options.top]
        return [(features[score.feature], score.label) for score in findings]
    of_all_runs = set[str]()
    for other in runs:
        of_all_runs.update(feature.key for feature in other.report.features)
    wanted = []
    for text in options.features:
        key, at, label = text.rpartition("@")
        # a key may have an @ of its own
        if text in features or not at:
            key, label = text, ""
        if key in features:
            wanted.append((features[key], label or None))
        # of several runs another one may have the feature
        elif of_all_runs.isdisjoint((key, text)):
            raise no_feature(run.path, text, features)
    return wanted


def no_feature(run: Path, text: str, known: Iterable[str]) -> UserError:
    """For a feature that is asked for and that the run does not have."""
    return UserError(
        f"{run} has no feature '{text}'",
        expected=f"KEY or KEY@LABEL, as {next(iter(known), 'none')}",
    )


def _samples_of_run(run: StoredRun, data: Samples) -> Samples:
    """The samples that the run looked at: those that it asked about, and where features occur.

    Raises UserError where the data are not what they were.
    """
    keys = set[str]()
    for feature in run.report.features:
        for occurrence in feature.occurrences:
            keys.add(occurrence.sample)
    missing = {key for key in keys if root(key, data) is None}
    stamp = run.report.provenance.data
    if missing or run.data.fingerprint != stamp.fingerprint:
        raise UserError(
            f"the data of {run.path} has changed since the run was made",
            expected=f"{stamp.spec} as it was",
            got=f"sample '{min(missing)}' is gone"
            if missing
            else "another fingerprint",
            remedy="Audit again, then confirm the new run",
        )
    # samples without the cue were looked at too, and only the answers name them
    if run.has_answers:
        for row in run.answers:
            keys.add(row["sample"])
    known = filter(None, {root(key, data) for key in keys})
    return pick(data, sorted(known))


def _held_out_samples(
    audit: Audit,
    seen: Samples,
    *,
    is_fold: bool,
) -> Samples:
    """The audited samples that share neither frames nor group with those of the run."""
    # None is no group: it must not join all samples without one
    groups = {sample.group for sample in seen.values()} - {None}
    # the same frames under another key are the same sample
    contents = set(map(content, seen.values()))
    held = {}
    for sample in sorted(audit.samples, key=lambda sample: sample.key):
        if sample.group not in groups and content(sample) not in contents:
            held[sample.key] = sample
    count = len(audit.samples)
    left_out = count - len(held)
    if is_fold and held:
        return held
    # so many are no accident: it is the split that was seen
    if left_out > count / 2:
        raise UserError(
            f"{left_out} of {count} samples were looked at by the run",
            expected="samples held out: others than those in which the cues were found",
            remedy="Name another split with --on, or leave --on out: then the run is made again "
            "on half of its data",
        )
    if left_out:
        audit.note(
            "left out",
            f"{count_of(left_out, 'samples')} that are as in the run that found the cues",
        )
    return held


def content(sample: Sample) -> tuple[object, ...]:
    """What a model is shown."""
    frames = tuple(frame.key for frame in sample.frames)
    # with the question: one image may be asked about twice
    return frames, sample.question
