"""The run whose findings are tested, and the samples that it has not seen."""

from collections.abc import Mapping
from dataclasses import dataclass

from cuescope_confirm.options import ConfirmOptions
from cuescope_sdk import (
    Audit,
    Feature,
    Report,
    Sample,
    UserError,
    load_report,
    open_samples,
    read_answers,
)


@dataclass(frozen=True)
class Cue:
    """A finding: a feature of the run, and the label that it is about."""

    feature: Feature
    label: str | None
    name: str

    @property
    def id(self) -> str:
        """Tells it from other findings."""
        return self.feature.key if self.label is None else f"{self.feature.key}@{self.label}"


@dataclass(frozen=True, eq=False)
class Study:
    """The run, its samples `seen`, and those `held` out; all by key, in order."""

    report: Report
    cues: tuple[Cue, ...]
    seen: Mapping[str, Sample]
    held: Mapping[str, Sample]


def prepare(audit: Audit, options: ConfirmOptions) -> Study:
    """The study; raises UserError where the run, its data or the other samples do not do."""
    report = load_report(options.run)
    cues = _cues(report, options)
    found = open_samples(report, audit.context)
    _require_same_data(audit, report, found, options)
    seen = _seen(report, found, options)
    held = _held(audit, seen)
    audit.note(
        "findings", f"{len(cues)} of {report.title}, found in {report.provenance.samples:,} samples"
    )
    return Study(report, cues, seen, held)


def _cues(report: Report, options: ConfirmOptions) -> tuple[Cue, ...]:
    by_key = {feature.key: feature for feature in report.features}
    if options.features:
        chosen = []
        for text in options.features:
            key, _, label = text.rpartition("@") if text not in by_key else (text, "", "")
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
    if not cues:
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
    own = audit.context.build("dataset", stamp.spec.partition(":")[0], stamp.options)
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
