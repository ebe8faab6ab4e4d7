"""`cuescope export`: tables that can be read back, and the samples that a cue hurts."""

import csv
import errno
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from cuescope.cli import main
from cuescope.report.export import encode
from cuescope_core.affected import manifest_rows
from cuescope_core.findings import FINDINGS
from cuescope_core.runs import load_report
from cuescope_folder import Folder, FolderOptions
from cuescope_sdk import Context, Detection, Frame, Report, Sample

Line = Callable[..., str]
FAKES = {"methods": "FakeMethod", "models": "FakeModel", "datasets": "FakeDataset"}
AUDIT = ("audit", "fake", "--model", "fake", "--quiet", "--out", "run", "--data")


@pytest.fixture
def line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Line:
    """The command line beside the sdk's fakes, which an installed dist of their own names."""
    info = tmp_path / "dists" / "fakes-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fakes\nVersion: 1.0\n")
    points = [
        f"[cuescope.{k}]\nfake = cuescope_testing:{name}\n" for k, name in FAKES.items()
    ]
    (info / "entry_points.txt").write_text("".join(points))
    monkeypatch.syspath_prepend(info.parent)
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def said(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        out, err = capsys.readouterr()
        assert ended.value.code == code, out + err
        assert len(err.splitlines()) == (1 if code else 0)
        return err if code else out

    return said


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first mistake about a run makes it, for the others too."""
    return tmp_path_factory.mktemp("kept")


def test_tables_are_what_the_report_says(line: Line) -> None:
    line(*AUDIT, "fake")
    report = load_report(Path("run"))
    table = parquet.read_table("run/findings.parquet")
    assert table.column_names == list(FINDINGS)
    assert table["value"].to_pylist() == [score.value for score in report.headlines]
    assert [n for n in table["number"].to_pylist() if n] == [
        number for number, _ in enumerate(report.findings, 1)
    ]
    line("export", "run", "--to", "csv")
    [first, *_] = csv.DictReader(Path("run/findings.csv").read_text().splitlines())
    assert float(first["value"]) == report.headlines[0].value
    assert first["sentence"] == (report.sentence(report.headlines[0]) or "")
    said = line("export", "run", "--what", "scores", "--to", "jsonl", "--out", "-")
    assert [json.loads(row)["value"] for row in said.splitlines()] == [
        score.value for score in report.scores
    ]
    assert "rows" in line("export", "run", "--what", "answers", "--to", "parquet")


def test_a_full_disk_is_one_line_about_the_folder(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    line(*AUDIT, "fake")

    def fill(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("cuescope_exporters.fiftyone.FiftyOne.export", fill)
    told = line("export", "run", "--to", "fiftyone", "--out", "out", code=2)
    assert "cannot write to out: got No space left on device" in told


def test_the_affected_samples_are_a_folder_that_is_audited(line: Line) -> None:
    line(*AUDIT, "fake")
    report = load_report(Path("run"))
    answers = parquet.read_table("run/answers.parquet").to_pylist()
    wrong = {
        row["sample"]
        for row in answers
        if row["condition"] == "baseline"
        and not row["correct"]
        and row["label"] == report.findings[0].label
    }
    for form in ("jsonl", "csv", "parquet"):
        said = line("export", "run", "--affected", "1", "--to", form)
        assert f"{len(wrong)} samples of finding 1" in said
        assert f"{len(wrong)} have no image file of their own" in said
        command = said.partition("next, with a model for OTHER: cuescope ")[2]
        assert command.split()[:4] == ["audit", "fake", "--model", "OTHER"]
        folder = command.strip().partition("--data ")[2].split()
        again = Report.model_validate_json(
            line(*AUDIT[:-2], f"again-{form}", "--json", "--data", *folder)
        )
        assert again.provenance.samples == len(wrong) > 0
        kept = parquet.read_table(f"again-{form}/answers.parquet").to_pylist()
        assert not any(row["correct"] for row in kept if row["condition"] == "baseline")
    by_name = report.names[report.findings[0].feature]
    assert "finding 1" in line("export", "run", "--affected", by_name)


def test_image_files_are_named_where_they_are_or_linked(tmp_path: Path) -> None:
    files = [tmp_path / place / "a.png" for place in ("here/pics", "elsewhere")]
    for number, file in enumerate(files):
        file.parent.mkdir(parents=True)
        Image.new("RGB", (4, 4), (number, 0, 0)).save(file)
    frames = [Frame.from_file(file) for file in files]
    samples = {
        f"{number}": Sample(
            key=f"{number}",
            frames=(frame,),
            label="a",
            annotations={"foreground": frames[1]},
        )
        for number, frame in enumerate(frames)
    }
    manifest = tmp_path / "here" / "m.jsonl"
    rows, drawn = manifest_rows(samples, {}, manifest)
    assert drawn == 0
    assert rows[0]["path"] == "pics/a.png"
    assert rows[1]["path"].startswith("m-files/")
    for row, file in zip(rows, files, strict=True):
        assert (manifest.parent / row["path"]).read_bytes() == file.read_bytes()
        assert (manifest.parent / row["mask"]).read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_boxes_are_read_back(
    tmp_path: Path, form: Literal["csv", "jsonl", "parquet"]
) -> None:
    picture = tmp_path / "a.png"
    Image.new("RGB", (4, 4)).save(picture)
    boxes = (Detection(name="disc", score=1.0, box=(0.0, 0.5, 2.0, 3.0)),)
    sample = Sample(
        key="a",
        frames=(Frame.from_file(picture),),
        label="x",
        annotations={"boxes": boxes},
    )
    manifest = tmp_path / f"m.{form}"
    rows, _ = manifest_rows({"a": sample}, {}, manifest)
    manifest.write_bytes(encode(pa.Table.from_pylist(rows), form))
    data = Folder(FolderOptions(path=manifest), Context(cache=tmp_path / "cache"))
    assert data[0].annotations["boxes"] == boxes


def test_formulas_do_no_harm_and_are_read_back(tmp_path: Path) -> None:
    texts = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "'tis", "''", "red", None]
    table = pa.table({"text": texts, "number": [-1.5] * len(texts)})
    data = encode(table, "csv").decode()
    (header, *rows) = csv.reader(io.StringIO(data, newline=""))
    assert header == ["text", "number"]
    assert not [row for row in rows if row[0][:1] in ("=", "+", "-", "@", "\t", "\r")]
    back = [
        row[0].removeprefix("'") if row[0][:1] == "'" else row[0] or None
        for row in rows
    ]
    assert back == texts
    assert {float(row[1]) for row in rows} == {-1.5}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("export",), "Missing argument 'RUN'"),
        (("export", "nowhere"), "no report at nowhere"),
        (("export", "run", "--to", "xml"), "xml"),
        (("export", "run", "--affected", "99"), "no finding '99': expected 1 to"),
        (
            ("export", "run", "--affected", "the top lft"),
            "Did you mean 'the top left: ",
        ),
        (("export", "run", "--affected", "1", "--out", "x.csv"), "ends in .jsonl"),
        (("export", "run", "--what", "answers"), "no answers at run"),
        (("export", "run", "--affected", "1", "--what", "scores"), "got --affected"),
        (("export", "run", "--to", "fiftyone", "--what", "scores"), "got --to"),
        (("export", "run", "--to", "fiftyone", "--affected", "1"), "expected --to csv"),
    ],
)
def test_a_mistake_is_one_line(
    line: Line,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    said: str,
) -> None:
    if "answers" not in words:
        monkeypatch.chdir(kept)
        monkeypatch.setenv("CUESCOPE_CACHE", str(kept / "cache"))
    if not Path("run").exists():
        line(*AUDIT, "fake")
    if "answers" in words:
        Path("run/answers.parquet").unlink()
    assert said in line(*words, code=2)
