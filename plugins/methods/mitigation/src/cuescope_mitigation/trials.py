"""The three parts: where the cues were found, where a mitigator is fitted, where it is measured."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, islice

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_mitigation.naming import check_names, other_words, word_of
from cuescope_mitigation.options import MitigationOptions, require_fit
from cuescope_mitigation.placebos import FixedRouter
from cuescope_mitigation.scores import (
    BoolPerSample,
    IntPerSample,
    Logits,
    PerSample,
    Shows,
    answer_shift,
    shuffle_within,
)
from cuescope_sdk import (
    Audit,
    Feature,
    Occurrence,
    Outcome,
    Report,
    Response,
    Sample,
    StoredRun,
    Trial,
    UserError,
)
from cuescope_sdk.cues import LinearLogOdds, learn_log_odds
from cuescope_sdk.maths import normalise
from cuescope_sdk.mitigation import (
    Ask,
    CueRouter,
    LinearHead,
    Mitigation,
    Mitigator,
    Router,
    Task,
)
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Groups
from cuescope_sdk.stills import Answers, FrameId

SAVING = "saving what was learned"


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
    """The cues with what recognises them, and the samples by key with the cues that each shows.

    `fitted` says which samples are for fitting; the others are measured. `log_odds` are those of
    each frame to show each cue. Of a sample that was not `judged` for a
    cue nobody knows whether it shows it.
    `audit` is the one that measures, with `options`.
    """

    audit: Audit
    options: MitigationOptions
    cues: Sequence[Cue]
    router: CueRouter
    samples: Sequence[Sample]
    outcomes: Sequence[Outcome]
    shows: Shows
    log_odds: Sequence[Float[np.ndarray, "frame cue"]]
    fitted: BoolPerSample
    labels: tuple[str, ...]
    judged: Shows

    @cached_property
    def targets(self) -> IntPerSample:
        """The place of each sample's label."""
        return targets_of(self.samples, self.labels)

    @cached_property
    def groups(self) -> Groups:
        """Of all samples."""
        return Groups.of(self.samples)


def targets_of(samples: Sequence[Sample], labels: Sequence[str]) -> IntPerSample:
    """The place of each sample's label."""
    return np.array([labels.index(str(sample.label)) for sample in samples])


def prepare(audit: Audit, options: MitigationOptions) -> Parts:
    """Ask about the run's frames and about all samples; raises UserError for unknown cues."""
    run = StoredRun(options.run, audit.context)
    cues = cues_of(run.report, options)
    check_labels(audit, audit.samples)
    shown = chain.from_iterable(feature.occurrences for feature in run.report.features)
    seen = [run.samples[occurrence.sample] for occurrence in shown]
    samples = _samples_held_out(audit, seen)

    def split(shows_any: BoolPerSample) -> BoolPerSample:
        # both parts get samples of each label, with a cue and without
        strata = 2 * targets_of(samples, audit.labels) + shows_any
        rng = audit.rng("fit")
        return Groups.of(samples).split(rng, share=0.5, strata=strata)

    parts = route(audit, options, run, cues, samples, split)
    count = int(parts.fitted.sum())
    note_subject(audit, options, run.report, cues)
    audit.note(
        "parts",
        f"the remedy is fitted to {count_of(count, 'samples')} and measured on "
        f"{len(samples) - count} others; "
        "the cues were found in none of them",
    )
    return parts


def note_subject(
    audit: Audit, options: MitigationOptions, report: Report, cues: Sequence[Cue]
) -> None:
    """What is tried, and on which cues."""
    title = build(audit, options).title
    audit.note("mitigator", f"{title} ({options.mitigator})")
    audit.note(
        "cues",
        f"{len(cues)} of {report.title}, found in {count_of(report.provenance.samples, 'samples')}",
    )


