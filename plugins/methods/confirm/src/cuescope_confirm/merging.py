"""Findings that are one cue, of one run or of several on the same model and data.

Two findings are one cue where

- they have the same place by definition (the whole background, a whole modality, the same kind of
  background), or the same name; or
- each recognises at least half of the frames that show the other. A linear model learns a
  finding's frames, and may take at most one in twenty other frames for it. It has a say where it
  recognises half of the finding's own frames when it has not learned from them. Models that look at
  the embedding and at colours must agree. Findings that meet as often as chance has it are two.

Where both mark regions in the same frames, half of the smaller region must be in both.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from jaxtyping import Float

from cuescope_confirm.asking import (
    ABOUT_OBJECTS,
    BACKGROUNDS,
    MODALITIES,
    Direction,
    direction_of,
    has_kind,
    kind_of_background,
)
from cuescope_confirm.locating import word_of
from cuescope_confirm.locating.learned import FrameId, Linear, Training, colours, embeddings, fit
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.study import Cue, Study, root
from cuescope_sdk import Audit, Occurrence
from cuescope_sdk.statistics import Groups

SAME = 0.5  # share of the other's frames, or of the smaller region; as `compare --consensus`
SPARED = 0.95  # share of other frames that a model must not take for the finding's
PURE = 0.8  # of a finding's frames that the others of its cue recognise, to be an example of it
FRAMES = 100  # of a finding, and others: so many are looked at
FEWEST = 10  # frames of no finding; with fewer, those of third findings are the others
FOLDS = 4
RULE = (
    "Findings are one cue where they have the same place or name, or where each recognises half of "
    "the other's frames: a linear model that takes at most one in twenty other frames for its own."
)
Box = tuple[float, float, float, float]


def merge_cues(audit: Audit, options: ConfirmOptions, study: Study) -> tuple[Cue, ...]:
    """The findings of a study, those that are one cue as one; the order is that of the first."""
    if not (len(study.reports) > 1 if options.merge is None else options.merge):
        return study.cues
    # a feature that is about several labels is looked at once
    by_feature: dict[str, list[Cue]] = {}
    for cue in study.cues:
        by_feature.setdefault(cue.feature.key, []).append(cue)
    first = [cues[0] for cues in by_feature.values()]
    shares = recognition(audit, study, first)
    merged = []
    for group in joined(np.minimum(shares, shares.T)):
        members = [cue for row in group for cue in by_feature[first[row].feature.key]]
        known = shares[np.ix_(group, group)].mean(axis=0)  # how far the others recognise each
        pure = {first[row].feature.key for row, k in zip(group, known, strict=True) if k >= PURE}
        merged.append(_as_one(audit, study, members, pure))
    order = {cue.id: row for row, cue in enumerate(study.cues)}

    def rank(cue: Cue) -> tuple[int, int]:
        methods = {member.run for member in cue.members}
        return -len(methods), min(order[member.id] for member in cue.members)

    return tuple(sorted(merged, key=rank)[: options.top])


def joined(alike: Float[np.ndarray, "cue cue"]) -> list[list[int]]:
    """Rows in groups, by average linkage (Sokal and Michener, 1958) down to `SAME`.

    So a finding that holds parts of two cues does not join them.

    >>> joined(np.array([[1, 0.9, 0.6, 0], [0.9, 1, 0.2, 0], [0.6, 0.2, 1, 0.9], [0, 0, 0.9, 1]]))
    [[0, 1], [2, 3]]
    """
    groups = [[row] for row in range(len(alike))]
    while len(groups) > 1:
        pairs = list(combinations(range(len(groups)), 2))
        means = [float(alike[np.ix_(groups[a], groups[b])].mean()) for a, b in pairs]
        best = int(np.argmax(means))
        if means[best] < SAME:
            break
        a, b = pairs[best]
        groups[a] = sorted(groups[a] + groups.pop(b))
    return sorted(groups)


def recognition(
    audit: Audit, study: Study, cues: Sequence[Cue]
) -> Float[np.ndarray, "recogniser recognised"]:
    """How much of each other each finding recognises: 1 by place or name, else the share."""
    learner = _Learner(audit, study, [frozenset(_frames(study, cue)) for cue in cues])
    boxes = [_boxes(study, cue) for cue in cues]
    shares = np.eye(len(cues))
    for a, b in combinations(range(len(cues)), 2):
        place_a, place_b = _place(cues[a]), _place(cues[b])
        if place_a is not None or place_b is not None:
            both = (float(place_a == place_b),) * 2
        elif _questions(cues[a]) != _questions(cues[b]):
            both = 0.0, 0.0
        elif _name(cues[a]) is not None and _name(cues[a]) == _name(cues[b]):
            both = 1.0, 1.0
        elif not regions_agree(boxes[a], boxes[b]):
            both = 0.0, 0.0
        else:
            both = learner.recognised(a, b), learner.recognised(b, a)
        shares[a, b], shares[b, a] = both
    return shares


# ---------------------------------------------------------------------- what is known of a finding


def _place(cue: Cue) -> Hashable | None:
    """Where a finding without a place of its own lies; None for any other."""
    kind = cue.feature.kind
    if kind in MODALITIES:
        return "text" if any(w in cue.feature.key for w in ("text", "question")) else "video"
    return "background" if kind in BACKGROUNDS and kind_of_background(cue) is None else None


def _questions(cue: Cue) -> str | None:
    """Findings about objects are tested by a question of their own, about their label's object."""
    return cue.label if cue.feature.kind in ABOUT_OBJECTS else None


