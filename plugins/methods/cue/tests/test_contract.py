"""The sdk's contract suite, with the contract's own red corner as the given cue."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_cue import GivenCue
from cuescope_sdk import Context, UserError
from cuescope_sdk.cues import unlearned_cue
from cuescope_testing import FakeDataset, MethodContract, temporary_cache


@cache
def cue_file() -> Path:
    """Samples of another split with the red corner and without it, as a person marks them."""
    data = FakeDataset(FakeDataset.Options(split="test"), Context())
    samples = [data[number] for number in range(60)]
    shows = [any(sample.annotations["cues"][data.cue]) for sample in samples]
    assert 10 < sum(shows) < 50
    file = Path(mkdtemp()) / "red.cue"
    unlearned_cue(samples, shows, "red corner", "marked").save(file)
    return file


class TestGivenCue(MethodContract):
    plugin = GivenCue
    options: ClassVar[Mapping[str, Any]] = {"cue": [str(cue_file())]}


def test_the_planted_cue_has_a_row_for_each_label() -> None:
    report = TestGivenCue.setup().report()
    [cue] = report.cues
    assert cue.claim == '{feature} draws the answer "top"'
    rows = {row.label: row for row in cue.rows}
    assert rows.keys() == {"top", "middle", "bottom"}
    for label in ("middle", "bottom"):
        assert rows[label].passes
        assert rows[label].change < -50
    assert rows["top"].change > 0
    assert not rows["top"].passes
    annotated = [each for each in report.evidence if "annotated" in each.check]
    assert annotated[0].verdict == "supported"
    assert (annotated[0].value or 0) > 0.95


def test_a_named_answer_is_the_one_that_is_measured() -> None:
    setup = TestGivenCue.setup()
    of_middle = replace(setup, options={**setup.options, "answer": "middle"})
    assert not of_middle.report().findings
    of_none = replace(setup, options={**setup.options, "answer": "cat"})
    with pytest.raises(UserError, match="no answer 'cat'"):
        of_none.report()


def test_probabilities_of_samples_are_stored() -> None:
    with temporary_cache() as answers:
        session = TestGivenCue.setup().session(answers)
        session.run()
    shown = np.array([figure for _, _, _, figure, _ in session.audit.figures])
    assert len(shown) == 150
    assert 0.2 < shown.mean() < 0.7
