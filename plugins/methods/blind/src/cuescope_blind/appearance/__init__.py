"""The study of labels: what of a label is told by files, or by colours alone.

Of data that have one set of labels and no questions. Each tell is a forest that saw other groups.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from cuescope_blind.questions import deal_folds, joined_groups
from cuescope_blind.results import FEW_GROUPS, Result, Study, Wording, corrected
from cuescope_blind.scores import Gain
from cuescope_blind.tells.files import (
    COLOURS,
    FILE_TELLS,
    METADATA,
    Columns,
    FileTell,
    Value,
    colours_of,
    columns_of,
    facts_of,
)
from cuescope_sdk import Audit, Sample, UserError
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Groups, MeanAboveZero, Permutation, change_interval

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
        return joined_groups(self.groups, keys)


def is_labelled(samples: Sequence[Sample]) -> bool:
    """True if all samples show something, and are asked the same with the same choices."""
    asked = {(sample.question, frozenset(sample.choices)) for sample in samples}
    return len(asked) == 1 and all(sample.frames for sample in samples)


def label_statement(result: Result) -> str:
    """The finding as a sentence; the report puts the tell's name into it."""
    gain = result.gain
    if result.only is None:
        return (
            f"From {{feature}} alone, the label is told right of {gain.accuracy:.1%} of "
            f"{count_of(gain.n, 'samples')}; chance level {gain.chance:.1%} ({gain.points})."
        )
    return (
        f"From {{feature}} alone, '{result.only}' is said of {gain.accuracy:.1%} of its "
        f"{count_of(gain.n, 'samples')}, and of {gain.chance:.1%} of all others ({gain.points})."
    )


def redraw_labels(audit: Audit, result: Result, draws: int) -> Iterator[float]:
    """How often labels that are dealt anew are told right by the same tell."""
    data = audit.once(labelled_samples, audit)
    [columns] = [
        columns
        for tell, columns in audit.once(seen_columns, audit)
        if tell.key == result.key
    ]
    fold = audit.once(label_folds, audit)
    # one stratum: any sample may be dealt any label
    stratum = np.zeros(len(data.codes), int)
    orders = Permutation.orders(stratum, draws, audit.rng("redraws"))
    for draw, order in enumerate(orders):
        codes = data.codes[order]
        seed = audit.derive_seed("forest", result.key, str(draw))
        said = forest_probability(columns, codes, fold, seed).argmax(axis=1)
        yield float((said == codes).mean())


WORDING = Wording(
    noun="samples",
    title="What files tell of labels (percent)",
    note=f"'{COLOURS.key}' sees the picture, and what it tells may belong to the label. Of one "
    "label, chance is how often it is said of samples of other labels.",
    statement=label_statement,
    next_step="Look at the samples that show each tell: did one label come from another source, "
    "camera or tool? Colours may belong to the label itself. To see whether a model uses a tell, "
    "write all files anew in one size and quality, and ask it again.",
    nothing_found="These tells were not found, and more samples find smaller gains. Backgrounds "
    "and objects are for the other methods: `cuescope methods --data DATA`.",
    redrawn="labels dealt anew among the samples",
    redraw=redraw_labels,
)


def label_study(audit: Audit) -> Study:
    """All that is measured of labels; for `audit.once`."""
    data = audit.once(labelled_samples, audit)
    fold = audit.once(label_folds, audit)
    results: list[Result] = []
    scores = None
    for tell, columns in audit.once(seen_columns, audit):
        seed = audit.derive_seed("forest", tell.key)
        probability = forest_probability(columns, data.codes, fold, seed)
        if tell is METADATA:
            own = probability[np.arange(len(data.codes)), data.codes]
            scores = own - 1 / len(data.names)
        results += label_results(data, tell, probability.argmax(axis=1))
    return Study(
        tuple(sample.key for sample in data.samples),
        data.groups,
        f"{len(data.samples):,} of {len(data.names)} labels",
        data.groups.count - data.fold_groups.count,
        corrected(results, audit.options),
        scores,
        WORDING,
    )


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


def seen_columns(audit: Audit) -> list[tuple[FileTell, Columns]]:
    """What each tell sees; those that see nothing are left out. For `audit.once`."""
    data = audit.once(labelled_samples, audit)
    facts: list[dict[str, Value]] = []
    with audit.context.progress("files read", len(data.samples)) as advance:
        for sample in data.samples:
            facts.append(facts_of(sample) | colours_of(sample))
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
            class_weight="balanced",
            # a thousand labels stand in each leaf
            max_leaf_nodes=256,
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
) -> Iterator[Result]:
    """The gain on all labels, and on each that has groups enough."""
    labels = np.arange(len(data.names))
    is_label = data.codes[:, None] == labels
    is_said = said[:, None] == labels
    shares = is_label.mean(axis=0)
    said_shares = is_said.mean(axis=0)
    # where what is said has nothing to do with the label, each has the mean 0
    excess = (is_label - shares) * (is_said - said_shares)
    right = said == data.codes
    everyone = np.ones(len(said), dtype=bool)
    together = excess.sum(axis=1)
    means = (float(right.mean()), float(shares @ said_shares))
    gain = _gain(together, data.groups, 1.0, len(said), means)
    correct = right.astype(float)
    yield Result(tell.key, tell.name, None, everyone, correct, together, gain)
    # of two labels one is as well told as the other
    if len(labels) == 2:
        return
    for label, name in enumerate(data.names):
        own = is_label[:, label]
        if data.groups.take(own).count < FEW_GROUPS:
            continue
        share = shares[label]
        scale = 1 / (share * (1 - share))
        means = (float(is_said[own, label].mean()), float(is_said[~own, label].mean()))
        told = excess[:, label]
        gain = _gain(told, data.groups, scale, int(own.sum()), means)
        yield Result(tell.key, tell.name, name, everyone, correct * own, told, gain)


def _gain(
    excess: Float[np.ndarray, " sample"],
    groups: Groups,
    scale: float,
    n: int,
    means: tuple[float, float],
) -> Gain:
    accuracy, chance = means
    bounded = np.clip(excess, -1, 1)
    low, high = change_interval(bounded, groups)
    return Gain(
        n,
        accuracy,
        chance,
        accuracy - chance,
        None if low is None else max(-1.0, scale * low),
        None if high is None else min(1.0, scale * high),
        MeanAboveZero(bounded, groups).p_value(),
    )
