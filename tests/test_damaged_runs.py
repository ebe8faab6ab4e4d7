"""A run whose answers are gone or cut: every command that goes on from it says so, in one line."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import run, written_plugins

PLUGINS = """
[cuescope.models]
fake = cuescope_testing:FakeModel
[cuescope.datasets]
fakes = cuescope_testing:FakeDataset
"""
ASKED = (
    "--model",
    "fake",
    "-O",
    "model.lean=1",
    "--data",
    "fakes",
    "-O",
    "data.samples=240",
)
LINES = (
    "confirm {} --plan",
    "mitigate {} --with last-layer --plan",
    "compare {} whole",
    "compare whole {}",
    "gate policy.yaml {}",
    "export {} --what answers",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A whole run, and two that are damaged."""
    place = tmp_path_factory.mktemp("damaged")
    (place / "policy.yaml").write_text("rules: [{rule: accuracy-at-least, percent: 1}]")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        with written_plugins(place, "nothing", PLUGINS, ""):
            run("audit", "trove", *ASKED, "--device", "cpu", "-q", "--out", "whole")
            for name in ("gone", "cut"):
                shutil.copytree("whole", name)
            Path("gone/answers.parquet").unlink()
            cut = Path("cut/answers.parquet")
            cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
            yield place


@pytest.mark.parametrize("damage", ["gone", "cut"])
@pytest.mark.parametrize("line", LINES)
def test_a_damaged_run_is_refused(
    place: Path, line: str, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    run(*line.format(damage).split(), code=2)
    error = capsys.readouterr().err
    assert "answers" in error
    assert "Run the audit again" in error
    assert len(error.splitlines()) == 1


def test_its_report_can_be_read_and_a_mailed_report_compared(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("show", "gone")
    capsys.readouterr()
    run("compare", "gone/report.json", "whole")
    # nothing is known to differ
    row = next(r for r in capsys.readouterr().out.splitlines() if "accuracy" in r)
    assert row.strip().endswith("not known")
