"""Whether the wrong answers that come with a cue are one answer, or many.

A model that uses a cue gives the answer that the cue stands for. Pictures that are hard to see are
taken for this and that, by any model, and whatever makes them so is a cause of wrong answers, too.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from cuescope_confirm.asking import MOST_ANSWERS, SHOWN, RunAnswers
from cuescope_confirm.companions.unnamed import AsTheyAre
from cuescope_confirm.locating import Target
from cuescope_confirm.scores import BoolPerSample
from cuescope_confirm.study import Study
from cuescope_sdk.statistics import Estimate

# times as often as elsewhere, that samples of a label show what they themselves look like
OWN_LOOK = 3.0
FEWEST = 3  # wrong answers that there may be: of two one always has half


@dataclass(frozen=True)
class Drawn:
    """The wrong answer that is more often given with a cue, and its `share` of all that are.

    There are so `many` that may be given; `n` samples show the cue. `alike` is by how much likelier
    it is with the cue in samples of all labels, all else in their pictures held alike; None where
    that was not measured.
    """

    answer: str
    share: float
    many: int
    n: int
    alike: Estimate[float] | None = None

    @property
    def least(self) -> float:
        """Halfway between an even share and all: what one answer has where a cue stands for it."""
        return (1 / self.many + 1) / 2

    @property
    def is_one(self) -> bool:
        """Whether most of what is gained is this answer."""
        return self.share >= self.least

    @property
    def beyond_others(self) -> float:
        """The part of its share that the others have not on average: all where it is alone."""
        others = (1 - self.share) / (self.many - 1)
        return max(0.0, 1 - others / self.share)

    def stands_out(self, margin: float) -> bool:
        """Whether it surely comes with the cue in samples of all labels, by half of a margin.

        All else in their pictures is held alike. What is hard to see makes several answers
        likelier, so of one of several only what it gains beyond the others counts.
        """
        part = 1.0 if self.is_one else self.beyond_others
        if self.alike is None or part == 0:
            return False
        return is_half(self.alike, margin / part)

    def is_told(self, margin: float) -> bool:
        """Whether a cue brings it: what is hard to see brings several, and each as often."""
        return self.is_one or self.stands_out(margin)


def is_half(alike: Estimate[float], margin: float) -> bool:
    """Whether a figure of samples as they are is surely half of a margin or more.

    Half: some of the samples that are taken for the cue's do not show it.
    """
    return alike.low > margin / 2


def drawn_answer(study: Study, target: Target, plain: AsTheyAre) -> Drawn | None:
    """By samples as they are, label by label.

    None where a finding is about something else than wrong answers, where fewer than `FEWEST`
    others may be given, or where it is not sure that any is given more often.
    """
    direction = target.direction
    if direction.toward != "the right answer" or not direction.harms:
        return None
    answers = plain.answers
    total, z = answers.gap(plain.known, 1 - answers.probability)
    if total is None or z < SHOWN:
        return None
    drawn = drawn_in(answers, plain.known)
    if drawn is None:
        return None
    gap = plain.gap(
        answers.probability_of(drawn.answer),
        np.asarray(answers.labels != drawn.answer),
        study.rng("drawn", target.cue.id),
    )
    return drawn if gap is None else replace(drawn, alike=gap.alike)


def drawn_in(answers: RunAnswers, among: BoolPerSample | None = None) -> Drawn | None:
    """The same of any answers, whether or not it is sure that one is given more often."""
    among = np.ones(len(answers.present), bool) if among is None else among
    shows = answers.present[among]
    if not shows.any() or shows.all():
        return None
    gained = _gains(answers, among)
    many = len(gained) - 1
    if many < FEWEST:
        return None
    positive = {answer: max(gain, 0.0) for answer, gain in gained.items()}
    answer = max(positive, key=lambda name: (positive[name], name))
    share = positive[answer] / max(sum(positive.values()), 1e-9)
    return Drawn(answer, share, many, int(shows.sum()))


def is_own_look(target: Target, answer: str) -> bool:
    """Whether a cue is what samples of an answer's own label look like: few others show it.

    By the held-out samples in which it was looked for. What looks like a label is answered so by
    any model, and a direction of its embedding says how much it does.
    """
    if target.located is None:
        return False
    shown = Counter(target.samples[key].label for key in target.located.places)
    hidden = Counter(target.samples[key].label for key in target.located.without)
    own = shown[answer] + hidden[answer]
    others = shown.total() + hidden.total() - own
    if not own or not others:
        return False
    elsewhere = (shown.total() - shown[answer]) / others
    return shown[answer] / own >= OWN_LOOK * elsewhere


def _gains(answers: RunAnswers, among: BoolPerSample) -> dict[str, float]:
    """By how much likelier each answer is with the cue, where it is wrong; {} of open answers."""
    choices = {frozenset(outcome.trial.sample.choices) for outcome in answers.outcomes}
    if len(choices) != 1:
        return {}
    [given] = choices
    if len(given) > MOST_ANSWERS:
        return {}
    gains = {}
    for choice in sorted(given):
        is_wrong = among & (answers.labels != choice)
        gain, _ = answers.gap(is_wrong, answers.probability_of(choice))
        if gain is not None:
            gains[choice] = gain
    return gains