def route(
    audit: Audit,
    options: MitigationOptions,
    run: StoredRun,
    cues: Sequence[Cue],
    samples: Sequence[Sample],
    split: Callable[[BoolPerSample], BoolPerSample],
) -> Parts:
    """Which of a run's cues each sample shows; `split` says which samples are for fitting.

    It is given whether a sample shows any of the cues.
    """
    # a cue may hurt several labels
    features = {cue.feature.key: cue.feature for cue in cues}
    seen = _Seen.of(run)
    trials = list(Answers.trials(samples))
    stills = list(chain.from_iterable(map(CueRouter.stills, [*seen.trials, *trials])))
    # before anything is asked: what cannot be mitigated must cost no answers
    mitigator = build(audit, options)
    mitigator.check(audit.capabilities, [cue.word for cue in cues])
    # in one call: batches are full, and a plan counts all of it
    answers = iter(audit.respond([*trials, *stills]))
    outcomes = list(islice(answers, len(trials)))
    embedding = Answers.stack_embeddings(list(answers))
    of_run, of_samples = np.split(embedding, [len(seen.frames)])
    for cue in cues:
        if not seen.has_both_sides(cue.feature):
            raise UserError(
                f"{options.run}: a recogniser of '{cue.name}'",
                expected="samples with the cue and samples without it",
                got="it is listed in all of them",
            )
    learned = {
        key: seen.learn(of_run, feature, audit) for key, feature in features.items()
    }
    router = CueRouter.of([learned[cue.feature.key] for cue in cues])
    log_odds = router.log_odds(trials, of_samples)
    shows = np.array([each.max(axis=0) > 0 for each in log_odds])
    return Parts(
        audit,
        options,
        cues,
        router,
        samples,
        outcomes,
        shows,
        log_odds,
        split(np.asarray(shows.any(axis=1))),
        audit.labels,
        judged=np.ones((len(samples), len(cues)), bool),
    )


def build(audit: Audit, options: MitigationOptions) -> Mitigator:
    """The mitigator; raises UserError where the model lacks what it needs."""
    mitigator: Mitigator = audit.context.build(
        "mitigator", options.mitigator, options.mitigator_options
    )
    require_fit(options.mitigator, mitigator.requires, audit.capabilities)
    return mitigator


def measured_features(parts: Parts) -> Iterator[Feature]:
    """The cues where they are on screen in the samples that are measured, the likest first."""
    # a cue may hurt several labels
    told = set[str]()
    for column, cue in enumerate(parts.cues):
        if cue.feature.key in told:
            continue
        told.add(cue.feature.key)
        occurrences = []
        shown = parts.shows[:, column] & ~parts.fitted
        for row in np.flatnonzero(shown).tolist():
            log_odds = parts.log_odds[row][:, column]
            for frame in np.flatnonzero(log_odds > 0).tolist():
                key = parts.samples[row].key
                strength = float(log_odds[frame])
                occurrences.append(
                    Occurrence(sample=key, frame=frame, strength=strength)
                )
        # the likest first: pictures take the first frame of each sample
        occurrences.sort(key=lambda occurrence: -occurrence.strength)
        update = {"occurrences": tuple(occurrences), "name": cue.name}
        yield cue.feature.model_copy(update=update)


def cues_of(report: Report, options: MitigationOptions) -> list[Cue]:
    """The first findings of a run; raises UserError for what cannot be mitigated."""
    by_key = {feature.key: feature for feature in report.features}
    findings = report.findings[: options.top]
    given = options.names
    cues = []
    for score in findings:
        feature = by_key[score.feature]
        name = given.get(feature.key) or report.names[feature.key]
        word = word_of(report, feature, given)
        cues.append(Cue(feature, score.label, name, word))
    if not cues:
        raise report.no_finding(
            options.run,
            "There is nothing to mitigate; audit more samples to find smaller effects",
        )
    check_names((score.feature for score in findings), given)
    for cue in cues:
        # what recognises a cue is learned from its frames, so there must be some
        if not cue.feature.occurrences:
            raise UserError(
                f"{options.run}: a finding without samples that show it",
                expected="cues that are seen in frames, as trove finds them",
                got=cue.name,
            )
    return cues


def check_labels(audit: Audit, samples: Sequence[Sample]) -> None:
    """Raise UserError where some label has no sample to fit on."""
    audit.require_closed_labels("mitigation")
    there = {sample.label for sample in samples}
    missing = [label for label in audit.labels if label not in there]
    if missing:
        raise UserError(
            f"no sample of '{missing[0]}' in the data to fit and measure on",
            expected="samples of each label",
            got=f"{len(missing)} of {len(audit.labels)} labels without one",
            remedy="Take more samples, or another split (--on)",
        )


