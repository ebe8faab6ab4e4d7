"""A stored run shows the pictures that it asked about, or names the first that is another."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient

from cuescope.application import Rerun, Runner, ask_again, require_same_data
from cuescope.cli import main
from cuescope_core.context import Context
from cuescope_core.errors import UserError
from cuescope_core.runs import load_report
from cuescope_core.stored_run import ChangedDataError, StoredRun
from cuescope_core.trust import own_runs
from cuescope_view.runs import RunsFolder
from cuescope_view.server import make_app

Line = Callable[..., str]
FAKES = {"methods": "FakeMethod", "models": "FakeModel"}
COUNT = 24


def draw(folder: Path, shade: int) -> None:
    """Two labels with pictures, of one name in each folder."""
    for number in range(COUNT):
        file = folder / ("cat", "dog")[number % 2] / f"{number}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (shade, 10 * number, 0)).save(file)


@pytest.fixture
def line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Line:
    """The command line in a folder A with two runs on its pictures; B has others of their names."""
    info = tmp_path / "dists" / "fakes-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fakes\nVersion: 1.0\n")
    points = [
        f"[cuescope.{k}]\nfake = cuescope_testing:{name}\n" for k, name in FAKES.items()
    ]
    (info / "entry_points.txt").write_text("".join(points))
    monkeypatch.syspath_prepend(info.parent)
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    draw(tmp_path / "A" / "data", 0)
    draw(tmp_path / "B" / "data", 200)
    monkeypatch.chdir(tmp_path / "A")

    def said(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        out, err = capsys.readouterr()
        assert ended.value.code == code, out + err
        return err if code else out

    audit = ("audit", "answers", "--model", "fake", "--data", "folder:data", "--quiet")
    said(*audit, "--out", "run")
    said(*audit, "--out", "second", "--seed", "1")
    return said


def exchange(data: Path) -> None:
    """Other pictures in place: two exchange their names."""
    first, second = data / "cat" / "0.png", data / "dog" / "1.png"
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


def forget_place(run: Path) -> None:
    """As on another computer, which has the run and the note of it."""
    seal = json.loads((run / "report.json").read_text())["seal"]
    (run.parent / "gone").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(run.parent / "gone")
        own_runs.remember(seal)
    (run.parent / "gone").rmdir()


def in_b_without_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget_place(tmp_path / "A" / "run")
    monkeypatch.chdir(tmp_path / "B")


def exchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exchange(tmp_path / "A" / "data")


ATTACKS = [in_b_without_its_place, exchanged]


def pictures_of(run: Path) -> dict[str, bytes]:
    """What `view --open-data` shows of each sample that it lists."""
    runs = RunsFolder(run.parent, opens_data=True)
    runs.refresh()
    runs.wait()
    [key] = [key for key, each in runs.listed.items() if Path(each.run).name == "run"]
    opened = runs.open(key)
    shown = {}
    for sample in opened.table.samples:
        try:
            shown[sample] = opened.picture(sample, None, large=True)
        except UserError:
            continue
    return shown


def test_view_and_export_of_another_folder_show_the_own_pictures(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = pictures_of(tmp_path / "A" / "run")
    assert len(there) == COUNT
    monkeypatch.chdir(tmp_path / "B")
    assert pictures_of(tmp_path / "A" / "run") == there
    line("export", str(tmp_path / "A/run"), "--to", "fiftyone", "--out", "out")
    reds = {
        Image.open(file).getpixel((0, 0))[0] for file in Path("out/pictures").iterdir()
    }
    assert reds == {0}


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_reader_shows_other_pictures(
    attack: Callable[..., None],
    line: Line,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attack(tmp_path, monkeypatch)
    run = tmp_path / "A" / "run"
    assert pictures_of(run) == {}
    with pytest.raises(ChangedDataError, match=r"sample '.*' is not what"):
        _ = StoredRun(run).samples
    with pytest.raises(ChangedDataError):
        _ = StoredRun(run).part
    refused = line("export", str(run), "--to", "fiftyone", "--out", "out", code=2)
    assert "is not what" in refused
    assert not list(Path("out").glob("pictures/*"))


def test_compare_shows_none_and_says_why(
    line: Line, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["compare", "run", "second", "--data", "folder:data", "--html", "a.html"])
    assert "no pictures" not in capsys.readouterr().err
    exchange(tmp_path / "A" / "data")
    with pytest.raises(SystemExit):
        main(["compare", "run", "second", "--data", "folder:data", "--html", "b.html"])
    assert "no pictures: sample" in capsys.readouterr().err


def test_what_asks_a_run_again_refuses_its_exchanged_data(
    line: Line, tmp_path: Path
) -> None:
    """`confirm` and `mitigate` ask this before anything else."""
    runner = Runner(Context(), tmp_path / "runs")
    report = load_report(Path("run"))
    require_same_data(report, *ask_again(runner, Path("run"), Rerun()))
    exchange(tmp_path / "A" / "data")
    with pytest.raises(UserError, match="data of the run has changed since"):
        require_same_data(report, *ask_again(runner, Path("run"), Rerun()))


def test_samples_that_were_not_asked_about_are_left_out(
    line: Line, tmp_path: Path
) -> None:
    Image.new("RGB", (8, 8), "blue").save(tmp_path / "A/data/cat/new.png")
    samples = StoredRun(tmp_path / "A" / "run").samples
    assert len(samples) == COUNT
    assert not any("new" in key for key in samples)


def test_the_page_names_the_sample(line: Line, tmp_path: Path) -> None:
    exchange(tmp_path / "A" / "data")
    runs = RunsFolder(tmp_path / "A", opens_data=True)
    runs.refresh()
    runs.wait()
    client = TestClient(make_app(runs, "t"), base_url="http://127.0.0.1/t")
    [key] = [key for key, each in runs.listed.items() if Path(each.run).name == "run"]
    sample = next(iter(runs.open(key).table.samples))
    answer = client.get("/api/picture", params={"id": key, "sample": sample})
    assert answer.status_code != 200
