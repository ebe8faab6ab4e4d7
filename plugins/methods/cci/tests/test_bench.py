"""The paper's figures, the tables, and a whole run on a tiny stock model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope.application import Runner
from cuescope_cci.bench import CCIBench, areas_table, captions_of, gains_table
from cuescope_cci.failures import paper_failures
from cuescope_cci.paper import NAMES, paper_rows
from cuescope_sdk import Context, Frame, Picture, Request, Sample, Table, UserError
from cuescope_sdk.explain import Perturbation
from cuescope_sdk.statistics import Groups

# ------------------------------------------------------------------------------- paper's figures


@pytest.mark.parametrize(
    ("task", "direction", "explainer", "column", "figure"),
    [
        ("classification", "deletion", "Rollout", "GT@5", 0.6556),
        ("classification", "deletion", "CCI", "Pred@1", 0.1789),
        ("classification", "insertion", "raw attention", "GT@1", 0.2492),
        ("classification", "insertion", "raw attention", "Pred@1", None),
        ("classification", "insertion", "CLIP-Surgery", "Pred@5", 0.5719),
        ("retrieval", "deletion", "CCI", "IR@5", 0.1056),
        ("retrieval", "deletion", "Grad-ECLIP", "TR@1", 0.1550),
        ("retrieval", "insertion", "Grad-ECLIP w/o lambda", "TR@5", 0.3279),
    ],
)
def test_figures_of_the_paper(
    task: str, direction: str, explainer: str, column: str, figure: float | None
) -> None:
    [row] = [
        row for row in paper_rows(task, direction) if row["explainer"] == explainer
    ]
    assert row.get(column) == figure


@pytest.mark.parametrize("task", ["classification", "retrieval"])
@pytest.mark.parametrize("direction", ["deletion", "insertion"])
def test_the_paper_puts_cci_first(task: str, direction: str) -> None:
    rows = {row["explainer"]: row for row in paper_rows(task, direction)}
    assert rows.keys() == set(NAMES.values()) - {"RISE", "random"}
    best = min if direction == "deletion" else max
    for column in [name for name in rows["CCI"] if name != "explainer"]:
        known = [row[column] for row in rows.values() if column in row]
        assert rows["CCI"][column] == best(known)


# ---------------------------------------------------------------------------------------- tables


CURVES = {
    "random": {
        "GT@1": np.array([[1, 1, 1], [1, 1, 0]], dtype=bool)
    },  # areas 1 and 0.75
    "CCI": {
        "GT@1": np.array([[1, 0, 0], [1, 1, 0]], dtype=bool)
    },  # areas 0.25 and 0.75
}


def test_areas_beside_the_paper() -> None:
    deletion = Perturbation(steps=2)
    table = areas_table("classification", deletion, CURVES, "m on 2 images")
    assert table.rows == (
        {"explainer": "random", "GT@1": 0.875},
        {"explainer": "CCI", "GT@1": 0.5},
    )
    assert table.paper == ({"explainer": "CCI", "GT@1": 0.1809},)
    assert "lower is better" in table.title
    assert "2 steps of 25.0% of the pixels" in table.notes[0]


@pytest.mark.parametrize(("direction", "sign"), [("deletion", "+"), ("insertion", "−")])
def test_the_gain_is_positive_where_ours_is_better(direction: Any, sign: str) -> None:
    groups = Groups.single(len(next(iter(CURVES["CCI"].values()))))
    perturbation = Perturbation(steps=2, direction=direction)
    table = gains_table("classification", perturbation, CURVES, groups)
    [row] = table.rows
    assert row["CCI against"] == "random"
    assert str(row["GT@1"]).startswith(f"{sign}0.375 [")


def test_a_star_where_the_interval_leaves_out_zero() -> None:
    low, high = np.zeros((20, 3)), np.ones((20, 3))
    groups = Groups.single(20)

    def gain(ours: np.ndarray, theirs: np.ndarray, groups: Groups = groups) -> str:
        curves = {"CCI": {"GT@1": ours}, "random": {"GT@1": theirs}}
        table = gains_table("classification", Perturbation(steps=2), curves, groups)
        return str(table.rows[0]["GT@1"])

    better = gain(low, high)
    worse = gain(high, low)
    assert (better[:8], better[-1]) == ("+1.000 [", "*")
    assert (worse[:8], worse[-1]) == ("−1.000 [", "*")
    same = gain(low, low)
    assert same.startswith("0.000 [")
    assert not same.endswith("*")
    few = Groups(np.repeat([0, 1], 10), 2, True)
    assert not gain(low, high, few).endswith("*")


def test_captions_of_a_sample_are_one_or_several() -> None:
    sample = Sample(key="a", frames=(Frame.from_array(np.zeros((2, 2, 3), np.uint8)),))

    def captioned(given: Any) -> Sample:
        return replace(sample, annotations={"caption": given})

    assert captions_of(sample) == ()
    assert captions_of(captioned("an owl")) == ("an owl",)
    assert captions_of(captioned(["an owl", "a bird"])) == ("an owl", "a bird")


def test_the_papers_failures_stand_beside_the_like() -> None:
    rows = {row["images"]: row for row in paper_failures()}
    assert rows["ImageNet"] == {
        "images": "ImageNet",
        "BG-Er %, IoU": 9.1,
        "Fine-Er %, IoU": 46.6,
    }
    assert rows["subset: Scale"]["BG-Er %, IoU"] == 33.9
    assert rows["difficulty: hard"]["wrong %"] == 46.6


# ------------------------------------------------------------------------------------- whole runs


@pytest.fixture
def bench(tiny_clip: Path, tmp_path: Path) -> Callable[..., CCIBench]:
    """`bench(**options)`: six scenes and the tiny model; the answers are kept between calls."""

    def make(folder: Path = tmp_path, **given: Any) -> CCIBench:
        chosen = {
            "model": f"open-clip:{tiny_clip}",
            "data_options": {"val": 8},
            "limit": 6,
            "steps": 2,
            "explainers": ("random", "grad-eclip"),
        }
        options = CCIBench.Options(**{**chosen, **given})
        return CCIBench(options, Context(cache=folder, device="cpu"))

    return make


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """`asked()`: how many trials the models were shown, readouts beside them included."""
    sessions: list[Any] = []
    opened = Runner.session

    def watched(runner: Runner, request: Request) -> Any:
        sessions.append(opened(runner, request))
        return sessions[-1]

    monkeypatch.setattr(Runner, "session", watched)
    return lambda: sum(session.respond.model_calls for session in sessions)


def test_both_tasks_and_a_second_run_for_nothing(
    bench: Callable[..., CCIBench], asked: Callable[[], int]
) -> None:
    items = list(bench().run())
    tables = [item for item in items if isinstance(item, Table)]
    # task, direction; areas and gains; failures
    assert len(tables) == 2 * 2 * 2 + 1
    titles = [item.title for item in items if isinstance(item, Picture)]
    assert sum(title.startswith("Maps for '") for title in titles) == 2 * 2
    assert sum("deletion curves" in title for title in titles) == 2
    areas, gains = tables[0], tables[1]
    assert areas.columns == ("explainer", "GT@1", "GT@5", "Pred@1", "Pred@5")
    assert [row["explainer"] for row in areas.rows] == ["random", "Grad-ECLIP", "CCI"]
    assert [row["CCI against"] for row in gains.rows] == ["random", "Grad-ECLIP"]
    retrieval = [table for table in tables if table.title.startswith("Retrieval")]
    assert len(retrieval) == 4
    assert retrieval[0].columns == ("explainer", "IR@1", "IR@5", "TR@1", "TR@5")
    failures = tables[-1]
    assert failures.columns[:3] == ("images", "wrong %", "BG-Er %")
    assert {"BG-Er %, IoU", "Fine-Er %, IoU"} <= set(failures.columns)
    assert failures.rows[0]["images"] == "scenes"
    assert len(failures.rows) > 3  # and each value of the factors
    for table in (t for t in tables if t.columns[0] == "explainer"):
        for row in table.rows:
            assert all(0 <= float(row[c] or 0) <= 1 for c in table.columns[1:])
    before = asked()
    assert before > 0
    assert list(bench().run()) == items
    assert asked() == before


@pytest.mark.long
def test_killed_after_the_maps_it_asks_nothing_twice(
    bench: Callable[..., CCIBench],
    asked: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    short = {"tasks": ("classification",)}

    def killed(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Perturbation, "classification_curves", killed)
        with pytest.raises(KeyboardInterrupt):
            list(bench(**short).run())
    until_killed = asked()
    tables = list(bench(**short).run())
    in_two = asked()
    assert list(bench(**short, folder=tmp_path / "another").run()) == tables
    # canvas, clusters, two explainers; then the curves
    assert 6 * 4 < until_killed < in_two
    assert asked() - in_two == in_two  # in one go


def test_without_captions_retrieval_is_left_out_and_says_so(
    bench: Callable[..., CCIBench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuescope_cci.bench.captions_of", lambda sample: ())
    [table] = bench(tasks=("retrieval",)).run()
    assert isinstance(table, Table)
    assert "caption" in table.notes[0]


def test_an_unknown_explainer_is_refused_in_one_line(
    bench: Callable[..., CCIBench],
) -> None:
    with pytest.raises(
        UserError, match=r"no explainer 'grad-clip'.*Did you mean 'grad-"
    ):
        list(bench(explainers=("grad-clip",)).run())
