"""Findings that are one cue, of one run or of several on the same model and data.

Two findings are one cue where they have the same place by definition (the whole background, a whole
modality), the same name, or share half of the frames that they list (Dice). What is no cue is left
out (modalities.py): video and question where the model needs both, tells of the questions, and
figures of a run as a whole. Two kinds of one annotated factor are two cues.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from cuescope_confirm.asking import Direction, Toward, direction_of, run_answers
from cuescope_confirm.merging.modalities import (
    NO_CUE,
    PLACES,
    modalities,
    no_cues,
    place_of,
)
from cuescope_confirm.merging.sameness import likeness, name_of, question_of
from cuescope_confirm.merging.sights import with_sights
from cuescope_confirm.study import MODALITIES, NOWHERE, TELLS, Cue, Cues, Study
from cuescope_sdk import Occurrence
from cuescope_sdk.statistics import Overlap

# which answer a finding says to be moved, which way, and the label that it is about
Claim = tuple[Toward, int, str | None]
FrameKey = tuple[str, int | None]
RULE = (
    "Findings are one cue where they have the same place or name (a guess is no name), or share "
    "half of the frames that they list (Dice)."
)


def merge_cues(study: Study) -> tuple[Cue, ...]:
    """The findings of a study, those that are one cue as one; the order is that of the first.

    Findings about one whole modality are one cue in any case: every test of them is the same. What
    is no cue is left out, and a note says why.
    """
    if study.options.features:  # as they were named
        return study.cues
    groups = modalities(study.cues)
    others = [cue for cue in study.cues if cue.kind not in (*MODALITIES, *TELLS)]
    reasons = list(no_cues(study, groups, others if study.options.merge else ()))
    if reasons:
        study.audit.note(NO_CUE, " ".join(reasons))
    merged = []
    # with findings about both, the model needs both, and neither is a cue
    if len(groups) == 1:
        merged.append(_merge(study, groups[0]))
    if not study.options.merge:
        return _apart(study, [*merged, *others])
    # a feature that is about several labels is looked at once
    by_feature = defaultdict[str, list[Cue]](list)
    for cue in others:
        if cue.kind not in NOWHERE:
            by_feature[cue.feature.key].append(cue)
    groups_of_cues = _groups(study, list(by_feature.values()))
    merged += [_merge(study, group) for group in groups_of_cues]

    def rank(cue: Cue) -> tuple[int, int]:
        return -len(cue.runs), min(map(study.cues.index, cue.members))

    tested = sorted(merged, key=rank)[: study.options.top]
    return tuple(with_sights(study, tested))


def _groups(study: Study, findings: Sequence[Cues]) -> list[Cues]:
    """Findings that have much in common, those about one feature as one."""
    alike = likeness(study, [cues[0] for cues in findings])
    return [
        list(chain.from_iterable(findings[row] for row in rows))
        for rows in Overlap.link(alike)
    ]


def _apart(study: Study, cues: Cues) -> tuple[Cue, ...]:
    """The cues in the order of their findings; one of a single finding is this finding."""

    def first(cue: Cue) -> int:
        return study.cues.index(cue.members[0] if cue.members else cue)

    apart = sorted(cues, key=first)
    return tuple(cue.members[0] if len(cue.members) == 1 else cue for cue in apart)


def _merge(study: Study, members: Cues) -> Cue:
    """The merged cue, about the labels of its most harmful claim.

    Findings of one cue may say different things of it: that it makes some labels rarer as right
    answers, and another one commoner as a wrong answer. One of these is tested, since the others
    follow from it: the one that costs most answers in the runs.
    """
    claims = defaultdict[Claim, list[Cue]](list)
    directions: dict[str, Direction] = {}
    for cue in members:
        direction = direction_of(study, cue)
        directions[cue.id] = direction
        # pulls to two labels are two claims
        label = cue.label if direction.toward == "the label" else question_of(cue)
        claims[direction.toward, direction.sign, label].append(cue)

    def rank(claim: list[Cue]) -> tuple[bool, float]:
        costs = {}
        for cue in claim:
            direction = directions[cue.id]
            # by label: two findings about one label tell of the same answers
            costs[cue.label] = _answers_moved(study, cue, direction)
        return not direction.harms, -sum(costs.values())

    chosen = min(claims.values(), key=rank)
    annotated = [cue for cue in members if cue.factor is not None]
    # an annotated place or an object's name is surer than frames to learn from
    named = [cue for cue in chosen if cue.is_object]
    lead = [*annotated, *named, *chosen][0]
    labels: tuple[str, ...] = ()
    # one finding about all labels makes the cue one about all
    about = [cue.labels for cue in chosen]
    if all(about):
        labels = tuple(sorted({*chain(*about)}))
    is_placed = lead.factor is not None or lead.is_object or place_of(lead)
    occurrences = lead.feature.occurrences if is_placed else _listed_by_most(members)
    return replace(
        lead,
        feature=lead.feature.model_copy(update={"occurrences": occurrences}),
        labels=labels,
        name=_best_name([lead, *chosen, *members]),
        members=tuple(members),
    )


def _listed_by_most(members: Cues) -> tuple[Occurrence, ...]:
    """What half of the features or more list, each frame once."""
    features = {cue.feature.key: cue.feature for cue in members}.values()
    counts: Counter[FrameKey] = Counter()
    first: dict[FrameKey, Occurrence] = {}
    for feature in features:
        of_feature = {
            (shown.sample, shown.frame): shown for shown in feature.occurrences
        }
        counts.update(of_feature.keys())
        first = of_feature | first
    return tuple(
        shown for frame, shown in first.items() if 2 * counts[frame] >= len(features)
    )


def _answers_moved(study: Study, cue: Cue, direction: Direction) -> float:
    """How many answers of the runs a finding says that the cue moves."""
    answers = run_answers(study, cue)
    judged = answers.of_label != (direction.toward == "the label")
    count = int((answers.present & judged).sum())
    return abs(direction.gap or 0.0) * count


def _best_name(cues: Cues) -> str:
    """What a check calls it, else a word or an annotation, else a method."""
    place = place_of(cues[0])
    if place is not None:
        return PLACES[place]
    names = [cue.checked for cue in cues]
    names += [cue.name for cue in cues if name_of(cue) is not None]
    names += [cue.name for cue in cues if cue.name != cue.feature.key]
    return next(filter(None, names), cues[0].name)
