"""Every cue under every intervention that applies, beside its placebos: what is asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np
from jaxtyping import Bool, Float

from cuescope_confirm.asking import gives, probability, trial_of
from cuescope_confirm.cases import CONTROLS, Pair, pairs_of, sort_of
from cuescope_confirm.locating import POOL, Target, locate
from cuescope_confirm.locating.placebos import BESIDE, with_placebos
from cuescope_confirm.merging import merge_cues
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.study import Study, prepare
from cuescope_sdk import Audit, Feature, Occurrence, Outcome, Trial, UserError, how_to_install
from cuescope_sdk.interventions import Intervention, Place

NOTHING = "nothing"  # stands in the place of cues where no method has a finding
AS_IS, CHANGED, PLACEBO = range(3)  # columns of what is asked about a pair
OfPair = tuple[Trial, Trial, Trial | None]  # in the order of the columns


@dataclass(frozen=True)
class Named:
    """An intervention as it was asked for."""

    spec: str
    plugin: Intervention

    @property
    def kind(self) -> type[Intervention]:
        """Its class, which says what it needs and does."""
        return type(self.plugin)


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to the pairs of one witness, a row a pair.

    Columns are the sample as it is, after the intervention, and after the placebo (NaN without
    one): the probability of the answer that the cue moves, whether the answer is right, and what
    it is.
    """

    pairs: tuple[Pair, ...]
    trials: tuple[OfPair, ...]
    values: Float[np.ndarray, "pair 3"]
    right: Float[np.ndarray, "pair 3"]
    said: dict[tuple[int, int], str]

    @classmethod
    def unknown(cls, pairs: Sequence[Pair] = (), trials: Sequence[OfPair] = ()) -> "Answers":
        """Nothing is answered yet."""
        values, right = np.full((2, len(pairs), 3), np.nan)
        return cls(tuple(pairs), tuple(trials), values, right, {})

    @property
    def control(self) -> Bool[np.ndarray, " pair"]:
        """The pairs of samples without the cue."""
        return np.array([pair.control for pair in self.pairs], bool)


@dataclass(frozen=True, eq=False)
class Witness:
    """One intervention for one cue; `reason` says why it does not apply."""

    target: Target
    named: Named
    reason: str | None = None
    answers: Answers = field(default_factory=Answers.unknown, repr=False)

    @property
    def kind(self) -> type[Intervention]:
        """The class of the intervention."""
        return self.named.kind

    @property
    def edits_model(self) -> bool:
        """Whether it changes the model, and not the sample."""
        return any(changed.edit is not None for _, changed, _ in self.answers.trials[:1])


def interventions(audit: Audit, options: ConfirmOptions) -> tuple[Named, ...]:
    """Those that were asked for, or all; raises UserError for a named one that cannot be used.

    Nothing is asked of the model before.
    """
    registry = audit.context.registry
    specs = options.interventions
    if not specs:
        entries = registry.of_kind("intervention")
        specs = tuple(sorted(entry.name for entry in entries if registry.check(entry) is None))
    if not specs:
        raise UserError(
            "no intervention is installed",
            expected="at least one",
            remedy=how_to_install("cuescope-interventions"),
        )
    named = tuple(Named(spec, audit.context.build("intervention", spec)) for spec in specs)
    for intervention in named if options.interventions else ():
        if lacking := intervention.kind.lacks(audit.capabilities, list(audit.tools)):
            raise UserError(f"{intervention.spec} cannot be used here: {lacking}")
    return named


@dataclass(frozen=True, eq=False)
class Dossier:
    """All findings, located, and every witness that applies or not, those of placebos too."""

    study: Study
    targets: tuple[Target, ...]
    witnesses: tuple[Witness, ...]

    def witnesses_of(self, target: Target | str) -> list[Witness]:
        """What is done for one cue."""
        return [witness for witness in self.witnesses if witness.target is target]


