"""Every check of the method contract catches a method that is bad in just that way."""

import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any
from uuid import uuid4

import numpy as np
import pytest
from pydantic import ConfigDict, Field

from cuescope_sdk import (
    Audit,
    Contrast,
    Exhibit,
    Feature,
    Frame,
    Metric,
    Occurrence,
    Outcome,
    Score,
    Side,
    Trial,
    Words,
    hookimpl,
)
from cuescope_testing import FakeDataset, FakeMethod, MethodContract
from cuescope_testing._fake_method import FakeMethodOptions, FakeRelianceMethod

from .contract_proofs import checks_of, expect_caught, failed

LABELS = FakeDataset.all_labels
GAIN = FakeMethod.metrics[0]
# `make faults` sees that no other check fails
WHOLE = bool(os.environ.get("CUESCOPE_FAULTS"))


def having(**facts: Any) -> type[FakeMethod]:
    """A method with other class attributes."""
    return type("Bad", (FakeMethod,), facts)


def proposing(
    change: Callable[[Audit, list[Feature]], list[Feature]],
) -> type[FakeMethod]:
    """A method whose features are changed."""

    class Bad(FakeMethod):
        @hookimpl
        def propose_features(self, audit: Audit) -> Iterator[Feature]:
            yield from change(audit, list(super().propose_features(audit)))

    return Bad


def scoring(
    change: Callable[[Audit, list[Score]], Sequence[Score]],
    base: type[FakeMethod] = FakeMethod,
) -> type[FakeMethod]:
    """A method whose scores are changed."""

    class Bad(base):  # type: ignore[misc, valid-type]
        @hookimpl
        def compute_scores(
            self, audit: Audit, features: Sequence[Feature], outcomes: Sequence[Outcome]
        ) -> Iterator[Score]:
            yield from change(
                audit, list(super().compute_scores(audit, features, outcomes))
            )

    return Bad


def perturbing(
    change: Callable[[Audit, Iterator[Trial]], Iterator[Trial]],
) -> type[FakeMethod]:
    """A method whose trials are changed."""

    class Bad(FakeMethod):
        @hookimpl
        def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterator[Trial]:
            yield from change(audit, super().perturb(audit, features))

    return Bad


def each_score(**update: Any) -> type[FakeMethod]:
    return scoring(lambda audit, scores: [s.model_copy(update=update) for s in scores])


def each_finding(**update: Any) -> type[FakeMethod]:
    return scoring(
        lambda audit, scores: [
            s.model_copy(update=update) if s.finding else s for s in scores
        ]
    )


def each_place(change: Callable[[Occurrence], dict[str, Any]]) -> type[FakeMethod]:
    def moved(feature: Feature) -> Feature:
        occurrences = tuple(o.model_copy(update=change(o)) for o in feature.occurrences)
        return feature.model_copy(update={"occurrences": occurrences})

    return proposing(lambda audit, features: list(map(moved, features)))


class Loose(FakeMethodOptions):
    model_config = ConfigDict(extra="ignore")


class Unexplained(FakeMethodOptions):
    depth: int = 3


class UnmarkedOptions(FakeMethodOptions):
    notes: str = Field("", description="goes where it likes")


class Needy(FakeMethodOptions):
    weights: Annotated[str, Words()] = Field(description="where they are")


def seeding(audit: Audit, features: list[Feature]) -> list[Feature]:
    random.seed(0)
    return features


class Unmarked(FakeMethod):
    """`verify` without @hookimpl: pluggy passes over it."""

    def verify(self, audit: Audit) -> None:
        raise RuntimeError("nobody calls this")


def showing_a_stranger(audit: Audit, scores: list[Score]) -> list[Score]:
    exhibits = (Exhibit(occurrence=Occurrence(sample="nobody")),)
    sides = (
        Side(title="with it", exhibits=exhibits),
        Side(title="without", exhibits=exhibits),
    )
    audit.attach(Contrast(feature=scores[0].feature, sides=sides, rule="at will"))
    return scores


