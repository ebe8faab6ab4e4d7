"""`cuescope dev bench quag`: its options, and a whole run of tiny trainings in processes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuescope_quag.bench import QUAGBench
from cuescope_quag.simulation import training
from cuescope_quag.simulation.network import Sizes
from cuescope_sdk import Context, Picture, Table, UserError
from cuescope_testing import PluginShelf

TINY = replace(
    training.QUICK,
    train=64,
    val=16,
    test=16,
    epochs=1,
    sizes=Sizes(layers=1, width=8, heads=1),
)


def bench(cache: Path, **given: Any) -> QUAGBench:
    shelf = PluginShelf({("bench", "quag"): QUAGBench})
    built = Context(registry=shelf, cache=cache, device="cpu").build(
        "bench", "quag", given
    )
    assert isinstance(built, QUAGBench)
    return built


def test_tables_and_figure_and_a_second_run_that_trains_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "QUICK", TINY)
    options = {"alphas": "0.4,0.1,0.2", "seeds": "2", "workers": "1"}
    table, picture = bench(tmp_path, **options).run()
    assert isinstance(table, Table)
    assert isinstance(picture, Picture)
    assert [row["alpha"] for row in table.rows] == ["0.1", "0.2", "0.4"]
    assert all(float(row["MSE"] or 0) > 0 for row in table.rows)
    assert "2 seeds, 3 couplings" in table.notes[0]

    def untouched(*given: Any) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(training, "train_and_test", untouched)
    assert list(bench(tmp_path, **options).run()) == [table, picture]


def test_full_is_the_papers_schedule(tmp_path: Path) -> None:
    full = bench(tmp_path, full="true")._schedule()
    assert (full.train, full.val, full.test) == (24_000, 8_000, 8_000)
    assert (full.epochs, full.batch, full.learning_rate) == (2_000, 1024, 0.001)
    assert (full.sizes.layers, full.sizes.width) == (4, 100)
    assert full.dropout > 0
    assert bench(tmp_path)._schedule() == training.QUICK
    assert bench(tmp_path, dropout="0.2")._schedule().dropout == 0.2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alphas": "0.1,0.5"}, "option 'alphas': expected less than 0.5, got '0.5'"),
        ({"alphas": ""}, "option 'alphas': expected at least one"),
        ({"seeds": "0"}, "option 'seeds': expected greater than 0"),
        ({"dropout": "1"}, "option 'dropout': expected less than 1"),
        ({"alpha": "0.1"}, "no option 'alpha'.*Did you mean 'alphas'"),
    ],
)
def test_mistakes_are_told_in_one_line(
    tmp_path: Path, given: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        bench(tmp_path, **given)
