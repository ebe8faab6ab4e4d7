"""The five rankings as functions of arrays.

A *point* is a sequence, or a frame held still with the label and the answer of its sequence. A
`Slice` holds points with a strength; for a label, slices are ranked by their value, and points
within a slice by their strength.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

# of the support vector machine, as the code of Jain et al. (2022) tries
PENALTIES = np.logspace(-6, 0, 7)
TINY = np.finfo(np.float64).eps
# a component of equal points has no variance, and its density would be infinite
FLOOR = 1e-6  # the default of scikit-learn's GaussianMixture (reg_covar)
TOLERANCE = 1e-3  # the default of scikit-learn's GaussianMixture (tol)
# as the authors' code has them, Domino's and George's
DOMINO_COMPONENTS = 25  # Eyuboglu et al., 2022
DOMINO_DIMS = 128  # principal components (Eyuboglu et al., 2022)
DOMINO_STEPS = 100  # Eyuboglu et al., 2022
STARTS = 3  # of a mixture (Sohoni et al., 2020)
GEORGE_DIMS = 2  # Sohoni et al., 2020

Some = Int[np.ndarray, " some"]  # numbers of points
PerDim = Float[np.ndarray, "point dim"]
PerClass = Float[np.ndarray, "point class"]
PerSlice = Float[np.ndarray, "point slice"]
Folds = list[tuple[np.ndarray, np.ndarray]]  # training and test points


@dataclass(frozen=True, eq=False)
class Points:
    """What the methods see of each point.

    `embedding` (point, dim), `label` and `prediction` (class numbers), `probability`
    (point, class), `group` (what was drawn together), `fitted` (the points that slices may be
    made from), `labels` (the names of the classes).
    """

    embedding: np.ndarray
    label: np.ndarray
    probability: np.ndarray
    group: np.ndarray
    fitted: np.ndarray
    prediction: np.ndarray
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def correct(self) -> np.ndarray:
        """Whether the point's answer is its label."""
        return np.asarray(self.prediction == self.label)

    @property
    def classes(self) -> int:
        """Size of the label set."""
        return len(self.labels)

    def draw(self, label: int, most: int, rng: Generator) -> Some:
        """At most so many of the fitted points of a label."""
        return choose(self.fitted & (self.label == label), most, rng)


@dataclass(frozen=True, eq=False)
class Slice:
    """Points that belong together, strongest first, and what the slice is worth for each label.

    `core` marks the points that count as inside where accuracies are compared.
    """

    name: str
    points: np.ndarray
    strength: np.ndarray
    core: np.ndarray
    value: Mapping[int, float] = field(default_factory=dict)


def make_slice(
    name: str,
    points: Some,
    strength: Float[np.ndarray, " some"],
    value: Mapping[int, float],
    core: Bool[np.ndarray, " some"] | None = None,
) -> Slice:
    """A slice with its points sorted; ties go to the lower point."""
    if core is None:
        core = np.ones(len(points), dtype=bool)
    # by number among equals: the same ranking on every machine
    order = np.lexsort((points, -strength))
    strength = strength[order].astype(np.float64)
    return Slice(name, points[order], strength, core[order], value)


def choose(chosen: Bool[np.ndarray, " point"], most: int, rng: Generator) -> Some:
    """At most so many of the points, in order."""
    points = np.flatnonzero(chosen)
    if len(points) > most:
        points = np.sort(rng.choice(points, most, replace=False))
    return points


def reduce(
    embedding: PerDim,
    fitted: Some,
    dims: int,
    seed: int,
) -> Float[np.ndarray, "point component"]:
    """Principal components of the fitted points, for all points; 0 where these are all the same."""
    from sklearn.decomposition import PCA

    # models answer in float32 or less; covariances need more digits
    points = embedding.astype(np.float64)
    used = points[fitted]
    # equal points have no component at all, and would be NaN after PCA
    if np.ptp(used, axis=0).max() == 0:
        return np.zeros((len(points), 1))
    # PCA has no more components than points or dims
    components = min(dims, *used.shape)
    # scikit-learn takes seeds of 32 bits
    pca = PCA(components, random_state=seed % 2**32).fit(used)
    return np.asarray(pca.transform(points))


