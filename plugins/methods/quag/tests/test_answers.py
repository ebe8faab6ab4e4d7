"""Right answers, balanced accuracy, and who shares a video."""

import numpy as np
import pytest

from cuescope_quag.answers import (
    balanced,
    clusters,
    is_correct,
    measure,
    only_answer,
    plain,
    question_types,
)
from cuescope_quag.losing import rates
from cuescope_sdk import Frame, Outcome, Response, Sample, Trial, UserError

FRAMES = [Frame.from_array(np.full((1, 1, 3), value, np.uint8)) for value in range(3)]


def sample(label: str = "yes", choices: tuple[str, ...] = (), **about: object) -> Sample:
    return Sample(
        key=f"{label}-{about}", frames=(FRAMES[0],), choices=choices, label=label, annotations=about
    )


def test_choices_are_compared_by_their_logits() -> None:
    trial = Trial(sample=sample("no", ("yes", "no")))
    logits = [Response(logits=np.array(pair)) for pair in ([0.1, 0.2], [0.2, 0.1])]
    assert [is_correct(Outcome(trial, one)) for one in logits] == [True, False]


def test_balanced_accuracy_is_the_mean_recall_of_the_answers() -> None:
    both = ("yes", "no")
    samples = [sample("no", both)] * 6 + [sample("yes", both)] * 2
    by = balanced(samples)
    assert by is not None
    always_no = np.array([[True]] * 6 + [[False]] * 2)
    assert rates(always_no, by.stratum) == [50.0]
    assert rates(always_no, plain(samples).stratum) == [75.0]
    assert (by.chance, plain(samples).chance) == (50.0, 75.0)  # "no" to all
    some = np.array([[True, True, True, False, False, False, True, False]]).T
    assert rates(some, by.stratum) == [50.0]
    assert measure(samples, "auto").name == "balanced accuracy"
    assert measure(samples, "accuracy").name == "accuracy"


def test_chance_is_of_each_samples_own_choices() -> None:
    samples = [sample("a", ("a", "b")), sample("a", ("a", "b", "c", "d")), sample("a")]
    assert plain(samples).chance == pytest.approx(100 * (0.5 + 0.25 + 0) / 3)
    assert balanced(samples) is None
    assert measure(samples, "auto").name == "accuracy"


def test_four_shared_answers_are_counted_plainly_unless_asked() -> None:
    samples = [sample(one, ("a", "b", "c", "d")) for one in "aabcd"]
    assert measure(samples, "auto").name == "accuracy"
    assert measure(samples, "balanced").chance == 25.0


def test_one_right_answer_is_no_balanced_accuracy() -> None:
    same = [sample("yes", ("yes", "no"))] * 3
    assert balanced(same) is None
    assert (only_answer(same), plain(same).chance) == ("yes", 100.0)
    with pytest.raises(UserError, match="several right answers"):
        measure(same, "balanced")
    assert only_answer([*same, sample("no", ("yes", "no"))]) is None
    assert only_answer([sample("Cat."), sample("a cat")]) == "Cat."


def test_samples_of_one_video_share_a_cluster() -> None:
    named = [sample(video_id=name) for name in ("a", "b", "a")]
    assert clusters(named).tolist() == [0, 1, 0]
    shown = [
        Sample(key=str(place), frames=frames)
        for place, frames in enumerate(
            [(FRAMES[0], FRAMES[1]), (FRAMES[1], FRAMES[0]), (FRAMES[2],)]
        )
    ]
    first, second, third = clusters(shown).tolist()
    assert first == second != third


def test_the_commonest_types_are_kept() -> None:
    samples = [sample(question_type=kind) for kind in ("b", "a", "c", "a", "b")]
    found = question_types(samples, most=2)
    assert {name: kept.tolist() for name, kept in found.items()} == {"a": [1, 3], "b": [0, 4]}
    assert question_types([sample(question_type="a")] * 3) == {}
    assert question_types([sample()] * 3) == {}