def gather(audit: Audit, options: ConfirmOptions) -> Dossier:
    """Locate every cue, and make its pairs; the model is asked to locate, and not yet to judge."""
    named = audit.once(interventions, audit, options)
    study = audit.once(prepare, audit, options)
    audit.expect_more(most_trials(study, len(named), options))
    unfound: dict[object, Target | str] = {}
    targets = []
    for cue in audit.once(merge_cues, audit, options, study):
        target = locate(audit, study, cue, options.samples)
        targets.append(with_placebos(audit, options, study, target, unfound))
    if targets and all(target.located is None for target in targets):
        reasons = {str(target.reason) for target in targets}
        raise UserError(
            f"no finding of {options.run} can be located",
            expected="a finding with samples or frames that show it, a name, or a modality",
            got="; ".join(sorted(reasons)),
            remedy="Take a run of a method that says where its features occur",
        )
    everything = dict.fromkeys(targets)
    for target in targets:
        for placebo in target.placebos.values():
            if isinstance(placebo, Target):
                everything[placebo] = None
    witnesses: list[Witness] = []
    for target in everything:
        witnesses += _witnesses(audit, options, named, target)
    audit.expect_more(most_traces(audit, options, len(targets)))  # after the pairs
    return Dossier(study, tuple(targets), tuple(witnesses))


def _witnesses(
    audit: Audit, options: ConfirmOptions, named: Sequence[Named], target: Target
) -> Iterator[Witness]:
    """What is to be asked about a cue, by each intervention."""
    is_finding = target.role == "finding"
    most = options.samples if is_finding else options.samples // BESIDE
    of_sort: dict[tuple[str, ...], list[Pair]] = {}
    for intervention in named:
        kind = intervention.kind
        reason = why_not(audit, target, kind)
        if reason is None and not is_finding and kind.placebo == "none":
            reason = "it decides nothing"
        if reason is not None:
            yield Witness(target, intervention, reason)
            continue
        sort = sort_of(kind)
        if sort not in of_sort:
            of_sort[sort] = pairs_of(audit, target, kind, most)
        if of_sort[sort]:
            answers = _prepare_answers(audit, target, intervention, of_sort[sort])
            yield Witness(target, intervention, answers=answers)
        else:
            yield Witness(target, intervention, nothing_to_do(target, kind))


