"""Groups of frames that may show a cue: coarse and fine clusters of several starts, and directions.

One clustering cuts a cue where its start happens to cut it. So every cluster of every start is a
candidate, and candidates overlap. What a cue has in common with nothing else is a direction of the
embedding more often than a cluster: hence independent components as well, for rare cues, and the
first principal components, for what sets many frames of a label apart from its others.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from cuescope_sdk.maths import normalise, on_one_thread, spherical_kmeans
from cuescope_trove.candidates.directions import apart_from_labels
from cuescope_trove.maths.clustering import Clusters
from cuescope_trove.maths.tails import Tail

Points = Float[np.ndarray, "point dim"]

# the start of what no clustering made
COMPONENT = -1
FORETOLD = -2
# standard deviations from which on a point shows a component
INDEPENDENT_TAIL = 1.5
# a cue in a quarter of the points would reach beyond a farther one
PRINCIPAL_TAIL = 1.0
ITERATIONS = 200  # scikit-learn's own limit
TOLERANCE = 1e-3  # members of the tails do not change below it
NOISE = 1e-6  # above the rounding of float32
# of the smaller one's points: two candidates that share so many are one thing
SAME = 0.5


@dataclass(frozen=True, eq=False)
class Candidates:
    """The `members` of each candidate, strongest first, how strongly they show it, and its `start`.

    Members and strengths are arrays of equal length. `points` are all that there are. `tails` are
    of those that are told beside the mean of a label, by their number.
    """

    points: int
    members: Sequence[np.ndarray]
    strength: Sequence[np.ndarray]
    start: np.ndarray
    tails: Mapping[int, Tail] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.members)

    @classmethod
    def of(cls, clusters: Clusters, start: int = 0) -> "Candidates":
        """The clusters of one clustering."""
        members = clusters.members
        strength = [clusters.strength[part] for part in members]
        starts = np.full(clusters.count, start)
        return cls(len(clusters.cluster), members, strength, starts)

    @classmethod
    def join(cls, parts: Sequence["Candidates"]) -> "Candidates":
        """Those of several clusterings of the same points."""
        members: list[np.ndarray] = []
        strength: list[np.ndarray] = []
        tails: dict[int, Tail] = {}
        for part in parts:
            tails |= {
                len(members) + number: tail for number, tail in part.tails.items()
            }
            members += part.members
            strength += part.strength
        start = np.concatenate([part.start for part in parts])
        return cls(parts[0].points, members, strength, start, tails)

    def take(self, chosen: Iterable[int]) -> "Candidates":
        """Some of them, in this order."""
        numbers = list(chosen)
        members = [self.members[number] for number in numbers]
        strength = [self.strength[number] for number in numbers]
        tails = {
            place: self.tails[number]
            for place, number in enumerate(numbers)
            if number in self.tails
        }
        return Candidates(self.points, members, strength, self.start[numbers], tails)

    @property
    def clusterings(self) -> set[int]:
        """The starts that clusters are of."""
        return set(self.start[self.start >= 0].tolist())

    @property
    def sizes(self) -> Int[np.ndarray, " candidate"]:
        """How many points each has."""
        return np.array(list(map(len, self.members)))

    @property
    def member(self) -> sparse.csr_array:
        """(point, candidate): which candidates a point is in."""
        point = np.concatenate(self.members)
        candidate = np.repeat(np.arange(len(self)), self.sizes)
        inside = np.ones(len(point), dtype=bool)
        shape = self.points, len(self)
        return sparse.csr_array((inside, (point, candidate)), shape=shape)


def several_clusterings(
    points: Points,
    counts: Sequence[int],
    seeds: Sequence[int],
    done: Callable[[int], object] = lambda step: None,
) -> Candidates:
    """Every cluster of every count, from a start of each seed. `done(1)` is called after each."""
    unit = normalise(points)
    parts = []
    for start, seed in enumerate(seeds):
        for count in counts:
            clusters = Clusters(*spherical_kmeans(unit, count, seed))
            parts.append(Candidates.of(clusters, start))
            done(1)
    return Candidates.join(parts)


@on_one_thread
def independent_components(points: Points, count: int, seed: int) -> Candidates:
    """The tails of at most `count` independent components (Hyvarinen, 1999).

    A cue that some points show makes one tail of its component, or the lack of it the other.
    """
    from sklearn.decomposition import FastICA

    unit = normalise(points).astype(np.float64)
    centred = unit - unit.mean(axis=0)
    # FastICA divides by the sign of the first dimension: in one that a network never uses it is 0
    centred = centred[:, np.ptp(unit, axis=0) > 0]
    count = _count_of_directions(centred, count)
    if count < 1:
        return _tails(np.zeros((len(unit), 0)), INDEPENDENT_TAIL)
    analysis = FastICA(
        count,
        whiten="unit-variance",
        whiten_solver="eigh",  # for many more points than dimensions
        random_state=seed % 2**32,  # it takes 32 bits
        max_iter=ITERATIONS,
        tol=TOLERANCE,
    )
    with warnings.catch_warnings():
        # A component that is still moving has the same tail but for a few points, and directions
        # without spread are not among the `count` that are kept.
        warnings.simplefilter("ignore", UserWarning)
        source = analysis.fit_transform(centred)
    return _tails(source, INDEPENDENT_TAIL)


def principal_components(
    points: Points, label: Int[np.ndarray, " point"], count: int
) -> Candidates:
    """The tails of at most `count` principal components of unit points less their label's mean.

    The means are taken away because what tells labels apart would be the first of all components.
    """
    from sklearn.decomposition import PCA

    apart = apart_from_labels(points, label)
    count = _count_of_directions(apart, count)
    if count < 1:
        return _tails(np.zeros((len(apart), 0)), PRINCIPAL_TAIL)
    analysis = PCA(count, whiten=True, svd_solver="covariance_eigh")
    beside = analysis.fit_transform(apart)
    means = analysis.transform(normalise(points)) - beside
    return _tails(beside, PRINCIPAL_TAIL, means)


def _count_of_directions(centred: Points, most: int) -> int:
    # no more directions than the points span: whitening would blow up noise
    rank = int(np.linalg.matrix_rank(centred, tol=NOISE * np.sqrt(len(centred))))
    return min(most, rank, len(centred) - 1)


def _tails(
    source: Float[np.ndarray, "point component"],
    start: float,
    mean: Float[np.ndarray, "point component"] | None = None,
) -> Candidates:
    """Both tails of each component, from so many standard deviations on; none is empty.

    `mean` is that of each point's label, where the `source` is beside it.
    """
    members: list[np.ndarray] = []
    strength = []
    tails = {}
    for sign, column in product((1, -1), range(source.shape[1])):
        along = sign * source[:, column]
        order = np.argsort(-along, kind="stable")
        tail_members = order[: int((along > start).sum())]
        if not len(tail_members):
            continue
        if mean is not None:
            tails[len(members)] = Tail(along, sign * mean[:, column], start)
        members.append(tail_members)
        strength.append(along[tail_members])
    starts = np.full(len(members), COMPONENT)
    return Candidates(len(source), members, strength, starts, tails)


def alike(member: sparse.csr_array) -> sparse.csr_array:
    """(candidate, candidate): whether they share enough points; sparse, as few do.

    `member` is a sparse (point, candidate).
    """
    # counts: a product of booleans would only say whether any point is shared
    counts = member.astype(np.int64)
    sizes = np.asarray(counts.sum(axis=0)).ravel()
    shared = (counts.T @ counts).tocoo()
    smaller = np.minimum(sizes[shared.row], sizes[shared.col])
    is_same = shared.data >= SAME * smaller
    places = shared.row[is_same], shared.col[is_same]
    return sparse.csr_array((is_same[is_same], places), shape=shared.shape)
