"""Questions of a method to people about a run: `cuescope label` writes the sheet and reads it back.

A method whose findings people can judge has `label_items(run, each)`, a static method that takes a
`StoredRun` and gives `each` items of each kind and finding. Where an option takes the file,
`labels_option` is its name.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class LabelItem:
    """One thing that a person is asked about a run.

    A line of the method's own file of labels is `row` with the answer in the column `column`, one
    of `answers`; by `abstains`, one of these, a person decides nothing. The picture shows the
    `frames` (indices) of the sample with the key `sample`, the middle one where there are none;
    `text` stands beside it. `expected` is what the run itself says, which the sheet does not show;
    `kind` is what is counted by itself.
    """

    question: str
    row: Mapping[str, str]
    column: str
    answers: tuple[str, ...]
    sample: str
    frames: tuple[int, ...] = ()
    text: str = ""
    abstains: str | None = None
    # kept apart in the sealed key: the sheet must not say what the run says
    expected: str | None = None
    kind: str = ""
