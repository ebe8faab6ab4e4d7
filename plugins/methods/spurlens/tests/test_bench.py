"""The bench counts what both pipelines do."""

from collections.abc import Callable
from pathlib import Path

from cuescope_sdk import Context, Table
from cuescope_spurlens.bench import SpurLensBench
from cuescope_testing import PluginShelf, Setup


def test_both_pipelines_are_counted(
    setup: Callable[..., Setup], tmp_path: Path
) -> None:
    made = setup()
    shelf = {
        ("dataset", "kitchen"): made.data,
        ("model", "eyes"): made.model,
        ("tool", "finder"): made.tools["detector"],
        ("tool", "namer"): made.tools["proposer"],
    }
    context = Context(registry=PluginShelf(shelf), cache=tmp_path)
    options = SpurLensBench.Options(
        data="kitchen",
        model="eyes",
        model_options={},
        detector="finder",
        proposer="namer",
        samples=100,
        k=10,
    )
    (table,) = SpurLensBench(options, context).run()
    assert isinstance(table, Table)
    ours, apart, saved = (dict(row) for row in table.rows)
    assert ours["detector passes"] == 100
    # six cues (four things, two other classes) of three classes, in each image of either task
    assert apart["detector passes"] == 3 * 6 * 100
    assert apart["model calls"] == 3 * 2 * 6 * 20 * 3
    assert int(str(ours["model calls"])) < int(str(apart["model calls"]))
    assert saved["detector passes"] == "18.0 x"
