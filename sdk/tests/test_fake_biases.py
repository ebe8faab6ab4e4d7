"""Fakes that lean on what no frame shows, and a contract that plants it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import (
    Audit,
    Context,
    Feature,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Score,
    Trial,
    hookimpl,
)
from cuescope_sdk.statistics import benjamini_hochberg, exceeds_rate_p_value
from cuescope_sdk.testing import (
    FakeFirst,
    FakeModel,
    FakePolite,
    FakeQuestions,
    MethodContract,
)


class Places(Plugin):
    """Which place of a choice is said too often where the answer is wrong?"""

    title = "Places"
    requires = Requirements()
    metrics = (Metric(name="share", title="Share", meaning="of the wrong answers"),)

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        for place in range(len(audit.labels)):
            yield Feature(key=f"place {place + 1}", kind="place")

    @hookimpl
    def perturb(self, audit: Audit) -> Iterator[Trial]:
        for sample in audit.samples:
            yield Trial(sample=sample)

    @hookimpl
    def compute_scores(
        self, features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> list[Score]:
        shares = []
        for place in range(len(features)):
            # what is there rightly is no error
            wrong = [
                int(outcome.logits.argmax()) == place
                for outcome in outcomes
                if not outcome.correct()
                and outcome.trial.sample.choices[place] != outcome.trial.sample.label
            ]
            shares.append((sum(wrong), len(wrong)))
        p_values = [exceeds_rate_p_value(hits, count, 0.5) for hits, count in shares]
        q_values = benjamini_hochberg(p_values)
        rows = []
        for feature, (hits, count), q_value in zip(
            features, shares, q_values, strict=True
        ):
            value = hits / count if count else None
            rows.append(
                Score(
                    feature=feature.key,
                    label=None,
                    metric="share",
                    value=value,
                    q_value=q_value,
                    finding=q_value <= 0.05,
                    statement="{feature}",
                )
            )
        return sorted(rows, key=lambda row: not row.finding)


class OfPlaces(MethodContract):
    plugin = Places
    model = FakeFirst
    data = FakeQuestions

    def is_planted(self, feature: Feature) -> bool:
        return feature.key == "place 1"


@pytest.mark.parametrize(
    "check", ["test_finds_the_planted_cue", "test_finds_nothing_where_there_is_nothing"]
)
def test_a_method_for_places_is_proved(check: str) -> None:
    assert OfPlaces.run_check(check).status == "ok"


def test_it_is_not_proved_on_a_model_without_the_bias() -> None:
    other = type("Unbiased", (OfPlaces,), {"model": FakeModel})
    assert other.run_check("test_finds_the_planted_cue").status == "failed"


def share_of_top(model: Any, *, polite: bool) -> float:
    data = FakeQuestions(FakeQuestions.Options(), Context())
    said = []
    for sample in data:  # type: ignore[attr-defined]
        if ("please" in sample.question) == polite and sample.label != "top":
            answer = model.answer(Trial(sample=sample))
            said.append(sample.choices[answer.prediction] == "top")
    return float(np.mean(said))


def test_a_word_pulls_as_far_as_it_leans() -> None:
    polite = FakePolite(FakePolite.Options(), Context())
    assert (
        share_of_top(polite, polite=True)
        > 0.7
        > 0.2
        > share_of_top(polite, polite=False)
    )
    plain = FakePolite(FakePolite.Options(lean=0), Context())
    assert share_of_top(plain, polite=True) < 0.2