def most_trials(study: Study, witnesses: int, options: ConfirmOptions) -> int:
    """A bound on what is asked: frames to locate each cue, then three trials a pair."""
    frames = max((len(sample.frames) for sample in study.held.values()), default=1)
    pool = min(len(study.held), POOL * options.samples * 3 // 2) * (frames + 1)
    pairs = options.samples + options.samples // CONTROLS + 2 * (options.samples // BESIDE)
    return len(study.cues) * (3 * pool + witnesses * pairs * 3)


def most_traces(audit: Audit, options: ConfirmOptions, cues: int) -> int:
    """A bound on what reasoning is asked for: with, without, and samples that do not show it."""
    return 3 * cues * options.admitted if "text" in audit.capabilities.outputs else 0


def why_not(audit: Audit, target: Target, kind: type[Intervention]) -> str | None:
    """Why an intervention does not apply to a cue, in a line."""
    if target.located is None:
        return f"the cue is not located: {target.reason}"
    return kind.why_not(target.located, audit.capabilities, list(audit.tools))


def nothing_to_do(target: Target, kind: type[Intervention]) -> str:
    """Why no pair could be made."""
    located = target.located
    if located is not None and kind.needs == "region" and kind.placebo == "elsewhere":
        area = float(np.mean([place.area for place in located.places.values()]))
        return f"the cue covers {area:.0%} of the frame: no other region is left for a placebo"
    if kind.needs == "question":
        return "too few samples have other questions about the same choices"
    if kind.placebo == "other donor" and kind.effect == "removes":
        return "no two samples have the cue at one place, or none is without it"
    if kind.effect == "inserts" and kind.needs != "frames":
        return "no held-out sample of its label is without the cue"
    if kind.needs == "frames":
        return "too few frames are without the cue"
    return "no held-out sample of its label shows the cue"


def _prepare_answers(
    audit: Audit, target: Target, intervention: Named, pairs: Sequence[Pair]
) -> Answers:
    """What is to be asked about each pair."""

    def put(trial: Trial, condition: str) -> Trial:
        feature = target.cue.feature.key
        return replace(trial_of(audit, trial), feature=feature, condition=condition)

    plugin = intervention.plugin
    for role in sorted(plugin.requires.tools):
        audit.context.stop_plan_before(f"the work of the {role}")
    changed = plugin.intervene([pair.case for pair in pairs], audit.tools)
    cases = [pair.placebo for pair in pairs if pair.placebo is not None]
    placebos = iter(plugin.intervene(cases, audit.tools) if cases else ())
    name = intervention.spec.partition(":")[0]
    trials: list[OfPair] = []
    for pair, trial in zip(pairs, changed, strict=True):
        plain = put(Trial(sample=pair.case.sample), "baseline")
        trial = put(trial, f"{name} control" if pair.control else f"{name} cue")
        placebo = None
        if pair.placebo is not None:
            placebo = put(next(placebos), f"{name} placebo")
        trials.append((plain, trial, placebo))
    return Answers.unknown(pairs, trials)


def slots(dossier: Dossier) -> Iterator[tuple[Witness, int, int, Trial]]:
    """What is asked, with its row and column, all that is done to a sample side by side.

    So frames that many changes share are opened once. Edits of the model come last: they are
    answered apart from plain frames, and batches stay full.
    """
    targets = dict.fromkeys(witness.target for witness in dossier.witnesses)
    for edits_model in (False, True):
        for target in targets:
            of_target = dossier.witnesses_of(target)
            witnesses = [witness for witness in of_target if witness.edits_model == edits_model]
            rows = zip_longest(*(witness.answers.trials for witness in witnesses), fillvalue=())
            for row, of_witnesses in enumerate(rows):
                for witness, trials in zip(witnesses, of_witnesses, strict=True):
                    for column, trial in enumerate(trials):
                        if trial is not None:
                            yield witness, row, column, trial


def trials_of(dossier: Dossier) -> Iterator[Trial]:
    """All that is asked, in one go: batches are full, and a plan counts all of it."""
    return (trial for _, _, _, trial in slots(dossier))


def with_answers(dossier: Dossier, outcomes: Sequence[Outcome]) -> Dossier:
    """The dossier with the answers to `trials_of` it, in order."""
    answers = {}
    for witness in dossier.witnesses:
        answers[witness] = Answers.unknown(witness.answers.pairs, witness.answers.trials)
    plain: str | None = None
    for (witness, row, column, trial), outcome in zip(slots(dossier), outcomes, strict=True):
        if column == AS_IS:
            plain = outcome.prediction
        wanted = witness.target.answer(trial.sample, plain)
        of_witness = answers[witness]
        of_witness.values[row, column] = probability(outcome, wanted)
        of_witness.right[row, column] = gives(outcome, trial.sample.label)
        of_witness.said[row, column] = outcome.prediction or ""
    witnesses = tuple(replace(witness, answers=given) for witness, given in answers.items())
    return replace(dossier, witnesses=witnesses)


def features(dossier: Dossier) -> Iterator[Feature]:
    """The cues where they are in the held-out samples; a cue may be about several labels."""
    if not dossier.targets:
        yield Feature(key=NOTHING, kind=NOTHING, name="what methods found")
    first: dict[str, Target] = {}
    for target in dossier.targets:
        first.setdefault(target.cue.feature.key, target)
    for target in first.values():
        occurrences = tuple(_occurrences(target))
        update = {"occurrences": occurrences, "name": target.cue.name}
        yield target.cue.feature.model_copy(update=update)


def _occurrences(target: Target) -> Iterator[Occurrence]:
    for key, place in target.located.places.items() if target.located else ():
        frames = [number for number, mask in enumerate(place.masks) if mask.any()]
        for frame in frames or place.frames or [0]:
            yield Occurrence(sample=key, frame=frame, region=box_of(place, frame))


def box_of(place: Place, frame: int) -> tuple[float, float, float, float] | None:
    """The box around a place's region in a frame; None where it is unknown, or all of the frame."""
    mask = place.masks[frame] if frame < len(place.masks) else np.zeros(1)
    if not mask.any() or mask.all():
        return None
    rows, cols = np.nonzero(mask)
    return float(cols.min()), float(rows.min()), float(cols.max() + 1), float(rows.max() + 1)