@dataclass(frozen=True, eq=False)
class _Seen:
    """The samples that a run looked at, as `trials`, and their frames.

    `frames` are keys of samples and numbers, in the order of the stills of `trials`; `label` and
    `groups` are those of the frames' samples.
    """

    trials: Sequence[Trial]
    frames: Sequence[FrameId]
    label: Int[np.ndarray, " frame"]
    groups: Groups

    @classmethod
    def of(cls, run: StoredRun) -> "_Seen":
        """Raises UserError where one in which a feature was found is gone."""
        samples = dict(run.part)
        listed = {
            seen.sample
            for feature in run.report.features
            for seen in feature.occurrences
        }
        if run.has_answers:
            asked = {row["sample"] for row in run.answers} | listed
            samples = {key: samples[key] for key in samples if key in asked}
        if gone := sorted(listed - samples.keys()):
            raise UserError(
                f"sample '{gone[0]}' of the run is no longer in its data",
                expected="the data as it was when the run was made",
                remedy="Audit again, then mitigate the new run",
            )
        frames = [
            (key, frame)
            for key, sample in samples.items()
            for frame in range(len(sample.frames))
        ]
        owners = [samples[key] for key, _ in frames]
        _, label = np.unique(
            [str(owner.label) for owner in owners], return_inverse=True
        )
        trials = list(Answers.trials(samples.values()))
        return cls(trials, frames, label, Groups.of(owners))

    def is_listed(self, feature: Feature) -> Bool[np.ndarray, " frame"]:
        """Frames in which the feature was found; all of a sample where no frame is named."""
        found = {(seen.sample, seen.frame) for seen in feature.occurrences}
        return np.array(
            [
                (key, frame) in found or (key, None) in found
                for key, frame in self.frames
            ]
        )

    def has_both_sides(self, feature: Feature) -> bool:
        """True if some samples show the feature and some do not."""
        shown = {seen.sample for seen in feature.occurrences}
        return 0 < len(shown) < len(self.trials)

    def learn(
        self,
        embedding: Float[np.ndarray, "frame dim"],
        feature: Feature,
        audit: Audit,
    ) -> LinearLogOdds:
        """What recognises a feature in a frame, from those where it was found and other samples.

        Of another frame of a sample that shows it nobody knows.
        """
        shown = {seen.sample for seen in feature.occurrences}
        is_beside = np.array([key in shown for key, _ in self.frames])
        shows = np.where(self.is_listed(feature), 1, np.where(is_beside, -1, 0))
        points = normalise(embedding).astype(np.float64)
        rng = audit.rng("recogniser", feature.key)
        return learn_log_odds(points, self.label, shows, self.groups, rng)


def _samples_held_out(audit: Audit, seen: Sequence[Sample]) -> list[Sample]:
    """The samples by key, without those that found the cues; raises UserError where these are most.

    What found the cues must not measure the remedy: neither the same frames nor their group.
    """
    # None is no group: it must not join all samples without one
    groups = {sample.group for sample in seen} - {None}
    frames = set(map(frame_keys, seen))
    samples = [sample for sample in audit.samples if sample.group not in groups]
    # the same frames under another key are the same sample
    kept = [sample for sample in samples if frame_keys(sample) not in frames]
    count = len(audit.samples)
    left_out = count - len(kept)
    # so many are no accident: it is the split that was seen
    if left_out > count / 2:
        raise UserError(
            f"{left_out} of {count} samples to fit and measure on are among those "
            "in which the cues were found",
            expected="other samples than those of the run",
            remedy="Name another split with --on, or leave --on out: then the run is made "
            "again on a third of its data",
        )
    if left_out:
        audit.note(
            "left out",
            f"{count_of(left_out, 'samples')} that are as in the run that found the cues",
        )
    # by key: what is drawn does not depend on the order of the data
    return sorted(kept, key=lambda sample: sample.key)


def frame_keys(sample: Sample) -> tuple[str, ...]:
    """What a model is shown."""
    return tuple(frame.key for frame in sample.frames)


# ------------------------------------------------------------------------------- fit and compare


@dataclass(frozen=True, eq=False)
class Comparison:
    """Logits of the measured samples before and after, and how often each is right.

    `random` is the mean over the placebos that were fitted to cues drawn at random, None without
    them; `shifted` is the model as it was with its answers shifted as far as the remedy does,
    `refit` the model with its head fitted on, by a training that knows no cue.
    """

    parts: Parts
    mitigator: Mitigator
    logits_before: Logits
    logits_after: Logits
    before: PerSample
    after: PerSample
    random: PerSample | None
    shifted: PerSample
    refit: PerSample | None

    @property
    def targets(self) -> IntPerSample:
        """The labels of the measured samples."""
        return np.asarray(self.parts.targets[~self.parts.fitted])

    @property
    def shows(self) -> Shows:
        """The cues that they show."""
        return np.asarray(self.parts.shows[~self.parts.fitted])

    @property
    def judged(self) -> Shows:
        """For which cues somebody knows whether they show them."""
        return np.asarray(self.parts.judged[~self.parts.fitted])

    @property
    def groups(self) -> Groups:
        """The groups of the measured samples."""
        return self.parts.groups.take(~self.parts.fitted)


def try_remedy(parts: Parts) -> Comparison | None:
    """What the mitigator does; None where it fails, which costs the remedy and not the report."""
    with parts.audit.spare(part_of(parts.options), plain(parts)):
        return compare(parts)
    return None


