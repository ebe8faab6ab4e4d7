"""Every cue under every intervention that applies, beside its placebos: what is asked."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np

from cuescope_confirm.asking import Direction, gives, probability, trial_of
from cuescope_confirm.cases import CONTROLS, Pair, pairs_of, sort_of
from cuescope_confirm.cases.inside import pairs_inside
from cuescope_confirm.cases.own_pairs import (
    NAME,
    OwnPairs,
    pairs_of_scenes,
    read_scenes,
)
from cuescope_confirm.companions.moved import moved_companion
from cuescope_confirm.locating import BESIDE, POOL, Part, Target, locate
from cuescope_confirm.locating.folds import join
from cuescope_confirm.locating.learned import Listed
from cuescope_confirm.locating.placebos import Placebo, with_placebos
from cuescope_confirm.merging import merge_cues
from cuescope_confirm.merging.folds import match
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.study import Cue, Cues, Study, prepare
from cuescope_confirm.testimony.effects import is_held_against, is_placed
from cuescope_confirm.testimony.manipulation import only_telling, share_taken
from cuescope_confirm.testimony.votes import is_told_by_pictures, one_of_each_kind
from cuescope_confirm.testimony.witnesses import (
    AS_IS,
    Answers,
    Dossier,
    Witness,
    shown_frames,
)
from cuescope_sdk import (
    Audit,
    Feature,
    Occurrence,
    Outcome,
    PluginError,
    Trial,
    UserError,
    how_to_install,
)
from cuescope_sdk.interventions import Case, Intervention, Place
from cuescope_sdk.report import count_of
from cuescope_sdk.stills import Answers as Embedded

NOTHING = "nothing"  # stands in the place of cues where no method has a finding
UNCOMPARED = (
    "no finding is compared with it: it is changed at another place, or in another size"
)
SAME = "as far as pictures show, it changes less than a quarter of the cue"
NOT_INSIDE = "too few samples of one run tell the cue's direction in the embedding"
SEEN = (
    "not needed: other changes already remove the cue from the pictures, or put it in"
)
UNSEEN = (
    "only the model's embedding tells which samples show the cue: to erase it may erase that the "
    "model errs there, and not the cue"
)
UNSURE = (
    "the place of the cue is too uncertain: something else would be changed as well"
)
PLACED = "the cue has a place, and this changes all of the picture"


def interventions(audit: Audit, options: ConfirmOptions) -> dict[str, Intervention]:
    """Those that were asked for, or all, by their SPECs; nothing is asked of the model before.

    Raises UserError for a named one that does not exist or does not fit.
    """
    if options.pairs is not None:
        if options.interventions:
            raise UserError(
                "--pairs and --with are two tests",
                expected="one of them: pairs alone decide",
            )
        return {}
    context = audit.context
    installed = {entry.name for entry in context.registry.of_kind("intervention")}
    specs = list(options.interventions) or sorted(installed)
    if not specs:
        raise UserError(
            "no intervention is installed",
            expected="at least one",
            remedy=how_to_install("cuescope-interventions"),
        )
    plugins: dict[str, Intervention] = {}
    for spec in specs:
        # a name or option that was typed wrong is no failure
        if options.interventions:
            context.resolve("intervention", spec)
        lacking = None
        with audit.spare(part_of(spec)):
            plugin: Intervention = context.build("intervention", spec)
            lacking = plugin.lacks(audit.capabilities, list(audit.tools))
            plugins[spec] = plugin
        # of those that nobody named, the report says why they do not apply
        if lacking and options.interventions:
            raise UserError(f"{spec} cannot be used here: {lacking}")
    if not plugins:
        reasons = (f"{part}: {reason}" for part, reason in audit.failures.items())
        raise UserError("every intervention failed", got="; ".join(reasons))
    return plugins


def merged(study: Study) -> tuple[Cue, ...]:
    """The findings, those that are one cue as one."""
    if not study.cues:
        return ()
    if study.folds:
        return match(study, [merged(fold) for fold in study.folds])
    with study.audit.spare("merging of findings that are one cue", _plain(study)):
        return merge_cues(study)
    return study.cues


def _plain(study: Study) -> Trial | None:
    """A held-out sample as it is."""
    for sample in study.held.values():
        return trial_of(study, Trial(sample=sample))
    return None


def gather(audit: Audit, options: ConfirmOptions) -> Dossier:
    """Locate every cue, and make its pairs; the model is asked to locate, and not yet to judge."""
    plugins = audit.once(interventions, audit, options)
    study = audit.once(prepare, audit, options)
    # for a plan, which ends as soon as answers are needed to locate a cue
    audit.expect_more(most_trials(study, len(plugins)))
    cues = audit.once(merged, study)
    if options.pairs is not None:
        dossier = _by_own_pairs(study, cues, options.pairs)
        _expect_to_read(dossier)
        return dossier
    unfound = defaultdict[int, dict[object, Placebo]](dict)
    targets = []
    with audit.context.progress("looking for the cues", len(cues)) as advance:
        for cue in cues:
            targets.append(_target_of(study, cue, unfound))
            advance(1)
    nowhere = all(target.located is None for target in targets)
    if targets and nowhere and not audit.failures:
        reasons = {str(target.reason) for target in targets}
        raise UserError(
            f"no finding of {options.run} can be located",
            expected="a finding with samples or frames that show it, a name, or a modality",
            got="; ".join(sorted(reasons)),
            remedy="Take a run of a method that says where its features occur",
        )
    witnesses = _all_witnesses(study, plugins, targets)
    witnesses = [_compared_or_not(study, witness, witnesses) for witness in witnesses]
    dossier = Dossier(study, targets, witnesses)
    _expect_to_read(dossier)
    return dossier


def _all_witnesses(
    study: Study,
    plugins: Mapping[str, Intervention],
    targets: Sequence[Target],
) -> list[Witness]:
    """What is to be asked about each cue, then about those that are placebos."""
    witnesses: list[Witness] = []
    everything = _with_placebos(targets)
    doing = "changing pictures of the cues"
    with study.audit.context.progress(doing, len(everything)) as advance:
        for target in everything:
            able = plugins
            if target.role != "finding":
                # beside what is done to a finding, and to no purpose without
                done = {other.spec for other in witnesses if other.reason is None}
                able = {spec: way for spec, way in plugins.items() if spec in done}
            # what a user names is asked about, whatever else tells the same
            is_free = target.role == "finding" and not study.options.interventions
            witnesses += _witnesses_of(study, able, target, is_free=is_free)
            advance(1)
    return witnesses


def with_next(dossier: Dossier, failed: Mapping[Witness, str]) -> Dossier:
    """The next of its kind in place of each of these, which say why they are no witnesses."""
    changed = []
    for witness, reason in failed.items():
        following, *others = witness.instead
        changed.append(witness.unasked(reason))
        changed.append(replace(following, instead=tuple(others)))
    return _with_witnesses(dossier, changed)


def with_left_out(
    dossier: Dossier, targets: Collection[Target], reason: str
) -> Dossier:
    """For some cues what was left out for this reason, where other changes had seemed enough."""
    changed: list[Witness] = []
    # in the order of the findings, whatever the order of the given ones
    for target in dossier.targets:
        if target in targets:
            plugins = {
                witness.spec: witness.plugin
                for witness in dossier.witnesses_of(target)
                if witness.reason == reason
            }
            changed += _witnesses(dossier.study, plugins, target)
    return _with_witnesses(dossier, changed)


def _with_witnesses(dossier: Dossier, changed: Sequence[Witness]) -> Dossier:
    """With these in place of those of their names; the same is done to placebo cues."""
    if not changed:
        return dossier
    study = dossier.study
    by_name = {(witness.target, witness.spec): witness for witness in dossier.witnesses}
    for witness in changed:
        by_name[witness.target, witness.spec] = witness
        if not witness.answers.pairs:
            continue
        plugins = {witness.spec: witness.plugin}
        for placebo in witness.target.placebos.values():
            if not isinstance(placebo, Target):
                continue
            # it may be asked about already, for another finding
            known = by_name.get((placebo, witness.spec))
            if known is None or not known.answers.pairs:
                [of_placebo] = _witnesses(study, plugins, placebo)
                by_name[placebo, witness.spec] = of_placebo
    witnesses = [*by_name.values()]
    witnesses = [_compared_or_not(study, witness, witnesses) for witness in witnesses]
    return replace(dossier, witnesses=witnesses)


def _expect_to_read(dossier: Dossier) -> None:
    """How many answers are read after the pairs, at most.

    With the cue, without it, and samples that do not show it.
    """
    audit = dossier.study.audit
    writes = "text" in audit.capabilities.outputs
    options = dossier.study.options
    each = 2 * min(options.admitted, options.samples) + options.admitted
    audit.expect_more(each * len(dossier.targets) if writes else 0)


def _compared_or_not(
    study: Study,
    witness: Witness,
    witnesses: Sequence[Witness],
) -> Witness:
    """The witness; of a placebo's cue without its trials, where no finding is held against it."""
    if witness.target.role == "finding" or not witness.answers.pairs:
        return witness
    for owner in witnesses:
        is_owner = witness.target in owner.target.placebos.values()
        has_pairs = is_owner and bool(owner.answers.pairs)
        if has_pairs and is_held_against(study, owner, witness):
            return witness
    return witness.unasked(UNCOMPARED)


