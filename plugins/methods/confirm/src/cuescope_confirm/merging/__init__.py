"""Findings that are one cue, of one run or of several on the same model and data.

Two findings are one cue where

- they have the same place by definition (the whole background, a whole modality), or the same name;
  or
- each tells where the other is, as well as a localiser must that decides anything (an AUROC of
  `GOOD_AUROC`): a linear model learns a finding's frames from other frames of the runs, and ranks
  the other's frames above frames of neither. It has a say where it knows its own finding so well,
  on groups that it has not learned from. There is one on the embedding and one on colours, and the
  worse one counts. Frames that both list count as recognised, as far as they are more than chance.

What is no cue is left out (modalities.py): video and question where the model needs both, and
figures of a run as a whole.

Where both mark regions in the same frames, half of the smaller region must be in both. Two kinds of
one annotated factor are two cues.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations

import numpy as np
from jaxtyping import Float

from cuescope_confirm.asking import (
    ABOUT_OBJECTS,
    NOWHERE,
    Direction,
    direction_of,
    has_kind,
    kind_of_background,
    seen_of,
)
from cuescope_confirm.locating import word_of
from cuescope_confirm.locating.learned import FrameId, colours, embeddings
from cuescope_confirm.locating.linear import Linear, Training, fit
from cuescope_confirm.merging.modalities import NO_CUE, PLACES, modalities, no_cues, place_of
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.study import Cue, Study, root
from cuescope_sdk import Audit, Occurrence
from cuescope_sdk.interventions import GOOD_AUROC
from cuescope_sdk.statistics import Groups, auroc

SAME = 0.5  # of the smaller region must be in both, as in `compare --consensus`
PURE = 0.9  # AUROC from which on a finding's frames are examples of the merged cue
FRAMES = 150  # of a finding: so many are looked at
OTHERS = 500  # frames of the runs that each finding's are told from
FEWEST = 5  # frames on a side, below which nothing is ranked
FOLDS = 4
RULE = (
    "Findings are one cue where they have the same place or name. They are also one cue where "
    "each predicts the other: a linear model of one ranks the other's frames above frames of "
    f"neither. Needed is an AUROC of {GOOD_AUROC}, on average over the findings that are joined."
)
Box = tuple[float, float, float, float]


def merge_cues(audit: Audit, options: ConfirmOptions, study: Study) -> tuple[Cue, ...]:
    """The findings of a study, those that are one cue as one; the order is that of the first.

    Findings about one whole modality are one cue in any case: every test of them is the same. What
    is no cue is left out, and a note says why.
    """
    if options.features:  # as they were named
        return study.cues
    groups = modalities(study.cues)
    listed = {cue.id for group in groups for cue in group}
    others = [cue for cue in study.cues if cue.id not in listed]
    if reasons := list(no_cues(study, groups, others if options.merge else ())):
        audit.note(NO_CUE, " ".join(reasons))
    whole = [_as_one(audit, study, group, set()) for group in groups if len(groups) == 1]
    order = {cue.id: row for row, cue in enumerate(study.cues)}
    if not options.merge:
        whole = [cue if cue.members[1:] else cue.members[0] for cue in whole]
        return tuple(sorted([*whole, *others], key=lambda cue: order[(*cue.members, cue)[0].id]))
    others = [cue for cue in others if cue.feature.kind not in NOWHERE]
    # a feature that is about several labels is looked at once
    by_feature: dict[str, list[Cue]] = {}
    for cue in others:
        by_feature.setdefault(cue.feature.key, []).append(cue)
    first = [cues[0] for cues in by_feature.values()]
    values = recognition(audit, study, first)
    merged = whole
    for group in joined(np.minimum(values, values.T)):
        members = [cue for row in group for cue in by_feature[first[row].feature.key]]
        known = values[np.ix_(group, group)].mean(axis=0)  # how well the others rank each
        pure = {first[row].feature.key for row, k in zip(group, known, strict=True) if k >= PURE}
        merged.append(_as_one(audit, study, members, pure))

    def rank(cue: Cue) -> tuple[int, int]:
        methods = {member.run for member in cue.members}
        return -len(methods), min(order[member.id] for member in cue.members)

    return tuple(sorted(merged, key=rank)[: options.top])


def joined(alike: Float[np.ndarray, "cue cue"]) -> list[list[int]]:
    """Rows in groups, by average linkage (Sokal and Michener, 1958) down to `GOOD_AUROC`.

    So a finding that holds parts of two cues does not join them.

    >>> joined(np.array([[1, 0.9, 0.8, 0], [0.9, 1, 0.2, 0], [0.8, 0.2, 1, 0.9], [0, 0, 0.9, 1]]))
    [[0, 1], [2, 3]]
    """
    groups = [[row] for row in range(len(alike))]
    while len(groups) > 1:
        pairs = list(combinations(range(len(groups)), 2))
        means = [float(alike[np.ix_(groups[a], groups[b])].mean()) for a, b in pairs]
        best = int(np.argmax(means))
        if means[best] < GOOD_AUROC:
            break
        a, b = pairs[best]
        groups[a] = sorted(groups[a] + groups.pop(b))
    return sorted(groups)


def recognition(
    audit: Audit, study: Study, cues: Sequence[Cue]
) -> Float[np.ndarray, "recogniser recognised"]:
    """How well each finding tells where each other is: 1 by place or name, else an AUROC."""
    frames = [frozenset(_frames(study, cue)) for cue in cues]
    boxes = [_boxes(study, cue) for cue in cues]
    values = np.eye(len(cues))
    able = []
    for a, b in combinations(range(len(cues)), 2):
        same = _known(cues[a], cues[b])
        if same is None and regions_agree(boxes[a], boxes[b]):
            able.append((a, b))
        values[a, b] = values[b, a] = float(bool(same))
    if able:
        learner = _Learner(audit, study, frames)
        for own, other in able:
            values[own, other] = learner.recognises(own, other)
            values[other, own] = learner.recognises(other, own)
    return values


def _known(first: Cue, second: Cue) -> bool | None:
    """Whether two findings are one cue by what they are; None where their frames must tell."""
    places = place_of(first), place_of(second)
    if places != (None, None):
        return places[0] == places[1]
    kinds = kind_of_background(first), kind_of_background(second)
    if kinds[0] and kinds[1] and kinds[0][0] == kinds[1][0]:
        return kinds[0] == kinds[1]
    if _questions(first) != _questions(second):
        return False
    return True if _name(first) is not None and _name(first) == _name(second) else None


# ---------------------------------------------------------------------- what is known of a finding


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
Scorer = Callable[[Sequence[FrameId]], Float[np.ndarray, " frame"]]


class _Learner:
    """The models of findings; `frames` are those of each of them."""

    def __init__(self, audit: Audit, study: Study, frames: Sequence[frozenset[FrameId]]) -> None:
        self._audit, self._study, self._frames = audit, study, frames
        everything = [(key, n) for key, s in study.seen.items() for n in range(len(s.frames))]
        self._total = len(everything)
        self._others = self._some(everything, OTHERS, "others")
        self._drawn = [self._some(own, FRAMES, str(n)) for n, own in enumerate(frames)]
        self._readers = [
            _remembering(lambda wanted: embeddings(audit, study.seen, wanted)),
            _remembering(lambda wanted: coarse_colours(study, wanted)),
        ]
        self._scorers = [list(self._learned(number)) for number in range(len(frames))]

    def recognises(self, own: int, other: int) -> float:
        """The AUROC of the other's frames that are not this one's, against frames of neither.

        Of the frames that are this one's too, the share beyond chance counts as ranked perfectly.
        """
        mine, frames = self._frames[own], self._drawn[other]
        if not frames or not 0 < len(mine) < self._total:
            return 0.0
        unlisted = [each for each in frames if each not in mine]
        chance = len(mine) / self._total
        listed = max(0.0, (1 - len(unlisted) / len(frames) - chance) / (1 - chance))
        if listed == 1:
            return 1.0
        either = mine | self._frames[other]
        neither = [each for each in self._others if each not in either]
        if len(unlisted) < FEWEST or len(neither) < FEWEST:
            return listed
        shows = np.arange(len(unlisted) + len(neither)) < len(unlisted)
        ranks = [auroc(score([*unlisted, *neither]), shows) or 0.0 for score in self._scorers[own]]
        return listed + (1 - listed) * min(ranks, default=0.0)

    def _learned(self, own: int) -> Iterator[Scorer]:
        """What ranks frames by how like the finding's they are, where it knows these."""
        positive = self._drawn[own]
        negative = [each for each in self._others if each not in self._frames[own]]
        if min(len(positive), len(negative)) < FEWEST:
            return
        seen, frames = self._study.seen, [*positive, *negative]
        shows = np.arange(len(frames)) < len(positive)
        labels = np.array([str(seen[key].label) for key, _ in frames])
        data = Training(shows, labels, Groups.of([seen[key] for key, _ in frames]))
        fold, weights = data.folds(self._audit.rng("confirm", "merge", str(own))), data.weights()
        for reader in self._readers:
            rows, held = reader(frames), np.zeros(len(frames))
            for number in range(FOLDS):
                learned = fold != number
                if not learned.all() and 0 < shows[learned].sum() < learned.sum():
                    part = fit(rows[learned], shows[learned], weights[learned])
                    held[~learned] = part.scores(rows[~learned]) - part.threshold
            if (auroc(held, shows) or 0.0) >= GOOD_AUROC:
                known = dict(zip(frames, held.tolist(), strict=True))
                yield _scorer(fit(rows, shows, weights), reader, known)

    def _some(self, frames: Iterable[FrameId], most: int, *names: str) -> list[FrameId]:
        frames = sorted(frames)
        chosen = self._audit.rng("confirm", "merge", *names).permutation(len(frames))[:most]
        return [frames[row] for row in sorted(chosen.tolist())]


