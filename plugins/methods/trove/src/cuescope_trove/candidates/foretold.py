"""Candidates that are learned from answers: what pictures share that get the same wrong answer.

What the embedding keeps in no cluster and no direction may be plain in the pictures: a border, a
tint, a mark in a corner. So for each answer a linear model learns from the pixels of other groups
which frames of other labels get it, and the frames that look so most are candidates. Of few samples
it learns from parts of frames too, as the model sees each alone: a thing that looks like itself in
no small patch. Of more samples the embedding tells once more what was found so, as far as it sets
the same frames apart: from answers it learns nothing, for it tells what makes labels alike too.

They know of answers, so the tests of other candidates do not hold for them. Answers are dealt anew
within each label, the model learns again from each deal, and finds then what chance lets it find.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator
from scipy import linalg

from cuescope_sdk import Audit
from cuescope_sdk.locating import Look
from cuescope_sdk.maths import normalise, on_one_thread
from cuescope_sdk.statistics import FamilyTest, Groups, Roc
from cuescope_sdk.stills import CROPS, Answers
from cuescope_trove.candidates.directions import less_label_means
from cuescope_trove.candidates.groups import FORETOLD, Candidates
from cuescope_trove.maths.ranking import standardise
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Codes, IntPerFrame, Observations, SampleMask

SHARES = (0.06, 0.1, 0.16, 0.25, 0.4)  # of other labels' frames: the best one is taken
FOLDS = 8
TURNS = 3  # in which pictures and embedding agree
# of the ridge regression, beside the mean squared length of what it learns from
PENALTY = 0.5
FEWEST = 6  # samples that wrongly get an answer, from which on something is learned
MOST_ANSWERS = 20  # the commonest wrong ones
DRAWS = 300
READ = 20_000  # frames at most, of a few milliseconds each
SEEN = 256  # samples at most whose crops the model is asked about: of more the embedding tells
COMPONENTS = 64  # of what it makes of crops
AT_ONCE = 500
TIE = 1e-9
PerRead = Float[np.ndarray, " read"]
Ridge = Callable[[Float[np.ndarray, "sample column"]], Float[np.ndarray, "dim column"]]


class Fold(NamedTuple):
    """The sequences that are learned from, and the frames of all others."""

    learned_from: SampleMask
    told: Bool[np.ndarray, " read"]


@dataclass(frozen=True, eq=False)
class View:
    """Tells by what is seen in a frame how far it is like sequences of other groups.

    `rows` are what is seen in each, beside the mean of its label. `own` is its sequence, and
    `label` the label of each sequence.
    """

    rows: Float[np.ndarray, "read dim"]
    own: Int[np.ndarray, " read"]
    label: Codes
    folds: Sequence[Fold]

    @classmethod
    def of(
        cls,
        rows: Float[np.ndarray, "read dim"],
        own: Int[np.ndarray, " read"],
        label: Codes,
        groups: Groups,
        rng: Generator,
    ) -> "View":
        """Each eighth of the groups is told by what is learned from the others."""
        folds = _folds(groups, own, rng)
        return cls(less_label_means(rows, label[own]), own, label, folds)

    def besides(self, label: int) -> "View":
        """It learns from sequences of other labels alone, and tells the frames of all."""
        is_other = self.label != label
        folds = [Fold(fold.learned_from & is_other, fold.told) for fold in self.folds]
        return replace(self, folds=[fold for fold in folds if fold.learned_from.any()])

    @on_one_thread
    def scores(
        self, values: Float[np.ndarray, "sample column"]
    ) -> Float[np.ndarray, "read column"]:
        """How far each frame is like sequences of other groups with a high value."""
        scores = np.zeros((len(self.own), values.shape[1]))
        for fold, ridge in zip(self.folds, self._ridges, strict=True):
            weights = ridge(values[fold.learned_from])
            scores[fold.told] = self.rows[fold.told] @ weights
        return scores

    @cached_property
    def _ridges(self) -> list[Ridge]:
        of_sequence = Groups(self.own, len(self.label), declared=True)
        means = of_sequence.means(self.rows)
        return [_ridge(means[fold.learned_from]) for fold in self.folds]

    def shares(
        self, marked: Bool[np.ndarray, " read"]
    ) -> Float[np.ndarray, "sample 1"]:
        """The share of marked frames of each sequence, beside the mean of its label."""
        of_sequence = Groups(self.own, len(self.label), declared=True)
        return less_label_means(
            of_sequence.means(marked[:, None].astype(float)), self.label
        )


@dataclass(frozen=True, eq=False)
class Foreteller:
    """Two views of some frames of each sequence: what is in the pictures, and the embedding.

    Of so many `frames`, `read` are the numbers of those that were looked at. Few samples have one
    view alone.
    """

    frames: int
    read: Int[np.ndarray, " read"]
    pictures: View
    embedding: View | None

    @classmethod
    def of(
        cls, audit: Audit, observations: Observations, *, crops: bool
    ) -> "Foreteller | None":
        """None where there is no picture to tell from another, or there are too many samples."""
        read = _some_frames(observations.frame_sample)
        rng = audit.rng("foretold")
        rows = _look(audit, read, rng)
        if rows is None:
            return None
        own = observations.frame_sample[read]
        if crops:
            # as much is said by the model as by the pixels
            seen = _even(_seen(audit))
            rows = np.concatenate([_even(rows), seen[own]], axis=1)
        label, groups = observations.label, observations.groups
        pictures = View.of(rows, own, label, groups, rng)
        embedding = None
        # a dozen marked samples teach it nothing
        if len(label) > SEEN:
            unit = normalise(audit.once(Answers.ask, audit).embedding[read])
            embedding = View.of(unit, own, label, groups, rng)
        return cls(len(observations.frame_sample), read, pictures, embedding)

    def agree(
        self, by_pictures: PerRead, count: int, among: Bool[np.ndarray, " read"]
    ) -> PerRead:
        """How far both views say that a frame shows what so many frames show most by its pictures.

        What one view marks the other one learns (Blum and Mitchell, 1998), and the embedding counts
        for as much as it tells of what is marked.
        """
        scores = by_pictures
        if self.embedding is None:
            return scores
        for _ in range(TURNS):
            is_marked = scores >= -np.partition(-scores[among], count - 1)[count - 1]
            seen = self.embedding.scores(self.embedding.shares(is_marked))[:, 0]
            tells = 2 * (Roc(seen, is_marked).auroc() or 0.5) - 1
            scores = standardise(by_pictures) + max(tells, 0.0) * standardise(seen)
        return scores


class AnswerTest(NamedTuple):
    """The tests of a candidate that was learned to foretell an answer: one for each other label.

    `told` is how far each frame looks as if it led there; -inf where it was not looked at.
    """

    answer: int
    candidate: int
    labels: Int[np.ndarray, " test"]
    test: FamilyTest
    told: Float[np.ndarray, " frame"]


@dataclass(frozen=True, eq=False)
class Deals:
    """The answers as they are, and then as they are dealt anew to whole groups of each label.

    Values are beside the mean of their label.
    """

    label: Codes
    prediction: Int[np.ndarray, "sample draw"]
    correct: Float[np.ndarray, "sample draw"]

    @classmethod
    def of(cls, observations: Observations, rng: Generator) -> "Deals":
        """`DRAWS` of them."""
        label = observations.label
        deals = [observations.groups.deal(label, rng) for _ in range(DRAWS)]
        source = np.stack([np.arange(len(label)), *deals], axis=1)
        correct = observations.correct[source].astype(float)
        prediction = observations.prediction[source]
        return cls(label, prediction, less_label_means(correct, label))

    def taken_for(self, answer: int) -> Float[np.ndarray, "sample draw"]:
        """How much more often than others of its label each sequence gets an answer."""
        return less_label_means((self.prediction == answer).astype(float), self.label)

    def sums(
        self,
        shows: Float[np.ndarray, "sample draw"],
        values: Float[np.ndarray, "sample draw"],
    ) -> Float[np.ndarray, "label draw"]:
        """For each label how far values go with what is shown."""
        of_label = Groups(self.label, int(self.label.max()) + 1, declared=True)
        return of_label.sums(less_label_means(shows, self.label) * values)


def most_crops(audit: Audit, options: TRoVeOptions) -> int:
    """How many crops the model is asked about at most, where there is something to learn."""
    samples = len(audit.samples)
    is_wanted = options.crops and options.by_pictures and not options.paper
    if not is_wanted or samples > SEEN or not Answers.can_ask_about_changes(audit):
        return 0
    return samples * CROPS**2


def foretell(
    audit: Audit, options: TRoVeOptions, observations: Observations, first: int
) -> tuple[Candidates, list[AnswerTest]]:
    """A candidate for each answer that could be learned, and their tests.

    The candidates have the numbers from `first` on. There are none where no picture is unlike
    another, or where hardly any samples get the same wrong answer.
    """
    points = len(observations.frame_sample)
    found = [Candidates(points, [], [], np.zeros(0, dtype=int))]
    tests: list[AnswerTest] = []
    answers = _wrong_answers(observations)
    # what is not asked now is not asked later
    crops = most_crops(audit, options)
    audit.expect_more(max((audit.more_trials or 0) - crops, 0), likely=0)
    if not answers:
        return found[0], tests
    foreteller = Foreteller.of(audit, observations, crops=crops > 0)
    if foreteller is None:
        return found[0], tests
    deals = Deals.of(observations, audit.rng("foretold", "deals"))
    with audit.context.progress("learning wrong answers", len(answers)) as advance:
        for number, answer in enumerate(answers, start=first):
            candidate, test = _foretell(foreteller, deals, answer, number)
            found.append(candidate)
            tests.append(test)
            advance(1)
    return Candidates.join(found), tests


def _wrong_answers(observations: Observations) -> list[int]:
    """Those that enough samples get to learn from, the commonest first."""
    wrong = observations.prediction[~observations.correct]
    counts = np.bincount(wrong, minlength=observations.classes)
    commonest = np.argsort(-counts, kind="stable")[:MOST_ANSWERS]
    return [int(answer) for answer in commonest if counts[answer] >= FEWEST]


def _foretell(
    foreteller: Foreteller, deals: Deals, answer: int, number: int
) -> tuple[Candidates, AnswerTest]:
    """So many frames as lead most to an answer, and whether chance finds as much.

    First all other labels together are asked whether frames that look so lead to it; only then what
    those cost each of them. Which frames it is, the embedding says as well.
    """
    taken = deals.taken_for(answer)
    # what is rightly answered so does not tell whether it shows what leads there
    pictures = foreteller.pictures.besides(answer)
    own = pictures.own
    is_other = deals.label[own] != answer
    read = np.flatnonzero(is_other)
    by_pictures = pictures.scores(taken)
    scores = by_pictures[read]
    of_sequence = Groups(own[read], len(deals.label), declared=True)
    order = np.argsort(-scores, axis=0, kind="stable")
    others = np.flatnonzero(np.arange(deals.label.max() + 1) != answer)
    counts = [max(round(share * len(order)), 1) for share in SHARES]
    leads = []
    costs = []
    for count in counts:
        marked = np.zeros(order.shape, dtype=np.float32)
        np.put_along_axis(marked, order[:count], 1, axis=0)
        shows = (of_sequence.sums(marked) > 0).astype(float)
        leads.append(deals.sums(shows, taken)[others].sum(axis=0))
        costs.append(-deals.sums(shows, deals.correct)[others])
    by_count = np.stack(leads, axis=1)
    gate = FamilyTest.of_draws(by_count)
    # each deal has a choice as the data has
    best = (by_count / np.maximum(by_count.std(axis=0), TIE)).argmax(axis=1)
    statistics = np.stack(costs)[best, :, np.arange(len(best))]
    passed = float(gate.corrected(gate.p_value).min())
    test = FamilyTest.of_draws(statistics, gate=passed)
    count = counts[best[0]]
    told = np.full(foreteller.frames, -np.inf)
    told[foreteller.read] = foreteller.agree(by_pictures[:, 0], count, is_other)
    other_frames = foreteller.read[read]
    top = other_frames[np.argsort(-told[other_frames], kind="stable")[:count]]
    candidate = Candidates(foreteller.frames, [top], [told[top]], np.array([FORETOLD]))
    return candidate, AnswerTest(answer, number, others, test, told)


def _some_frames(frame_sample: IntPerFrame) -> Int[np.ndarray, " read"]:
    """The numbers of evenly spaced frames of each sequence, so many that all can be read."""
    counts = np.bincount(frame_sample)
    most = READ // len(counts)
    first = np.cumsum(counts) - counts
    chosen = [
        start
        + np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
        for start, count in zip(first, counts, strict=True)
    ]
    return np.concatenate(chosen) if most else np.zeros(0, dtype=int)


def _look(
    audit: Audit, read: Int[np.ndarray, " read"], rng: Generator
) -> Float[np.ndarray, "read dim"] | None:
    """What is seen in the frames of these numbers, in standard deviations; None: all look alike."""
    answers = audit.once(Answers.ask, audit)
    samples = {
        outcome.trial.sample.key: outcome.trial.sample for outcome in answers.outcomes
    }
    places = list(answers.row)
    frames = [
        samples[key].frames[number] for key, number in (places[row] for row in read)
    ]
    if len({frame.key for frame in frames}) < 2:
        return None
    look = Look.learn(frames, rng)
    parts = []
    with audit.context.progress("looking at pictures", len(frames)) as advance:
        for start in range(0, len(frames), AT_ONCE):
            some = frames[start : start + AT_ONCE]
            parts.append(look.read(some).astype(np.float32))
            advance(len(some))
    return _standardise(np.concatenate(parts))


@on_one_thread
def _seen(audit: Audit) -> Float[np.ndarray, "sample dim"]:
    """What the model makes of crops of the middle frame of each sequence, in standard deviations.

    The highest and the lowest value that any crop has of each principal component: a thing may
    stand anywhere.
    """
    answers = audit.once(Answers.ask, audit)
    samples = [outcome.trial.sample for outcome in answers.outcomes]
    middle = [(sample, len(sample.frames) // 2) for sample in samples]
    grids = Answers.embed_crops(audit, middle)
    crops = grids.reshape(len(samples) * CROPS**2, -1)
    centred = crops - crops.mean(axis=0)
    left, length, _ = linalg.svd(centred, full_matrices=False)
    is_told = length[:COMPONENTS] > TIE * length[0]
    components = left[:, :COMPONENTS][:, is_told]
    of_sample = components.reshape(len(samples), CROPS**2, -1)
    return _standardise(
        np.concatenate([of_sample.max(axis=1), of_sample.min(axis=1)], axis=1)
    )


def _standardise(
    rows: Float[np.ndarray, "row dim"],
) -> Float[np.ndarray, "row told"]:
    """Columns in standard deviations; those in which all rows are alike are left out."""
    spread = rows.std(axis=0)
    return np.asarray(rows[:, spread > 0] / spread[spread > 0])


def _even(rows: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, "row dim"]:
    """Of a weight that does not grow with the number of columns."""
    return np.asarray(rows / np.sqrt(max(rows.shape[1], 1)))


def _folds(groups: Groups, own: Int[np.ndarray, " read"], rng: Generator) -> list[Fold]:
    """Each part of whole groups is told by what is learned from the others."""
    part = groups.folds(FOLDS, rng)
    parts = [part != number for number in range(min(FOLDS, groups.count))]
    return [
        Fold(learned_from, ~learned_from[own])
        for learned_from in parts
        if learned_from.any()
    ]


@on_one_thread
def _ridge(points: Float[np.ndarray, "sample dim"]) -> Ridge:
    """Ridge regression on centred points, of as many values as one likes."""
    samples, dim = points.shape
    # pictures of a label may all be the same
    penalty = PENALTY * float((points**2).sum(axis=1).mean()) or 1.0
    if samples < dim:
        inner = linalg.cho_factor(points @ points.T + penalty * np.eye(samples))
        return lambda values: np.asarray(points.T @ linalg.cho_solve(inner, values))
    outer = linalg.cho_factor(points.T @ points + penalty * np.eye(dim))
    return lambda values: np.asarray(linalg.cho_solve(outer, points.T @ values))