def _with_placebos(targets: Sequence[Target]) -> list[Target]:
    """The targets, and behind them those that are placebos of some."""
    everything = list(targets)
    for target in targets:
        for placebo in target.placebos.values():
            # several findings may share a placebo, which is asked about once
            if isinstance(placebo, Target) and placebo not in everything:
                everything.append(placebo)
    return everything


def _by_own_pairs(study: Study, cues: Cues, folder: Path) -> Dossier:
    """One cue, and the pairs of the user's own that show it and lack it."""
    if len(cues) != 1:
        keys = [cue.id for cue in cues]
        raise UserError(
            f"the pairs show one cue, and {count_of(len(cues), 'findings', 'are')} to be tested",
            expected="one of " + ", ".join(keys[:5]),
            remedy="Name it: --feature KEY[@LABEL]",
        )
    # before the cue is located: what is wrong with the folder is told at once
    # a clip is shown in as many frames as the data show
    lengths = [len(sample.frames) for sample in study.held.values()]
    frames = max(lengths, default=1) or 1
    context = study.audit.context
    scenes = read_scenes(context, folder, study.options.least, frames=frames)
    target = locate(study, cues[0])
    plugin = OwnPairs(OwnPairs.Options(), study.audit.context)
    witness = Witness(target, NAME, plugin)
    pairs = pairs_of_scenes(study, target, folder, scenes)
    answers = _prepare_answers(study, witness, pairs)
    return Dossier(study, [target], [replace(witness, answers=answers)])


