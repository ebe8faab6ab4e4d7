"""Components and baselines, other settings, and samples of like difficulty."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Context, Frame, Request, Sample, UserError, generator
from cuescope_sdk.grounding import SCENE, SceneFrame, Thing
from cuescope_step_grounding.bench import BenchOptions, StepGroundingBench
from cuescope_step_grounding.law.components import components, figures_of_maps
from cuescope_step_grounding.law.difficulty import difficulty_table
from cuescope_step_grounding.law.law import MeasuredModel
from cuescope_step_grounding.law.sweep import Setting, settings, sweep_table


def population(
    count: int = 16, benchmarks: tuple[str, ...] = ("",)
) -> list[MeasuredModel]:
    """Retention follows SGR; TCS is half noise; accuracy and maps say nothing."""
    rng = generator(1, "population")
    models = []
    for benchmark in benchmarks:
        for index in range(count):
            sgr, noise, accuracy, drawn = rng.uniform(0.3, 0.9, 4).tolist()
            figures = {
                "SGR": sgr
                + (benchmark == "b"),  # another level, for reasons of its own
                "TCS": (sgr + noise) / 2,
                "1 - HR": sgr,
                "accuracy": accuracy,
                "map of rollout": drawn,
            }
            models.append(
                MeasuredModel(
                    f"{index}",
                    sgr,
                    accuracy,
                    accuracy * sgr,
                    benchmark=benchmark,
                    figures=figures,
                )
            )
    return models


@pytest.mark.parametrize("benchmarks", [("",), ("a", "b")])
def test_components_are_told_from_baselines(benchmarks: tuple[str, ...]) -> None:
    table = components(population(benchmarks=benchmarks), generator(0, "components"))
    r = {row["predicted by"]: row["r"] for row in table.rows}
    assert r["verified claims alone"] == pytest.approx(1, abs=0.01)
    assert 0.5 < r["tracked beliefs alone"] < 0.95  # type: ignore[operator]
    assert r["verified claims alone"] > r["without changed videos"] > 0.8  # type: ignore[operator]
    assert abs(r["no reasoning: accuracy alone"]) < 0.5  # type: ignore[arg-type]
    assert abs(r["no reasoning: map of rollout"]) < 0.5  # type: ignore[arg-type]
    assert "changed videos alone" not in r
    assert "Not measured for all models: all three;" in table.notes[-1]


def test_runs_of_another_method_are_no_maps() -> None:
    provenance = SimpleNamespace(
        method=SimpleNamespace(dist="cuescope-trove", spec="trove")
    )
    report: Any = SimpleNamespace(provenance=provenance, scores=())
    with pytest.raises(UserError, match="a run of trove: expected runs of saliency"):
        figures_of_maps(report)


def test_a_setting_changes_what_it_names() -> None:
    request = Request(
        method="step-grounding", model="m", data="d", method_options={"margin": 0.1}
    )
    [low, high] = settings("claim-verifier.threshold=0.1,0.3")
    assert (str(low), high.value) == ("claim-verifier.threshold=0.1", 0.3)
    assert high.of(request).tool_options == {"claim-verifier": {"threshold": 0.3}}
    [few, _] = settings("model.steps=3,7")
    assert few.of(request).model_options == {"steps": 3}
    [small, _] = settings("epsilon=0.001,0.1")
    assert small.of(request).method_options["epsilon"] == 0.001
    assert "temporal" in small.of(request).method_options["perturbations"]
    assert "perturbations" not in small.of(request, known=False).method_options
    assert Setting().of(request) == request


@pytest.mark.parametrize("text", ["epsilon", "epsilon=1", "=1,2", "data.frames=1,2"])
def test_a_sweep_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="expected an option with several values"):
        settings(text)


def test_rows_of_a_sweep_compare_with_the_first() -> None:
    models = population(8)
    turned = [
        MeasuredModel(
            "", 1 - m.sgr, m.accuracy, m.ood_accuracy, figures={"SGR": 1 - m.sgr}
        )
        for m in models
    ]
    first, second = settings("policy=a,b")
    table = sweep_table({first: models, second: turned}, generator(0, "sweep"))
    assert [row["ranks"] for row in table.rows] == [1, -1]
    assert table.rows[0]["SGR and retention: r"] == pytest.approx(1)
    assert table.rows[1]["SGR %"] == pytest.approx(100 - table.rows[0]["SGR %"])  # type: ignore[operator]


def sample(key: str, things: int, frames: int = 2) -> Sample:
    frame = Frame.from_array(np.zeros((2, 2, 3), np.uint8))
    scene = SceneFrame(
        things=tuple(Thing(id=str(n), name="cup") for n in range(things))
    )
    return Sample(
        key=key,
        frames=(frame,) * frames,
        question="What is it?",
        choices=("cup", "dog"),
        label="cup",
        annotations={SCENE: (scene,) * frames},
    )


def test_the_other_data_is_harder_by_what_its_samples_show() -> None:
    known = [sample(f"k{n}", n) for n in (1, 2, 3, 4, 5, 6)]
    other = [sample(f"o{n}", n) for n in (4, 5, 6, 7, 8, 9)]
    [row] = difficulty_table(known, other).rows
    assert (row["complexity"], row["in distribution"], row["out of it"]) == (
        "things a frame",
        3.5,
        6.5,
    )
    both = [1, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8, 9]
    assert row["difference (sd)"] == pytest.approx(3 / np.std(both))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"models": ["m"]}, "models without data"),
        ({"runs": ["a"], "ood": ["b"], "sweep": "epsilon=1,2"}, "sweep of stored runs"),
    ],
)
def test_a_bench_that_cannot_be_is_refused(
    options: Any, said: str, tmp_path: Path
) -> None:
    bench = StepGroundingBench(
        BenchOptions(**options), Context(cache=tmp_path, device="cpu")
    )
    with pytest.raises(UserError, match=said):
        list(bench.run())
