"""Every cue under the interventions that tell most of it, beside controls: what is asked."""

from collections.abc import Iterator, Mapping, Sequence
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
from cuescope_confirm.experiment.arms import (
    AS_IS,
    Answers,
    Arm,
    Experiment,
    failed,
    part_of,
    shown_frames,
)
from cuescope_confirm.experiment.choice import MOST, choose
from cuescope_confirm.locating import POOL, Part, Target, locate
from cuescope_confirm.locating.folds import join
from cuescope_confirm.locating.learned import Listed
from cuescope_confirm.merging import merge_cues
from cuescope_confirm.merging.folds import match
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.study import Cue, Cues, Study, prepare
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
# what changes a whole frame changes all that goes with a cue, and an embedding tells a cue from its
# company worse than pictures do
COARSE = ("frames", "inside")
FINER = "other interventions change less of what correlates with the cue"
NOT_INSIDE = "too few samples of one run tell the cue's direction in the embedding"


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


def gather(audit: Audit, options: ConfirmOptions) -> Experiment:
    """Locate every cue, and make its pairs; the model is asked to locate, and not yet to judge."""
    plugins = audit.once(interventions, audit, options)
    study = audit.once(prepare, audit, options)
    # for a plan, which ends as soon as answers are needed to locate a cue
    audit.expect_more(most_trials(study, len(plugins)))
    cues = audit.once(merged, study)
    if options.pairs is not None:
        experiment = _by_own_pairs(study, cues, options.pairs)
        _expect_to_read(experiment)
        return experiment
    targets = []
    with audit.context.progress("looking for the cues", len(cues)) as advance:
        for cue in cues:
            targets.append(_target_of(study, cue))
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
    arms: list[Arm] = []
    doing = "changing pictures of the cues"
    with audit.context.progress(doing, len(targets)) as advance:
        for target in targets:
            arms += _arms_of(study, plugins, target)
            advance(1)
    experiment = Experiment(study, targets, _within_budget(study, targets, arms))
    _expect_to_read(experiment)
    return experiment


def _expect_to_read(experiment: Experiment) -> None:
    """How many answers are read after the pairs, at most.

    With the cue, without it, and samples that do not show it.
    """
    audit = experiment.study.audit
    writes = "text" in audit.capabilities.outputs
    options = experiment.study.options
    each = 2 * min(options.admitted, options.samples) + options.admitted
    audit.expect_more(each * len(experiment.targets) if writes else 0)


def _by_own_pairs(study: Study, cues: Cues, folder: Path) -> Experiment:
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
    arm = Arm(target, NAME, plugin)
    pairs = pairs_of_scenes(study, target, folder, scenes)
    answers = _prepare_answers(study, arm, pairs)
    return Experiment(study, [target], [replace(arm, answers=answers)])


def _target_of(study: Study, cue: Cue) -> Target:
    """A cue with its places: of one that was found in folds, those of each fold."""
    if not cue.folds:
        return _target(study, cue)
    parts = []
    for number, of_fold in cue.folds:
        fold = study.folds[number]
        parts.append(Part(fold, _target(fold, of_fold, Listed(study, cue))))
    return join(cue, parts)


def _target(study: Study, cue: Cue, in_all: Listed | None = None) -> Target:
    """A cue with its place; one that fails to be located says so."""
    audit = study.audit
    part = f"locating {cue.name}"
    if audit.tools:
        with audit.spare(f"{part} by {', '.join(audit.tools)}", _plain(study)):
            return locate(study, cue, in_all=in_all)
        # a tool that fails must not cost the cue, which other ways may find
        study = replace(study, audit=replace(audit, tools={}))
    with audit.spare(part, _plain(study)):
        return locate(study, cue, in_all=in_all)
    reason = f"locating it failed: {audit.failures[part]}"
    return Target(cue, Direction(), {}, reason=reason)


def _arms_of(
    study: Study, plugins: Mapping[str, Intervention], target: Target
) -> list[Arm]:
    """What is to be asked about a cue: what a user has named, else what tells most of it."""
    if study.options.interventions:
        return list(_arms(study, plugins, target))
    fine = {spec: one for spec, one in plugins.items() if one.needs not in COARSE}
    coarse = {spec: one for spec, one in plugins.items() if spec not in fine}
    arms = choose(study, list(_arms(study, fine, target)))
    if any(arm.answers.pairs for arm in arms):
        return arms + [Arm(target, spec, one, FINER) for spec, one in coarse.items()]
    return arms + choose(study, list(_arms(study, coarse, target)))