class Silent(FakeMethod):
    """Finds no feature at all."""

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        yield from ()


def unranked(audit: Audit, scores: list[Score]) -> list[Score]:
    return scores[::-1]


def on_second_metric(audit: Audit, scores: list[Score]) -> list[Score]:
    moved = [
        s.model_copy(
            update={"metric": "other", "finding": True, "statement": "{feature}"}
        )
        for s in scores[:1]
    ]
    return scores + moved


def unsure(audit: Audit, scores: list[Score]) -> list[Score]:
    """Random figures, within the order of things."""
    shift = float(np.random.default_rng().normal()) * 1e-7
    return [s.model_copy(update={"value": (s.value or 0) + shift}) for s in scores]


def nonce_asking(audit: Audit, trials: Iterator[Trial]) -> Iterator[Trial]:
    """A question with a nonce: never the same trial again."""
    for trial in trials:
        question = uuid4().hex
        yield replace(trial, sample=replace(trial.sample, question=question))


def batch_minded(audit: Audit, scores: list[Score]) -> list[Score]:
    shift = audit.context.batch_size * 1e-4
    return [
        s.model_copy(update={"value": (s.value or 0) - shift, "low": None})
        for s in scores
    ]


def first_come(audit: Audit, scores: list[Score]) -> list[Score]:
    """Looks at the first sample only."""
    if audit.samples[0].key < audit.samples[-1].key:
        return scores
    return [s.model_copy(update={"finding": False}) for s in scores]


def peeking(audit: Audit, scores: list[Score]) -> list[Score]:
    """Corrects the figures by the answer sheet."""
    data = audit.context.dataset
    shown = sum(data[i].annotations["cues"]["red corner"][0] for i in range(len(data)))
    return [s.model_copy(update={"n": shown}) for s in scores]


