"""The three parts: where the cues were found, where a mitigator is fitted, where it is measured."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_mitigation.naming import check_names, other_words, word_of
from cuescope_mitigation.options import MitigationOptions
from cuescope_mitigation.scores import answer_shift, shuffle_within
from cuescope_sdk import (
    Audit,
    Feature,
    Occurrence,
    Outcome,
    Report,
    Response,
    Sample,
    Trial,
    UserError,
    load_report,
    open_samples,
)
from cuescope_sdk.mitigation import (
    Ask,
    CueRouter,
    FixedRouter,
    Mitigation,
    Mitigator,
    Router,
    Task,
    centroids,
    save,
    stills_of,
)
from cuescope_sdk.statistics import Groups, split_groups
from cuescope_sdk.stills import (
    baseline_trials,
    require_closed_labels,
    stack_embeddings,
    stack_logits,
)


@dataclass(frozen=True, eq=False)
class Cue:
    """A finding of the run: a cluster of frames, the label that it hurts, its name.

    `word` is what it shows, None where nobody knows.
    """

    feature: Feature
    label: str | None
    name: str
    word: str | None


@dataclass(frozen=True, eq=False)
class Parts:
    """The cues with what tells them, and the samples by key with the cues that each shows.

    `fitted` says which samples are for fitting; the others are measured. `clusters` says which of
    all features of the run a sample shows, `shows` which of the cues, a column a cue.
    """

    report: Report
    cues: tuple[Cue, ...]
    router: CueRouter
    samples: tuple[Sample, ...]
    outcomes: Sequence[Outcome]
    clusters: Bool[np.ndarray, "sample cluster"]
    nearness: Sequence[Float[np.ndarray, "frame cluster"]]
    fitted: Bool[np.ndarray, " sample"]
    labels: tuple[str, ...]

    @property
    def shows(self) -> Bool[np.ndarray, "sample cue"]:
        """Which cues each sample shows."""
        return self.clusters[:, list(self.router.cues)]

    @cached_property
    def targets(self) -> Int[np.ndarray, " sample"]:
        """The place of each sample's label."""
        return np.array([self.labels.index(str(sample.label)) for sample in self.samples])

    @cached_property
    def groups(self) -> Groups:
        """Of all samples."""
        return Groups.of(self.samples)


def prepare(audit: Audit, options: MitigationOptions) -> Parts:
    """Ask about the run's frames and about all samples; raises UserError where cues cannot be told.

    The centroids of the run's features, of all of them, are the clustering that a sample's frames
    are held against.
    """
    report = load_report(options.run)
    cues = _cues(report, options)
    _check_labels(audit)
    features = [each for each in report.features if each.occurrences]
    found_in = open_samples(options.run, audit.context)
    stills, members = _members(features, found_in)
    keys = {each.sample for feature in features for each in feature.occurrences}
    samples = _unseen(audit, [found_in[key] for key in sorted(keys)])
    trials = list(baseline_trials(samples))
    routing = [still for trial in trials for still in stills_of(trial)]
    mitigator = build(audit, options)
    mitigator.check(audit.capabilities, [cue.word for cue in cues])
    answers = audit.respond([*stills, *trials, *routing])
    outcomes = answers[len(stills) :][: len(trials)]
    embedding = stack_embeddings(answers[: len(stills)])
    place = {feature.key: number for number, feature in enumerate(features)}
    router = CueRouter(centroids(embedding, members), tuple(place[cue.feature.key] for cue in cues))
    clusters, nearness = router.place(
        trials, stack_embeddings(answers[len(stills) + len(trials) :])
    )
    groups = Groups.of(samples)
    targets = np.array([audit.labels.index(str(sample.label)) for sample in samples])
    strata = 2 * targets + clusters[:, list(router.cues)].any(axis=1)
    fitted = split_groups(groups, audit.rng("fit"), share=options.fit_share, strata=strata)
    audit.note("mitigator", f"{mitigator.title} ({options.mitigator})")
    audit.note(
        "cues", f"{len(cues)} of {report.title}, found in {report.provenance.samples} samples"
    )
    audit.note(
        "parts",
        f"the remedy is learned on {int(fitted.sum())} samples and measured on "
        f"{int((~fitted).sum())} others; the cues were found in none of them",
    )
    return Parts(report, cues, router, samples, outcomes, clusters, nearness, fitted, audit.labels)


