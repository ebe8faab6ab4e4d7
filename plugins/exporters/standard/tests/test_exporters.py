"""Each format holds the contract, and says of a run what the run says."""

import json
from typing import Any, ClassVar

import pytest

from cuescope_exporters.croissant import Croissant
from cuescope_exporters.every_eval_ever import EveryEvalEver, plain_name, results
from cuescope_exporters.fiftyone import FiftyOne
from cuescope_exporters.hugging_face import HuggingFace
from cuescope_exporters.inspect_log import InspectLog
from cuescope_sdk import StoredRun, UserError
from cuescope_sdk.exporting import plain_answers
from cuescope_testing import ExporterContract


class TestCroissant(ExporterContract):
    plugin = Croissant

    def test_describes_each_column(self) -> None:
        with self.run_folder() as (run, folder):
            file, _ = self.built.export(run, folder)
            [records] = json.loads(file.read_text())["recordSet"]
            names = {field["name"] for field in records["field"]}
        assert {"sample", "prediction", "correct", "p_label"} <= names


class TestEveryEvalEver(ExporterContract):
    plugin = EveryEvalEver

    def test_samples_add_up_to_the_score(self) -> None:
        with self.run_folder() as (run, folder):
            aggregate, samples = self.built.export(run, folder)
            content = json.loads(aggregate.read_text())
            lines = [json.loads(line) for line in samples.read_text().splitlines()]
        assert content["detailed_evaluation_results"]["total_rows"] == len(lines)
        accuracy, *findings = content["evaluation_results"]
        right = [line["evaluation"]["score"] for line in lines]
        assert accuracy["score_details"]["score"] == pytest.approx(
            sum(right) / len(right)
        )
        assert len(findings) == len(run.report.findings)
        assert {line["evaluation_id"] for line in lines} == {content["evaluation_id"]}

    def test_a_figure_has_the_unit_and_direction_of_its_metric(self) -> None:
        with self.run_folder() as (run, _):
            report = run.report
        found = [s.model_copy(update={"finding": True}) for s in report.headlines]
        [metric] = report.metrics
        points = metric.model_copy(update={"unit": "points", "higher_is_better": True})
        own = metric.model_copy(update={"unit": None, "accuracy_cost": False})
        for told, wanted in (
            (metric, {"metric_unit": "proportion", "max_score": 1}),
            (points, {"metric_unit": "points", "max_score": 100}),
            (own, {"max_score": "Infinity"}),
        ):
            changed = report.model_copy(
                update={"metrics": (told,), "scores": tuple(found)}
            )
            written = [result["metric_config"] for result in results(changed, [])]
            assert len(written) == len(found) > 0
            for about in written:
                assert wanted.items() <= about.items()
                assert about["lower_is_better"] is not told.higher_is_better


class TestFiftyOne(ExporterContract):
    plugin = FiftyOne

    def test_says_why_there_are_no_pictures(self) -> None:
        with self.run_folder() as (run, folder):
            # of a process that has not made it
            lost = StoredRun(run.path)
            with pytest.raises(UserError, match=r"data set .* cannot be opened"):
                self.built.export(lost, folder)


class TestHuggingFace(ExporterContract):
    plugin = HuggingFace
    options: ClassVar[dict[str, Any]] = {"dataset": "me/data"}


class TestInspectLog(ExporterContract):
    plugin = InspectLog

    def test_is_read_as_a_log_of_the_same_answers(self) -> None:
        """By our own reader of inspect's logs: what goes out comes back."""
        with self.run_folder() as (run, folder):
            [file] = self.built.export(run, folder)
            content = json.loads(file.read_text())
            answers = plain_answers(run)
        scored = [s["scores"]["cuescope"]["value"] == "C" for s in content["samples"]]
        assert scored == [bool(answer.correct) for answer in answers]


def test_names_of_strangers_are_no_paths_and_no_markup() -> None:
    assert plain_name("../../etc/<x>:1") == "etc--x--1"
    assert plain_name("..") == "unknown"