def _scorer(model: Linear, reader: Reader, held: Mapping[FrameId, float]) -> Scorer:
    """Of frames that the model has learned from, what others made of them counts."""

    def score(frames: Sequence[FrameId]) -> Float[np.ndarray, " frame"]:
        own = model.scores(reader(frames)) - model.threshold
        return np.array([held.get(each, value) for each, value in zip(frames, own, strict=True)])

    return score


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
    follow from it: the one that costs most answers in the runs.
    """
    claims: dict[Hashable, list[tuple[Cue, Direction]]] = {}
    for cue in members:
        direction = direction_of(audit, study, cue)
        about = cue.label if direction.toward == "the label" else _questions(cue)
        claims.setdefault((direction.toward, direction.sign, about), []).append((cue, direction))

    def rank(claim: list[tuple[Cue, Direction]]) -> tuple[bool, float]:
        costs = {cue.label: _answers_moved(audit, study, cue, said) for cue, said in claim}
        return not claim[0][1].harms, -sum(costs.values())

    chosen = [cue for cue, _ in min(claims.values(), key=rank)]
    known = [cue for cue in members if kind_of_background(cue) is not None]
    lead = min(
        [*chosen, *known], key=lambda cue: (not _is_annotated(cue), cue.feature.key not in pure)
    )
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


def _answers_moved(audit: Audit, study: Study, cue: Cue, direction: Direction) -> float:
    """How many answers of the runs a finding says that the cue moves."""
    seen = seen_of(audit, study, cue)
    judged = ~seen.own if direction.toward == "the label" else seen.own
    return abs(direction.gap or 0.0) * int((seen.present & judged).sum())


def _best_name(cues: Sequence[Cue]) -> str:
    """One that a check gave, else a word or an annotation, else what a method calls it."""
    if (place := place_of(cues[0])) is not None:
        return PLACES[place]
    ranked: list[list[str | None]] = [
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
    if _is_annotated(lead) or place_of(lead) is not None:
        return lead.feature.occurrences
    met: dict[tuple[str, int | None], Occurrence] = {}
    for cue in (lead, *members):
        if cue.feature.key in pure or cue is lead:
            for occurrence in cue.feature.occurrences:
                met.setdefault((occurrence.sample, occurrence.frame), occurrence)
    return tuple(met.values())