# ------------------------------------------------------------------------------------- Domino


@dataclass(frozen=True, eq=False)
class Mixture:
    """Parameters of Domino's mixture, one row a component (Eyuboglu et al., 2022, section 4.2)."""

    weight: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    label: np.ndarray
    prediction: np.ndarray

    def log_gaussian(self, z: PerDim) -> PerSlice:
        """log P(slice) + log P(z | slice), diagonal covariances."""
        precision = 1 / self.variance
        of_mean = (self.mean**2 * precision).sum(axis=1)
        mixed = 2 * z @ (self.mean * precision).T
        # (z - mean)^2 multiplied out: three products in place of a (point, slice, dim) array
        squares = of_mean - mixed + z**2 @ precision.T
        volume = np.log(2 * np.pi * self.variance)
        log = np.log(self.weight) - 0.5 * (volume.sum(axis=1) + squares)
        return np.asarray(log)


def fit_mixture(
    z: PerDim,
    label: PerClass,
    prediction: PerClass,
    start: Int[np.ndarray, " point"],
    weight: float,
) -> tuple[Mixture, PerSlice]:
    """Expectation maximisation from hard clusters `start`: the mixture, and responsibilities.

    scikit-learn's GaussianMixture takes no label and prediction beside the embedding. `weight`
    is that of their log likelihoods; `prediction` holds probabilities, which are taken as
    counts. `FLOOR` is added to variances; a change of the mean log likelihood below `TOLERANCE`
    ends it.
    """
    count = int(start.max()) + 1
    share = np.eye(count)[start]
    last = -np.inf
    for _ in range(DOMINO_STEPS):
        mixture = _maximise(z, label, prediction, share)
        share, likelihood = responsibilities(mixture, z, label, prediction, weight)
        if abs(likelihood - last) < TOLERANCE:
            break
        last = likelihood
    return mixture, share


def _maximise(
    z: PerDim,
    label: PerClass,
    prediction: PerClass,
    share: PerSlice,
) -> Mixture:
    # an empty component must not divide by 0
    total = share.sum(axis=0) + 10 * TINY
    size = total[:, None]
    mean = share.T @ z / size
    # rounding may make this difference a little negative: see the floor below
    variance = share.T @ z**2 / size - mean**2
    return Mixture(
        weight=total / len(z),
        mean=mean,
        variance=np.maximum(variance, 0) + FLOOR,
        label=share.T @ label / size,
        prediction=share.T @ prediction / size,
    )


def responsibilities(
    mixture: Mixture,
    z: PerDim,
    label: PerClass | None,
    prediction: PerClass | None,
    weight: float = 1.0,
) -> tuple[PerSlice, float]:
    """P(slice | point), by embedding alone where label and prediction are None; mean likelihood."""
    log = mixture.log_gaussian(z)
    if label is not None:
        # TINY: a label that a component never had would be log 0
        log = log + weight * np.log(label @ mixture.label.T + TINY)
    if prediction is not None:
        log = log + weight * np.log(prediction @ mixture.prediction.T + TINY)
    # the largest as 0: exp of large negative logs would be 0 for every slice
    top = log.max(axis=1, keepdims=True)
    sums = np.exp(log - top).sum(axis=1, keepdims=True)
    total = top + np.log(sums)
    return np.exp(log - total), float(total.mean())


