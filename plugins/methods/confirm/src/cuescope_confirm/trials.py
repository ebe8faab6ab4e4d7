"""Every cue under every intervention that applies, beside its placebos: what is asked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

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
    trials: tuple[tuple[Trial, Trial, Trial | None], ...]
    values: Float[np.ndarray, "pair 3"]
    right: Float[np.ndarray, "pair 3"]
    said: Mapping[tuple[int, int], str] = field(default_factory=dict)

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
    answers: Answers | None = field(default=None, repr=False)


def interventions(audit: Audit, options: ConfirmOptions) -> tuple[Named, ...]:
    """Those that were asked for, or all; raises UserError for a named one that cannot be used.

    Nothing is asked of the model before.
    """
    registry = audit.context.registry
    specs = options.interventions
    if not specs:
        whole = [e for e in registry.of_kind("intervention") if registry.check(e) is None]
        specs = tuple(sorted(entry.name for entry in whole))
    if not specs:
        raise UserError(
            "no intervention is installed",
            expected="at least one",
            remedy=how_to_install("cuescope-interventions"),
        )
    named = tuple(Named(spec, audit.context.build("intervention", spec)) for spec in specs)
    for each in named if options.interventions else ():
        if lacking := each.kind.lacks(audit.capabilities, list(audit.tools)):
            raise UserError(f"{each.spec} cannot be used here: {lacking}")
    return named


@dataclass(frozen=True, eq=False)
class Dossier:
    """All findings, located, and every witness that applies or not, those of placebos too."""

    study: Study
    targets: tuple[Target, ...]
    witnesses: tuple[Witness, ...]


def gather(audit: Audit, options: ConfirmOptions) -> Dossier:
    """Locate every cue, and make its pairs; the model is asked to locate, and not yet to judge."""
    named = audit.once(interventions, audit, options)
    study = audit.once(prepare, audit, options)
    audit.expect_more(most_trials(study, len(named), options))
    cues = audit.once(merge_cues, audit, options, study)
    unfound: dict[object, Target | str] = {}
    targets = tuple(
        with_placebos(audit, options, study, locate(audit, study, cue, options.samples), unfound)
        for cue in cues
    )
    if targets and all(target.located is None for target in targets):
        reasons = sorted({str(target.reason) for target in targets})
        raise UserError(
            f"no finding of {options.run} can be located",
            expected="a finding with samples or frames that show it, a name, or a modality",
            got="; ".join(reasons),
            remedy="Take a run of a method that says where its features occur",
        )
    beside = [each for t in targets for each in t.placebos.values() if isinstance(each, Target)]
    everything = {id(target): target for target in (*targets, *beside)}.values()
    witnesses = [each for target in everything for each in _unasked(audit, options, named, target)]
    audit.expect_more(most_traces(audit, options, len(targets)))  # after the pairs
    return Dossier(study, targets, tuple(witnesses))


def _unasked(
    audit: Audit, options: ConfirmOptions, named: Sequence[Named], target: Target
) -> Iterator[Witness]:
    """What is to be asked about a cue, by each intervention."""
    most = options.samples if target.role == "finding" else options.samples // BESIDE
    of_sort: dict[tuple[str, ...], list[Pair]] = {}
    for each in named:
        reason, sort = why_not(audit, target, each), sort_of(each.kind)
        if not reason and target.role != "finding" and each.kind.placebo == "none":
            reason = "it decides nothing"
        if not reason and sort not in of_sort:
            of_sort[sort] = pairs_of(audit, target, each.kind, most)
        pairs = [] if reason else of_sort[sort]
        if not reason and not pairs:
            reason = nothing_to_do(target, each.kind)
        answers = None if reason else _answers_to(audit, target, each, pairs)
        yield Witness(target, each, reason, answers)


def most_trials(study: Study, witnesses: int, options: ConfirmOptions) -> int:
    """A bound on what is asked: frames to locate each cue, then three trials a pair."""
    frames = max((len(sample.frames) for sample in study.held.values()), default=1)
    pool = min(len(study.held), POOL * options.samples * 3 // 2) * (frames + 1)
    pairs = options.samples + options.samples // CONTROLS + 2 * (options.samples // BESIDE)
    return len(study.cues) * (3 * pool + witnesses * pairs * 3)


def most_traces(audit: Audit, options: ConfirmOptions, cues: int) -> int:
    """A bound on what reasoning is asked for: with, without, and samples that do not show it."""
    return 3 * cues * options.admitted if "text" in audit.capabilities.outputs else 0


def why_not(audit: Audit, target: Target, named: Named) -> str | None:
    """Why an intervention does not apply to a cue, in a line."""
    if target.located is None:
        return f"the cue is not located: {target.reason}"
    return named.kind.why_not(target.located, audit.capabilities, list(audit.tools))


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


def _answers_to(audit: Audit, target: Target, named: Named, pairs: Sequence[Pair]) -> Answers:
    for role in sorted(named.kind.requires.tools):
        audit.context.stop_plan_before(f"the work of the {role}")
    changed = named.plugin.intervene([pair.case for pair in pairs], audit.tools)
    beside = [pair.placebo for pair in pairs if pair.placebo is not None]
    placebos = iter(named.plugin.intervene(beside, audit.tools) if beside else ())
    condition = named.spec.partition(":")[0]
    trials = []
    for pair, trial in zip(pairs, changed, strict=True):
        other = next(placebos) if pair.placebo is not None else None
        where = "control" if pair.control else "cue"
        trials.append(
            (
                _marked(audit, target, Trial(sample=pair.case.sample), "baseline"),
                _marked(audit, target, trial, f"{condition} {where}"),
                other and _marked(audit, target, other, f"{condition} placebo"),
            )
        )
    empty = np.full((len(pairs), 3), np.nan)
    return Answers(tuple(pairs), tuple(trials), empty, empty)


def _marked(audit: Audit, target: Target, trial: Trial, condition: str) -> Trial:
    return replace(
        trial_of(audit, trial.sample, trial), feature=target.cue.feature.key, condition=condition
    )


def slots(dossier: Dossier) -> Iterator[tuple[Answers, int, int, Trial]]:
    """What is asked, with its row and column, all that is done to a sample side by side.

    So frames that many changes share are opened once. Edits of the model come last: they are
    answered apart from plain frames, and batches stay full.
    """
    of_target: dict[int, list[Answers]] = {}
    for witness in dossier.witnesses:
        if witness.answers is not None:
            of_target.setdefault(id(witness.target), []).append(witness.answers)
    for edited in (False, True):
        for every in of_target.values():
            own = [each for each in every if (each.trials[0][1].edit is not None) == edited]
            for row in range(max((len(each.pairs) for each in own), default=0)):
                for answers in own:
                    of_pair = answers.trials[row] if row < len(answers.pairs) else ()
                    for column, trial in enumerate(of_pair):
                        if trial is not None:
                            yield answers, row, column, trial


def trials_of(dossier: Dossier) -> Iterator[Trial]:
    """All that is asked, in one go: batches are full, and a plan counts all of it."""
    return (trial for _, _, _, trial in slots(dossier))


def answered(dossier: Dossier, outcomes: Sequence[Outcome]) -> Dossier:
    """The dossier with the answers to `trials_of` it, in order."""
    targets = {id(w.answers): w.target for w in dossier.witnesses}
    values = {
        number: np.full((2, len(w.answers.pairs), 3), np.nan)
        for w in dossier.witnesses
        if w.answers is not None and (number := id(w.answers))
    }
    said: dict[int, dict[tuple[int, int], str]] = {}
    plain: str | None = None
    for (answers, row, column, trial), outcome in zip(slots(dossier), outcomes, strict=True):
        plain = outcome.prediction if column == 0 else plain
        wanted = targets[id(answers)].answer(trial.sample, plain)
        said.setdefault(id(answers), {})[row, column] = outcome.prediction or ""
        values[id(answers)][:, row, column] = (
            probability(outcome, wanted),
            gives(outcome, trial.sample.label),
        )
    witnesses = []
    for witness in dossier.witnesses:
        if witness.answers is not None:
            probable, right = values[id(witness.answers)]
            words = said.get(id(witness.answers), {})
            given = replace(witness.answers, values=probable, right=right, said=words)
            witness = replace(witness, answers=given)
        witnesses.append(witness)
    return replace(dossier, witnesses=tuple(witnesses))


def features(dossier: Dossier) -> Iterator[Feature]:
    """The cues where they are in the held-out samples; a cue may be about several labels."""
    if not dossier.targets:
        yield Feature(key=NOTHING, kind=NOTHING, name="what methods found")
    done: set[str] = set()
    for target in dossier.targets:
        feature = target.cue.feature
        if feature.key in done:
            continue
        done.add(feature.key)
        met: list[Occurrence] = []
        for key, place in target.located.places.items() if target.located else ():
            shown = [number for number, mask in enumerate(place.masks) if mask.any()]
            met += [
                Occurrence(sample=key, frame=number, region=box_of(place, number))
                for number in shown or list(place.frames) or [0]
            ]
        yield feature.model_copy(update={"occurrences": tuple(met), "name": target.cue.name})


def box_of(place: Place, frame: int) -> tuple[float, float, float, float] | None:
    """The box around a place's region in a frame; None where it is unknown, or all of the frame."""
    if frame >= len(place.masks) or not place.masks[frame].any() or place.masks[frame].all():
        return None
    rows, cols = np.nonzero(place.masks[frame])
    return float(cols.min()), float(rows.min()), float(cols.max() + 1), float(rows.max() + 1)
