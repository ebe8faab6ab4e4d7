"""A folder of two small runs as audits store them, and a page over it."""

import io
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient

from cuescope_core.answers import COLUMNS
from cuescope_core.conclusions import (
    Cost,
    Feature,
    Metric,
    Occurrence,
    PluginStamp,
    Provenance,
    Report,
    Score,
)
from cuescope_core.findings import as_table
from cuescope_core.runs import RunFolder, picture_key
from cuescope_view.runs import RunsFolder
from cuescope_view.server import make_app

TOKEN = "a-token-of-a-test"
SAMPLES = 120
EVIL = "<img src=x onerror=\"document.title='owned'\">"


def _stamp(spec: str) -> PluginStamp:
    return PluginStamp(spec=spec, options={}, dist="d", version="1")


def _rows(samples: int, *, second: bool) -> list[dict[str, object]]:
    """Every third sample shows the cue; the second run answers each fifth of them otherwise."""
    rows: list[dict[str, object]] = []
    for number in range(samples):
        label = ("cow", "tree")[number % 2]
        answer = "tree" if number % 3 == 0 else label
        if second and number % 5 == 0:
            answer = {"cow": "tree", "tree": "cow"}[answer]
        plain = {
            "sample": f"s{number:03d}",
            "content": f"c{number}",
            "condition": "baseline",
            "label": label,
            "prediction": answer,
            "correct": answer == label,
            "p_prediction": 0.5 + number / (2 * samples),
        }
        rows.append(plain)
        if number % 3 == 0:
            removed = {"condition": "removed", "feature": "bird", "prediction": label}
            rows.append({**plain, **removed, "correct": True})
    return rows


def write_run(
    folder: Path,
    name: str = EVIL,
    *,
    second: bool = False,
    own: bool = True,
    samples: int = SAMPLES,
    doubt: str | None = None,
    method: str = "trove",
) -> Path:
    """A run with one finding; strings of it are a stranger's."""
    places = [Occurrence(sample=f"s{n:03d}") for n in range(0, samples, 3)]
    finding = Score(
        feature="bird",
        label="cow",
        metric="gap",
        value=-0.4,
        low=-0.5,
        high=-0.3,
        n=40,
        q_value=0.0001,
        finding=True,
        doubt=doubt,
        statement="Where {feature} is on screen, cows are taken for trees.",
    )
    origin = Provenance(
        method=_stamp(method),
        model=_stamp(EVIL),
        data=_stamp("folder:photos"),
        seed=0,
        limit=None,
        samples=samples,
        labels=("cow", "tree"),
        device="cpu",
        dtype="float32",
        versions={},
        command="cuescope audit trove --model m --data folder:photos",
        # a run of equal content would be this user's, whoever mailed it
        started=f"2026-01-0{2 if own else 3}T03:04:05+00:00",
    )
    report = Report(
        title="TRoVe",
        metrics=(Metric(name="gap", title="Gap", meaning="what it costs"),),
        notes={},
        features=(Feature(key="bird", kind="object", name=name, occurrences=places),),
        scores=(finding,),
        evidence=(),
        provenance=origin,
        cost=Cost(trials=0, model_calls=0, cache_hits=0, seconds=0),
    )
    from pyarrow.parquet import write_table

    file = io.BytesIO()
    write_table(as_table(_rows(samples, second=second), COLUMNS), file)
    folder.mkdir(parents=True)
    (folder / "answers.parquet").write_bytes(file.getvalue())
    drawn = io.BytesIO()
    Image.new("RGB", (128, 96), "red").save(drawn, "JPEG")
    pictures = {picture_key(place): drawn.getvalue() for place in places[:4]}
    RunFolder(folder).save(report, pictures, own=own)
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two runs of this user."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CUESCOPE_OWN_RUNS", str(tmp_path / "own-runs"))
    write_run(tmp_path / "runs" / "first")
    write_run(tmp_path / "runs" / "deep" / "second", second=True)
    return tmp_path / "runs"


@pytest.fixture
def client(home: Path) -> TestClient:
    """Asks for addresses behind the token."""
    return client_of(home)


def client_of(folder: Path, *, opens_data: bool = False) -> TestClient:
    """The same of any folder of runs."""
    runs = RunsFolder(folder, opens_data=opens_data)
    runs.refresh()
    runs.wait()
    app = make_app(runs, TOKEN)
    return TestClient(app, base_url=f"http://127.0.0.1:8000/{TOKEN}")