def _name(cue: Cue) -> str | None:
    """In lower case, by a check, a word or an annotation; None for what a method numbers."""
    kind = kind_of_background(cue)
    named = cue.checked or word_of(cue) or (": ".join(kind) if kind else None)
    return named.strip("' ").lower() if named else None


def _frames(study: Study, cue: Cue) -> list[FrameId]:
    """The frames of the runs that show it, the strongest first."""
    if (kind := kind_of_background(cue)) is not None:
        shows = [key for key, sample in study.seen.items() if has_kind(sample, kind)]
        return [(key, n) for key in shows for n in range(len(study.seen[key].frames))]
    met: dict[FrameId, None] = {}
    for occurrence in cue.feature.occurrences:
        if (each := _frame_of(study, occurrence)) is not None:
            met[each] = None
    return list(met)


def _frame_of(study: Study, occurrence: Occurrence) -> FrameId | None:
    key = root(occurrence.sample, study.seen)
    if key is None or not study.seen[key].frames:
        return None
    return key, min(occurrence.frame or 0, len(study.seen[key].frames) - 1)


def _boxes(study: Study, cue: Cue) -> dict[FrameId, Box]:
    found = ((_frame_of(study, o), o.region) for o in cue.feature.occurrences)
    return {each: box for each, box in found if each is not None and box is not None}


def regions_agree(first: Mapping[FrameId, Box], second: Mapping[FrameId, Box]) -> bool:
    """Whether, in the frames that both mark, the typical smaller region is half in the other.

    True where they mark none of the same frames: then regions say nothing.

    >>> regions_agree({("a", 0): (0, 0, 4, 4)}, {("a", 0): (2, 0, 9, 9)})
    True
    >>> regions_agree({("a", 0): (0, 0, 4, 4)}, {("a", 0): (4, 0, 9, 9)})
    False
    """
    shares = []
    for each in first.keys() & second.keys():
        (x0, y0, x1, y1), (u0, v0, u1, v1) = first[each], second[each]
        both = max(0.0, min(x1, u1) - max(x0, u0)) * max(0.0, min(y1, v1) - max(y0, v0))
        smaller = min((x1 - x0) * (y1 - y0), (u1 - u0) * (v1 - v0))
        shares.append(both / smaller if smaller > 0 else 0.0)
    return not shares or float(np.median(shares)) >= SAME


# -------------------------------------------------------------------------- what recognises another


Reader = Callable[[Sequence[FrameId]], Float[np.ndarray, "frame dim"]]


@dataclass(frozen=True, eq=False)
class _Model:
    """What takes frames for a finding's: those that score above the threshold."""

    linear: Linear
    threshold: float
    reader: Reader

    def share(self, frames: Sequence[FrameId]) -> float:
        """Of the frames, those that it takes for its own."""
        scores = self.linear.scores(self.reader(frames)) - self.linear.threshold
        return float((scores > self.threshold).mean())


