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

from .contract_proofs import ELSEWHERE, failed

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


# check -> (a method that it catches, the other checks that cannot help but catch it too)
def only_where(
    holds: Callable[[Audit], bool],
) -> Callable[[Audit, list[Score]], list[Score]]:
    """Findings only of audits of which this holds."""

    def change(audit: Audit, scores: list[Score]) -> list[Score]:
        if holds(audit):
            return scores
        return [score.model_copy(update={"finding": False}) for score in scores]

    return change


def many_show_it(audit: Audit) -> bool:
    """Whether a tenth of the samples have a red corner."""
    red = [
        np.asarray(sample.frames[0].load())[0, 0, 0] > 200 for sample in audit.samples
    ]
    return float(np.mean(red)) > 0.1


def labels_are_right(audit: Audit) -> bool:
    """Whether each patch is where the label says, or nowhere."""
    for sample in audit.samples:
        green = np.asarray(sample.frames[0].load())[[0, 3, 6], 7, 1] > 200
        if green.any() and LABELS[int(green.argmax())] != sample.label:
            return False
    return True


def has_patches(audit: Audit) -> bool:
    """Whether each label has a green patch: it compares none that has not."""
    return all(
        (np.asarray(sample.frames[0].load())[:, 7, 1] > 200).any()
        for sample in audit.samples
    )