def plain(parts: Parts) -> Trial:
    """A sample as it is."""
    [trial] = Answers.trials(parts.samples[:1])
    return trial


def part_of(options: MitigationOptions) -> str:
    """What a failure of the mitigator is told under."""
    return f"mitigator {options.mitigator}"


def compare(parts: Parts) -> Comparison:
    """Fit the mitigator, and its placebos, on one part; answers of the other part with each."""
    audit = parts.audit
    options = parts.options
    mitigator = build(audit, options)
    measured = ~parts.fitted

    def fit(shows: Shows, router: Router, names: Sequence[str | None]) -> Mitigation:
        return mitigator.fit(task_of(parts, shows, router, names))

    def right(scores: Logits) -> PerSample:
        is_right = scores.argmax(axis=1) == parts.targets
        return np.asarray(is_right[measured].astype(float))

    before = Answers.stack_logits(parts.outcomes, parts.labels)
    words = [cue.word for cue in parts.cues]
    learned = fit(parts.shows, parts.router, words)
    # of all samples: those of the fitting part tell how far answers shift
    after = logits_with(parts, learned)
    save(parts, learned)
    draws = []
    keys = [sample.key for sample in parts.samples]
    # without changed answers a placebo would show nothing
    for number in range(options.placebos if mitigator.changes_answers else 0):
        # learned from as many samples of each label, without anything in common; it answers where
        # the cue is, or a remedy that changes nothing else would have an easy rival; what names the
        # cues to the model names other things
        rng = audit.rng("placebo", str(number))
        shuffled = shuffle_within(parts.shows, parts.targets, rng)
        shows = np.where(parts.fitted[:, None], shuffled, parts.shows)
        shown = dict(zip(keys, shows.tolist(), strict=True))
        rng = audit.rng("placebo", "names", str(number))
        names = other_words(words, parts.labels, rng)
        with audit.spare(f"placebo {number + 1}", plain(parts)):
            placebo = fit(shows, FixedRouter(shown), names)
            draws.append(right(logits_with(parts, placebo)))
    refit = None
    # weights for a training leave the answers as they are: there is nothing to compare
    if mitigator.changes_answers:
        with audit.spare("plain refit", plain(parts)):
            refit = right(refit_logits(parts, before))
    # of the fitting part: a shift that is fitted to measured samples knows too much
    wanted = after[parts.fitted].argmax(axis=1)
    shift = answer_shift(before[parts.fitted], wanted)
    return Comparison(
        parts=parts,
        mitigator=mitigator,
        logits_before=before[measured],
        logits_after=after[measured],
        before=right(before),
        after=right(after),
        # of several draws, for a single one may be lucky
        random=np.mean(draws, axis=0) if draws else None,
        shifted=right(before + shift),
        refit=refit,
    )


def logits_with(parts: Parts, learned: Mitigation) -> Logits:
    """The logits of all samples with what was learned."""
    trials = list(Answers.trials(parts.samples))
    answers = learned.answer(trials, asking(parts.audit))
    return Answers.stack_logits(list(map(Outcome, trials, answers)), parts.labels)


def asking(audit: Audit) -> Ask:
    """What puts trials to the model, as mitigators ask."""

    def ask(trials: Sequence[Trial]) -> list[Response]:
        return [outcome.response for outcome in audit.respond(trials)]

    return ask


def task_of(
    parts: Parts, shows: Shows, router: Router, names: Sequence[str | None]
) -> Task:
    """What a mitigator is given: the samples for fitting, and the cues that they show."""
    return Task(
        labels=parts.labels,
        samples=tuple(compress(parts.samples, parts.fitted)),
        shows=shows[parts.fitted],
        hurts=tuple(cue.label for cue in parts.cues),
        router=router,
        ask=asking(parts.audit),
        context=parts.audit.context,
        names=tuple(names),
        capabilities=parts.audit.capabilities,
    )


def save(parts: Parts, learned: Mitigation) -> None:
    """Keep what was learned, where the options name a folder."""
    options = parts.options
    if options.save is not None:
        with parts.audit.spare(SAVING):
            learned.save(
                options.save,
                mitigator=mitigator_name(options),
                model=options.model,
            )


def refit_logits(parts: Parts, logits: Logits) -> Logits:
    """The logits of all samples after a plain refit on the same part as the remedy."""
    embedding = Answers.stack_embeddings(parts.outcomes).astype(np.float64)
    fitted = parts.fitted
    weights, bias = LinearHead.refit(
        embedding[fitted], logits[fitted], parts.targets[fitted]
    )
    return np.asarray(logits + embedding @ weights.T + bias)


def mitigator_name(options: MitigationOptions) -> str:
    """The plugin's name, without an argument."""
    return options.mitigator.partition(":")[0]
