"""How contracts run: light imports, global randomness, results, and the fakes they stand on."""

import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pytest

from cuescope_sdk import (
    Audit,
    Context,
    Evidence,
    Feature,
    Frame,
    HideTokens,
    Options,
    Plugin,
    PluginError,
    ToolRole,
    Trial,
    hookimpl,
)
from cuescope_testing import (
    CONTRACTS,
    FAKE_TOOLS,
    Contract,
    FakeDataset,
    FakeMethod,
    FakeModel,
    MethodContract,
    PluginShelf,
    Setup,
    run_audit,
)
from cuescope_testing._contract import (
    ContractViolation,
    expect,
    expect_error,
    heavy_imports,
    lies_within,
    moved_states,
)
from cuescope_testing._fake_data import DECOY, DECOY_BOX, FakeDataOptions, points_at
from cuescope_testing._fake_models import FakeModelOptions

HEAVY_PLUGIN = """import tensorflow
from cuescope_sdk import Plugin
class Heavy(Plugin):
    pass
"""


@pytest.mark.parametrize("kind", CONTRACTS)
def test_a_heavy_import_is_caught_and_a_light_one_is_not(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a stand-in: the check asks for the name only
    (tmp_path / "tensorflow.py").write_text("")
    (tmp_path / f"heavy_{kind}.py").write_text(HEAVY_PLUGIN)
    (tmp_path / f"light_{kind}.py").write_text(
        HEAVY_PLUGIN.replace("import tensorflow\n", "")
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "tensorflow", ModuleType("tensorflow"))
    for weight, status in (("heavy", "failed"), ("light", "ok")):
        plugin = __import__(f"{weight}_{kind}").Heavy
        contract = type("Of", (CONTRACTS[kind],), {"plugin": plugin})
        result = contract.run_check("test_imports_lightly")
        assert result.status == status
        assert ("tensorflow" in result.reason) == (weight == "heavy")


def test_a_module_that_fails_is_told_by_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_module.py").write_text("raise ValueError('out of order')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ContractViolation, match="imports by itself, got out of order"):
        heavy_imports("broken_module", "")


def test_global_randomness_is_watched() -> None:
    assert moved_states(lambda: None) == set()
    assert moved_states(lambda: random.seed(0)) == {"random"}
    assert moved_states(lambda: np.random.seed(0)) == {"numpy.random"}


def test_results_tell_ok_skipped_violated_and_crashed() -> None:
    class Checks(Contract):
        def test_skips(self) -> None:
            from cuescope_testing._contract import NotApplicable

            raise NotApplicable("needs a camel")

        def test_violates(self) -> None:
            """Choose another camel."""
            expect(False, "two humps", got=1)

        def test_crashes(self) -> None:
            raise KeyError("hump")

        def test_passes(self) -> None:
            expect(True, "two humps", got=2)

    ends = {r.check: (r.status, r.reason) for r in Checks.run_checks(only="es")}
    ends |= {r.check: (r.status, r.reason) for r in Checks.run_checks(only="skips")}
    assert ends["test_skips"] == ("skipped", "needs a camel")
    assert ends["test_violates"] == (
        "failed",
        "expected two humps, got 1. Choose another camel.",
    )
    assert ends["test_crashes"] == ("failed", "KeyError: 'hump'")
    assert ends["test_passes"] == ("ok", "")


@pytest.mark.parametrize(
    ("box", "within"),
    [
        ((0, 0, 4, 3), True),
        ((1, 1, 2, 2), True),
        ((0, 0, 3, 4), False),
        ((-1, 0, 4, 3), False),
        ((2, 1, 2, 2), False),
        ((1, 2, 2, 1), False),
    ],
)
def test_a_box_lies_within_a_picture_or_not(box: tuple[int, ...], within: bool) -> None:
    assert lies_within(box, (4, 3)) == within


