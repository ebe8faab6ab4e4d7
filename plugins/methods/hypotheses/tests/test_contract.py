"""The sdk's contract suite, with a text tower that knows the red corner by its words."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_hypotheses import Hypotheses
from cuescope_sdk import Context, Plugin, Report, UserError, generator
from cuescope_testing import FakeDataset, FakeModel, MethodContract, Setup

WORDS = {"red corner": 3, "blue corner": 4}


class Reader(FakeModel):
    """The contracts' model, whose texts lie along what it reads of both corners."""

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows; of other words a direction of noise each."""
        rows = [0.1 * generator(0, "text", text).normal(size=54) for text in texts]
        for row, text in zip(rows, texts, strict=True):
            row[:6] = 0
            if text in WORDS:
                row[WORDS[text]] = 5.0
        table = np.array(rows, np.float32)
        return table / np.linalg.norm(table, axis=1, keepdims=True)


class TestHypotheses(MethodContract):
    plugin = Hypotheses
    model: ClassVar[type[Any]] = Reader
    missed_plants: ClassVar[Mapping[str, str]] = {
        "trade": "the red corner moves unit embeddings of 'top' half as far again as those of "
        "others, and both groups of a label are taken to lie as far apart in all"
    }


class Thinker(Plugin):
    """Names the red corner in its second round, where it is told that the first was not it."""

    told: ClassVar[list[Mapping[str, float]]] = []

    def propose(self, label: str) -> list[str]:
        """Names what the data do not show."""
        return ["hat", "blue corner"]

    def propose_more(self, label: str, told: Mapping[str, float]) -> list[str]:
        """Names the cue, once."""
        self.told.append(told)
        return ["red corner"] if "red corner" not in told else []


def audit(**settings: Any) -> Report:
    return Setup(Hypotheses, model=Reader, **settings).report()


def test_what_became_of_names_brings_others() -> None:
    Thinker.told.clear()
    report = audit(tools={"proposer": Thinker})
    found = {score.feature for score in report.findings}
    assert found == {"red corner"}
    first = Thinker.told[0]
    assert first.keys() == {"hat", "blue corner"}
    assert max(first.values()) < 3
    [last] = [told for told in Thinker.told if "red corner" in told][:1]
    assert last["red corner"] > 3
    [table] = [each for each in report.tables if each.title == "What was named"]
    rounds = {row["thing"]: row["round"] for row in table.rows}
    assert rounds == {"hat": 1, "blue corner": 1, "red corner": 2}
    assert table.rows[0]["thing"] == "red corner"


def test_a_budget_is_shared_by_the_rounds() -> None:
    Thinker.told.clear()
    report = audit(tools={"proposer": Thinker}, options={"most": 2, "rounds": 2})
    [table] = [each for each in report.tables if each.title == "What was named"]
    # one in each round
    assert [row["round"] for row in table.rows] == [2, 1]


class Silent(Plugin):
    """Names nothing."""

    def propose(self, label: str) -> list[str]:
        """Names."""
        return []


def test_a_concept_of_the_data_is_found_without_words() -> None:
    report = audit(
        tools={"proposer": Silent},
        options={"concepts": 24},
        data_options={"samples": 600},
    )
    [cue] = {score.feature for score in report.findings}
    assert cue.startswith("concept ")
    [feature] = [each for each in report.features if each.key == cue]
    # of the samples that it lists most have the red corner
    drawn = FakeDataset(FakeDataset.Options(samples=600), Context())
    shown = {
        sample.key
        for sample in map(drawn.__getitem__, range(600))
        if any(sample.annotations["cues"]["red corner"])
    }
    listed = {each.sample for each in feature.occurrences}
    assert len(listed & shown) > 0.8 * len(listed)


def test_a_model_without_words_is_refused_by_name() -> None:
    with pytest.raises(UserError, match="reads text"):
        Setup(Hypotheses, model=FakeModel, tools={"proposer": Thinker}).report()