def _within_budget(
    study: Study, targets: Sequence[Target], arms: Sequence[Arm]
) -> list[Arm]:
    """With as many pairs of each arm as `max_calls` allows, by equal shares."""
    most = study.options.max_calls
    share = 1.0
    fewer = list(arms)
    while most is not None and share > 0:
        count = _count(Experiment(study, targets, fewer))
        if count <= most:
            break
        # rounded up for each arm, so a little less than its share
        share = min(share - 0.01, most / count * share)
        fewer = [arm.part(max(share, 0.0)) for arm in arms]
    if share < 1:
        note = f"each intervention changes {share:.0%} of the samples"
        study.audit.note("max_calls", note)
    return fewer


def _count(experiment: Experiment) -> int:
    """How many trials are asked about: a sample as it is once, whatever is done to it."""
    plain = set()
    changed = 0
    for _, _, column, trial in slots(experiment):
        if column == AS_IS:
            plain.add((trial.sample.key, trial.sample.question))
        else:
            changed += 1
    return len(plain) + changed


def _arms(
    study: Study,
    plugins: Mapping[str, Intervention],
    target: Target,
) -> Iterator[Arm]:
    """What is to be asked about a cue, by each intervention."""
    of_sort: dict[tuple[str, ...], list[Pair]] = {}
    for spec, plugin in plugins.items():
        arm = Arm(target, spec, plugin)
        yield _ready_or_not(study, arm, of_sort)


def _ready_or_not(
    study: Study,
    arm: Arm,
    of_sort: dict[tuple[str, ...], list[Pair]],
) -> Arm:
    with study.audit.spare(part_of(arm.spec)):
        return _ready(study, arm, of_sort)
    return failed(study, arm)


def _ready(
    study: Study,
    arm: Arm,
    of_sort: dict[tuple[str, ...], list[Pair]],
) -> Arm:
    """The arm with what is to be asked, or with the reason why it does not apply."""
    target = arm.target
    plugin = arm.plugin
    reason: str | None = f"the cue is not located: {target.reason}"
    if target.located is not None:
        known = target.located.known
        tools = list(study.audit.tools)
        reason = plugin.why_not(known, study.audit.capabilities, tools)
    if reason is not None:
        return replace(arm, reason=reason)
    # interventions of one sort are compared in the same samples
    sort = sort_of(plugin)
    if sort not in of_sort:
        make = pairs_inside if plugin.needs == "inside" else pairs_of
        of_sort[sort] = make(study, target, plugin)
    pairs = of_sort[sort]
    if not pairs:
        return replace(arm, reason=nothing_to_do(target, plugin))
    return replace(arm, answers=_prepare_answers(study, arm, pairs))


