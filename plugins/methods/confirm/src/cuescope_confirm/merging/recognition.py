"""How well each finding tells where another one is.

A linear model learns a finding's frames from other frames of the runs, and ranks the other's frames
above frames of neither. It has a say where it knows its own finding well, on groups that it has not
learned from. There is one on the embedding and one on colours, and the worse one counts. Frames
that both list count as recognised, as far as they are more than chance.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations

import numpy as np
from jaxtyping import Float

from cuescope_confirm.locating.learned import Rows, coarse_colours, embeddings, training
from cuescope_confirm.locating.places import GOOD_AUROC
from cuescope_confirm.merging.modalities import place_of
from cuescope_confirm.study import (
    Cue,
    Cues,
    Frames,
    Samples,
    Study,
    frames_in,
    pick,
    shuffle,
)
from cuescope_sdk.locating import Linear
from cuescope_sdk.statistics import Roc
from cuescope_sdk.stills import FrameId

SAME = 0.5  # of the smaller region must be in both, as in `compare --consensus`
FRAMES = 150  # of a finding: so many are looked at
OTHERS = 500  # frames of the runs that each finding's are told from
FEWEST = 5  # frames on a side, below which nothing is ranked
Box = tuple[float, float, float, float]
PerFrame = Float[np.ndarray, " frame"]
Reader = Callable[[Frames], Rows]
Scorer = Callable[[Frames], PerFrame]


def recognition(
    study: Study,
    cues: Cues,
) -> Float[np.ndarray, "recogniser recognised"]:
    """How well each finding tells where each other is: 1 by place or name, else an AUROC."""
    values = np.eye(len(cues))
    boxes = [boxes_of(study, cue) for cue in cues]
    open_pairs = []
    for first, second in combinations(range(len(cues)), 2):
        same = same_by_definition(cues[first], cues[second])
        if same:
            values[[first, second], [second, first]] = 1
        elif same is None and regions_agree(boxes[first], boxes[second]):
            open_pairs.append((first, second))
    # only then: learning embeds frames, which asks the model
    if open_pairs:
        recognisers = _Recognisers(study, cues)
        for first, second in open_pairs:
            values[first, second] = recognisers.recognises(first, second)
            values[second, first] = recognisers.recognises(second, first)
    return values


def recognition_of_runs(
    study: Study, runs: Sequence[Study], cues: Cues
) -> Callable[[int, int], float]:
    """How well each of two findings, by their places, tells where the other is: the worse AUROC.

    Each is learned from the samples of its own run. A guess is no name, so names are not looked at.
    """

    @cache
    def recognisers() -> _Recognisers:
        # only when it is needed: learning embeds frames, which may ask the model
        return _Recognisers(study, cues, [run.seen for run in runs])

    @cache
    def recognise(first: int, second: int) -> float:
        ways = ((first, second), (second, first))
        return min(recognisers().recognises(*way) for way in ways)

    return recognise


def same_by_definition(first: Cue, second: Cue) -> bool | None:
    """Whether two findings are one cue by what they are; None where their frames must tell."""
    place = place_of(first)
    other_place = place_of(second)
    if place or other_place:
        return place == other_place
    # two values of one factor are never in the same sample
    if first.factor and second.factor and first.factor[0] == second.factor[0]:
        return first.factor == second.factor
    if question_of(first) != question_of(second):
        return False
    name = name_of(first)
    return True if name is not None and name == name_of(second) else None


def question_of(cue: Cue) -> str | None:
    """Findings about objects are tested by a question of their own, about their label's object."""
    return cue.label if cue.is_object else None


def name_of(cue: Cue) -> str | None:
    """In lower case, by a check, a word or an annotation; None for what a method numbers."""
    name = cue.checked or cue.word or ": ".join(cue.factor or ())
    return name.strip("' ").lower() if name else None


def _frames(study: Study, cue: Cue) -> frozenset[FrameId]:
    """The frames of the runs that show it."""
    if cue.factor is None:
        return frozenset(study.frames_of(cue))
    # an annotation is of a whole sample, so it holds in each frame
    keys = cue.samples_with_cue(study.seen)
    return frozenset(frames_in(pick(study.seen, keys)))


def boxes_of(study: Study, cue: Cue) -> dict[FrameId, Box]:
    """The region that it has in each frame of the runs, where it has one."""
    boxes = {}
    for frame, occurrences in study.frames_of(cue).items():
        for occurrence in occurrences:
            if occurrence.region is not None:
                boxes[frame] = occurrence.region
    return boxes


