"""A cue that is a part of another one, whose rest moves answers as much: they are one cue.

Clusters of several sizes find a cue whole and in parts. What tells a part from the rest of the
whole is then not what moves answers, since the rest lacks it.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from cuescope_confirm.asking import SHOWN, direction_of, run_answers
from cuescope_confirm.locating.learned import CLEAR_AUROC, by_pictures
from cuescope_confirm.merging.recognition import (
    boxes_of,
    name_of,
    regions_agree,
    same_by_definition,
)
from cuescope_confirm.study import Cue, Study

# of the part's samples, those that the whole holds at least: clusters of several sizes are not
# nested exactly
WITHIN = 0.75
AS_MUCH = 0.5  # of what the part moves answers by, what the rest does at least


def wholes_of(study: Study, cues: Sequence[Cue]) -> list[int]:
    """By its place in `cues`, the largest cue that each is a part of; its own where it is of none.

    A part of a part is one of the whole.
    """
    sizes = [len(cue.samples_with_cue(study.seen)) for cue in cues]
    largest_first = sorted(range(len(cues)), key=lambda row: -sizes[row])
    wholes: dict[int, int] = {}
    for row in largest_first:
        larger = (
            other for other in wholes if is_part_of(study, cues[row], cues[other])
        )
        first = next(larger, None)
        wholes[row] = row if first is None else wholes[first]
    return [wholes[row] for row in range(len(cues))]


def is_part_of(study: Study, part: Cue, whole: Cue) -> bool:
    """Whether a cue makes a claim of another one, in a part of its samples.

    Pictures have to tell the whole from other samples clearly: what is wrong or hard to see moves
    answers as much in each of its parts, whatever these show. Two names are two cues.
    """
    have_names = name_of(part) is not None and name_of(whole) is not None
    if have_names or same_by_definition(part, whole) is not None:
        return False
    if not _lies_in(study, part, whole):
        return False
    pairs = product(part.members or [part], whole.members or [whole])
    moves_as_much = any(
        _moves_as_much(
            study,
            replace(claim, feature=part.feature),
            replace(other, feature=whole.feature),
        )
        for claim, other in pairs
        if (claim.label, claim.labels) == (other.label, other.labels)
    )
    return moves_as_much and _is_clear(study, whole)


def _lies_in(study: Study, part: Cue, whole: Cue) -> bool:
    shown = part.samples_with_cue(study.seen)
    among = whole.samples_with_cue(study.seen)
    if not len(shown) < len(among) < len(study.seen):
        return False
    if len(shown & among) < WITHIN * max(len(shown), 1):
        return False
    return regions_agree(boxes_of(study, part), boxes_of(study, whole))


def _moves_as_much(study: Study, part: Cue, whole: Cue) -> bool:
    """Whether answers surely change in the rest of the whole, and by half as much as in the part.

    Each is held against samples of neither.
    """
    direction = direction_of(study, whole)
    if direction_of(study, part).toward != direction.toward:
        return False
    answers = run_answers(study, whole)
    in_part = run_answers(study, part).present
    in_rest = answers.present & ~in_part
    neither = ~(answers.present | in_part)
    of_label = direction.toward == "the label"
    judged = answers.of_label != of_label
    values = answers.probability_of(whole.label) if of_label else None
    gap, _ = replace(answers, present=in_part).gap(judged & (in_part | neither), values)
    rest, z = replace(answers, present=in_rest).gap(
        judged & (in_rest | neither), values
    )
    if not gap or rest is None:
        return False
    return abs(z) >= SHOWN and rest / gap >= AS_MUCH


def _is_clear(study: Study, whole: Cue) -> bool:
    return by_pictures(study, whole).auroc >= CLEAR_AUROC
