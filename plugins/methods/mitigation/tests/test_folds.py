"""What is learned without a part of the data is measured there."""

from typing import Any

import numpy as np

from cuescope_mitigation.folds import in_one
from cuescope_mitigation.trials import Cue, Parts
from cuescope_sdk import Feature, Sample


def cue(key: str, label: str) -> Cue:
    return Cue(Feature(key=key, kind="cluster"), label, key, None)


def test_a_cue_is_measured_where_a_run_has_found_it_that_has_not_seen_the_sample() -> (
    None
):
    samples = [Sample(key=key, frames=(), label="cow") for key in "abcd"]
    common: dict[str, Any] = {
        "audit": None,
        "options": None,
        "router": None,
        "samples": samples,
        "outcomes": list("abcd"),
        "log_odds": (),
        "labels": ("cow",),
    }
    first, second = cue("first", "cow"), cue("second", "cow")

    def parts(cues: list[Cue], shown: list[str], fitted: str) -> Parts:
        shows = np.array([[key in keys for keys in shown] for key in "abcd"])
        return Parts(
            **common,
            cues=cues,
            shows=shows,
            fitted=np.array([key in fitted for key in "abcd"]),
            judged=np.ones((4, len(cues)), bool),
        )

    whole = parts([first], ["abcd"], "abcd")
    folds = [parts([first, second], ["abc", "b"], "cd"), parts([second], ["ad"], "ab")]
    joined = in_one(whole, folds, [first, second], [[0, 1], [1]])
    assert [sample.key for sample in joined.samples] == list("abcd")
    assert list(joined.outcomes) == list("abcd")
    assert joined.shows.T.astype(int).tolist() == [[1, 1, 0, 0], [0, 1, 0, 1]]
    # without the second part nobody has found the first cue
    assert joined.judged.T.astype(int).tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]
    assert not joined.fitted.any()