def most_trials(study: Study, arms: int) -> int:
    """A bound on what is asked: frames to locate each cue, then three trials a pair."""
    frames = max((len(sample.frames) for sample in study.held.values()), default=1)
    most = study.options.samples
    # a pool, and half as many samples that are not judged
    looked_at = min(len(study.held), POOL * most * 3 // 2)
    pairs = min(arms, MOST) * (most + most // CONTROLS)
    return 3 * len(study.cues) * (looked_at * (frames + 1) + pairs)


def nothing_to_do(target: Target, plugin: Intervention) -> str:
    """Why no pair could be made."""
    located = target.located
    if (
        located is not None
        and plugin.needs == "region"
        and plugin.placebo == "elsewhere"
    ):
        area = np.mean([shown.area for shown in located.places.values()])
        return f"the cue covers {area:.0%} of the frame: no other region is left for a control"
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
    arm: Arm,
    pairs: Sequence[Pair],
) -> Answers:
    """What is to be asked about each pair."""

    audit = study.audit

    def put(trial: Trial, condition: str) -> Trial:
        feature = arm.target.cue.feature.key
        return replace(trial_of(study, trial), feature=feature, condition=condition)

    plugin = arm.plugin
    # an editor takes long or costs money: a plan ends before it works
    for role in sorted(plugin.requires.tools):
        audit.context.stop_plan_before(f"the work of the {role}")
    changed = _intervene(arm, [pair.case for pair in pairs], audit.tools)
    cases = [pair.placebo for pair in pairs if pair.placebo is not None]
    controls = iter(_intervene(arm, cases, audit.tools))
    name = arm.spec.partition(":")[0]
    trials = []
    for pair, trial in zip(pairs, changed, strict=True):
        plain = put(Trial(sample=pair.case.sample), "baseline")
        if pair.case.shift is not None:
            # asked with its embedding already: answers of fewer outputs would be asked anew
            plain = replace(plain, outputs=Embedded.outputs)
        trial = put(trial, f"{name} without" if pair.control else f"{name} cue")
        control = None
        if pair.placebo is not None:
            control = put(next(controls), f"{name} control")
        trials.append((plain, trial, control))
    return Answers.unknown(pairs, trials)


def _intervene(
    arm: Arm,
    cases: Sequence[Case],
    tools: Mapping[str, object],
) -> list[Trial]:
    trials = arm.plugin.intervene(cases, tools)
    if len(trials) != len(cases):
        raise PluginError(
            f"intervene of {arm.spec}",
            expected=f"{count_of(len(cases), 'trials')}, one a case",
            got=str(len(trials)),
        )
    return trials


def ask(experiment: Experiment) -> tuple[Experiment, Sequence[Outcome]]:
    """The answers to `trials_of` a experiment, with the experiment of what could be answered.

    A arm whose changed samples cannot be answered costs itself. What fails with samples as
    they are is raised, for then the model or the data are at fault.
    """
    audit = experiment.study.audit
    try:
        # all in one go: batches are full, and a plan counts all of it
        return experiment, audit.respond(trials_of(experiment))
    except Exception:
        answered = [_ask_alone(experiment.study, arm) for arm in experiment.arms]
    experiment = replace(experiment, arms=answered)
    return experiment, audit.respond(trials_of(experiment))


def _ask_alone(study: Study, arm: Arm) -> Arm:
    """The arm, without its trials where they cannot be answered."""
    audit = study.audit
    trials = arm.answers.trials
    plain = [as_it_is for as_it_is, _, _ in trials]
    audit.respond(plain)
    with audit.spare(part_of(arm.spec), next(iter(plain), None)):
        # what was answered before is read from the cache
        audit.respond(filter(None, chain.from_iterable(trials)))
        return arm
    return failed(study, arm)


def slots(experiment: Experiment) -> Iterator[tuple[Arm, int, int, Trial]]:
    """What is asked, with its row and column, all that is done to a sample side by side.

    So frames that many changes share are opened once. Edits of the model come last: they are
    answered apart from plain frames, and batches stay full.
    """
    targets = dict.fromkeys(arm.target for arm in experiment.arms)
    for edits_model in (False, True):
        for target in targets:
            arms = [
                arm
                for arm in experiment.arms_of(target)
                if arm.edits_model == edits_model
            ]
            asked = [arm.answers.trials for arm in arms]
            for row, of_sample in enumerate(zip_longest(*asked, fillvalue=())):
                for arm, trials in zip(arms, of_sample, strict=True):
                    for column, trial in enumerate(trials):
                        if trial is not None:
                            yield arm, row, column, trial


def trials_of(experiment: Experiment) -> Iterator[Trial]:
    """All that is asked, in one go: batches are full, and a plan counts all of it."""
    return (trial for _, _, _, trial in slots(experiment))


def with_answers(experiment: Experiment, outcomes: Sequence[Outcome]) -> Experiment:
    """The experiment with the answers to `trials_of` it, in order."""
    answers = {}
    for arm in experiment.arms:
        asked = arm.answers
        # new arrays: the experiment is remembered for the audit, and stays unanswered
        answers[arm] = Answers.unknown(asked.pairs, asked.trials)
    plain = None
    for slot, outcome in zip(slots(experiment), outcomes, strict=True):
        arm, row, column, trial = slot
        # it is the first of its pair, so the changed ones find it
        if column == AS_IS:
            plain = outcome.prediction
        wanted = arm.target.answer(trial.sample, plain)
        of_arm = answers[arm]
        of_arm.values[row, column] = probability(outcome, wanted)
        of_arm.right[row, column] = gives(outcome, trial.sample.label)
        of_arm.said[row, column] = outcome.prediction or ""
    arms = [replace(arm, answers=given) for arm, given in answers.items()]
    return replace(experiment, arms=arms)


def features(experiment: Experiment) -> Iterator[Feature]:
    """The cues where they are in the held-out samples; a cue may be about several labels."""
    # each score names a feature, that of an empty experiment too
    if not experiment.targets:
        yield Feature(key=NOTHING, kind=NOTHING, name="what methods found")
    seen = set()
    for target in experiment.targets:
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
