"""One audit, start to finish, on plugins of a stub distribution."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope.runner import Runner
from cuescope_core.context import Context, Resolved
from cuescope_core.engine import Session
from cuescope_core.errors import PluginError, UserError
from cuescope_core.hookspecs import hookimpl
from cuescope_core.registry import Registry
from cuescope_core.request import Request
from cuescope_core.runs import load_report

Requests = Callable[..., Request]


def refused(runner: Runner, request: Request, kind: type[UserError] = UserError) -> str:
    with pytest.raises(kind) as caught:
        runner.run(request)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --------------------------------------------------------------------------------- what is found


def test_the_planted_cue_is_found_and_said(
    runner: Runner, request_for: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = runner.run(request_for())
    (finding,) = report.findings
    assert (finding.feature, finding.label, finding.value) == ("red", "left", 1.0)
    assert (
        report.sentence(finding)
        == "When red everywhere is there, 'left' loses 100 points."
    )
    assert report.evidence[0].verdict == "supported"
    assert report.provenance.labels == ("left", "right")
    assert report.provenance.model.facts == {"weights": "plain"}
    assert report.provenance.samples == 20
    assert report.cost.trials == report.cost.model_calls == 40
    assert (report.cost.shown, report.cost.pictures) == (60, 40)
    assert 0 < report.cost.model_seconds <= report.cost.seconds
    assert runner.folder(request_for()).report_file.is_file()
    folder = runner.folder(request_for()).path
    assert load_report(folder) == report
    # of another user it was made elsewhere, and has no command
    monkeypatch.setenv("CUESCOPE_OWN_RUNS", str(folder))
    stranger = load_report(folder)
    assert (stranger.provenance.command, stranger.hash) == ("", report.hash)
    assert (runner.folder(request_for()).path / "report.html").is_file()


def test_cues_are_hidden_until_verify(runner: Runner, request_for: Requests) -> None:
    assert runner.run(request_for()).notes == {
        "cues in propose_features": "hidden",
        "cues in perturb": "hidden",
        "cues in compute_scores": "hidden",
        "cues in verify": "seen",
    }


def test_only_the_cues_are_hidden(runner: Runner, request_for: Requests) -> None:
    session = runner.session(request_for())
    assert session.audit.samples[3].annotations == {"place": 3}
    session.run()
    assert session.audit.samples[3].annotations.keys() == {"place", "cues"}


def test_the_hash_is_the_same_cold_warm_and_in_any_batch(
    runner: Runner, request_for: Requests
) -> None:
    cold = runner.run(request_for())
    warm = runner.run(request_for())
    small = Runner(runner.context, runner.runs, cache_responses=False).run(
        request_for(batch_size=1)
    )
    assert (cold.cost.model_calls, warm.cost.model_calls, small.cost.model_calls) == (
        40,
        0,
        40,
    )
    assert warm.cost.cache_hits == 40
    assert cold.hash == warm.hash == small.hash


def test_the_hash_follows_what_was_asked(runner: Runner, request_for: Requests) -> None:
    asked = [
        request_for(),
        request_for(seed=1),
        request_for(limit=12),
        request_for(model="colour:other"),
        request_for(data="clips:30"),
        request_for(method_options={"top_k": 2}),
        request_for(verify_with=("counting",)),
    ]
    assert len({runner.run(request).hash for request in asked}) == len(asked)


def test_recall_asks_again_where_the_data_changed(
    runner: Runner, request_for: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = runner.run(request_for())
    build = Resolved.build

    def changed(self: Resolved, context: Context) -> Any:
        plugin = build(self, context)
        if self.entry.kind == "dataset":
            plugin.fingerprint = "another"
        return plugin

    monkeypatch.setattr(Resolved, "build", changed)
    again = runner.run(request_for(), resume=True)
    assert (
        again.provenance.data.fingerprint
        == "another"
        != first.provenance.data.fingerprint
    )


def test_a_failing_observer_warns_and_costs_nothing(
    runner: Runner, request_for: Requests
) -> None:
    class Raising:
        @hookimpl
        def audit_started(self) -> None:
            raise RuntimeError("no chat")

        @hookimpl
        def responses_progressed(self, done: int) -> None:
            raise RuntimeError("no chat")

        @hookimpl
        def audit_finished(self) -> None:
            raise RuntimeError("no chat")

    watched = replace(runner, observers=(Raising(),))
    with pytest.warns(
        UserWarning, match="an observer failed at .*: RuntimeError: no chat"
    ) as said:
        report = watched.run(request_for())
    watched.cache.close()
    told = {str(warning.message).split(":")[0] for warning in said}
    hooks = ("audit_started", "responses_progressed", "audit_finished")
    assert told == {f"an observer failed at {hook}" for hook in hooks}
    assert load_report(runner.folder(request_for()).path).hash == report.hash


def test_a_folder_that_cannot_be_written_costs_no_answer(
    runner: Runner, request_for: Requests
) -> None:
    runner.runs.write_text("a file in the way")
    session = runner.session(request_for())
    assert "cannot write to" in refused(runner, request_for())
    assert session.cache.pace(session.respond.identity) is None


def test_recall_makes_a_damaged_report_again(
    runner: Runner, request_for: Requests
) -> None:
    first = runner.run(request_for())
    file = runner.folder(request_for()).report_file
    file.write_bytes(file.read_bytes()[:300])
    with pytest.warns(UserWarning, match="it is made again"):
        again = runner.run(request_for(), resume=True)
    assert again.hash == first.hash == load_report(file).hash


def test_recall_makes_a_run_with_changed_answers_again(
    runner: Runner, request_for: Requests
) -> None:
    """What tests its findings reads them, and a second try would be refused alike."""
    first = runner.run(request_for())
    folder = runner.folder(request_for())
    folder.answers_file.write_bytes(b"forged")
    with pytest.warns(UserWarning, match=r"answers\.parquet .* it is made again"):
        again = runner.run(request_for(), resume=True)
    assert again.hash == first.hash
    assert folder.read(folder.answers_file.name) != b"forged"


def test_a_failing_verifier_is_told_under_its_own_name(
    runner: Runner, request_for: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = request_for(verify_with=("counting",))
    session = runner.session(request)
    counting = type(session.parts.verifiers[0].plugin)

    @hookimpl
    def verify(self: Any) -> None:
        raise RuntimeError("no evidence")

    monkeypatch.setattr(counting, "verify", verify)
    assert "method 'counting' of cuescope-fakes" in refused(
        runner, request, PluginError
    )


def test_recall_reads_the_stored_report(runner: Runner, request_for: Requests) -> None:
    first = runner.run(request_for())
    assert runner.run(request_for(), resume=True) == first
    assert runner.run(request_for(seed=1), resume=True) != first


# ------------------------------------------------------------------------------ limits and plans


def test_a_limit_draws_by_seed_and_keeps_the_order(
    runner: Runner, request_for: Requests
) -> None:
    def drawn(**changes: int) -> list[str]:
        return [s.key for s in runner.session(request_for(**changes)).audit.samples]

    some = drawn(limit=8)
    assert len(some) == 8
    assert some == sorted(some) == drawn(limit=8)
    assert some != [f"clip-{i:03}" for i in range(8)]
    assert some != drawn(limit=8, seed=1)
    assert drawn(limit=99) == [f"clip-{i:03}" for i in range(20)]


@pytest.mark.parametrize(("limit", "count"), [(8, 6), (2, 3), (19, 18)])
def test_a_limit_draws_whole_groups(
    runner: Runner, request_for: Requests, limit: int, count: int
) -> None:
    request = request_for(data_options={"together": 3}, limit=limit)
    samples = runner.session(request).audit.samples
    sizes = Counter(sample.group for sample in samples)
    assert len(samples) <= count
    # the last of the seven videos has two clips only
    assert all(
        size == (2 if group == "video-6" else 3) for group, size in sizes.items()
    )


def test_a_plan_counts_and_asks_nothing(
    runner: Runner, request_for: Requests, tmp_path: Path
) -> None:
    options = {"log": str(tmp_path / "log")}
    request = request_for(model_options=options, batch_size=10)
    cold = runner.plan(request)
    assert (cold.trials, cold.model_calls, cold.cached) == (40, 40, 0)
    assert (cold.seconds, cold.until) == (None, "the answers of the model")
    assert not (tmp_path / "log").exists()
    runner.run(request)
    asked = (tmp_path / "log").read_text()
    warm = runner.plan(request)
    assert (warm.trials, warm.model_calls, warm.cached, warm.until) == (40, 0, 40, None)
    assert warm.seconds == 0
    other = runner.plan(request_for(data="clips:30"))
    assert (other.trials, other.model_calls) == (60, 20)
    assert other.seconds is not None
    assert (tmp_path / "log").read_text() == asked


def test_a_plan_opens_no_weights_and_an_audit_opens_them_first(
    runner: Runner, request_for: Requests
) -> None:
    request = request_for(method="with-tool", tools={"detector": "heavy"})
    loads = runner.context.cache / "loads"
    cold = runner.plan(request)
    assert (cold.until, cold.tool_calls) == ("the answers of the model", {})
    assert json.loads(json.dumps(asdict(cold)))["conditions"] == cold.conditions
    assert cold.notes["cues in propose_features"] == "hidden"
    assert not loads.exists()
    report = runner.run(request)
    assert loads.read_text() == "load\n"
    warm = runner.plan(request)
    assert (warm.until, warm.model_calls) == ("what heavy sees", 0)
    assert warm.tool_calls == report.cost.tool_calls == {"images": 1}
    assert loads.read_text() == "load\n"


# ------------------------------------------------------------------------------------- refusals


def test_a_missing_edit_names_the_models_that_have_it(
    runner: Runner, request_for: Requests
) -> None:
    line = refused(runner, request_for(method="hiding"))
    assert (
        "hiding cannot audit colour: expected a model with edit 'hide-tokens'" in line
    )
    assert "Installed models that have it: none" in line


def test_a_missing_output_is_told_before_the_weights_load(
    runner: Runner, request_for: Requests
) -> None:
    # building it would raise RuntimeError
    line = refused(runner, request_for(model="words"))
    assert "expected a model with output 'logits'" in line
    assert "Installed models that have it: colour" in line


def test_what_a_method_looks_at_must_be_open(
    runner: Runner, request_for: Requests
) -> None:
    # building it would raise
    line = refused(runner, request_for(method="looking", model="words"))
    assert "expected a model with output 'logits' and open patches" in line
    assert line.endswith("Installed models that have it: patches")
    assert "colour: expected a model with open patches." in refused(
        runner, request_for(method="looking")
    )
    assert runner.run(request_for(method="looking", model="patches")).findings


def test_labels_are_needed(runner: Runner, request_for: Requests) -> None:
    line = refused(runner, request_for(data_options={"labelled": False}))
    assert "red on clips: expected a data set with at least 1 label, got none" in line


def test_an_empty_data_set_is_told(runner: Runner, request_for: Requests) -> None:
    assert "clips:0 is empty" in refused(runner, request_for(data="clips:0"))


def test_a_tool_that_nobody_asks_is_refused(
    runner: Runner, request_for: Requests
) -> None:
    tools = {"tools": {"text-generator": "finder"}}
    line = refused(runner, request_for(**tools))
    assert (
        "red has no use for a text-generator: expected detector or segmenter as --tool"
        in line
    )
    line = refused(runner, request_for(method="counting", tools={"detector": "finder"}))
    assert "counting has no use for a detector: expected no --tool" in line


def test_tools_by_role(runner: Runner, request_for: Requests) -> None:
    assert "with-tool needs a detector. Add --tool detector=SPEC" in refused(
        runner, request_for(method="with-tool")
    )
    assert "no tool role 'detecter'" in refused(
        runner, request_for(tools={"detecter": "finder"})
    )
    assert "Did you mean 'detector'?" in refused(
        runner, request_for(tools={"detecter": "finder"})
    )
    assert "tool finder is no segmenter: expected one with segment()" in refused(
        runner, request_for(tools={"segmenter": "finder"})
    )
    tools = {
        "tools": {"detector": "finder"},
        "tool_options": {"detector": {"score": "0.25"}},
    }
    half = runner.run(request_for(method="with-tool", **tools))
    assert [one.value for one in half.evidence if one.check == "detector"] == [0.25]
    assert half.provenance.tools["detector"].options == {"score": 0.25}
    report = runner.run(request_for(method="with-tool", tools={"detector": "finder"}))
    assert report.evidence[0].detail == "red"
    assert report.provenance.tools["detector"].dist == "cuescope-fakes"


# ---------------------------------------------------------------------- verifiers and executors


def test_another_methods_verify_adds_evidence_and_nothing_else(
    runner: Runner, request_for: Requests
) -> None:
    plain = runner.run(request_for())
    more = runner.run(request_for(verify_with=("counting",)))
    assert [e.check for e in plain.evidence] == ["precision"]
    assert [e.check for e in more.evidence] == ["precision", "count"]
    assert more.evidence[1].n == len(more.scores) == 2
    assert more.features == plain.features
    assert [stamp.spec for stamp in more.provenance.verifiers] == ["counting"]
    with pytest.raises(
        UserError, match=r"no method 'countin' is installed.*'counting'"
    ):
        runner.run(request_for(verify_with=("countin",)))


def test_an_executor_finds_the_same(
    runner: Runner, request_for: Requests, tmp_path: Path
) -> None:
    plain = runner.run(request_for())
    elsewhere = Runner(runner.context, tmp_path / "other", cache_responses=False)
    log = tmp_path / "log"
    pooled = elsewhere.run(
        request_for(executor="threads", batch_size=3, model_options={"log": str(log)})
    )
    assert pooled.hash == plain.hash
    assert pooled.cost.model_calls == 40
    # at most three frames a call: clips of two frames go alone or with a frozen one
    assert len(log.read_text().splitlines()) == 20


# ------------------------------------------------------------------------------------- observers


def test_observers_follow_the_audit(
    runner: Runner, request_for: Requests, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    observer = runner.context.build("observer", f"file:{said}")
    watched = Runner(runner.context, runner.runs, [observer])
    report = watched.run(request_for(batch_size=20))
    watched.cache.close()
    first, *steps, last = said.read_text().splitlines()
    assert (first, last) == ("started with 20", f"finished {report.hash}")
    assert (steps[0], steps[-1]) == ("0/40 0", "40/40 0")
    done = [int(step.partition("/")[0]) for step in steps]
    assert done == sorted(set(done))
    assert len(done) > 2


# ---------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    "hook", ["propose_features", "perturb", "compute_scores", "verify"]
)
def test_a_method_that_raises_is_blamed_in_one_line(
    runner: Runner, request_for: Requests, hook: str
) -> None:
    line = refused(runner, request_for(method_options={"fails_in": hook}), PluginError)
    assert (
        "method 'red' of cuescope-fakes 1.0 failed: got ZeroDivisionError: no clusters"
        in line
    )


def test_a_model_that_raises_is_blamed_and_its_batches_kept(
    runner: Runner, request_for: Requests
) -> None:
    faulty = request_for(batch_size=8, model_options={"fault": "raises", "fault_at": 2})
    line = refused(runner, faulty, PluginError)
    assert "model 'colour' of cuescope-fakes 1.0 failed" in line
    assert "RuntimeError: the weights are melting" in line
    # two batches of eight frames
    assert runner.run(request_for()).cost.model_calls == 40 - 10


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("too few", "expected 40 responses, got 39"),
        ("no logits", "expected logits, got no logits"),
        ("three logits", "expected 2 logits, one a choice, got 3"),
        (
            "nan",
            "model 'colour' broke its contract on clip-000: expected finite numbers as its",
        ),
    ],
)
def test_a_broken_contract_ends_the_audit(
    runner: Runner, request_for: Requests, fault: str, said: str
) -> None:
    line = refused(runner, request_for(model_options={"fault": fault}), PluginError)
    assert said in line
    assert not runner.folder(
        request_for(model_options={"fault": fault})
    ).report_file.exists()


def test_a_session_draws_from_named_generators(
    runner: Runner, request_for: Requests
) -> None:
    def session(seed: int) -> Session:
        return runner.session(request_for(seed=seed))

    audit = session(3).audit
    np.testing.assert_array_equal(
        audit.rng("a").random(4), session(3).audit.rng("a").random(4)
    )
    assert audit.derive_seed("a") != session(4).audit.derive_seed("a")
    assert audit.rng("a").random() != audit.rng("b").random()


def test_scores_that_are_forgotten_are_missed(
    runner: Runner, request_for: Requests
) -> None:
    with pytest.raises(
        PluginError, match=r"compute_scores of method forgetful: expected scores.*None"
    ):
        runner.run(request_for(method="forgetful"))


def test_code_that_changed_is_no_stored_report(
    runner: Runner, request_for: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version stays the same while somebody edits an editable install; its digest does not."""
    first = runner.run(request_for())
    assert runner.run(request_for(), resume=True) == first
    monkeypatch.setattr(
        "cuescope_core.building.code_digest", lambda *given, **_: "edited"
    )
    again = runner.run(request_for(), resume=True)
    assert again.provenance.method.code == "edited"
    assert again.hash == first.hash


