"""Where a finding's cue is in the held-out samples: annotated, detected or learned."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from cuescope_confirm.asking import (
    ABOUT_OBJECTS,
    BACKGROUNDS,
    MODALITIES,
    NOWHERE,
    Direction,
    answerable,
    direction_of,
    is_of_label,
    kind_of_background,
)
from cuescope_confirm.locating.annotated import locate_background, locate_object, seen_by_name
from cuescope_confirm.locating.learned import locate_learned
from cuescope_confirm.locating.spoken import locate_modality, locate_words, merged
from cuescope_confirm.study import Cue, Study
from cuescope_sdk import Audit, Sample
from cuescope_sdk.interventions import LocatedCue

POOL = 8  # times the samples that are changed: so many are looked at for the cue
ALL_SHOW = 2  # the same where each of them shows it
Role = Literal["finding", "unfound cue", "other labels"]


@dataclass(frozen=True, eq=False)
class Target:
    """A finding with its cue's places, or in `reason` why it has none.

    `samples` are those held out, as they are asked; `by_label` says that each sample shows the cue
    in the form of its own label, so that what is without it is a sample of another label.
    Two more targets stand beside that of a finding, as its `placebos`, or the reason why there is
    none: a cue that nobody found, and the `labels` that the cue should not touch.
    """

    cue: Cue
    direction: Direction
    samples: dict[str, Sample]
    located: LocatedCue | None = None
    reason: str | None = None
    by_label: bool = False
    role: Role = "finding"
    labels: frozenset[str] | None = None
    placebos: "Mapping[Role, Target | str]" = field(default_factory=dict)

    def is_judged(self, sample: Sample) -> bool:
        """Whether the finding is about this sample's answer."""
        if self.labels is not None:
            return sample.label in self.labels
        own = is_of_label(self.cue, sample)
        return not own if self.direction.toward == "the label" else own

    def answer(self, sample: Sample, given: str | None) -> str | None:
        """The answer whose probability the cue moves; `given` is the one to the sample as it is."""
        answers = {"the right answer": sample.label, "the label": self.cue.label}
        return answers.get(self.direction.toward, given)


def locate(
    audit: Audit,
    study: Study,
    cue: Cue,
    most: int,
    *,
    direction: Direction | None = None,
    role: Role = "finding",
) -> Target:
    """A target: what the cue does in the run, and where it is in the held-out samples.

    So many of them are looked at that about `most` show it. A placebo is given its finding's
    `direction`.
    """
    samples, word = answerable(audit, study.held, cue), word_of(cue)
    if direction is None:
        direction = direction_of(audit, study, seen_by_name(audit, study, cue, word))
    target = Target(cue, direction, samples, role=role)
    if not samples:
        return _without(target, "no held-out sample is about it")
    kind = cue.feature.kind
    everywhere = kind in MODALITIES or (kind in BACKGROUNDS and kind_of_background(cue) is None)
    pool = _pool(audit, (ALL_SHOW if everywhere else POOL) * most, target)
    if kind in MODALITIES:
        return _with(target, locate_modality(cue, pool), by_label=True)
    if kind in BACKGROUNDS:
        located, by_label = locate_background(audit, cue, pool)
        if located is None:
            return _without(target, "no foreground mask tells the background from the object")
        return _with(target, located, by_label=by_label)
    found = locate_object(audit, study, cue, word, pool) if word else None
    if found is None and cue.feature.occurrences and kind != "thing":
        found = locate_learned(audit, study, cue, pool, word, controls=role == "finding")
    spoken = locate_words(cue, word, pool) if word else None
    located = merged(found, spoken)
    if located is None:
        return _without(target, _nowhere(audit, cue, word))
    return _with(target, located)


def _nowhere(audit: Audit, cue: Cue, word: str | None) -> str:
    """What is missing to locate a cue that was not found by what it carries."""
    if cue.feature.occurrences:
        return "nothing locates it"
    if cue.feature.kind in NOWHERE:
        return "it is a figure of the run as a whole"
    if word is None:
        return "it occurs in no sample, and has no name"
    if "detector" in audit.tools:
        return f"it occurs in no sample, and the detector finds no '{word}'"
    return f"it occurs in no sample, and its name needs --tool detector=SPEC ('{word}')"


def word_of(cue: Cue) -> str | None:
    """What a person calls the cue: the object's name, None for a cluster without a name.

    A kind of feature that is not known here and occurs nowhere is located by its name.
    """
    if cue.feature.kind in ABOUT_OBJECTS:
        return cue.feature.key.rpartition("/")[2]
    if cue.feature.kind == "thing":
        return cue.name.strip("'")
    if cue.name != cue.feature.key and "looks like: " in cue.name:
        return cue.name.partition("looks like: ")[2]
    bare = not cue.feature.occurrences and cue.feature.kind not in NOWHERE
    return cue.feature.name if bare else None


def _pool(audit: Audit, most: int, target: Target) -> dict[str, Sample]:
    """A draw of the held-out samples: of those that are judged, and half as many others."""
    rng = audit.rng("confirm", "pool", target.cue.id)
    chosen: list[str] = []
    for judged in (True, False):
        keys = [k for k, s in target.samples.items() if target.is_judged(s) == judged]
        chosen += rng.permutation(keys)[: most if judged else most // 2].tolist() if keys else []
    return {key: target.samples[key] for key in sorted(chosen)}


def _with(target: Target, located: LocatedCue, *, by_label: bool = False) -> Target:
    if not located.places:
        return _without(target, "no held-out sample shows it")
    return replace(target, located=located, by_label=by_label)


def _without(target: Target, reason: str) -> Target:
    return replace(target, reason=reason)