def regions_agree(
    first: Mapping[FrameId, Box],
    second: Mapping[FrameId, Box],
) -> bool:
    """Whether, in the frames that both mark, the typical smaller region is half in the other.

    True where they mark none of the same frames: then regions say nothing.

    >>> regions_agree({("a", 0): (0, 0, 4, 4)}, {("a", 0): (2, 0, 9, 9)})
    True
    >>> regions_agree({("a", 0): (0, 0, 4, 4)}, {("a", 0): (4, 0, 9, 9)})
    False
    """
    shares = []
    for frame in first.keys() & second.keys():
        boxes = np.array([first[frame], second[frame]])
        starts, ends = np.hsplit(boxes, 2)
        overlap = ends.min(axis=0) - starts.max(axis=0)
        areas = (ends - starts).prod(axis=1)
        share = 0.0
        if areas.min() > 0:
            share = overlap.clip(0).prod() / areas.min()
        shares.append(share)
    return not shares or float(np.median(shares)) >= SAME


class _Recognisers:
    """The models of findings, by their place."""

    def __init__(
        self, study: Study, cues: Cues, seen: Sequence[Samples] | None = None
    ) -> None:
        self._study = study
        # by finding, the samples that its run has looked at
        self._seen = [study.seen] * len(cues) if seen is None else seen
        everything = frames_in(study.seen)
        self._total = len(everything)
        # one draw for all findings: these frames are embedded once
        self._others = self._draw(everything, OTHERS, "others")
        self._frames = [_frames(study, cue) for cue in cues]
        self._drawn = [
            self._draw(frames, FRAMES, str(number))
            for number, frames in enumerate(self._frames)
        ]
        self._readers = [
            _remember(partial(embeddings, study, study.seen)),
            _remember(partial(coarse_colours, study.seen)),
        ]
        self._scorers = [list(self._learn(number)) for number in range(len(cues))]

    def recognises(self, number: int, other: int) -> float:
        """The AUROC of the other's frames that are not this one's, against frames of neither.

        Of the frames that are this one's too, the share beyond chance counts as ranked perfectly.
        """
        listed = self._frames[number]
        frames = self._drawn[other]
        # what lists every frame tells none from another
        if not frames or not 0 < len(listed) < self._total:
            return 0.0
        unlisted = [frame for frame in frames if frame not in listed]
        chance = len(listed) / self._total
        both = 1 - len(unlisted) / len(frames)
        # corrected for chance as Cohen's kappa is
        share = max(0.0, (both - chance) / (1 - chance))
        if share == 1:
            return 1.0
        # a frame of either finding would be no example of what is not the cue
        either = listed | self._frames[other]
        neither = [frame for frame in self._others if frame not in either]
        if len(unlisted) < FEWEST or len(neither) < FEWEST:
            return share
        ranked = [*unlisted, *neither]
        shows = np.arange(len(ranked)) < len(unlisted)
        scorers = self._scorers[number]
        ranks = [Roc(score(ranked), shows).auroc() or 0.0 for score in scorers]
        return share + (1 - share) * min(ranks, default=0.0)

    def _learn(self, number: int) -> Iterator[Scorer]:
        """What ranks frames by how like the finding's they are, where it knows these."""
        positive = self._drawn[number]
        listed = self._frames[number]
        negative = [
            frame
            for frame in self._others
            if frame not in listed and frame[0] in self._seen[number]
        ]
        if min(len(positive), len(negative)) < FEWEST:
            return
        frames = [*positive, *negative]
        shows = np.arange(len(frames)) < len(positive)
        data = training(self._study.seen, frames, shows)
        for reader in self._readers:
            rows = reader(frames)
            rng = self._study.rng("merge", str(number))
            # 0 is the threshold: a fold that could not be learned from says nothing
            held_out = np.nan_to_num(data.held_out_scores(rows, rng))
            if (Roc(held_out, shows).auroc() or 0.0) >= GOOD_AUROC:
                model = Linear.fit(rows, shows, data.weights())
                by_frame = dict(zip(frames, held_out, strict=True))
                yield partial(_score, model, reader, by_frame)

    def _draw(
        self,
        frames: Iterable[FrameId],
        most: int,
        name: str,
    ) -> list[FrameId]:
        rng = self._study.rng("merge", name)
        return sorted(shuffle(sorted(frames), rng)[:most])


def _score(
    model: Linear,
    reader: Reader,
    held_out: Mapping[FrameId, float],
    frames: Frames,
) -> PerFrame:
    """Of frames that the model has learned from, what others made of them counts."""
    scores = model.scores(reader(frames)) - model.threshold
    return np.array(list(map(held_out.get, frames, scores)))


def _remember(reader: Reader) -> Reader:
    """The same, looking at each frame once."""
    rows: dict[FrameId, Float[np.ndarray, " dim"]] = {}

    def read(frames: Frames) -> Rows:
        missing = [frame for frame in dict.fromkeys(frames) if frame not in rows]
        if missing:
            rows.update(zip(missing, reader(missing), strict=True))
        return np.stack([rows[frame] for frame in frames])

    return read
