"""Pairs of the user's own: the same scenes with the cue and without it, drawn or photographed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from cuescope_confirm.asking import view_of
from cuescope_confirm.cases import Pair
from cuescope_confirm.locating import Target
from cuescope_confirm.study import Samples, Study, content
from cuescope_sdk import Context, Sample, Trial, UserError
from cuescope_sdk.interventions import Case, Intervention, Place

NAME = "pairs"
SIDES = ("with", "without")


class OwnPairs(Intervention):
    """The scene without the cue, as somebody has made it; as a placebo the scene as it is."""

    title = "the same scene without it, in pairs of the user's own"
    needs = "pair"
    placebo = "other donor"

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The donors: nothing is drawn here."""
        trials = []
        for case in cases:
            assert case.donor is not None
            trials.append(Trial(sample=case.donor))
        return trials


Scenes = tuple[Samples, Samples]


def read_scenes(
    context: Context, folder: Path, least: int, *, frames: int = 1
) -> Scenes:
    """The scenes with the cue and those without it, by equal names.

    `folder` holds `with` and `without`, each as the data set `folder` reads it, a clip in so many
    `frames`. Raises UserError for a scene that stands in one of them only, and for too few.
    """
    require_sides(folder)
    with_cue, without = (_read_side(context, folder / side, frames) for side in SIDES)
    # each side is asked what the other has and it has not
    lacking = (without.keys() - with_cue.keys(), with_cue.keys() - without.keys())
    for side, names in zip(SIDES, lacking, strict=True):
        if names:
            raise UserError(
                f"{folder}: '{min(names)}' is not in '{side}'",
                expected="each scene in both, under the same name",
                remedy=f"Add it to {folder / side}, or take it out of the other folder",
            )
    # before anything is asked: too few pairs decide nothing
    _require_enough(folder, least, len(with_cue), len(with_cue))
    return with_cue, without


def require_sides(folder: Path) -> None:
    """Raise UserError where a folder of pairs lacks a side."""
    for side in SIDES:
        if not (folder / side).is_dir():
            raise UserError(
                f"there is no folder {folder / side}",
                expected="--pairs FOLDER with the folders 'with' and 'without' in it",
            )


def pairs_of_scenes(
    study: Study, target: Target, folder: Path, scenes: Scenes
) -> list[Pair]:
    """Those that are about the target's answers, and that the run has not seen."""
    with_cue, without = scenes
    seen = set(map(content, study.seen.values()))
    pairs = []
    for name, sample in sorted(with_cue.items()):
        shown = _as_asked(study, target, sample)
        changed = _as_asked(study, target, without[name])
        if shown is None or changed is None or not target.is_judged(shown):
            continue
        # no cue is tested where it was found
        if content(shown) not in seen and content(changed) not in seen:
            case = Case(shown, Place(), donor=changed)
            # the placebo is the scene as it is
            pairs.append(Pair(case, replace(case, donor=shown)))
    least = study.options.least
    _require_enough(folder, least, len(pairs), len(with_cue), target.cue.about)
    study.audit.note("pairs", f"{len(pairs)} of {len(with_cue)} in {folder.name}")
    return pairs


def _require_enough(
    folder: Path, least: int, count: int, total: int, about: str = ""
) -> None:
    if count < least:
        of_label = f", of label '{about}'" if about else ""
        raise UserError(
            f"{folder}: {count} of {total} pairs can be asked about",
            expected=f"at least {least} pairs of scenes that the run has not seen{of_label}",
            remedy="Make more pairs",
        )


def _read_side(context: Context, folder: Path, frames: int) -> Samples:
    """Samples by their names without endings, under keys that no sample of the data has."""
    options = {"path": str(folder), "frames": frames}
    data = context.build("dataset", "folder", options)
    samples = {}
    for number in range(len(data)):
        sample = data[number]
        # the same scene may be a PNG here and a JPEG there
        name = str(PurePosixPath(sample.key).with_suffix(""))
        samples[name] = replace(sample, key=f"{NAME}/{folder.name}/{sample.key}")
    return samples


def _as_asked(study: Study, target: Target, sample: Sample) -> Sample | None:
    """With question and choices of the data's samples of its label, unless it has its own."""
    if sample.question is None:
        alike = [other for other in study.held.values() if other.label == sample.label]
        if not alike:
            labels = sorted({str(other.label) for other in study.held.values()})
            raise UserError(
                f"{sample.key} has the label '{sample.label}', which the data has not",
                expected=f"one of {', '.join(labels)}",
                remedy="Name the folders in 'with' and 'without' as the data names its labels",
            )
        [first, *_] = alike
        sample = replace(sample, question=first.question, choices=first.choices)
    return view_of(target.cue, sample)
