"""Cues of several runs that are one: by what their pictures say, also where data differ."""

from typing import Any, cast

from cuescope_commands.comparing._consensus import Cue, same_cues


def cue(run: str, guess: tuple[str, str] | None, label: str = "cow") -> Cue:
    frames = frozenset({(f"{run}-{number}", 0) for number in range(9)})
    groups = frozenset(sample for sample, _ in frames)
    return Cue(cast("Any", run), None, frames, groups, [label], run, guess)


MARK = ("red mark, top left", "top left")


def test_what_looks_alike_in_other_data_is_one_cue() -> None:
    cues = [cue("a", MARK), cue("b", MARK), cue("c", ("red mark, top left", "centre"))]
    groups = sorted(set().union(*(each.groups for each in cues)))
    joined = {tuple(each.title for each in same) for same in same_cues(cues, groups)}
    assert joined == {("a", "b"), ("c",)}


def test_other_labels_and_no_guess_are_other_cues() -> None:
    cues = [cue("a", MARK), cue("b", MARK, "horse"), cue("c", None), cue("d", None)]
    groups = sorted(set().union(*(each.groups for each in cues)))
    assert len(same_cues(cues, groups)) == 4