def build(audit: Audit, options: MitigationOptions) -> Mitigator:
    """The mitigator; raises UserError where the model lacks what it needs."""
    mitigator: Mitigator = audit.context.build(
        "mitigator", options.mitigator, options.mitigator_options
    )
    needs, has = mitigator.requires, audit.capabilities
    missing = sorted(
        [*(needs.outputs - has.outputs), *(needs.edits - has.edits), *(needs.exposes - has.exposes)]
    )
    if missing:
        raise UserError(
            f"{options.mitigator} cannot mitigate this model",
            expected=f"a model with {' and '.join(missing)}",
            remedy="`cuescope plugins list` shows the other mitigators",
        )
    return mitigator


def asking(audit: Audit) -> Ask:
    """What puts trials to the model as it was, and remembers."""

    def ask(trials: Sequence[Trial]) -> list[Response]:
        return [outcome.response for outcome in audit.respond(trials)]

    return ask


def measured_features(parts: Parts) -> Iterator[Feature]:
    """The cues where they are on screen in the samples that are measured, the likest first."""
    done: set[str] = set()  # a cue may hurt several labels
    for cue, cluster in zip(parts.cues, parts.router.cues, strict=True):
        if cue.feature.key in done:
            continue
        done.add(cue.feature.key)
        met = [
            Occurrence(
                sample=parts.samples[row].key,
                frame=int(frame),
                strength=float(parts.nearness[row][frame, cluster]),
            )
            for row in np.flatnonzero(parts.clusters[:, cluster] & ~parts.fitted).tolist()
            for frame in np.flatnonzero(parts.nearness[row].argmax(axis=1) == cluster)
        ]
        met.sort(key=lambda occurrence: -occurrence.strength)
        yield cue.feature.model_copy(update={"occurrences": tuple(met), "name": cue.name})


def _cues(report: Report, options: MitigationOptions) -> tuple[Cue, ...]:
    by_key = {feature.key: feature for feature in report.features}
    findings, given = report.findings[: options.top], options.names
    cues = tuple(
        Cue(
            by_key[score.feature],
            score.label,
            given.get(score.feature) or report.names[score.feature],
            word_of(report, by_key[score.feature], given),
        )
        for score in findings
    )
    if not cues:
        raise UserError(
            f"{options.run} has no finding",
            expected="a run that found a cue",
            remedy="There is nothing to mitigate; audit more samples to find smaller effects",
        )
    check_names((score.feature for score in findings), given)
    if not all(cue.feature.occurrences for cue in cues):
        raise UserError(
            f"{options.run}: a finding without samples that show it",
            expected="cues that are seen in frames, as trove finds them",
            got=next(cue.name for cue in cues if not cue.feature.occurrences),
        )
    return cues


def _check_labels(audit: Audit) -> None:
    require_closed_labels(audit, "mitigation")
    there = {sample.label for sample in audit.samples}
    if missing := [label for label in audit.labels if label not in there]:
        raise UserError(
            f"no sample of '{missing[0]}' in the data to fit and measure on",
            expected="samples of each label",
            got=f"{len(missing)} of {len(audit.labels)} labels without one",
            remedy="Take more samples, or another split (--on)",
        )


def _members(
    features: Sequence[Feature], samples: Mapping[str, Sample]
) -> tuple[list[Trial], list[list[int]]]:
    """The still frames in which the run found its features, each once, and whose they are."""
    rows: dict[tuple[str, int], int] = {}
    stills: list[Trial] = []
    members: list[list[int]] = []
    for feature in features:
        members.append([])
        for occurrence in feature.occurrences:
            sample = samples.get(occurrence.sample)
            if sample is None:
                raise UserError(
                    f"sample '{occurrence.sample}' of the run is no longer in its data",
                    expected="the data as it was when the run was made",
                    remedy="Audit again, then mitigate the new run",
                )
            frame = occurrence.frame or 0
            if (sample.key, frame) not in rows:
                rows[sample.key, frame] = len(stills)
                stills.append(stills_of(Trial(sample=sample))[frame])
            members[-1].append(rows[sample.key, frame])
    return stills, members


def _unseen(audit: Audit, seen: Sequence[Sample]) -> tuple[Sample, ...]:
    """The samples by key, without those that found the cues; raises UserError where these are most.

    What found the cues must not measure the remedy: neither the same frames nor their group.
    """
    groups = {sample.group for sample in seen if sample.group is not None}
    frames = {tuple(frame.key for frame in sample.frames) for sample in seen}
    kept = [
        sample
        for sample in audit.samples
        if sample.group not in groups and tuple(f.key for f in sample.frames) not in frames
    ]
    if left_out := len(audit.samples) - len(kept):
        if left_out > len(audit.samples) / 2:
            raise UserError(
                f"{left_out} of {len(audit.samples)} samples to fit and measure on are among those "
                "in which the cues were found",
                expected="other samples than those of the run",
                remedy="Name another split with --on, or leave --on out: then the run is made "
                "again on a third of its data",
            )
        audit.note("left out", f"{left_out} samples that are as in the run that found the cues")
    return tuple(sorted(kept, key=lambda sample: sample.key))