def _target_of(
    study: Study,
    cue: Cue,
    unfound: Mapping[int, dict[object, Placebo]],
) -> Target:
    """A cue with its places: of one that was found in folds, those of each fold."""
    if not cue.folds:
        return _target(study, cue, unfound[0])
    parts = []
    for number, of_fold in cue.folds:
        fold = study.folds[number]
        target = _target(fold, of_fold, unfound[number], Listed(study, cue))
        parts.append(Part(fold, target))
    return join(cue, parts)


def _target(
    study: Study,
    cue: Cue,
    unfound: dict[object, Placebo],
    in_all: Listed | None = None,
) -> Target:
    """A cue with its place and its placebos; one that fails to be located says so."""
    audit = study.audit
    part = f"locating {cue.name}"
    if audit.tools:
        with audit.spare(f"{part} by {', '.join(audit.tools)}", _plain(study)):
            return with_placebos(study, locate(study, cue, in_all=in_all), unfound)
        # a tool that fails must not cost the cue, which other ways may find
        study = replace(study, audit=replace(audit, tools={}))
    with audit.spare(part, _plain(study)):
        return with_placebos(study, locate(study, cue, in_all=in_all), unfound)
    reason = f"locating it failed: {audit.failures[part]}"
    return Target(cue, Direction(), {}, reason=reason)


