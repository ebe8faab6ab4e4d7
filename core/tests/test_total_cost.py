"""What several audits took together: a picture that two of them show is one picture."""

from types import SimpleNamespace
from typing import Any

from cuescope.total_cost import TotalCost
from cuescope_core.input_counts import Shown


def test_what_two_audits_show_is_one_picture() -> None:
    total = TotalCost()
    for keys, edited in ((["a", "b"], 4), (["b", "c"], 0)):
        shown, plain = Shown(), Shown()
        plain.add(set(keys), len(keys))
        plain.settle()
        shown.inputs = len(keys) + edited
        respond: Any = SimpleNamespace(
            shown=shown, shown_plain=plain, model_seconds=1.5
        )
        total.add(respond, 4.0)
    assert len(total.plain.pictures) == 3
    assert total.words == (
        "2 audits in all: 8 inputs shown to the model. Without a change inside it, 3 distinct "
        "pictures were looked at 4 times (each 1.33 times); 3.0 s of the model in 8.0 s"
    )


def test_audits_that_showed_nothing_say_so() -> None:
    assert "0 inputs shown to the model; 0.0 s" in TotalCost().words
