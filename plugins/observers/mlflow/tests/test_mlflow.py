"""MLflow's own store, in a folder of the test: what an audit gives is read back from it."""

import json
from pathlib import Path

import pytest
from mlflow import MlflowClient

from cuescope_mlflow import MLflow
from cuescope_testing import FakeMethod, ObserverContract, Setup


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)


class TestMLflow(ObserverContract):
    plugin = MLflow

    def test_is_read_back(self) -> None:
        report = Setup(FakeMethod).report()
        self.follow()
        client = MlflowClient()
        experiment = client.get_experiment_by_name("cuescope")
        assert experiment is not None
        [run] = client.search_runs([experiment.experiment_id])
        assert run.info.status == "FINISHED"
        assert run.data.metrics["findings"] == len(report.findings)
        path = client.download_artifacts(run.info.run_id, "findings.json")
        assert len(json.loads(Path(path).read_text())["data"]) == len(report.findings)