def _witnesses_of(
    study: Study,
    plugins: Mapping[str, Intervention],
    target: Target,
    *,
    is_free: bool,
) -> list[Witness]:
    """What is to be asked about a cue; if this `is_free`, of what tells the same the best alone."""
    if not is_free:
        return list(_witnesses(study, plugins, target))
    inside = {spec: one for spec, one in plugins.items() if one.needs == "inside"}
    outside = {spec: one for spec, one in plugins.items() if spec not in inside}
    witnesses = list(_witnesses(study, outside, target))
    witnesses = [_of_cue_alone(study, witness) for witness in witnesses]
    witnesses = _one_of_each_kind(study, witnesses)
    # an embedding tells a cue from its company worse than pictures do, and costs calls
    if is_told_by_pictures(study, witnesses):
        of_model = [Witness(target, spec, one, SEEN) for spec, one in inside.items()]
        return witnesses + of_model
    return witnesses + list(_witnesses(study, inside, target))


def _witnesses(
    study: Study,
    plugins: Mapping[str, Intervention],
    target: Target,
) -> Iterator[Witness]:
    """What is to be asked about a cue, by each intervention."""
    of_sort: dict[tuple[str, ...], list[Pair]] = {}
    for spec, plugin in plugins.items():
        witness = Witness(target, spec, plugin)
        yield _ready_or_not(study, witness, of_sort)


def _one_of_each_kind(study: Study, witnesses: Sequence[Witness]) -> list[Witness]:
    """The witnesses, those that need not be asked about with their reason."""
    witnesses = [_seen_or_not(study, witness) for witness in witnesses]
    return one_of_each_kind(study, witnesses)


def _of_cue_alone(study: Study, witness: Witness) -> Witness:
    """The witness, without its trials where it moves what goes with the cue."""
    if witness.target.role != "finding" or not witness.answers.pairs:
        return witness
    with study.audit.spare(f"companions of {witness.target.cue.name}"):
        moved = study.audit.once(moved_companion, study, witness)
        if moved is not None:
            reason = f"it moves {moved} as well, which goes with the cue"
            return witness.unasked(reason)
    return witness


def _seen_or_not(study: Study, witness: Witness) -> Witness:
    """The witness, without its trials where what it changed cannot be opened."""
    with study.audit.spare(part_of(witness.spec)):
        study.audit.once(share_taken, study, witness)
        return witness
    return _without_answers(study, witness)


def _ready_or_not(
    study: Study,
    witness: Witness,
    of_sort: dict[tuple[str, ...], list[Pair]],
) -> Witness:
    with study.audit.spare(part_of(witness.spec)):
        return _ready(study, witness, of_sort)
    return _without_answers(study, witness)


def part_of(spec: str) -> str:
    """What a failure of an intervention is told under."""
    return f"intervention {spec}"


def _without_answers(study: Study, witness: Witness) -> Witness:
    """The witness with the reason of its failure."""
    reason = study.audit.failures[part_of(witness.spec)]
    return witness.unasked(f"it failed: {reason}")


def _ready(
    study: Study,
    witness: Witness,
    of_sort: dict[tuple[str, ...], list[Pair]],
) -> Witness:
    """The witness with what is to be asked, or with the reason why it does not apply."""
    audit = study.audit
    target = witness.target
    plugin = witness.plugin
    reason: str | None = f"the cue is not located: {target.reason}"
    if target.located is not None:
        known = target.located.known
        reason = plugin.why_not(known, audit.capabilities, list(audit.tools))
    is_finding = target.role == "finding"
    if reason is None and not is_placed(witness):
        reason = UNSURE
    if reason is None and plugin.needs == "still" and target.has_place:
        reason = PLACED
    if reason is None and plugin.needs == "inside" and not _is_seen(target):
        reason = UNSEEN
    if reason is None and not is_finding and plugin.placebo == "none":
        reason = "it has no placebo, so it decides nothing"
    if reason is None:
        # interventions of one sort are compared in the same samples
        sort = sort_of(plugin)
        if sort not in of_sort:
            make = pairs_inside if plugin.needs == "inside" else pairs_of
            of_sort[sort] = make(study, target, plugin)
        pairs = of_sort[sort]
        if pairs:
            ready = replace(witness, answers=_prepare_answers(study, witness, pairs))
            if plugin.needs == "still":
                ready = only_telling(study, ready)
            if ready.answers.pairs:
                return ready
        reason = SAME if pairs else nothing_to_do(target, plugin)
    return replace(witness, reason=reason)


