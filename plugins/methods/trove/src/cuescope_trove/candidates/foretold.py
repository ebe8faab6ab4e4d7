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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator
from scipy import linalg

from cuescope_sdk import Audit
from cuescope_sdk.locating import Look
from cuescope_sdk.maths import normalise, on_one_thread
from cuescope_sdk.statistics import FamilyTest
from cuescope_sdk.stills import CROPS, Answers
from cuescope_trove.candidates.groups import FORETOLD, Candidates
from cuescope_trove.candidates.lists import Deals, Lists
from cuescope_trove.candidates.views import View
from cuescope_trove.maths.ranking import r_precision
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import IntPerFrame, IntPerPair, Observations, Pairs, PerPair

FEWEST = 6  # samples that wrongly get an answer, from which on something is learned
MOST_ANSWERS = 20  # the commonest wrong ones
READ = 20_000  # frames at most, of a few milliseconds each
SEEN = 256  # samples at most whose crops the model is asked about: of more the embedding tells
COMPONENTS = 64  # of what it makes of crops
AT_ONCE = 500
TIE = 1e-9


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

    def visible(
        self, observations: Observations, pairs: Pairs, answer: IntPerPair
    ) -> PerPair:
        """How much of each pair's cluster pictures find among frames of labels beside an answer.

        Of as many frames as are in it, those that look most like sequences of other groups with it,
        the share that is in it (R-precision).
        """
        clusters, column = np.unique(pairs.cluster, return_inverse=True)
        is_shown = observations.member[self.read][:, clusters].toarray()
        scores = self.pictures.scores(self.pictures.shares(is_shown))
        label = self.pictures.label[self.pictures.own]
        found = np.zeros(len(pairs))
        for pair, number in enumerate(column):
            among = label != answer[pair]
            relevant = is_shown[among, number]
            order = np.argsort(-scores[among, number], kind="stable")
            found[pair] = r_precision(relevant[order], int(relevant.sum())) or 0.0
        return found


class AnswerTest(NamedTuple):
    """The tests of a candidate that was learned to foretell an answer: one for each other label.

    `told` is how far each frame looks as if it led there; -inf where it was not looked at.
    """

    answer: int
    candidate: int
    labels: Int[np.ndarray, " test"]
    test: FamilyTest
    told: Float[np.ndarray, " frame"]


class Foretold(NamedTuple):
    """What was learned from answers, its tests, and what tells it; None: nothing was learned."""

    candidates: Candidates
    tests: Sequence[AnswerTest]
    foreteller: Foreteller | None


def most_crops(audit: Audit, options: TRoVeOptions) -> int:
    """How many crops the model is asked about at most, where there is something to learn."""
    samples = len(audit.samples)
    is_wanted = options.crops and options.by_pictures and not options.paper
    if not is_wanted or samples > SEEN or not Answers.can_ask_about_changes(audit):
        return 0
    return samples * CROPS**2


def foretell(
    audit: Audit, options: TRoVeOptions, observations: Observations, first: int
) -> Foretold:
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
        return Foretold(found[0], tests, None)
    foreteller = Foreteller.of(audit, observations, crops=crops > 0)
    if foreteller is None:
        return Foretold(found[0], tests, None)
    deals = Deals.of(observations, audit.rng("foretold", "deals"))
    with audit.context.progress("learning wrong answers", len(answers)) as advance:
        for number, answer in enumerate(answers, start=first):
            candidate, test = _foretell(foreteller, deals, answer, number)
            found.append(candidate)
            tests.append(test)
            advance(1)
    return Foretold(Candidates.join(found), tests, foreteller)


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

    First all other labels together are asked whether frames whose pictures look so lead to it; only
    then what those cost each of them. Which frames it is, the embedding says as well.
    """
    # what is rightly answered so does not tell whether it shows what leads there
    pictures = foreteller.pictures.besides(answer)
    by_pictures = pictures.scores(deals.taken_for(answer))
    lists = Lists.of(by_pictures, pictures.own, deals, answer)
    gate = FamilyTest.of_draws(lists.leads)
    passed = float(gate.corrected(gate.p_value).min())
    # each deal has its choices as the data has
    if foreteller.embedding is not None:
        counts = lists.counts[lists.best]
        told = foreteller.embedding.agree(by_pictures, counts, lists.among)
        lists = Lists.of(told, pictures.own, deals, answer)
    test = FamilyTest.of_draws(lists.costs, gate=passed)
    told_of = np.full(foreteller.frames, -np.inf)
    told_of[foreteller.read] = lists.scores[:, 0]
    members = foreteller.read[lists.members]
    candidate = Candidates(
        foreteller.frames, [members], [told_of[members]], np.array([FORETOLD])
    )
    return candidate, AnswerTest(answer, number, lists.others, test, told_of)


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