PROOFS: dict[str, tuple[type, set[str]]] = {
    "test_finds_a_cue_that_helps_one_label_and_hurts_others": (
        scoring(only_where(has_patches)),
        set(),
    ),
    "test_finds_a_rare_cue": (scoring(only_where(many_show_it)), set()),
    "test_finds_the_cue_beside_wrong_labels": (
        scoring(only_where(labels_are_right)),
        set(),
    ),
    "test_builds": (having(Options=Needy), {"*"}),
    "test_refuses_unknown_options": (having(Options=Loose), set()),
    "test_explains_its_options": (having(Options=Unexplained), set()),
    "test_marks_what_text_can_do": (having(Options=UnmarkedOptions), set()),
    "test_leaves_global_randomness_alone": (proposing(seeding), set()),
    "test_declares_a_title": (having(title=" "), set()),
    "test_declares_requirements": (having(requires=None), {"*"}),
    "test_declares_metrics": (
        having(metrics=(GAIN, GAIN.model_copy(update={"meaning": ""}))),
        set(),
    ),
    "test_marks_its_hooks": (Unmarked, set()),
    "test_runs_end_to_end": (Silent, {"test_finds_the_planted_cue"}),
    "test_names_each_feature_once": (
        proposing(duplicated),
        {"test_scores_each_pair_once"},
    ),
    "test_places_features_in_the_data": (each_place(lambda o: {"frame": 3}), {"*"}),
    "test_places_the_strongest_occurrence_first": (
        each_place(lambda o: {"strength": int(o.sample[-3:])}),
        set(),
    ),
    "test_shows_samples_of_the_data": (scoring(showing_a_stranger), set()),
    "test_scores_known_features": (
        scoring(
            lambda a, scores: [
                *scores,
                scores[-1].model_copy(update={"feature": "new"}),
            ]
        ),
        {"*"},  # the engine refuses the report as well
    ),
    "test_scores_known_labels": (
        scoring(
            lambda a, scores: [*scores, scores[-1].model_copy(update={"label": "new"})]
        ),
        set(),
    ),
    "test_scores_declared_metrics": (
        scoring(
            lambda a, scores: [*scores, scores[-1].model_copy(update={"metric": "new"})]
        ),
        {"*"},  # the engine refuses the report as well
    ),
    "test_scores_each_pair_once": (
        scoring(lambda a, scores: scores + scores[-1:]),
        set(),
    ),
    "test_keeps_figures_in_order": (each_score(low=2.0), set()),
    "test_finds_in_the_headline": (
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
    "test_ranks_findings_first": (scoring(unranked), set()),
    "test_states_findings_in_words": (each_finding(statement="found"), set()),
    "test_backs_findings_with_statistics": (each_finding(q_value=None), set()),
    "test_reports_the_same_twice": (scoring(unsure), {"*"}),
    "test_reports_the_same_from_a_warm_cache": (perturbing(nonce_asking), set()),
    "test_finds_the_same_in_any_batch_size": (
        scoring(batch_minded),
        {"test_backs_findings_with_statistics"},
    ),
    "test_finds_the_same_in_any_order": (scoring(first_come), set()),
    "test_reads_no_cues": (scoring(peeking), set()),
    "test_asks_through_respond": (OwnModel, set()),
    "test_plans_without_asking": (Impatient, set()),
    "test_shows_the_data": (
        perturbing(strangers),
        {"test_stays_within_the_limit", "test_shows_samples_of_the_data"},
    ),
    "test_shows_one_sample_under_a_key": (perturbing(one_name), set()),
    "test_shows_equal_pixels_under_equal_keys": (perturbing(one_frame_key), {"*"}),
    "test_stays_within_the_limit": (proposing(everywhere), set()),
    "test_finds_the_planted_cue": (Blind, set()),
    "test_does_not_find_the_decoy": (scoring(presence), set()),
    "test_finds_nothing_where_there_is_nothing": (scoring(eager), {"*"}),
    "test_finds_nothing_where_all_is_right": (finds_always(no_errors), set()),
    "test_finds_nothing_in_one_class": (
        finds_always(lambda audit, scores: len(audit.labels) == 1),
        set(),
    ),
    "test_takes_a_single_sample": (
        crashing(lambda audit: len(audit.samples) == 1),
        set(),
    ),
    "test_takes_single_frames": (
        crashing(lambda audit: len(audit.samples[0].frames) == 1),
        set(),
    ),
    "test_takes_identical_frames": (crashing(identical), set()),
}
# the same for checks that ask something else of a method that looks for reliance
RELIANCE_PROOFS: dict[str, tuple[type, set[str]]] = {
    "test_finds_the_planted_cue": (BlindToTheCue, set()),
    "test_does_not_find_the_decoy": (scoring(presence, FakeRelianceMethod), set()),
    "test_finds_nothing_where_there_is_nothing": (
        scoring(eager, FakeRelianceMethod),
        {"*"},
    ),
    "test_finds_nothing_where_nothing_is_seen": (
        finds_always(unmoved, FakeRelianceMethod),
        set(),
    ),
}


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
    assert (
        set(MethodContract.checks())
        == PROOFS.keys() | RELIANCE_PROOFS.keys() | ELSEWHERE
    )
    assert len(PROOFS) >= 15


@pytest.mark.parametrize("check", PROOFS)
def test_check_catches_its_bad_method(check: str) -> None:
    catches(check, *PROOFS[check], "errors")


@pytest.mark.parametrize("check", RELIANCE_PROOFS)
def test_check_catches_its_bad_method_of_reliance(check: str) -> None:
    catches(check, *RELIANCE_PROOFS[check], "reliance")


def catches(check: str, method: type, others: set[str], paradigm: str) -> None:
    contract = contract_of(method, paradigm=paradigm)
    if others == {"*"} or not WHOLE:
        for name in {check, *others} - {"*"}:
            assert contract.run_check(name).status == "failed"
    else:
        assert failed(contract) == {check, *others}


def test_the_planted_cue_is_explained_by_its_rule_and_what_came() -> None:
    for method, paradigm in ((FakeMethod, "reliance"), (FakeRelianceMethod, "errors")):
        contract = contract_of(method, paradigm=paradigm)
        reason = contract.run_check("test_finds_the_planted_cue").reason
        assert "80% of its occurrences cover half of the corner" in reason
        assert (
            f"(`--paradigm {'errors' if paradigm == 'reliance' else 'reliance'}`)"
            in reason
        )
    assert (
        "got 'bottom right' (4,4,8,8), which covers 0% of the cue; half is needed"
        in reason
    )
    small = each_place(lambda o: {"region": (0, 0, 2, 2)})
    reason = contract_of(small).run_check("test_finds_the_planted_cue").reason
    assert (
        "got 'top left' (0,0,2,2), which covers 44% of the cue; half is needed"
        in reason
    )
    nowhere = type("Nowhere", (FakeMethod,), {"propose_features": placeless})
    reason = contract_of(nowhere).run_check("test_finds_the_planted_cue").reason
    assert "which occurs nowhere" in reason


@hookimpl
def placeless(self: FakeMethod, audit: Audit) -> Iterator[Feature]:
    """Features without a place."""
    for feature in FakeMethod.propose_features(self, audit):
        yield feature.model_copy(update={"occurrences": ()})
