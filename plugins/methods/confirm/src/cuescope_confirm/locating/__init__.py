"""Where a finding's cue is in the held-out samples: annotated, detected or learned."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cuescope_confirm.asking import Direction, direction_of, is_of_label, views_of
from cuescope_confirm.locating.annotated import (
    locate_background,
    locate_object,
    with_occurrences,
)
from cuescope_confirm.locating.learned import Listed, locate_learned
from cuescope_confirm.locating.places import LocatedCue
from cuescope_confirm.locating.spoken import locate_modality, locate_words, merge_places
from cuescope_confirm.study import (
    BACKGROUNDS,
    MODALITIES,
    NOWHERE,
    THING,
    WORDS,
    Cue,
    Samples,
    Study,
    pick,
    shuffle,
)
from cuescope_sdk import Sample

POOL = 8  # times the samples that are changed: so many are looked at for the cue
ALL_SHOW = 2  # the same where each of them shows it


@dataclass(frozen=True, eq=False)
class Part:
    """A fold of a study, and a cue as it was found outside of the fold and located in it."""

    study: Study
    target: "Target"


@dataclass(frozen=True, eq=False)
class Target:
    """A finding with its cue's places, or in `reason` why it has none.

    `samples` are those held out, as they are asked. `parts` are the folds that it was put together
    of, if any.
    """

    cue: Cue
    direction: Direction
    samples: Samples
    located: LocatedCue | None = None
    reason: str | None = None
    parts: "Sequence[Part]" = ()

    @property
    def by_label(self) -> bool:
        """Whether each sample shows the cue in the form of its own label.

        What is without it is a sample of another label.
        """
        return self.cue.is_background or self.cue.kind in MODALITIES

    def is_judged(self, sample: Sample) -> bool:
        """Whether the finding is about this sample's answer."""
        # a pull to the label is seen in samples of other labels
        return is_of_label(self.cue, sample) != (self.direction.toward == "the label")

    def answer(self, sample: Sample, given: str | None) -> str | None:
        """The answer whose probability the cue moves; `given` is the one to the sample as it is."""
        # the default is for "its own answer": every sample shows such a cue
        answers = {"the right answer": sample.label, "the label": self.cue.label}
        return answers.get(self.direction.toward, given)


def locate(
    study: Study,
    cue: Cue,
    in_all: Listed | None = None,
) -> Target:
    """A target: what the cue does in the run, and where it is in the held-out samples.

    So many of them are looked at that about as many show it as are changed. That of a fold is given
    its cue `in_all` folds.
    """
    samples = views_of(study.held, cue)
    # a cue that is a name occurs nowhere yet, and then no direction is known
    direction = direction_of(study, with_occurrences(study, cue))
    target = Target(cue, direction, samples)
    if not samples:
        return replace(target, reason="no held-out sample is about it")
    times = ALL_SHOW if target.by_label else POOL
    pool = _pool(study, times * study.options.samples, target)
    located = _locate_by_kind(study, target, pool, in_all)
    if located is None:
        return replace(target, reason=_why_nowhere(study, cue))
    if not located.places:
        return replace(target, reason="no held-out sample shows it")
    return replace(target, located=located)


def _locate_by_kind(
    study: Study, target: Target, pool: Samples, in_all: Listed | None
) -> LocatedCue | None:
    cue = target.cue
    if cue.kind in MODALITIES:
        return locate_modality(cue, pool)
    if cue.kind in BACKGROUNDS:
        return locate_background(study, cue, pool)
    seen = None
    spoken = None
    if cue.word and cue.kind != WORDS:
        seen = locate_object(study, cue, cue.word, pool)
    if cue.word:
        spoken = locate_words(cue.word, pool)
    # a thing's samples are those whose steps name it: they need not show it
    is_spoken = cue.kind in (THING, WORDS)
    if seen is None and cue.feature.occurrences and not is_spoken:
        seen = locate_learned(study, cue, pool, in_all)
    located = merge_places(seen, spoken)
    return None if located is None else replace(located, word=cue.word)


def _why_nowhere(study: Study, cue: Cue) -> str:
    """What is missing to locate a cue that was not found by what it carries."""
    if cue.kind in BACKGROUNDS:
        return "no foreground mask tells the background from the object"
    if cue.feature.occurrences:
        return "nothing locates it"
    if cue.kind in NOWHERE:
        return "it is a figure of the run as a whole"
    if cue.word is None:
        return "it occurs in no sample, and has no name"
    if "detector" in study.audit.tools:
        return f"it occurs in no sample, and the detector finds no '{cue.word}'"
    return f"it occurs in no sample, and its name needs --tool detector=SPEC ('{cue.word}')"


def _pool(study: Study, most: int, target: Target) -> Samples:
    """A draw of the held-out samples: of those that are judged, and half as many others."""
    rng = study.rng("pool", target.cue.id)
    judged: list[str] = []
    others: list[str] = []
    for key, sample in target.samples.items():
        side = judged if target.is_judged(sample) else others
        side.append(key)
    chosen = shuffle(judged, rng)[:most]
    # the others are donors, and samples of the labels that the cue leaves alone
    chosen += shuffle(others, rng)[: most // 2]
    return pick(target.samples, sorted(chosen))