def confusion_start(
    points: Points,
    fitted: Some,
    components: int,
    rng: Generator,
) -> Some:
    """A component for each point, of those of its cell of label and prediction, at random.

    Components are dealt to the cells that occur in turn.
    """
    code = points.label[fitted] * points.classes + points.prediction[fitted]
    occurring, cell = np.unique(code, return_inverse=True)
    cells = len(occurring)
    # how many components a cell gets; with more cells than components they share one
    turns = np.maximum((components - 1 - cell % components) // cells + 1, 1)
    start = (cell + cells * rng.integers(turns)) % components
    # numbered anew: by luck a component may have got no point
    _, number = np.unique(start, return_inverse=True)
    return np.asarray(number)


def domino(points: Points, options: Any, seed: int, rng: Generator) -> list[Slice]:
    """Slices of a mixture over embedding, label and prediction (Domino).

    A slice's value for a label is P(label | slice) - P(predicted | slice): how much of the label
    the model misses there. Points that were not fitted join by their embedding alone, so that
    their errors have no part in it.
    """
    from sklearn.cluster import KMeans

    fitted = choose(points.fitted, options.most * points.classes, rng)
    z = reduce(points.embedding, fitted, DOMINO_DIMS, seed)
    # k-means cannot start more clusters than there are different points
    distinct = np.unique(z[fitted], axis=0)
    components = min(DOMINO_COMPONENTS, len(distinct))
    if options.start == "k-means":
        # scikit-learn's, as in the authors' code: another start would be another mixture
        clusters = KMeans(components, n_init=1, random_state=seed % 2**32)
        start = clusters.fit(z[fitted]).labels_
    else:
        start = confusion_start(points, fitted, components, rng)
    one_hot = np.eye(points.classes)[points.label]
    mixture, _ = fit_mixture(
        z[fitted],
        one_hot[fitted],
        points.probability[fitted],
        start,
        options.weight,
    )
    informed, _ = responsibilities(
        mixture, z, one_hot, points.probability, options.weight
    )
    # measured points must not join a slice because they are errors
    blind, _ = responsibilities(mixture, z, None, None)
    share = np.where(points.fitted[:, None], informed, blind)
    best = share.argmax(axis=1)
    missed = mixture.label - mixture.prediction
    slices = []
    for number in np.unique(best).tolist():
        members = np.flatnonzero(best == number)
        value = dict(enumerate(missed[number].tolist()))
        slices.append(
            make_slice(f"slice {number}", members, share[members, number], value)
        )
    return slices


# ------------------------------------------------------------------------------------- George


def george(points: Points, options: Any, seed: int, rng: Generator) -> list[Slice]:
    """Clusters within each class, their number by silhouette (George; Sohoni et al., 2020).

    A cluster's value is the share of errors among its points of the class. For the ranking of the
    class, every other point joins the cluster of the class that it is likeliest of.
    """
    slices = []
    for label in np.unique(points.label).tolist():
        mine = points.draw(label, options.most, rng)
        # two clusters of two points would be single points, without a silhouette
        if len(mine) < 3:
            continue
        z = reduce(points.embedding, mine, GEORGE_DIMS, seed)
        model = best_mixture(z[mine], options.clusters, seed)
        if model is None:
            continue
        best = model.predict(z)
        # strength must order frames of other labels too: near the centre is most like it
        distance = np.linalg.norm(z - model.means_[best], axis=1)
        for number in np.unique(best[mine]).tolist():
            inside = mine[best[mine] == number]
            members = np.flatnonzero(best == number)
            name = f"{points.labels[label]}: cluster {number}"
            errors = 1 - points.correct[inside].mean()
            slices.append(
                make_slice(name, members, -distance[members], {label: float(errors)})
            )
    return slices


def best_mixture(z: PerDim, most: int, seed: int) -> Any:
    """The Gaussian mixture whose clusters have the best mean silhouette; None where none has.

    Each cluster counts alike, as in the published code, which of equals takes the more clusters.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import silhouette_samples
    from sklearn.mixture import GaussianMixture

    best = None
    highest = -np.inf
    distinct = np.unique(z, axis=0)
    # a silhouette needs fewer clusters than points
    greatest = min(most, len(distinct) - 1)
    for count in range(2, greatest + 1):
        model = GaussianMixture(count, n_init=STARTS, random_state=seed % 2**32)
        # a mixture that is still moving is judged as it is
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            cluster = model.fit_predict(z)
        numbers = np.unique(cluster)
        # scikit-learn has no silhouette for one cluster, or for single points
        if len(numbers) in (1, len(cluster)):
            continue
        silhouette = silhouette_samples(z, cluster)
        mean = np.mean([silhouette[cluster == number].mean() for number in numbers])
        # >=, as published: of equals the later, with more clusters
        if mean >= highest:
            best = model
            highest = float(mean)
    return best


# ------------------------------------------------------------------------ Distilling failures


def distilling_failures(
    points: Points,
    options: Any,
    seed: int,
    rng: Generator,
) -> list[Slice]:
    """A linear SVM per class tells right from wrong (Jain et al., 2023).

    Every point is ranked by how far it lies on the side of the class's errors. A class without
    both right and wrong points has no machine. The value is the machine's balanced accuracy in
    cross-validation, 0.5 where there are too few groups for folds.
    """
    unit = points.embedding.astype(np.float64)
    fitted = unit[points.fitted]
    mean = fitted.mean(axis=0)
    spread = fitted.std(axis=0)
    # whitened by fitted points only: measured ones must have no part in the machine
    unit = (unit - mean) / np.where(spread > 0, spread, 1.0)
    lengths = np.linalg.norm(unit, axis=1, keepdims=True)
    # a point at the mean has length 0
    unit /= np.maximum(lengths, TINY)
    everyone = np.arange(len(points))
    slices = []
    for label in np.unique(points.label).tolist():
        mine = points.draw(label, options.most, rng)
        # the published code stops here with an error (docs/trove.md)
        if len(np.unique(points.correct[mine])) < 2:
            continue
        right = points.correct[mine].astype(int)
        folds = group_folds(right, points.group[mine], options.folds)
        machine, accuracy = fit_svm(unit[mine], right, folds)
        # the machine is positive for right answers
        towards_error = -machine.decision_function(unit)
        core = towards_error > 0
        name = f"failures of {points.labels[label]}"
        slices.append(
            make_slice(name, everyone, towards_error, {label: accuracy}, core)
        )
    return slices


def group_folds(
    right: Int[np.ndarray, " point"],
    group: Int[np.ndarray, " point"],
    folds: int,
) -> Folds:
    """Training and test points of each fold, whole groups; none where either side has too few."""
    from sklearn.model_selection import StratifiedGroupKFold

    # whole groups: clips of one source on both sides would be known by heart
    right_groups = np.unique(group[right == 1])
    wrong_groups = np.unique(group[right == 0])
    if min(len(right_groups), len(wrong_groups)) < folds:
        return []
    splits = list(StratifiedGroupKFold(folds).split(right[:, None], right, group))
    parts = chain.from_iterable(splits)
    # a fold of right answers alone has no balanced accuracy
    usable = all(len(np.unique(right[part])) == 2 for part in parts)
    return splits if usable else []


def fit_svm(
    unit: PerDim,
    right: Int[np.ndarray, " point"],
    folds: Folds,
) -> tuple[Any, float]:
    """The machine with the penalty of the best cross-validated balanced accuracy, and that."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    # balanced: errors are few, and calling all right would else be the best machine
    machine = SVC(C=1.0, kernel="linear", class_weight="balanced")
    if not folds:
        return machine.fit(unit, right), 0.5
    # of equals it takes the first: the smallest C, and so the simplest machine
    search = GridSearchCV(
        machine,
        {"C": PENALTIES},
        scoring="balanced_accuracy",
        cv=folds,
    )
    search.fit(unit, right)
    return search.best_estimator_, float(search.best_score_)


# ------------------------------------------------------------------------- orders of all frames


def one_order(name: str, strength: Float[np.ndarray, " point"], classes: int) -> Slice:
    """One slice of all points for every label; its first tenth counts as inside."""
    points = np.arange(len(strength))
    order = np.argsort(-strength, kind="stable")
    # one slice of everything has no outside to compare with, so a part must be inside
    tenth = order[: max(len(order) // 10, 1)]
    value = dict.fromkeys(range(classes), float(strength.mean()))
    return make_slice(name, points, strength, value, np.isin(points, tenth))