class OwnModel(FakeMethod):
    """Builds the model and asks it past `respond`."""

    @hookimpl
    def compute_scores(
        self, audit: Audit, features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> Iterator[Score]:
        audit.context.build("model", "under-test").respond([outcomes[0].trial])
        yield from super().compute_scores(audit, features, outcomes)


class Impatient(FakeMethod):
    """Asks the model when `respond` says that it is only planning; adds the calls up as well."""

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterator[Trial]:
        trials = list(super().perturb(audit, features))
        try:
            audit.respond(trials[:1])
        except BaseException:
            audit.context.build("model", "under-test").respond(trials[:1])
            raise
        yield from trials


def strangers(audit: Audit, trials: Iterator[Trial]) -> Iterator[Trial]:
    """A sample from nowhere, for each of the real ones."""
    for trial in trials:
        yield replace(
            trial, sample=replace(trial.sample, key=f"new {trial.sample.key}")
        )


def one_frame_key(audit: Audit, trials: Iterator[Trial]) -> Iterator[Trial]:
    """An operation that is named without its parameters."""
    for trial in trials:
        name = trial.sample.key.partition("/")[0]
        changed = name != trial.sample.key
        frames = tuple(
            Frame(f"{name}-hidden-{index}", frame.loader) if changed else frame
            for index, frame in enumerate(trial.sample.frames)
        )
        sample = replace(trial.sample, frames=frames)
        yield replace(trial, sample=sample)


def one_name(audit: Audit, trials: Iterator[Trial]) -> Iterator[Trial]:
    """Every change of a sample under the sample's own key."""
    for trial in trials:
        key = trial.sample.key.partition("/")[0]
        yield replace(trial, sample=replace(trial.sample, key=key))


def everywhere(audit: Audit, features: list[Feature]) -> list[Feature]:
    """Occurrences in the whole data set, limit or not."""
    data = audit.context.dataset
    assert data is not None
    occurrences = tuple(
        Occurrence(sample=data[index].key, region=(0, 0, 4, 4))
        for index in range(len(data))
    )
    return [
        f.model_copy(update={"occurrences": occurrences}) if f.key == "top left" else f
        for f in features
    ]


class Blind(FakeMethod):
    """Looks at the lower quarters only."""

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        yield from (
            f for f in super().propose_features(audit) if f.key.startswith("bottom")
        )


def presence(audit: Audit, scores: list[Score]) -> list[Score]:
    """Takes what is there for what is used: the blue corner too."""
    if not any(s.finding for s in scores):
        return scores
    mistaken = next(s for s in scores if s.feature == "bottom left")
    others = [s for s in scores if s is not mistaken]
    findings = sum(s.finding for s in others)
    update = {"finding": True, "statement": "{feature} is often there"}
    return [*others[:findings], mistaken.model_copy(update=update), *others[findings:]]


def eager(audit: Audit, scores: list[Score]) -> list[Score]:
    """Any difference is a finding, where there are errors and enough samples."""
    if (
        len(audit.labels) == 1
        or len(audit.samples) < 5
        or not any(s.value for s in scores)
    ):
        return scores
    if any(s.finding for s in scores):
        return scores
    first, *others = scores
    return [
        first.model_copy(update={"finding": True, "statement": "{feature}"}),
        *others,
    ]


def finds_always(
    when: Callable[[Audit, list[Score]], bool], base: type[FakeMethod] = FakeMethod
) -> type[FakeMethod]:
    """A finding out of nothing, under a condition."""

    def with_a_finding(audit: Audit, scores: list[Score]) -> list[Score]:
        if not scores or any(s.finding for s in scores) or not when(audit, scores):
            return scores
        first, *others = scores
        return [
            first.model_copy(update={"finding": True, "statement": "{feature}"}),
            *others,
        ]

    return scoring(with_a_finding, base)


def crashing(when: Callable[[Audit], bool]) -> type[FakeMethod]:
    """A crash, under a condition."""

    def crash(audit: Audit, features: list[Feature]) -> list[Feature]:
        if when(audit):
            raise ZeroDivisionError("division by zero")
        return features

    return proposing(crash)


def identical(audit: Audit) -> bool:
    return (
        len({f.key for sample in audit.samples for f in sample.frames})
        == 1
        < len(audit.samples)
    )


def no_errors(audit: Audit, scores: list[Score]) -> bool:
    """Whether hiding what is not the green patch changes nothing at all."""
    whole = len(audit.labels) > 1 and len(audit.samples) > 1
    return whole and not any(s.value for s in scores if "left" in s.feature)


def duplicated(audit: Audit, features: list[Feature]) -> list[Feature]:
    return [*features, features[-1]]


class BlindToTheCue(FakeRelianceMethod):
    """Looks at the lower quarters only."""

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        yield from (
            f for f in super().propose_features(audit) if f.key.startswith("bottom")
        )


def unmoved(audit: Audit, scores: list[Score]) -> bool:
    """Whether hiding changes no answer at all, where there are samples and labels to compare."""
    whole = len(audit.labels) > 1 and len(audit.samples) > 1
    return whole and not any(score.value for score in scores)


def only_where(
    holds: Callable[[Audit, list[Score]], bool],
) -> type[FakeMethod]:
    """Findings only of audits of which this holds."""

    def change(audit: Audit, scores: list[Score]) -> list[Score]:
        if holds(audit, scores):
            return scores
        return [score.model_copy(update={"finding": False}) for score in scores]

    return scoring(change)


def wins_over_all_labels(audit: Audit, scores: list[Score]) -> bool:
    """True if hiding the red corner wins answers in all labels together."""
    corner = [score for score in scores if score.feature == "top left"]
    return sum((score.value or 0) * (score.n or 0) for score in corner) > 0


def wins_much(audit: Audit, scores: list[Score]) -> bool:
    """True if hiding something wins a tenth of a label's answers."""
    return max((score.value or 0 for score in scores), default=0) > 0.1


def labels_are_right(audit: Audit, scores: list[Score]) -> bool:
    """True if each patch is where the label says, or nowhere."""
    for sample in audit.samples:
        green = np.asarray(sample.frames[0].load())[[0, 3, 6], 7, 1] > 200
        if green.any() and LABELS[int(green.argmax())] != sample.label:
            return False
    return True


# check -> (a method that it catches, the other checks that cannot help but catch it too)
PROOFS = [
    ("test_builds", having(Options=Needy), {"*"}),
    ("test_refuses_unknown_options", having(Options=Loose), set()),
    ("test_declares_its_options", having(Options=Unexplained), set()),
    ("test_declares_its_options", having(Options=UnmarkedOptions), set()),
    ("test_leaves_global_randomness_alone", proposing(seeding), set()),
    ("test_declares_itself", having(title=" "), set()),
    ("test_declares_itself", having(requires=None), {"*"}),
    (
        "test_declares_itself",
        having(metrics=(GAIN, GAIN.model_copy(update={"meaning": ""}))),
        set(),
    ),
    ("test_marks_its_hooks", Unmarked, set()),
    ("test_places_features_in_the_data", Silent, {"test_finds_the_planted_cue"}),
    (
        "test_places_features_in_the_data",
        proposing(duplicated),
        {"test_scores_what_it_declares"},
    ),
    ("test_places_features_in_the_data", each_place(lambda o: {"frame": 3}), {"*"}),
    (
        "test_places_features_in_the_data",
        each_place(lambda o: {"strength": int(o.sample[-3:])}),
        set(),
    ),
    ("test_shows_samples_of_the_data", scoring(showing_a_stranger), set()),
    (
        "test_scores_what_it_declares",
        scoring(
            lambda a, scores: [
                *scores,
                scores[-1].model_copy(update={"feature": "new"}),
            ]
        ),
        {"*"},
    ),
    (
        "test_scores_what_it_declares",
        scoring(
            lambda a, scores: [*scores, scores[-1].model_copy(update={"label": "new"})]
        ),
        set(),
    ),
    (
        "test_scores_what_it_declares",
        scoring(
            lambda a, scores: [*scores, scores[-1].model_copy(update={"metric": "new"})]
        ),
        {"*"},
    ),
    (
        "test_scores_what_it_declares",
        scoring(lambda a, scores: scores + scores[-1:]),
        set(),
    ),
    ("test_scores_what_it_declares", each_score(low=2.0), set()),
    (
        "test_states_findings",
        type(
            "Bad",
            (scoring(on_second_metric),),
            {
                "metrics": (
                    GAIN,
                    Metric(name="other", title="Other", meaning="another figure"),
                )
            },
        ),
        set(),
    ),
    ("test_states_findings", scoring(unranked), set()),
    ("test_states_findings", each_finding(statement="found"), set()),
    ("test_states_findings", each_finding(q_value=None), set()),
    ("test_reports_the_same_twice", scoring(unsure), {"*"}),
    ("test_reports_the_same_twice", perturbing(nonce_asking), set()),
    (
        "test_finds_the_same_in_any_batch_size_and_order",
        scoring(batch_minded),
        {"test_states_findings"},
    ),
    ("test_finds_the_same_in_any_batch_size_and_order", scoring(first_come), set()),
    ("test_reads_no_cues", scoring(peeking), set()),
    ("test_asks_through_respond", OwnModel, set()),
    ("test_asks_through_respond", Impatient, set()),
    (
        "test_shows_the_data",
        perturbing(strangers),
        {"test_shows_samples_of_the_data", "test_stays_within_the_limit"},
    ),
    ("test_shows_the_data", perturbing(one_name), set()),
    ("test_shows_the_data", perturbing(one_frame_key), {"*"}),
    ("test_stays_within_the_limit", proposing(everywhere), set()),
    ("test_finds_the_planted_cue", Blind, set()),
    ("test_finds_further_plants", only_where(wins_over_all_labels), set()),
    ("test_finds_further_plants", only_where(wins_much), set()),
    ("test_finds_further_plants", only_where(labels_are_right), set()),
    ("test_does_not_find_the_decoy", scoring(presence), set()),
    ("test_finds_nothing_where_there_is_nothing", scoring(eager), {"*"}),
    ("test_takes_data_without_anything_to_compare", finds_always(no_errors), set()),
    (
        "test_takes_data_without_anything_to_compare",
        finds_always(lambda audit, scores: len(audit.labels) == 1),
        set(),
    ),
    (
        "test_takes_data_without_anything_to_compare",
        crashing(lambda audit: len(audit.samples) == 1),
        set(),
    ),
    (
        "test_takes_data_without_anything_to_compare",
        crashing(lambda audit: len(audit.samples[0].frames) == 1),
        set(),
    ),
    ("test_takes_data_without_anything_to_compare", crashing(identical), set()),
]
# the same for checks that ask something else of a method that looks for reliance
RELIANCE_PROOFS = [
    ("test_finds_the_planted_cue", BlindToTheCue, set()),
    ("test_does_not_find_the_decoy", scoring(presence, FakeRelianceMethod), set()),
    (
        "test_finds_nothing_where_there_is_nothing",
        scoring(eager, FakeRelianceMethod),
        {"*"},
    ),
    (
        "test_takes_data_without_anything_to_compare",
        finds_always(unmoved, FakeRelianceMethod),
        set(),
    ),
]


def contract_of(method: type, **facts: Any) -> type[MethodContract]:
    # three null audits with none allowed: enough to catch, and quick
    return type(
        "Contract",
        (MethodContract,),
        {
            "plugin": method,
            "data_options": {"samples": 90},
            "null_audits": 3,
            "null_allowed": 0,
            **facts,
        },
    )


class TestHealthy(MethodContract):
    """A method that is as it should be, to which every check applies."""

    plugin = FakeMethod


class TestHealthyReliance(MethodContract):
    """Accuracy lost by hiding a region, the commonest measure of occlusion."""

    plugin = FakeRelianceMethod
    paradigm = "reliance"


@pytest.mark.long
def test_the_small_setting_of_the_proofs_is_passed_by_the_healthy_method() -> None:
    assert failed(contract_of(FakeMethod)) == set()
    assert failed(contract_of(FakeRelianceMethod, paradigm="reliance")) == set()


def test_every_check_is_proved() -> None:
    assert set(MethodContract.checks()) == checks_of(PROOFS, RELIANCE_PROOFS)


@pytest.mark.parametrize(("check", "method", "others"), PROOFS)
def test_check_catches_its_bad_method(
    check: str, method: type, others: set[str]
) -> None:
    catches(check, method, others, "errors")


@pytest.mark.parametrize(("check", "method", "others"), RELIANCE_PROOFS)
def test_check_catches_its_bad_method_of_reliance(
    check: str, method: type, others: set[str]
) -> None:
    catches(check, method, others, "reliance")


def catches(check: str, method: type, others: set[str], paradigm: str) -> None:
    contract = contract_of(method, paradigm=paradigm)
    if WHOLE:
        expect_caught(contract, check, others)
    else:
        for name in {check, *others} - {"*"}:
            assert contract.run_check(name).status == "failed"


def test_the_planted_cue_is_explained_by_its_rule_and_what_came() -> None:
    for method, paradigm in ((FakeMethod, "reliance"), (FakeRelianceMethod, "errors")):
        contract = contract_of(method, paradigm=paradigm)
        reason = contract.run_check("test_finds_the_planted_cue").reason
        assert "80% of its occurrences cover half of the corner" in reason
        assert (
            f"(`--paradigm {'errors' if paradigm == 'reliance' else 'reliance'}`)"
            in reason
        )
    assert "got 'bottom right', with 0% of its occurrences on the cue" in reason
    nowhere = type("Nowhere", (FakeMethod,), {"propose_features": placeless})
    reason = contract_of(nowhere).run_check("test_finds_the_planted_cue").reason
    assert "with 0% of its occurrences" in reason


@hookimpl
def placeless(self: FakeMethod, audit: Audit) -> Iterator[Feature]:
    """Features without a place."""
    for feature in FakeMethod.propose_features(self, audit):
        yield feature.model_copy(update={"occurrences": ()})
