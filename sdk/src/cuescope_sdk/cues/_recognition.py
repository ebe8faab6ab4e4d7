"""Which samples of any data show a cue: a probability each."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Bool, Float
from numpy.random import Generator
from scipy import special

from cuescope_core.auditing import Audit
from cuescope_sdk.cues._cue import Cue
from cuescope_sdk.cues._embedded import Embedded, Points, embed
from cuescope_sdk.cues._learning import IntPerSample, learn
from cuescope_sdk.statistics import Groups, Roc, TwoGroups

# of what people say of pictures: mean over ten test sets (Northcutt, Athalye and Mueller, 2021)
WRONGLY_TOLD = 0.033
SURE = float(special.logit(1 - WRONGLY_TOLD))
SHOWN = 0.5  # probability from which on a sample is listed
PerSample = Float[np.ndarray, " sample"]


@dataclass(frozen=True, eq=False)
class Recognition:
    """How likely each sample shows a cue.

    `told` are samples of the data that the cue's file tells of, `relearned` says that another
    embedder was taught by the examples' pictures. `auroc` is that of held-out examples.
    """

    score: PerSample
    log_odds: PerSample
    told: Bool[np.ndarray, " sample"]
    relearned: bool
    auroc: float | None

    @property
    def probability(self) -> PerSample:
        """Probability of each sample to show the cue, 0 to 1."""
        return np.asarray(special.expit(self.log_odds))

    @property
    def shown(self) -> IntPerSample:
        """The samples that likely show it, the likeliest first."""
        order = np.argsort(-self.log_odds, kind="stable")
        return np.asarray(order[self.probability[order] > SHOWN])

    @classmethod
    def ask(cls, audit: Audit, data: Embedded, cue: Cue) -> Self:
        """Recognise a cue in the data of an audit; examples are embedded where need be."""
        points, direction = embedded_examples(audit, data, cue)
        return cls.of(data, cue, points, direction, audit.rng("cue", cue.identity))

    @classmethod
    def of(
        cls,
        data: Embedded,
        cue: Cue,
        examples: Points,
        direction: Float[np.ndarray, " dim"] | None,
        rng: Generator,
    ) -> Self:
        """By embeddings of the examples; without a `direction` it is learned from them."""
        count = len(data.points)
        points = np.concatenate([data.points, examples])
        codes = labels_of_examples(data, cue)
        given = np.zeros(len(points), dtype=bool)
        given[count:] = [each.shows for each in cue.examples]
        auroc = cue.recogniser.auroc
        relearned = direction is None
        if direction is None:
            shows = np.where(np.arange(len(points)) < count, -1, given)
            label = np.concatenate([data.label, codes])
            groups = groups_with_examples(data, cue)
            direction, auroc = learn(points, label, shows, groups, rng)
        told = np.full(count, np.nan)
        is_real = np.ones(len(points), dtype=bool)
        is_real[count:] = [not each.made for each in cue.examples]
        for each in cue.examples:
            place = data.contents.get(each.content)
            if place is not None and not each.made:
                given[place] = each.shows
                if each.told:
                    told[place] = SURE if each.shows else -SURE
        score = points @ direction
        # labels of their own: examples are no draw of the data, and leave its shares alone
        label = np.concatenate([data.label, codes + len(data.labels)])
        groups_of_scores = TwoGroups.fit(
            score[is_real], label[is_real], given[is_real], 2 * len(data.labels) + 1
        )
        log_odds = groups_of_scores.log_odds(score[:count], data.label)
        is_told = np.isfinite(told)
        log_odds = np.where(is_told, told, log_odds)
        return cls(score[:count], log_odds, is_told, relearned, auroc)

    def agreement(
        self, shows: Bool[np.ndarray, " sample"], data: Embedded
    ) -> float | None:
        """AUROC against who is known to show it, within labels."""
        return Roc(self.log_odds, shows).auroc(data.label)


def embedded_examples(
    audit: Audit, data: Embedded, cue: Cue
) -> tuple[Points, Float[np.ndarray, " dim"] | None]:
    """Embeddings of a cue's examples, and its direction where the embedder is the same.

    Another one is shown the pictures of the file.
    """
    recogniser = cue.recogniser
    is_same = recogniser.embedder is not None and recogniser.embedder == audit.embedder
    if is_same and len(recogniser.direction) == data.points.shape[1]:
        return recogniser.examples, recogniser.direction
    pictures = cue.samples(data.samples[0])
    places = [data.contents.get(each.content) for each in cue.examples]
    # of samples that are in the data the pictures themselves were seen
    unseen = [n for n, place in enumerate(places) if place is None]
    points = np.empty((len(places), data.points.shape[1]))
    if unseen:
        points[unseen] = embed(audit, [pictures[number] for number in unseen])
    for number, place in enumerate(places):
        if place is not None:
            points[number] = data.points[place]
    return points, None


def labels_of_examples(data: Embedded, cue: Cue) -> IntPerSample:
    """The number of each example's label; of labels that the data do not have, one more."""
    numbers = {label: number for number, label in enumerate(data.labels)}
    codes = [numbers.get(str(each.label), len(numbers)) for each in cue.examples]
    return np.array(codes, dtype=int)


def groups_with_examples(data: Embedded, cue: Cue) -> Groups:
    """Groups that were drawn together, of the samples and then of the examples."""
    names: dict[object, int] = {}
    codes = []
    for group, key in [
        *((sample.group, sample.key) for sample in data.samples),
        *((each.group, each.sample) for each in cue.examples),
    ]:
        name = (key, None) if group is None else group
        codes.append(names.setdefault(name, len(names)))
    return Groups(np.array(codes), len(names), True)
