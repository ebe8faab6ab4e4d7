"""Pairs of the model's embeddings: moved along the direction that tells a cue, or along others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle

import numpy as np
from jaxtyping import Bool, Float
from sklearn.covariance import ledoit_wolf_shrinkage

from cuescope_confirm.cases import Pair
from cuescope_confirm.locating import Target
from cuescope_confirm.locating.learned import training_frames
from cuescope_confirm.study import Cue, Study, roots, shuffle
from cuescope_sdk import Sample, Trial
from cuescope_sdk.interventions import Case, Intervention, Place
from cuescope_sdk.stills import Answers

Rows = Float[np.ndarray, "sample dim"]
Vector = Float[np.ndarray, " dim"]
Shown = Bool[np.ndarray, " sample"]


@dataclass(frozen=True, eq=False)
class Axis:
    """The direction in which embeddings tell a cue, within labels.

    `step` leads from samples without it to those with it; `reader` says how far along a sample is,
    1 for the length of the step. `origins` are the means of samples without it, label by label, and
    that of all labels under None.
    """

    step: Vector
    reader: Vector
    origins: Mapping[str | None, Vector]

    @classmethod
    def learn(
        cls,
        rows: Rows,
        shows: Shown,
        labels: Sequence[str],
    ) -> "Axis | None":
        """From samples with the cue and without; None where no label has both.

        The oblique projection of LEACE (Belrose et al., 2023, theorem 4.2) for one concept, within
        labels: what is left has the same mean with the cue and without it, so no linear model tells
        it any more. Deviates: the covariance is shrunk (Ledoit and Wolf, 2004), as there may be as
        many dimensions as samples; and what is erased becomes that of samples without the cue, not
        the mean of all, so that a sample without it stays as it is.
        """
        names = np.asarray(labels)
        centred = rows.astype(np.float64)
        concept = shows.astype(np.float64)
        origins: dict[str | None, Vector] = {}
        for name in np.unique(names).tolist():
            of_label = names == name
            centred[of_label] -= centred[of_label].mean(axis=0)
            concept[of_label] -= concept[of_label].mean()
            # of samples without the cue: erasing must lead there, and not to the mean of all
            without = of_label & ~shows
            if without.any():
                origins[name] = rows[without].mean(axis=0)
        variance = concept @ concept
        if variance == 0 or not origins:
            return None
        # a label that has no sample without the cue goes by all others
        origins[None] = rows[~shows].mean(axis=0)
        step = concept @ centred / variance
        towards = np.linalg.solve(shrunk_covariance(centred), step)
        if not step @ towards > 0:
            return None
        return cls(step, towards / (step @ towards), origins)

    def along(
        self,
        rows: Rows,
        labels: Sequence[str | None],
    ) -> Float[np.ndarray, " sample"]:
        """How far along samples are."""
        from_where = [self.origins.get(label, self.origins[None]) for label in labels]
        return np.asarray((rows - np.array(from_where)) @ self.reader)

    def erase(self, rows: Rows, labels: Sequence[str | None]) -> Rows:
        """The samples as they would be without the cue."""
        return rows - np.outer(self.along(rows, labels), self.step)


def shrunk_covariance(centred: Rows) -> Float[np.ndarray, "dim dim"]:
    """Of rows whose mean is 0, drawn to a sphere (Ledoit and Wolf, 2004)."""
    share = ledoit_wolf_shrinkage(centred, assume_centered=True)
    covariance = centred.T @ centred / len(centred)
    sphere = np.eye(centred.shape[1]) * np.trace(covariance) / centred.shape[1]
    # what never varies must not make the whole singular
    return np.asarray((1 - share) * covariance + max(share, 1e-6) * sphere)


@dataclass(frozen=True, eq=False)
class Learned:
    """The axis of a cue, and directions that tell other cues or nothing.

    What a cue does to an embedding differs from label to label, so each has an axis of its `own`
    where it has samples enough; the `axis` of all labels is for the others.
    """

    axis: Axis
    spread: Rows
    others: Sequence[Vector]
    own: Mapping[str | None, Axis] = field(default_factory=dict)

    def axis_of(self, label: str | None) -> Axis:
        """That by which samples of a label are moved."""
        return self.own.get(label, self.axis)

    def directions(self, rng: np.random.Generator) -> Iterator[Vector]:
        """In turns that of another cue and a random one, as embeddings spread."""
        others = cycle(self.others)
        while True:
            if self.others:
                yield next(others) * rng.choice([-1, 1])
            yield rng.normal(size=len(self.spread)) @ self.spread


def pairs_inside(
    study: Study,
    target: Target,
    plugin: Intervention,
) -> list[Pair]:
    """In a random order; none where embeddings do not tell the cue, or where folds were joined."""
    learned = None if target.parts else study.audit.once(_learn, study, target)
    located = target.located
    if learned is None or located is None:
        return []
    rng = study.rng("inside", target.cue.id, plugin.effect)
    samples = target.samples
    removes = plugin.effect == "removes"
    keys = sorted(located.places if removes else located.without)
    judged = list(filter(target.is_judged, map(samples.__getitem__, keys)))
    changed = shuffle(judged, rng)
    donors = {} if removes else _donors(study, target, rng)
    others = learned.directions(rng)
    some = changed[: study.options.samples]
    if not some:
        return []
    pairs = []
    for sample, row in zip(some, _embeddings(study, some), strict=True):
        axis = learned.axis_of(sample.label)
        [erased] = axis.erase(row[None], [sample.label])
        shift = erased - row
        if not removes:
            of_label = donors.get(sample.label)
            if of_label is None:
                continue
            shift += _as_nearest(axis, erased, of_label, sample.label)
        length = float(np.linalg.norm(shift))
        other = next(others)
        if length == 0 or not np.any(other):
            continue
        norm = float(np.linalg.norm(row))
        beside = other * (length / np.linalg.norm(other))
        case = Case(sample, Place(), shift=shift, norm=norm)
        pairs.append(Pair(case, replace(case, shift=beside)))
    return pairs


def _as_nearest(
    axis: Axis,
    erased: Vector,
    donors: Rows,
    label: str | None,
) -> Vector:
    """What the cue is in that sample with it which is the nearest in all else."""
    without = axis.erase(donors, [label] * len(donors))
    nearest = np.linalg.norm(without - erased, axis=1).argmin()
    return np.asarray(donors[nearest] - without[nearest])


def _donors(
    study: Study,
    target: Target,
    rng: np.random.Generator,
) -> dict[str | None, Rows]:
    """Embeddings of a few held-out samples with the cue, by label."""
    if target.located is None:
        return {}
    showing = [target.samples[key] for key in sorted(target.located.places)]
    judged = [sample for sample in showing if target.is_judged(sample)]
    donors = {}
    for label in dict.fromkeys(sample.label for sample in judged):
        of_label = [sample for sample in judged if sample.label == label]
        donors[label] = _embeddings(
            study, shuffle(of_label, rng)[: study.options.samples]
        )
    return donors


def _learn(study: Study, target: Target) -> Learned | None:
    """From the run's samples that the places of the cue are learned from."""
    cue = target.cue
    if not cue.feature.occurrences:
        return None
    frames, _ = training_frames(study, cue)
    keys = list(dict.fromkeys(key for key, _ in frames))
    samples = [study.seen[key] for key in keys]
    labels = np.array([str(sample.label) for sample in samples])
    rows = _embeddings(study, samples)

    def axis_of(shown: set[str], among: Shown) -> Axis | None:
        shows = np.array([key in shown for key in keys])[among]
        # a few samples tell no direction
        if min(shows.sum(), (~shows).sum()) < study.options.least:
            return None
        return Axis.learn(rows[among], shows, labels[among].tolist())

    listed = cue.samples_with_cue(study.seen)
    everywhere = np.ones(len(keys), bool)
    axis = axis_of(listed, everywhere)
    if axis is None:
        return None
    own: dict[str | None, Axis] = {}
    for label in np.unique(labels).tolist():
        of_label = axis_of(listed, labels == label)
        if of_label is not None:
            own[label] = of_label
    origins = [axis.origins.get(name, axis.origins[None]) for name in labels.tolist()]
    # what is random must not tell the cue
    spread = axis.erase(rows, labels.tolist()) - np.array(origins)
    shown_of_others = _shown_of_others(study, cue)
    others = filter(None, (axis_of(shown, everywhere) for shown in shown_of_others))
    return Learned(axis, spread, [other.step for other in others], own)


def _shown_of_others(study: Study, cue: Cue) -> Iterator[set[str]]:
    """The samples that show each other feature of the cue's kind."""
    for feature in study.reports[cue.run].features:
        if feature.key != cue.feature.key and feature.kind == cue.kind:
            yield roots(feature.occurrences, study.seen)


def _embeddings(study: Study, samples: Sequence[Sample]) -> Rows:
    trials = [
        Trial(sample=sample, condition="static", outputs=Answers.outputs)
        for sample in samples
    ]
    rows = Answers.stack_embeddings(study.audit.respond(trials))
    return np.asarray(rows, np.float64)