def test_a_refusal_is_told_from_a_crash_and_from_nothing() -> None:
    def ends(action: Callable[[], object]) -> str:
        try:
            with expect_error(KeyError, "a KeyError"):
                action()
        except ContractViolation as violation:
            return str(violation)
        return "refused"

    assert ends(lambda: {}["camel"]) == "refused"
    assert ends(lambda: None) == "expected a KeyError, got none"
    assert ends(lambda: [][1]).startswith("expected a KeyError, got IndexError(")


def test_a_shelf_finds_given_classes_before_installed_ones() -> None:
    shelf = PluginShelf({("model", "fake"): FakeModel, ("method", "mine"): FakeMethod})
    assert shelf.load(shelf.find("model", "fake")) is FakeModel
    assert [entry.name for entry in shelf.entries] == ["fake", "mine"]
    assert "new" in [e.name for e in PluginShelf({}, installed=True).of_kind("command")]


# --------------------------------------------------------------------------------------- the fakes


def data(**options: int) -> FakeDataset:
    return FakeDataset(FakeDataOptions(**options), Context())


def test_the_cue_is_planted_at_the_promised_rates() -> None:
    samples = list(data())
    share = {
        label: np.mean(
            [
                s.annotations["cues"][FakeDataset.cue][0]
                for s in samples
                if s.label == label
            ]
        )
        for label in ("top", "middle", "bottom")
    }
    assert share == pytest.approx(
        {"top": 0.76, "middle": 0.3, "bottom": 0.3}, abs=0.011
    )
    for sample in samples:
        red = tuple(
            frame.load().getpixel((1, 1)) == (230, 0, 0) for frame in sample.frames
        )
        assert red == sample.annotations["cues"][FakeDataset.cue]
        assert not red[-1]


def test_the_model_errs_on_the_cue_as_far_as_it_leans_on_it() -> None:
    samples = list(data(samples=300))

    def accuracy(cue: bool, lean: float) -> float:
        model = FakeModel(FakeModelOptions(lean=lean), Context())
        shown = [
            s
            for s in samples
            if s.annotations["cues"][FakeDataset.cue][0] == cue and s.label != "top"
        ]
        answers = [model.answer(Trial(sample=sample)).prediction for sample in shown]
        pairs = zip(shown, answers, strict=True)
        return float(
            np.mean(
                [sample.choices[answer] == sample.label for sample, answer in pairs]
            )
        )

    assert accuracy(cue=True, lean=1) < 0.2
    assert accuracy(cue=False, lean=1) > 0.85
    assert abs(accuracy(cue=True, lean=0) - accuracy(cue=False, lean=0)) < 0.1


def test_hidden_tokens_are_as_grey_pixels_to_the_model() -> None:
    sample = data()[0]
    model = FakeModel(FakeModelOptions(), Context())
    mask = np.zeros((3, 8, 8), dtype=bool)
    mask[:, :3, :3] = True
    hidden = model.see(Trial(sample=sample, edit=HideTokens.from_mask(mask)))
    plain = model.see(Trial(sample=sample))
    assert hidden[3] == pytest.approx(0)  # the red corner
    assert plain[3] > 0.4
    assert np.delete(hidden, 3) == pytest.approx(np.delete(plain, 3))


def test_points_at_tells_the_corners_apart() -> None:
    report = run_audit(FakeMethod)
    samples = {sample.key: sample for sample in data()}
    on_cue = {feature.key: points_at(feature, samples) for feature in report.features}
    on_decoy = {
        feature.key: points_at(feature, samples, DECOY) for feature in report.features
    }
    assert on_cue == {
        "top left": 1,
        "top right": 0,
        "bottom left": 0,
        "bottom right": 0,
    }
    assert on_decoy == {
        "top left": 0,
        "top right": 0,
        "bottom left": 1,
        "bottom right": 0,
    }


def test_the_detector_finds_the_annotated_cue_and_no_other() -> None:
    detector = FAKE_TOOLS["detector"](Options(), Context())
    for sample in list(data())[:30]:
        detections = detector.detect(sample.frames, (FakeDataset.cue, "tree"))  # type: ignore[attr-defined]
        assert (
            tuple(map(bool, detections)) == sample.annotations["cues"][FakeDataset.cue]
        )
    blue = detector.detect(data()[1].frames, ("blue corner",))[0]  # type: ignore[attr-defined]
    assert all(detection.box == DECOY_BOX for detection in blue)


