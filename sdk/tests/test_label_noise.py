"""How many wrong answers with a feature may be wrong labels: as often as their class shows it."""

import numpy as np
import pytest

from cuescope_sdk.statistics import Answered, Groups, LabelNoise

OF_CLASS = 60
WRONG = 8  # cows that are answered "horse", surely


def kept_wrong(horses_with_it: int, clips: int = 1) -> int:
    """How many wrong answers with a mark are left where labels are retested.

    The mark is on all wrong cows, and on so many horses.
    """
    label = np.repeat([0, 1], OF_CLASS)
    answer = label.copy()
    answer[:WRONG] = 1
    shows = np.zeros(2 * OF_CLASS, bool)
    shows[:WRONG] = True
    shows[OF_CLASS : OF_CLASS + horses_with_it] = True
    sure = np.eye(2)[answer] * 0.9 + 0.05
    groups = Groups(np.arange(2 * OF_CLASS) // clips, 2 * OF_CLASS // clips, True)
    answered = Answered(label, answer, answer == label, groups, sure)
    kept = []

    def p_value(mask: np.ndarray) -> float:
        kept.append(int((mask & shows & ~answered.correct).sum()))
        return 0.5

    LabelNoise.of(answered).retest(
        0, shows, most=0.1, is_unlike=lambda: False, p_value=p_value
    )
    return kept[0] if kept else WRONG


def test_a_mark_that_the_other_class_lacks_is_on_few_wrong_labels() -> None:
    # of 60 horses none has the mark, so of the 6 that may be called cows hardly one has
    assert kept_wrong(horses_with_it=0) >= WRONG - 2


def test_what_the_other_class_shows_may_be_on_all_wrong_labels() -> None:
    assert kept_wrong(horses_with_it=OF_CLASS) == 0


def test_the_more_horses_have_a_mark_the_more_wrong_labels_may_show_it() -> None:
    kept = [kept_wrong(count) for count in (0, 15, 30, 60)]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > kept[-1]


@pytest.mark.parametrize("clips", [5, 20])
def test_few_sources_say_less_of_what_a_class_shows(clips: int) -> None:
    assert kept_wrong(0, clips) <= kept_wrong(0)
