"""What a method's author reads where a hook gives what it may not give."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from pydantic import ValidationError

from cuescope.runner import Runner
from cuescope_core.capabilities import Requirements
from cuescope_core.conclusions import Feature, Occurrence, Score
from cuescope_core.engine import each_of
from cuescope_core.errors import PluginError, UserError, reason_of, with_article
from cuescope_core.hookspecs import hookimpl
from cuescope_core.request import Request
from cuescope_core.types import Trial

RED_METHOD = "cuescope_fakes.RedMethod"  # of the stub that `runner` installs
RED = Feature(key="red", kind="colour")


def refused(runner: Runner, request: Request) -> str:
    with pytest.raises(PluginError) as caught:
        runner.run(request)
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "result", "came"),
    [
        (Feature, ["top left"], "got a str ('top left')"),
        (Feature, "top left", "got a str ('top left')"),
        (Feature, 3, "got an int (3)"),
        (Feature, [None], "got None"),
        # one value, forgotten brackets: it would fall into its fields
        (Feature, RED, "got a Feature"),
        (Score, [RED], "got a Feature"),
    ],
)
def test_what_a_hook_may_not_give_is_named(
    kind: type[Any], result: Any, came: str
) -> None:
    with pytest.raises(PluginError) as caught:
        list(each_of("propose_features", "mine", [result], kind))
    line = str(caught.value)
    assert "propose_features of method mine: expected" in line
    assert f"{kind.__name__} values, yielded one by one or returned in a list" in line
    assert came in line


def test_lists_and_generators_are_what_a_hook_gives() -> None:
    results: list[Iterable[Feature]] = [[RED], (each for each in [RED, RED])]
    assert len(list(each_of("propose_features", "mine", results, Feature))) == 3


@pytest.mark.parametrize(
    "hook", ["propose_features", "perturb", "compute_scores", "verify"]
)
def test_every_hook_of_an_audit_is_checked(
    hook: str,
    runner: Runner,
    request_for: Callable[..., Request],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"{RED_METHOD}.{hook}", hookimpl(lambda self, audit: ["red"]))
    line = refused(runner, request_for())
    assert f"{hook} of method red: expected" in line
    assert "got a str ('red')" in line


@pytest.mark.parametrize("hook", ["propose_features", "perturb", "compute_scores"])
def test_a_forgotten_return_is_missed(
    hook: str,
    runner: Runner,
    request_for: Callable[..., Request],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"{RED_METHOD}.{hook}", hookimpl(lambda self, audit: None))
    line = refused(runner, request_for())
    assert f"{hook} of method red: expected" in line
    assert "returned or yielded ([] where there are none), got None" in line


def test_braces_of_labels_are_words(
    runner: Runner, request_for: Callable[..., Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = hookimpl(
        lambda self, audit: [score(statement="{feature} hurts '{x}' and {}")]
    )
    monkeypatch.setattr(f"{RED_METHOD}.compute_scores", told)
    runner.run(request_for())


def test_two_features_of_one_key_are_refused(
    runner: Runner, request_for: Callable[..., Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    twice = hookimpl(lambda self, audit: [RED, RED])
    monkeypatch.setattr(f"{RED_METHOD}.propose_features", twice)
    line = refused(runner, request_for())
    assert "expected a key of its own for each feature, got 2 features" in line


def score(**fields: Any) -> Score:
    return Score(
        **{"feature": "red", "label": None, "metric": "gap", "value": 0.5} | fields
    )


@pytest.mark.parametrize(
    ("give", "words"),
    [
        (
            lambda: [score(value=float("nan"))],
            "Score.value: input should be a finite number, got nan",
        ),
        (lambda: [score(value="5%")], "got '5%'"),
        (
            lambda: [score(p_value=5.0)],
            "p_value: expected a probability from 0 to 1, got 5",
        ),
        (lambda: [score(q_value=-0.1)], "q_value: expected a probability"),
        (
            lambda: [score(feature="rde")],
            "no feature has this key. Did you mean 'red'?",
        ),
        (lambda: [score(metric="gpa")], "the method declares the metrics 'gap'"),
        (
            lambda: [score(label="lft")],
            "got label 'lft' in a score of 'red'. Did you mean 'left'?",
        ),
    ],
)
def test_a_figure_that_is_wrong_says_which_and_what_came(
    give: Callable[[], list[Score]],
    words: str,
    runner: Runner,
    request_for: Callable[..., Request],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = hookimpl(lambda self, audit: give())
    monkeypatch.setattr(f"{RED_METHOD}.compute_scores", scores)
    line = refused(runner, request_for())
    assert words in line
    assert "pydantic" not in line
    assert "validation error" not in line


def test_rounding_is_no_fault_of_a_p_value() -> None:
    assert score(p_value=1 + 1e-12).p_value == pytest.approx(1)


@pytest.mark.parametrize(
    ("region", "words"),
    [
        ((40.0, 0.0, 10.0, 20.0), "ends before it begins"),
        ((0.0, 0.0, 0.5, 0.5), "which are shares"),
    ],
)
def test_a_region_is_a_box_in_pixels(
    region: tuple[float, float, float, float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Occurrence(sample="a", region=region)


@pytest.mark.parametrize(
    ("place", "came"),
    [
        (Occurrence(sample="nowhere"), "got the sample 'nowhere', for 'red'"),
        (lambda key: Occurrence(sample=f"{key}x"), "Did you mean '"),
        (lambda key: Occurrence(sample=key, frame=99), "got frame 99 of '"),
    ],
)
def test_an_occurrence_is_in_a_sample_of_the_audit(
    place: Any,
    came: str,
    runner: Runner,
    request_for: Callable[..., Request],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def features(self: Any, audit: Any) -> list[Feature]:
        seen = place(audit.samples[0].key) if callable(place) else place
        return [Feature(key="red", kind="colour", occurrences=(seen,))]

    monkeypatch.setattr(f"{RED_METHOD}.propose_features", hookimpl(features))
    line = refused(runner, request_for())
    assert "propose_features of method red: expected occurrences in samples" in line
    assert came in line


def test_a_small_region_in_pixels_is_one() -> None:
    assert Occurrence(sample="a", region=(0, 0, 1, 1)).region == (0, 0, 1, 1)
    assert Occurrence(sample="a", region=(0.5, 0.5, 3, 2)).region == (0.5, 0.5, 3, 2)


def test_the_place_in_the_plugin_is_told(
    runner: Runner, request_for: Callable[..., Request]
) -> None:
    line = refused(runner, request_for(method_options={"fails_in": "perturb"}))
    assert "ZeroDivisionError: no clusters (_reach, line " in line


def test_a_question_in_a_line_ends_its_sentence() -> None:
    line = str(UserError("a", got="x. Did you mean 'y'?", remedy="Tell the authors"))
    assert line == "a: got x. Did you mean 'y'? Tell the authors"


@pytest.mark.parametrize(
    ("noun", "words"), [("int", "an int"), ("list", "a list"), ("NoneType", "None")]
)
def test_an_article_fits_its_noun(noun: str, words: str) -> None:
    assert with_article(noun) == words


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (
            lambda audit: audit.respond(audit.samples),
            "got a Sample. Trial(sample=sample)",
        ),
        (lambda audit: audit.respond(iter(audit.samples)), "got a Sample. Trial("),
        (
            lambda audit: audit.respond(Trial(sample=audit.samples[0])),
            "got a Trial. audit.respond([trial]) asks one",
        ),
        (lambda audit: audit.respond(None), "expected trials in a list, got None"),
        (lambda audit: audit.outcomes[0], "audit.outcomes is not there yet"),
        (lambda audit: bool(audit.scores), "expected it read in verify"),
        (
            lambda audit: audit.samples[0].annotations["cues"],
            "read annotations['cues'] too early",
        ),
    ],
)
def test_what_is_asked_wrongly_or_too_early_is_told_in_a_line(
    ask: Callable[[Any], Any],
    words: str,
    runner: Runner,
    request_for: Callable[..., Request],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hook = hookimpl(lambda self, audit: [ask(audit)])
    monkeypatch.setattr(f"{RED_METHOD}.propose_features", hook)
    assert words in refused(runner, request_for())


@pytest.mark.parametrize("name", ["statement", "low", "high", "q_value"])
def test_a_finding_without_its_grounds_is_refused(
    name: str,
    runner: Runner,
    request_for: Callable[..., Request],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = {"low": 0.4, "high": 0.6, "q_value": 0.01, "statement": "So."}
    given = {key: value for key, value in whole.items() if key != name}
    hook = hookimpl(lambda self, audit: [score(finding=True, **given)])
    monkeypatch.setattr(f"{RED_METHOD}.compute_scores", hook)
    assert "a finding of method red, 'red': expected" in refused(runner, request_for())
    # a control tests nothing, and says so
    monkeypatch.setattr(f"{RED_METHOD}.is_control", True, raising=False)
    assert runner.run(request_for()).findings


def test_an_init_without_that_of_plugin_is_told(
    runner: Runner, request_for: Callable[..., Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{RED_METHOD}.__init__", lambda self, options, context: None)
    line = refused(runner, request_for())
    assert "expected super().__init__(options, context) first in its __init__" in line


def test_an_output_that_is_none_is_told_with_the_nearest() -> None:
    with pytest.raises(ValidationError) as caught:
        Requirements(outputs=frozenset({"logit"}))  # type: ignore[arg-type]
    assert reason_of(caught.value).endswith("got 'logit'. Did you mean 'logits'?")
    assert Requirements(outputs={"text"}).outputs == {"text"}  # type: ignore[arg-type]