class _Learner:
    """The models of findings; `frames` are those of each of them.

    A finding's frames are told from frames of no finding that may be the same cue. Those of
    findings that meet it as often as chance has it are left where they are, on both sides: else
    what is seen in them would help to tell the sides apart.
    """

    def __init__(self, audit: Audit, study: Study, frames: Sequence[frozenset[FrameId]]) -> None:
        self._audit, self._study, self._frames = audit, study, frames
        self._everything = [(key, n) for key, s in study.seen.items() for n in range(len(s.frames))]
        self._models: dict[tuple[int, frozenset[int]], list[_Model]] = {}
        self._readers = [
            _remembering(lambda wanted: embeddings(audit, study.seen, wanted)),
            _remembering(lambda wanted: coarse_colours(study, wanted)),
        ]
        total = len(self._everything)
        self._related = [
            frozenset(n for n, other in enumerate(frames) if not meet_by_chance(own, other, total))
            for own in frames
        ]

    def recognised(self, own: int, other: int) -> float:
        """The share of the other's frames that the models of one finding take for its own."""
        frames = self._some(self._frames[other], "frames", str(other))
        if other not in self._related[own] or not frames or not self._frames[own]:
            return 0.0
        unlisted = [each for each in frames if each not in self._frames[own]]
        if not unlisted:
            return 1.0
        listed = len(frames) - len(unlisted)
        models = self._of(own, other)
        shares = [(listed + m.share(unlisted) * len(unlisted)) / len(frames) for m in models]
        return min(shares, default=0.0)

    def _of(self, own: int, other: int) -> list[_Model]:
        apart = self._related[own] - {own}
        taken = frozenset[FrameId]().union(*(self._frames[n] for n in apart)) | self._frames[own]
        others = [each for each in self._everything if each not in taken]
        if len(others) < FEWEST:  # all frames are in findings: those of third ones are the others
            apart = frozenset({other})
            taken = self._frames[own] | self._frames[other]
            others = [each for each in self._everything if each not in taken]
        if (own, apart) not in self._models:
            shown = frozenset[FrameId]().union(*(self._frames[n] for n in apart))
            alone = self._frames[own] - shown
            positive = alone if len(alone) >= FEWEST else self._frames[own]
            self._models[own, apart] = list(self._learned(own, positive, others))
        return self._models[own, apart]

    def _learned(
        self, own: int, shown: Iterable[FrameId], others: Sequence[FrameId]
    ) -> Iterator[_Model]:
        """The models that recognise half of the finding's own frames, not having seen them."""
        seen = self._study.seen
        positive = self._some(shown, "frames", str(own))
        labels = {seen[key].label for key, _ in positive}
        alike = [each for each in others if seen[each[0]].label in labels]
        enough = alike if len(alike) >= FEWEST else others
        negative = self._some(enough, "others", str(own))
        if min(len(positive), len(negative)) < FOLDS:
            return
        frames = [*positive, *negative]
        shows = np.arange(len(frames)) < len(positive)
        of_frame = np.array([str(seen[key].label) for key, _ in frames])
        data = Training(shows, of_frame, Groups.of([seen[key] for key, _ in frames]))
        fold, weights = data.folds(self._audit.rng("confirm", "merge", str(own))), data.weights()
        for reader in self._readers:
            rows, scores = reader(frames), np.zeros(len(frames))
            for number in range(FOLDS):
                learned = fold != number
                if data.shows[learned].all() or not data.shows[learned].any():
                    break
                part = fit(rows[learned], data.shows[learned], weights[learned])
                scores[~learned] = part.scores(rows[~learned]) - part.threshold
            else:
                threshold = float(np.quantile(scores[~shows], SPARED))
                if (scores[shows] > threshold).mean() >= SAME:
                    yield _Model(fit(rows, shows, weights), threshold, reader)

    def _some(self, frames: Iterable[FrameId], *names: str) -> list[FrameId]:
        frames = sorted(frames)
        chosen = self._audit.rng("confirm", "merge", *names).permutation(len(frames))[:FRAMES]
        return [frames[row] for row in sorted(chosen.tolist())]