@pytest.mark.parametrize(
    ("before", "now", "is_asked_again"),
    [(None, None, True), (1, 1, False), (1, 2, True)],
)
def test_an_upgrade_asks_again_unless_the_model_says_that_its_answers_stay(
    runner: Runner,
    request_for: Requests,
    monkeypatch: pytest.MonkeyPatch,
    before: int | None,
    now: int | None,
    is_asked_again: bool,
) -> None:
    answers_version = "cuescope_fakes.ColourModel.answers_version"
    monkeypatch.setattr(answers_version, before, raising=False)
    assert runner.run(request_for()).cost.model_calls == 40
    entries = runner.context.registry.entries
    upgraded = tuple(replace(entry, version="9.9") for entry in entries)
    monkeypatch.setattr(Registry, "entries", upgraded)
    monkeypatch.setattr(answers_version, now)
    report = runner.run(request_for())
    assert report.provenance.model.version == "9.9"
    assert bool(report.cost.model_calls) == is_asked_again


@pytest.mark.parametrize("version", [0, True, "1"])
def test_a_version_of_answers_is_a_whole_number(
    runner: Runner,
    request_for: Requests,
    monkeypatch: pytest.MonkeyPatch,
    version: object,
) -> None:
    monkeypatch.setattr(
        "cuescope_fakes.ColourModel.answers_version", version, raising=False
    )
    told = refused(runner, request_for(), PluginError)
    assert "answers_version, a whole number from 1" in told


def test_a_stored_report_is_announced_with_its_date(
    runner: Runner, request_for: Requests
) -> None:
    lines: list[str] = []
    telling = replace(runner, context=replace(runner.context, announce=lines.append))
    first = telling.run(request_for(), resume=True)
    assert lines == []
    assert telling.run(request_for(), resume=True) == first
    telling.cache.close()
    made = first.provenance.started.replace("T", " ")
    assert lines == [f"stored report of {made}; --again makes it anew"]


def test_a_line_is_told_once_an_audit(runner: Runner, request_for: Requests) -> None:
    lines: list[str] = []
    telling = replace(runner, context=replace(runner.context, announce=lines.append))
    for expected in (1, 2):  # another audit tells it again
        context = telling.session(request_for()).audit.context
        for _ in range(3):
            context.announce("cues are met with one label alone")
        assert lines == ["cues are met with one label alone"] * expected
    telling.cache.close()
