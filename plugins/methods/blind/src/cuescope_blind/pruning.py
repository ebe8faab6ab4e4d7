"""Fewer questions that are answered without looking: pruned, beside as many removed by chance."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy import sparse

from cuescope_blind.learner import out_of_fold
from cuescope_blind.questions import Questions, deal_folds
from cuescope_blind.scores import blind_scores, expected_correct, hardest
from cuescope_sdk import UserError
from cuescope_sdk.report import count_of, signed
from cuescope_sdk.statistics import Permutation

# learned anew in between: once the strongest tell is gone, its opposite may be one
ROUNDS = 5
SIGNIFICANT = 0.05


@dataclass(frozen=True, eq=False)
class Pruned:
    """The questions that are left, the blind gain on them, and on as many left by chance."""

    kept: Int[np.ndarray, " kept"]
    before: float
    gain: float
    by_chance: tuple[float, ...]

    @property
    def p_value(self) -> float:
        """How often removal by chance leaves a gain that is as near to 0."""
        # below 0 tells are turned round, and turned tells are tells: of noise pruning makes them
        as_near = sum(abs(gain) <= abs(self.gain) for gain in self.by_chance)
        return Permutation.p_value(as_near, len(self.by_chance))

    @property
    def words(self) -> str:
        """What pruning did, and whether it is an improvement."""
        # the nearest of all draws to nothing left: the mean alone would flatter pruning
        nearest = min(self.by_chance, key=abs)
        mean = float(np.mean(self.by_chance))
        verdict = "an improvement" if self.p_value <= SIGNIFICANT else "no improvement"
        turned = ""
        if self.gain < 0:
            turned = ". Below 0 the tells are turned round: prune fewer"
        return (
            f"{verdict}: on the {count_of(len(self.kept), 'questions')} that are left a "
            "learner without "
            f"pixels gains {signed(100 * self.gain)} points ({signed(100 * self.before)} on all); "
            f"with as many removed by chance {signed(100 * mean)}, {signed(100 * nearest)} at the "
            f"nearest to 0 ({len(self.by_chance)} draws; p = {self.p_value:.3f}){turned}"
        )


def prune(
    questions: Questions,
    columns: sparse.csr_array,
    count: int,
    folds: int,
    draws: int,
    rng: np.random.Generator,
) -> Pruned:
    """Remove so many questions that are most answered without looking, a part at a time.

    What the learner gains is measured on what is left, learned anew on it: a tell that pruning
    turned round is found there too. Test-set training (Brown et al., 2025) prunes so, and counts an
    improvement where it beats removal by chance. `columns` are those of all options.
    """
    total = len(questions)
    # never more than half, or what is left would be the questions that pruning likes
    if count > total // 2:
        raise UserError(
            f"--prune {count}",
            expected=f"at most half of {total:,} questions",
        )
    kept = np.arange(total)
    # in equal steps: what is removed in one round changes what the next one learns
    sizes = np.linspace(total, total - count, ROUNDS + 1).round().astype(int)
    before, scores = _learn(questions, columns, kept, folds, rng)
    for number, size in enumerate(sizes[1:]):
        if number:
            _, scores = _learn(questions, columns, kept, folds, rng)
        part = questions.take(kept)
        # sorted: `take` keeps the order of the questions, and the next round counts by it
        kept = np.sort(kept[hardest(part, scores, int(size))])
    gain, _ = _learn(questions, columns, kept, folds, rng)
    by_chance = []
    for _ in range(draws):
        # drawn anew from all: removal by chance knows no rounds
        drawn = np.sort(rng.choice(total, total - count, replace=False))
        by_chance.append(_learn(questions, columns, drawn, folds, rng)[0])
    return Pruned(kept, before, gain, tuple(by_chance))


def _learn(
    questions: Questions,
    columns: sparse.csr_array,
    kept: Int[np.ndarray, " kept"],
    folds: int,
    rng: np.random.Generator,
) -> tuple[float, np.ndarray]:
    """The learner's gain on the questions that are kept, and the score of each of them."""
    part = questions.take(kept)
    own = columns[np.isin(questions.owner, kept)]
    # copies stay in one fold
    fold = deal_folds(part.fold_groups, folds, rng)
    probability = out_of_fold(part, own, fold)
    correct = expected_correct(part, probability)
    gain = float((correct - part.chance).mean())
    return gain, blind_scores(part, probability)