def meet_by_chance(first: Set[FrameId], second: Set[FrameId], total: int) -> bool:
    """Whether two findings share about as many of all frames as two that have nothing in common.

    Between half and twice the number that chance gives, and no more than half of what it leaves.
    Then they are two cues. Findings that share none of many frames may be parts of one.

    >>> half, other = {("a", n) for n in range(40)}, {("a", n) for n in range(20, 60)}
    >>> meet_by_chance(half, other, 80), meet_by_chance(half, half, 80)
    (True, False)
    """
    if first is second or not first or not second:
        return False
    both, expected = len(first & second), len(first) * len(second) / total
    larger, smaller = max(len(first), len(second)) / total, min(len(first), len(second))
    beyond = (both / smaller - larger) / (1 - larger) if larger < 1 else 0.0
    return expected / 2 <= both <= 2 * expected and beyond < SAME


def _remembering(reader: Reader) -> Reader:
    """The same, looking at each frame once."""
    known: dict[FrameId, Float[np.ndarray, " dim"]] = {}

    def read(frames: Sequence[FrameId]) -> Float[np.ndarray, "frame dim"]:
        missing = [each for each in dict.fromkeys(frames) if each not in known]
        if missing:
            known.update(zip(missing, reader(missing), strict=True))
        return np.stack([known[each] for each in frames])

    return read


def coarse_colours(study: Study, frames: Sequence[FrameId]) -> Float[np.ndarray, "frame dim"]:
    """Mean and spread of the colours of a few large cells."""
    grids = colours(study.seen, frames)
    side = grids[0].shape[0] // 3
    return np.stack([g.reshape(3, side, 3, side, -1).mean(axis=(1, 3)).ravel() for g in grids])


# ----------------------------------------------------------------------------------- the merged cue


def _as_one(audit: Audit, study: Study, members: Sequence[Cue], pure: Set[str]) -> Cue:
    """The merged cue, about the labels of its most harmful claim; it occurs where `pure` ones do.

    Findings of one cue may say different things of it: that it makes some labels rarer as right
    answers, and another one commoner as a wrong answer. One of these is tested, since the others
    follow from it; wrong answers come first, then the larger gap.
    """
    claims: dict[Hashable, list[tuple[Cue, Direction]]] = {}
    for cue in members:
        direction = direction_of(audit, study, cue)
        about = cue.label if direction.toward == "the label" else _questions(cue)
        claims.setdefault((direction.toward, direction.sign, about), []).append((cue, direction))

    def rank(claim: list[tuple[Cue, Direction]]) -> tuple[bool, bool, float]:
        direction = claim[0][1]
        gap = max(abs(each.gap or 0.0) for _, each in claim)
        return not direction.harms, direction.toward != "the right answer", -gap

    chosen = [cue for cue, _ in min(claims.values(), key=rank)]
    lead = min(chosen, key=lambda cue: (not _is_annotated(cue), cue.feature.key not in pure))
    labels = tuple(sorted({cue.label for cue in chosen if cue.label is not None}))
    if any(cue.label is None for cue in chosen):
        labels = ()
    return replace(
        lead,
        feature=lead.feature.model_copy(update={"occurrences": _occurrences(lead, members, pure)}),
        label=labels[0] if len(labels) == 1 else None,
        labels=labels if len(labels) > 1 else (),
        name=_best_name([lead, *chosen, *members]),
        members=tuple(members),
    )


def _best_name(cues: Sequence[Cue]) -> str:
    """One that a check gave, else a word or an annotation, else what a method calls it."""
    ranked = [
        [cue.checked for cue in cues],
        [cue.name for cue in cues if _name(cue) is not None],
        [cue.name for cue in cues if cue.name != cue.feature.key],
    ]
    return next((name for names in ranked for name in names if name), cues[0].name)


def _is_annotated(cue: Cue) -> bool:
    """An annotated place or an object's name is surer than frames to learn from."""
    return kind_of_background(cue) is not None or cue.feature.kind in ABOUT_OBJECTS


def _occurrences(lead: Cue, members: Sequence[Cue], pure: Set[str]) -> tuple[Occurrence, ...]:
    """Those of the findings that the others recognise, each frame once; of a known place its own.

    A finding that also holds other frames shows the cue, and is no example of it.
    """
    if _is_annotated(lead) or _place(lead) is not None:
        return lead.feature.occurrences
    met: dict[tuple[str, int | None], Occurrence] = {}
    for cue in (lead, *members):
        if cue.feature.key in pure or cue is lead:
            for occurrence in cue.feature.occurrences:
                met.setdefault((occurrence.sample, occurrence.frame), occurrence)
    return tuple(met.values())
