"""Which labels the files tell, each tell by a forest that saw other groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from cuescope_blind.analysis import FEW_GROUPS, foretold_gain
from cuescope_blind.files import (
    COLOURS,
    FILE_TELLS,
    METADATA,
    READERS,
    Columns,
    FileTell,
    columns_of,
)
from cuescope_blind.options import BlindOptions
from cuescope_blind.questions import deal_folds
from cuescope_blind.scores import Gain
from cuescope_sdk import Audit, Sample, UserError
from cuescope_sdk.statistics import (
    Groups,
    MeanAboveZero,
    benjamini_hochberg,
    change_interval,
)

TREES = 100
# a thousand labels stand in each leaf
LEAVES = 256
Codes = Int[np.ndarray, " sample"]


@dataclass(frozen=True, eq=False)
class Labelled:
    """Samples with one of `names` each; `codes` are the numbers of their labels."""

    samples: tuple[Sample, ...]
    names: tuple[str, ...]
    codes: Codes
    groups: Groups

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Labelled":
        """Those that have a label; raises UserError where these are not two labels."""
        # by key: folds are the same in whatever order samples come
        ordered = sorted(samples, key=lambda sample: sample.key)
        usable = tuple(sample for sample in ordered if sample.label is not None)
        names = tuple(sorted({str(sample.label) for sample in usable}))
        if len(names) < 2:
            raise UserError(
                "blind: there is nothing to tell apart",
                expected="samples of two labels or more",
                got=", ".join(names) or "no label",
            )
        codes = np.array([names.index(str(sample.label)) for sample in usable])
        return cls(usable, names, codes, Groups.of(usable))

    @cached_property
    def fold_groups(self) -> Groups:
        """Groups that share no picture: folds are of these."""
        # by content: a copy has another name
        keys = [sample.frames[0].key for sample in self.samples]
        names, pictures = np.unique(keys, return_inverse=True)
        count = self.groups.count
        # a node a group, and one a picture
        nodes = count + len(names)
        entries = (np.ones(len(keys)), (self.groups.codes, count + pictures))
        edges = sparse.coo_array(entries, shape=(nodes, nodes))
        joined, component = connected_components(edges, directed=False)
        # every picture is of a group, so no component is of pictures alone
        return Groups(component[self.groups.codes], int(joined), self.groups.declared)


@dataclass(frozen=True, eq=False)
class LabelResult:
    """What a tell knows of all labels, or of one (`label`).

    `correct` are the samples that it tells right: of a label, its own. `excess` is how much oftener
    than by chance, of each sample.
    """

    tell: FileTell
    label: str | None
    correct: Bool[np.ndarray, " sample"]
    excess: Float[np.ndarray, " sample"]
    gain: Gain
    q_value: float | None = None

    @property
    def key(self) -> str:
        """The key of its feature."""
        return self.tell.key if self.label is None else f"{self.tell.key}: {self.label}"


@dataclass(frozen=True, eq=False)
class LabelStudy:
    """The results of an audit, findings first.

    `chances` has the learner's probability of each sample's label, None where no file was there.
    """

    data: Labelled
    results: tuple[LabelResult, ...]
    chances: Float[np.ndarray, " sample"] | None


def is_labelled(samples: Sequence[Sample]) -> bool:
    """Whether all samples show something, and are asked the same with the same choices."""
    asked = {(sample.question, frozenset(sample.choices)) for sample in samples}
    return len(asked) == 1 and all(sample.frames for sample in samples)


def label_study(audit: Audit) -> LabelStudy:
    """All that is measured; for `audit.once`."""
    data = audit.once(labelled_samples, audit)
    fold = audit.once(label_folds, audit)
    results: list[LabelResult] = []
    chances = None
    for tell, columns in audit.once(all_columns, audit):
        seed = audit.derive_seed("forest", tell.key)
        probability = forest_probability(columns, data.codes, fold, seed)
        if tell is METADATA:
            chances = probability[np.arange(len(data.codes)), data.codes]
        said = probability.argmax(axis=1)
        results += label_results(data, tell, said, audit.options)
    q_values = benjamini_hochberg([result.gain.p_value for result in results])
    corrected = []
    for result, q_value in zip(results, q_values, strict=True):
        corrected.append(replace(result, q_value=q_value))
    corrected.sort(key=lambda result: _rank(result, audit.options))
    return LabelStudy(data, tuple(corrected), chances)


def labelled_samples(audit: Audit) -> Labelled:
    """The labelled samples of an audit; for `audit.once`."""
    return Labelled.of(audit.samples)


def label_folds(audit: Audit) -> Codes:
    """The fold of each sample; for `audit.once`."""
    data = audit.once(labelled_samples, audit)
    groups = data.fold_groups
    if groups.count < 2:
        raise UserError("blind: every sample shares a group", expected="two groups")
    folds = min(audit.options.folds, groups.count)
    return deal_folds(groups, folds, audit.rng("folds"))


def all_columns(audit: Audit) -> list[tuple[FileTell, Columns]]:
    """What each tell sees; those that see nothing are left out. For `audit.once`."""
    data = audit.once(labelled_samples, audit)
    facts: list[dict[str, float | str | None]] = []
    with audit.context.progress("files read", len(data.samples)) as advance:
        for sample in data.samples:
            known: dict[str, float | str | None] = {}
            for read in READERS:
                known |= read(sample)
            facts.append(known)
            advance(1)
    seen = []
    for tell in (METADATA, COLOURS, *FILE_TELLS):
        columns = columns_of(facts, tell)
        if columns is not None:
            seen.append((tell, columns))
    return seen


def forest_probability(
    columns: Columns,
    codes: Codes,
    fold: Codes,
    seed: int,
) -> Float[np.ndarray, "sample label"]:
    """The probability of every label, from trees that saw no sample of its fold.

    Extremely randomised trees (Geurts et al., 2006), each label with the same weight.
    """
    # late: half a second
    from sklearn.ensemble import ExtraTreesClassifier

    probability = np.zeros((len(codes), int(codes.max()) + 1))
    for number in np.unique(fold).tolist():
        training = fold != number
        forest = ExtraTreesClassifier(
            TREES,
            max_leaf_nodes=LEAVES,
            class_weight="balanced",
            # of scikit-learn, which takes 32 bits
            random_state=seed % 2**32,
        )
        forest.fit(columns[training], codes[training])
        # a label that no other fold has is not learned
        learned = np.ix_(~training, forest.classes_)
        probability[learned] = forest.predict_proba(columns[~training])
    return probability


def label_results(
    data: Labelled,
    tell: FileTell,
    said: Codes,
    options: BlindOptions,
) -> Iterator[LabelResult]:
    """The gain on all labels, and on each that has groups enough."""
    labels = np.arange(len(data.names))
    is_label = data.codes[:, None] == labels
    is_said = said[:, None] == labels
    shares = is_label.mean(axis=0)
    said_shares = is_said.mean(axis=0)
    # where what is said has nothing to do with the label, each has the mean 0
    excess = (is_label - shares) * (is_said - said_shares)
    together = excess.sum(axis=1)
    right = said == data.codes
    chance = float(shares @ said_shares)
    gain = _gain(
        together,
        data.groups,
        1.0,
        len(said),
        float(right.mean()),
        chance,
        options.confidence,
    )
    yield LabelResult(tell, None, right, together, gain)
    # of two labels one is as well told as the other
    if len(labels) == 2 or not options.by_kind:
        return
    for label, name in enumerate(data.names):
        own = is_label[:, label]
        if data.groups.take(own).count < FEW_GROUPS:
            continue
        share = shares[label]
        gain = _gain(
            excess[:, label],
            data.groups,
            1 / (share * (1 - share)),
            int(own.sum()),
            float(is_said[own, label].mean()),
            float(is_said[~own, label].mean()),
            options.confidence,
        )
        yield LabelResult(tell, name, right & own, excess[:, label], gain)


def _gain(
    excess: Float[np.ndarray, " sample"],
    groups: Groups,
    scale: float,
    n: int,
    accuracy: float,
    chance: float,
    confidence: float,
) -> Gain:
    bounded = np.clip(excess, -1, 1)
    low, high = change_interval(bounded, groups, confidence=confidence)
    return Gain(
        n,
        accuracy,
        chance,
        accuracy - chance,
        None if low is None else max(-1.0, scale * low),
        None if high is None else min(1.0, scale * high),
        MeanAboveZero(bounded, groups).p_value(),
    )


def is_label_finding(result: LabelResult, options: BlindOptions) -> bool:
    """Whether labels are told, and oftener than luck explains."""
    if result.q_value is None:
        return False
    return bool(result.gain.gain >= options.min_gain and result.q_value <= options.fdr)


def _rank(result: LabelResult, options: BlindOptions) -> tuple[bool, bool, float]:
    return (
        not is_label_finding(result, options),
        result.label is not None,
        -result.gain.gain,
    )


def smallest_told(
    study: LabelStudy, options: BlindOptions
) -> tuple[LabelResult, float | None] | None:
    """A tell on all labels without a finding, and the gain it would need; None where all are."""
    missed = not_told(study, options)
    if not missed:
        return None
    widest = max(missed, key=lambda result: np.var(result.excess))
    # one side alone is looked at
    level = 2 * options.fdr / len(study.results)
    groups = study.data.groups
    return widest, foretold_gain(widest.excess, groups, widest.gain.chance, level)


def not_told(study: LabelStudy, options: BlindOptions) -> list[LabelResult]:
    """The tells on all labels that are no finding."""
    overall = [result for result in study.results if result.label is None]
    return [result for result in overall if not is_label_finding(result, options)]