# ------------------------------------------------------------------------------- fit and compare


@dataclass(frozen=True, eq=False)
class Comparison:
    """Logits of the measured samples before and after, and how often each is right.

    `random` is the mean over the placebos that were fitted to cues drawn at random, None without
    them; `shifted` is the model as it was with its answers shifted as far as the remedy does.
    """

    parts: Parts
    mitigator: Mitigator
    logits_before: Float[np.ndarray, "sample class"]
    logits_after: Float[np.ndarray, "sample class"]
    before: Float[np.ndarray, " sample"]
    after: Float[np.ndarray, " sample"]
    random: Float[np.ndarray, " sample"] | None
    shifted: Float[np.ndarray, " sample"]

    @property
    def targets(self) -> Int[np.ndarray, " sample"]:
        """The labels of the measured samples."""
        return np.asarray(self.parts.targets[~self.parts.fitted])

    @property
    def shows(self) -> Bool[np.ndarray, "sample cue"]:
        """The cues that they show."""
        return np.asarray(self.parts.shows[~self.parts.fitted])

    @property
    def clusters(self) -> Bool[np.ndarray, "sample cluster"]:
        """All features of the run that they show."""
        return np.asarray(self.parts.clusters[~self.parts.fitted])

    @property
    def groups(self) -> Groups:
        """The groups of the measured samples."""
        return self.parts.groups.take(~self.parts.fitted)


def compare(audit: Audit, options: MitigationOptions, parts: Parts) -> Comparison:
    """Fit the mitigator, and its placebos, on one part; answers of the other part with each."""
    mitigator = build(audit, options)
    ask = asking(audit)

    def fit(
        shows: Bool[np.ndarray, "sample cue"], router: Router, names: tuple[str | None, ...]
    ) -> Mitigation:
        rows = np.flatnonzero(parts.fitted)
        task = Task(
            labels=parts.labels,
            samples=tuple(parts.samples[row] for row in rows),
            shows=shows[rows],
            hurts=tuple(cue.label for cue in parts.cues),
            router=router,
            ask=ask,
            context=audit.context,
            names=names,
            capabilities=audit.capabilities,
        )
        return mitigator.fit(task)

    def logits(mitigation: Mitigation) -> Float[np.ndarray, "sample class"]:
        trials = list(baseline_trials(parts.samples))
        answers = mitigation.answer(trials, ask)
        return stack_logits(list(map(Outcome, trials, answers)), parts.labels)

    def right(scores: Float[np.ndarray, "sample class"]) -> Float[np.ndarray, " sample"]:
        of_all = (scores.argmax(axis=1) == parts.targets).astype(float)
        return np.asarray(of_all[~parts.fitted])

    before, words = stack_logits(parts.outcomes, parts.labels), [cue.word for cue in parts.cues]
    learned = fit(parts.shows, parts.router, tuple(words))
    after = logits(learned)
    if options.save is not None:
        save(learned, options.save, mitigator=mitigator_name(options), model=options.model)
    draws = []
    for number in range(options.placebos if mitigator.changes_answers else 0):
        # learned from as many samples of each label, without anything in common; it answers where
        # the cue is, or a remedy that changes nothing else would have an easy rival; what names the
        # cues to the model names other things
        drawn = shuffle_within(parts.shows, parts.targets, audit.rng("placebo", str(number)))
        drawn = np.where(parts.fitted[:, None], drawn, parts.shows)
        shown = {s.key: tuple(row) for s, row in zip(parts.samples, drawn.tolist(), strict=True)}
        names = other_words(words, parts.labels, audit.rng("placebo", "names", str(number)))
        draws.append(right(logits(fit(drawn, FixedRouter(shown), names))))
    shift = answer_shift(before[parts.fitted], after[parts.fitted].argmax(axis=1))
    return Comparison(
        parts=parts,
        mitigator=mitigator,
        logits_before=before[~parts.fitted],
        logits_after=after[~parts.fitted],
        before=right(before),
        after=right(after),
        random=np.mean(draws, axis=0) if draws else None,
        shifted=right(before + shift),
    )


def mitigator_name(options: MitigationOptions) -> str:
    """The plugin's name, without an argument."""
    return options.mitigator.partition(":")[0]
