"""The run whose findings are tested, and the samples that it has not seen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from cuescope_confirm.options import ConfirmOptions
from cuescope_sdk import (
    Audit,
    Feature,
    Report,
    Sample,
    UserError,
    inside,
    load_report,
    open_data,
    open_samples,
    read_answers,
    read_sealed,
)

LISTED = "investigation.json"  # names the runs of a folder, and what was left out
REMEDY = "Give the same `cuescope investigate` again: what has run is not run again"
MOST = 0.4  # share of all frames; a finding that lists more ranks them, and names none


@dataclass(frozen=True)
class Cue:
    """A finding: a feature of the run, and the label that it is about.

    Where several findings are one cue (see merging.py), `members` are these, and `labels` those
    that it is about where they are several; `label` is None then. `run` is the method that found
    it, `checked` the name that one of its checks gave. A `foreign` label answers no sample.
    """

    feature: Feature
    label: str | None
    name: str
    run: str = ""
    checked: str | None = None
    labels: tuple[str, ...] = ()
    members: tuple["Cue", ...] = ()
    foreign: bool = False

    @property
    def id(self) -> str:
        """Tells it from other findings."""
        labels = "+".join(self.labels) or self.label
        return self.feature.key if labels is None else f"{self.feature.key}@{labels}"

    @property
    def about(self) -> str:
        """The label or labels that it is about; "" for all."""
        return ", ".join(self.labels) or self.label or ""


@dataclass(frozen=True, eq=False)
class Study:
    """The findings, the samples `seen` by their runs, and those `held` out; all by key, in order.

    `reports` are those of the runs by what made them, `counts` how many findings each has, and
    `left_out` says why a method was not run.
    """

    cues: tuple[Cue, ...]
    seen: Mapping[str, Sample]
    held: Mapping[str, Sample]
    reports: Mapping[str, Report]
    counts: Mapping[str, int]
    left_out: Mapping[str, str] = field(default_factory=dict)


def prepare(audit: Audit, options: ConfirmOptions) -> Study:
    """The study; raises UserError where a run, its data or the other samples do not do."""
    folders, left_out = folders_of(options)
    reports = {folder: load_report(folder) for folder in folders}
    _require_one_subject(reports)
    listed = (options.run / LISTED).is_file()
    cues: list[Cue] = []
    seen: dict[str, Sample] = {}
    found: Mapping[str, Sample] = {}
    named: dict[str, Report] = {}
    counts: dict[str, int] = {}
    for folder, report in reports.items():
        one = options.model_copy(update={"run": folder})
        own = _cues(report, one, reports.values(), may_be_empty=len(reports) > 1 or listed)
        found = found or open_samples(folder, audit.context)
        _require_same_data(audit, report, found, one)
        shown = _seen(report, found, one)
        seen |= shown
        name = report.provenance.method.spec.partition(":")[0]
        name = name if name not in named else f"{name} {len(named) + 1}"
        named[name], counts[name] = report, len(own)
        names = {e.feature: e.name for e in report.evidence if e.feature and e.name}
        answers = {answer for s in shown.values() for answer in (*s.choices, s.label)}
        cues += [
            replace(
                cue,
                run=name,
                feature=strongest(cue.feature, shown),
                checked=names.get(cue.feature.key),
                foreign=cue.label not in answers,
            )
            for cue in own
        ]
    held = _held(audit, seen)
    counted = ", ".join(f"{count} of {name}" for name, count in counts.items())
    count = len(seen)
    if len(reports) == 1:
        [report] = reports.values()
        counted, count = f"{len(cues)} of {report.title}", report.provenance.samples
    audit.note("findings", f"{counted}, found in {count:,} samples")
    return Study(_apart(cues), dict(sorted(seen.items())), held, named, counts, left_out)


def strongest(feature: Feature, seen: Mapping[str, Sample]) -> Feature:
    """The feature where it is; of one that ranks most of all frames, its first tenth.

    One that lists most of them alike, without an order, is taken as it is.
    """
    frames = sum(len(sample.frames) for sample in seen.values())
    count = len(feature.occurrences)
    ordered = len({occurrence.strength for occurrence in feature.occurrences}) > 1
    if count <= MOST * frames or not ordered:
        return feature
    return feature.model_copy(update={"occurrences": feature.occurrences[: max(count // 10, 1)]})


def folders_of(options: ConfirmOptions) -> tuple[list[Path], dict[str, str]]:
    """The run folders, and the methods that `investigate` left out, with the reasons.

    What `investigate` wrote is a folder of runs, with a list of them.
    """
    folders: list[Path] = []
    left_out: dict[str, str] = {}
    for run in (options.run, *options.others):
        listed = run / LISTED
        if run.is_dir() and listed.is_file() and not (run / "report.json").exists():
            investigation = _read_investigation(listed)
            folders += [inside(run, name) for name in investigation.runs]
            left_out |= investigation.left_out
        else:
            folders.append(run)
    return folders, left_out


class Investigation(BaseModel):
    """What `cuescope investigate` wrote: the names of its runs, and why methods have none."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    runs: list[str]
    left_out: dict[str, str]