class Captioner(Protocol):
    """A role of one's own."""

    def caption(self, frames: Sequence[Frame]) -> list[str]: ...


class FakeCaptioner(Plugin):
    def caption(self, frames: Sequence[Frame]) -> list[str]:
        return ["a corner" for _ in frames]


class Captioned(FakeMethod):
    """Needs a tool in a role that its own package brings."""

    requires = FakeMethod.requires.model_copy(
        update={
            "tools": frozenset({"captioner"}),
            "roles": (ToolRole("captioner", runtime_checkable(Captioner)),),
        }
    )

    @hookimpl
    def verify(self, audit: Audit) -> Iterator[Evidence]:
        [said, *_] = audit.tools["captioner"].caption(audit.samples[0].frames)
        yield Evidence(check="caption", verdict="inconclusive", detail=said)


def test_a_method_with_a_tool_role_of_its_own_is_checked() -> None:
    facts = {"plugin": Captioned, "tools": {"captioner": FakeCaptioner}}
    contract = type("OfCaptioned", (MethodContract,), facts)
    assert contract.run_check("test_finds_the_planted_cue").status == "ok"
    without = type("WithoutTool", (MethodContract,), {"plugin": Captioned})
    result = without.run_check("test_finds_the_planted_cue")
    assert result.status == "skipped"
    assert "tools = {'captioner': ...}" in result.reason


def propose_feature(self: Any, audit: Audit) -> list[Feature]:
    return []


def perturb(self: Any, audit: Audit, feature: Feature) -> list[Trial]:
    return []


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        (
            propose_feature,
            "propose_feature is no hook: Did you mean 'propose_features'",
        ),
        (perturb, "has no argument 'feature': Did you mean 'features'"),
    ],
)
def test_a_setup_checks_hooks_as_an_installation_does(hook: Any, said: str) -> None:
    """Else a misspelt hook is an empty report."""
    bad = type("Misspelt", (FakeMethod,), {hook.__name__: hookimpl(hook)})
    with pytest.raises(PluginError, match=re.escape(said)):
        Setup(bad).report()


def test_a_setup_runs_with_tools_options_and_settings() -> None:
    setup = Setup(
        FakeMethod,
        options={"min_gain": 1.0},
        tools={"detector": FAKE_TOOLS["detector"]},
    )
    report = setup.report(limit=30, seed=3)
    assert report.findings == ()
    assert (report.provenance.samples, report.provenance.seed) == (30, 3)
    assert report.provenance.method.options["min_gain"] == 1
    assert set(report.provenance.tools) == {"detector"}
    assert setup.plan(limit=30).model_calls == 150


def test_the_contracts_need_no_pytest() -> None:
    """`cuescope plugins check` runs where pytest is not installed."""
    code = (
        "import sys; sys.modules['pytest'] = None; import cuescope_testing as t;"
        "print(len(list(t.CONTRACTS)), issubclass(t.FakeModel, object), 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(len(CONTRACTS)), "True", "False"]


def test_where_the_cue_helps_the_model_is_right_by_it_alone() -> None:
    samples = list(FakeDataset(FakeDataOptions(cue="helps"), Context()))
    assert [any(s.annotations["cues"][FakeDataset.cue]) for s in samples] == [
        s.label == "top" for s in samples
    ]

    def accuracy(label: str, **options: float) -> float:
        model = FakeModel(FakeModelOptions(**options), Context())
        shown = [sample for sample in samples if sample.label == label]
        answers = [model.answer(Trial(sample=sample)).prediction for sample in shown]
        return float(
            np.mean(
                [s.choices[a] == label for s, a in zip(shown, answers, strict=True)]
            )
        )

    assert min(accuracy(label) for label in ("top", "middle", "bottom")) > 0.8
    assert accuracy("top", lean=0) < 0.2
    assert accuracy("bottom", lean=0) > 0.8
    assert accuracy("bottom", lean=0, signal=0) < 0.6