def _is_seen(target: Target) -> bool:
    """Whether pictures tell the cue's samples; else its direction may be that of wrong answers."""
    return target.located is not None and target.located.is_seen


def most_trials(study: Study, witnesses: int) -> int:
    """A bound on what is asked: frames to locate each cue, then three trials a pair."""
    frames = max((len(sample.frames) for sample in study.held.values()), default=1)
    most = study.options.samples
    # a pool, and half as many samples that are not judged
    looked_at = min(len(study.held), POOL * most * 3 // 2)
    # those with the cue, without it, and of two placebos
    pairs = most + most // CONTROLS + 2 * (most // BESIDE)
    of_cue = looked_at * (frames + 1) + witnesses * pairs
    return 3 * len(study.cues) * of_cue


def nothing_to_do(target: Target, plugin: Intervention) -> str:
    """Why no pair could be made."""
    located = target.located
    if (
        located is not None
        and plugin.needs == "region"
        and plugin.placebo == "elsewhere"
    ):
        area = np.mean([shown.area for shown in located.places.values()])
        return f"the cue covers {area:.0%} of the frame: no other region is left for a placebo"
    if plugin.needs == "inside":
        return NOT_INSIDE
    if plugin.needs == "still":
        return "no label has held-out samples with the cue and others without it"
    if plugin.needs == "question":
        return "too few samples have other questions about the same choices"
    if plugin.placebo == "other donor" and plugin.effect == "removes":
        return "no two samples show the cue at the same place, or all samples show it"
    if plugin.effect == "inserts" and plugin.needs != "frames":
        return "no held-out sample of its label is without the cue"
    if plugin.needs == "frames":
        return "too few frames are without the cue"
    return "no held-out sample of its label shows the cue"


def _prepare_answers(
    study: Study,
    witness: Witness,
    pairs: Sequence[Pair],
) -> Answers:
    """What is to be asked about each pair."""

    audit = study.audit

    def put(trial: Trial, condition: str) -> Trial:
        feature = witness.target.cue.feature.key
        return replace(trial_of(study, trial), feature=feature, condition=condition)

    plugin = witness.plugin
    # an editor takes long or costs money: a plan ends before it works
    for role in sorted(plugin.requires.tools):
        audit.context.stop_plan_before(f"the work of the {role}")
    changed = _intervene(witness, [pair.case for pair in pairs], audit.tools)
    cases = [pair.placebo for pair in pairs if pair.placebo is not None]
    placebos = iter(_intervene(witness, cases, audit.tools))
    name = witness.spec.partition(":")[0]
    trials = []
    for pair, trial in zip(pairs, changed, strict=True):
        plain = put(Trial(sample=pair.case.sample), "baseline")
        if pair.case.shift is not None:
            # asked with its embedding already: answers of fewer outputs would be asked anew
            plain = replace(plain, outputs=Embedded.outputs)
        trial = put(trial, f"{name} control" if pair.control else f"{name} cue")
        placebo = None
        if pair.placebo is not None:
            placebo = put(next(placebos), f"{name} placebo")
        trials.append((plain, trial, placebo))
    return Answers.unknown(pairs, trials)


def _intervene(
    witness: Witness,
    cases: Sequence[Case],
    tools: Mapping[str, object],
) -> list[Trial]:
    trials = witness.plugin.intervene(cases, tools)
    if len(trials) != len(cases):
        raise PluginError(
            f"intervene of {witness.spec}",
            expected=f"{count_of(len(cases), 'trials')}, one a case",
            got=str(len(trials)),
        )
    return trials


def ask(dossier: Dossier) -> tuple[Dossier, Sequence[Outcome]]:
    """The answers to `trials_of` a dossier, with the dossier of what could be answered.

    A witness whose changed samples cannot be answered costs itself. What fails with samples as
    they are is raised, for then the model or the data are at fault.
    """
    audit = dossier.study.audit
    try:
        # all in one go: batches are full, and a plan counts all of it
        return dossier, audit.respond(trials_of(dossier))
    except Exception:
        answered = [_ask_alone(dossier.study, witness) for witness in dossier.witnesses]
    dossier = replace(dossier, witnesses=answered)
    return dossier, audit.respond(trials_of(dossier))


def _ask_alone(study: Study, witness: Witness) -> Witness:
    """The witness, without its trials where they cannot be answered."""
    audit = study.audit
    trials = witness.answers.trials
    plain = [as_it_is for as_it_is, _, _ in trials]
    audit.respond(plain)
    with audit.spare(part_of(witness.spec), next(iter(plain), None)):
        # what was answered before is read from the cache
        audit.respond(filter(None, chain.from_iterable(trials)))
        return witness
    return _without_answers(study, witness)


def slots(dossier: Dossier) -> Iterator[tuple[Witness, int, int, Trial]]:
    """What is asked, with its row and column, all that is done to a sample side by side.

    So frames that many changes share are opened once. Edits of the model come last: they are
    answered apart from plain frames, and batches stay full.
    """
    targets = dict.fromkeys(witness.target for witness in dossier.witnesses)
    for edits_model in (False, True):
        for target in targets:
            witnesses = [
                witness
                for witness in dossier.witnesses_of(target)
                if witness.edits_model == edits_model
            ]
            asked = [witness.answers.trials for witness in witnesses]
            for row, of_sample in enumerate(zip_longest(*asked, fillvalue=())):
                for witness, trials in zip(witnesses, of_sample, strict=True):
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
        asked = witness.answers
        # new arrays: the dossier is remembered for the audit, and stays unanswered
        answers[witness] = Answers.unknown(asked.pairs, asked.trials)
    plain = None
    for slot, outcome in zip(slots(dossier), outcomes, strict=True):
        witness, row, column, trial = slot
        # it is the first of its pair, so the changed ones find it
        if column == AS_IS:
            plain = outcome.prediction
        wanted = witness.target.answer(trial.sample, plain)
        of_witness = answers[witness]
        of_witness.values[row, column] = probability(outcome, wanted)
        of_witness.right[row, column] = gives(outcome, trial.sample.label)
        of_witness.said[row, column] = outcome.prediction or ""
    witnesses = [replace(witness, answers=given) for witness, given in answers.items()]
    return replace(dossier, witnesses=witnesses)


def features(dossier: Dossier) -> Iterator[Feature]:
    """The cues where they are in the held-out samples; a cue may be about several labels."""
    # each score names a feature, that of an empty dossier too
    if not dossier.targets:
        yield Feature(key=NOTHING, kind=NOTHING, name="what methods found")
    seen = set()
    for target in dossier.targets:
        cue = target.cue
        if cue.feature.key not in seen:
            seen.add(cue.feature.key)
            update = {"occurrences": tuple(_occurrences(target)), "name": cue.name}
            yield cue.feature.model_copy(update=update)


def _occurrences(target: Target) -> Iterator[Occurrence]:
    if target.located is None:
        return
    for key, place in target.located.places.items():
        # a place in an image names no frames
        for frame in shown_frames(place) or [0]:
            yield Occurrence(sample=key, frame=frame, region=box_of(place, frame))


def box_of(
    place: Place,
    frame: int,
) -> tuple[float, float, float, float] | None:
    """The box around a place's region in a frame; None where it is unknown, or all of the frame."""
    mask = place.masks[frame] if frame < len(place.masks) else np.zeros(1)
    if not mask.any() or mask.all():
        return None
    rows, cols = np.nonzero(mask)
    corners = np.array([cols, rows])
    left, top = corners.min(axis=1).astype(float)
    # an edge lies behind the last pixel
    right, bottom = corners.max(axis=1) + 1.0
    return left, top, right, bottom