def _read_investigation(file: Path) -> Investigation:
    """Raises UserError where the file is damaged, edited or of another shape."""
    try:
        return Investigation.model_validate_json(read_sealed(file, remedy=REMEDY))
    except ValidationError as error:
        first = error.errors()[0]
        place = " ".join(map(str, first["loc"]))
        raise UserError(
            f"{file} is no list of runs",
            expected="the names of the runs, and why methods were left out",
            got=f"{place} {first['msg']}".strip(),
            remedy=REMEDY,
        ) from error


def _require_one_subject(reports: Mapping[Path, Report]) -> None:
    """Raise UserError for runs of different models or data sets: their cues are not one."""
    first: tuple[Path, Report] | None = None
    for folder, report in reports.items():
        first = first or (folder, report)
        for role in ("model", "data"):
            stamps = [getattr(r.provenance, role) for r in (first[1], report)]
            if stamps[0].fingerprint != stamps[1].fingerprint:
                raise UserError(
                    f"{folder} is about another {role} than {first[0]}",
                    expected=f"runs of one model on one data set, here {stamps[0].spec}",
                    got=stamps[1].spec,
                    remedy="Confirm the runs of each by themselves",
                )


def _apart(cues: Sequence[Cue]) -> tuple[Cue, ...]:
    """With keys that tell the features of different runs apart."""
    runs: dict[str, set[str]] = {}
    for cue in cues:
        runs.setdefault(cue.feature.key, set()).add(cue.run)
    named = []
    for cue in cues:
        if len(runs[cue.feature.key]) > 1:
            key = f"{cue.run} {cue.feature.key}"
            name = key if cue.name == cue.feature.key else cue.name
            feature = cue.feature.model_copy(update={"key": key})
            cue = replace(cue, feature=feature, name=name)
        named.append(cue)
    return tuple(named)


def _cues(
    report: Report, options: ConfirmOptions, among: Iterable[Report], *, may_be_empty: bool
) -> tuple[Cue, ...]:
    """The findings of a run, or the features that are asked for, which one `among` all runs has."""
    by_key = {feature.key: feature for feature in report.features}
    if options.features:
        chosen = []
        elsewhere = {feature.key for other in among for feature in other.features}
        for text in options.features:
            key, _, label = text.rpartition("@") if text not in by_key else (text, "", "")
            if (key or text) not in by_key and {key, text} & elsewhere:
                continue
            if (key or text) not in by_key:
                raise UserError(
                    f"{options.run} has no feature '{text}'",
                    expected=f"KEY or KEY@LABEL, as {next(iter(by_key), 'none')}",
                )
            chosen.append(Cue(by_key[key or text], label or None, report.names[key or text]))
        return tuple(chosen)
    cues = tuple(
        Cue(by_key[score.feature], score.label, report.names[score.feature])
        for score in report.findings[: options.top]
    )
    if not cues and not may_be_empty:
        raise UserError(
            f"{options.run} has no finding",
            expected="a run that found a cue",
            remedy="There is nothing to confirm; --feature KEY tests a feature that is no finding",
        )
    return cues


def _require_same_data(
    audit: Audit, report: Report, found: Mapping[str, Sample], options: ConfirmOptions
) -> None:
    missing = {
        occurrence.sample
        for feature in report.features
        for occurrence in feature.occurrences
        if root(occurrence.sample, found) is None
    }
    stamp = report.provenance.data
    own = open_data(options.run, audit.context)
    if missing or own.fingerprint != stamp.fingerprint:
        raise UserError(
            f"the data of {options.run} has changed since the run was made",
            expected=f"{stamp.spec} as it was",
            got=f"sample '{min(missing)}' is gone" if missing else "another fingerprint",
            remedy="Audit again, then confirm the new run",
        )


def root(key: str, known: Mapping[str, Sample]) -> str | None:
    """The sample of the data that a key is, or was made of: then it continues its key after a /."""
    parts = key.split("/")
    starts = ("/".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((start for start in starts if start in known), None)


def _seen(
    report: Report, found: Mapping[str, Sample], options: ConfirmOptions
) -> dict[str, Sample]:
    """The samples that the run looked at: those that it asked about, and where features occur."""
    keys = {o.sample for feature in report.features for o in feature.occurrences}
    if options.run.is_dir() and (options.run / "answers.parquet").is_file():
        keys |= set(read_answers(options.run).column("sample").to_pylist())
    roots = {name for key in keys if (name := root(key, found)) is not None}
    return {key: found[key] for key in sorted(roots)}


def _held(audit: Audit, seen: Mapping[str, Sample]) -> dict[str, Sample]:
    """The audited samples that share neither frames nor group with those of the run."""
    groups = {sample.group for sample in seen.values() if sample.group is not None}
    frames = {content(sample) for sample in seen.values()}
    held = {
        sample.key: sample
        for sample in sorted(audit.samples, key=lambda sample: sample.key)
        if sample.group not in groups and content(sample) not in frames
    }
    if len(held) < len(audit.samples) / 2:
        raise UserError(
            f"{len(audit.samples) - len(held)} of {len(audit.samples)} samples were looked at by "
            "the run",
            expected="samples held out: others than those in which the cues were found",
            remedy="Name another split with --on, or leave --on out: then the run is made again "
            "on half of its data",
        )
    if left_out := len(audit.samples) - len(held):
        audit.note("left out", f"{left_out} samples that are as in the run that found the cues")
    return held


def content(sample: Sample) -> tuple[object, ...]:
    """What a model is shown."""
    return (*(frame.key for frame in sample.frames), sample.question)
