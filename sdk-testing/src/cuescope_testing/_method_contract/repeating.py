"""Checks that a report is the same where it must be, and of how the model is asked."""

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from cuescope_sdk import Report, Sample, Trial, digest
from cuescope_testing._contract import PerClass, expect
from cuescope_testing._fake_data import CUE
from cuescope_testing._method_contract.setting import (
    LIMIT,
    MethodSetting,
    found_features,
    on_cue,
    recording_model,
)
from cuescope_testing._running import temporary_cache

TOLERANCE = 1e-5


class MethodRepeats(MethodSetting):
    """Same question, same report; and `respond` is the only way to the model."""

    #: a new setup's reports: with an empty cache, and with what that left in it
    again: PerClass[tuple[Report, Report]] = PerClass(
        lambda contract: contract.report_cold_and_warm()
    )

    @classmethod
    def report_cold_and_warm(cls) -> tuple[Report, Report]:
        """Two audits of a setup of which nothing was built before."""
        # in memory, so that no earlier run has warmed it
        with temporary_cache() as cache:
            cold = cls.setup().report(cache)
            warm = cls.setup().report(cache)
        return cold, warm

    def test_reports_the_same_twice(self) -> None:
        """Draw by audit.rng(name), iterate over no set; a warm cache answers all that is asked."""
        cold, warm = self.again
        hashes = {self.base.report.hash, cold.hash, warm.hash}
        expect(len(hashes) == 1, "the same report hash", got="others")
        calls = warm.cost.model_calls
        expect(calls == 0, "no model call from a warm cache", got=calls)

    def test_finds_the_same_in_any_batch_size_and_order(self) -> None:
        """Batch size is how fast; the order of samples says nothing, so split by no position."""
        base = self.base.report
        setup = self.setup()
        # 7 divides no round number, so the last batch is short
        report = setup.report(batch_size=7)
        same = _findings(base) == _findings(report) and _gap(base, report) <= TOLERANCE
        expect(same, "the same findings and figures in batches of 7", got="others")
        turned = replace(setup, data=_reverse(setup.data)).report()
        # the first alone: weaker findings may change places within their error
        first = [on_cue(f, self.samples) for f in found_features(base)[:1]]
        last = [on_cue(f, self.samples) for f in found_features(turned)[:1]]
        expect(
            first == last, "the same first finding from the last sample to the first"
        )

    def test_reads_no_cues(self) -> None:
        """The ground truth is for `verify`: read audit.samples, never the data set."""
        setup = self.setup()
        base = self.base.report
        # wrong, not gone: a method that reads them is led astray
        report = replace(setup, data=_lying(setup.data)).report()
        same = report.features == base.features and report.scores == base.scores
        whatever = "the same features and scores whatever the 'cues' annotation"
        expect(same, whatever, got="others")

    def test_asks_through_respond(self) -> None:
        """Only `respond` caches, counts, batches and resumes; a plan asks the model nothing."""
        cost = self.base.report.cost
        asked = len(self.base.model_trials)
        expect(asked == cost.model_calls, f"{cost.model_calls} trials", got=asked)
        trials: list[Trial] = []
        setup = self.setup()
        # a plan may build the model, but not ask it
        plan = replace(setup, model=recording_model(setup.model, trials)).plan()
        expect(not trials, "no trial at the model in a plan", got=len(trials))
        # None: it cannot tell how many more
        enough = plan.more is None or cost.trials <= plan.trials + plan.more
        expect(enough, "as many trials as planned by expect_more", got=cost.trials)

    def test_shows_the_data(self) -> None:
        """Keys are 'SAMPLE' or 'SAMPLE/what was changed': `with_frames`, `static`, `derive`."""
        frames: dict[str, tuple[str, ...]] = {}
        pixels: dict[str, str] = {}
        for trial in self.base.model_trials:
            sample = trial.sample
            known = _source(trial) in self.samples
            expect(known, "changed samples of the data", got=sample.key)
            keys = tuple(frame.key for frame in sample.frames)
            same = frames.setdefault(sample.key, keys) == keys
            expect(same, "one sample a key", got=f"several of {sample.key}")
        shown = chain.from_iterable(trial.sample.frames for trial in self.base.trials)
        # each object once: trials share frames, and loading takes long
        for frame in {id(frame): frame for frame in shown}.values():
            content = digest(np.asarray(frame.load()))
            same = pixels.setdefault(frame.key, content) == content
            expect(same, "one picture a frame key", got=f"several of {frame.key}")

    def test_stays_within_the_limit(self) -> None:
        """`--limit` draws the samples; a method must not reach around `audit.samples`."""
        run = self.run(limit=LIMIT)
        used = set(map(_source, run.model_trials))
        for feature in run.report.features:
            # what was not asked may still be shown
            used.update(occurrence.sample for occurrence in feature.occurrences)
        beyond = used - {sample.key for sample in run.samples}
        expect(not beyond, f"only the {LIMIT} samples of the limit", got=beyond)


def _source(trial: Trial) -> str:
    """The key of the sample that a trial's sample is, or was made from."""
    return trial.sample.key.partition("/")[0]


def _findings(report: Report) -> set[tuple[str, str | None]]:
    return {(score.feature, score.label) for score in report.findings}


def _gap(report: Report, other: Report) -> float:
    """Largest difference of a figure; infinite where they are not of the same things."""
    figures = _figures(report)
    others = _figures(other)
    if figures.keys() != others.keys():
        return float("inf")
    return max(
        (abs(value - others[key]) for key, value in figures.items()), default=0.0
    )


def _figures(report: Report) -> dict[tuple[object, ...], float]:
    figures: dict[tuple[object, ...], float] = {}
    for score in report.scores:
        # part of the key: a figure that is gone is not one that is 0
        is_missing = score.value is None
        figures[score.feature, score.label, score.metric, is_missing] = (
            score.value or 0.0
        )
    return figures


def _reverse(data: type[Any]) -> type[Any]:
    class Reversed(data):  # type: ignore[misc]
        def __getitem__(self, index: int) -> Sample:
            sample: Sample = super().__getitem__(
                len(self) - 1 - range(len(self))[index]
            )
            return sample

    return Reversed


def _lying(data: type[Any]) -> type[Any]:
    class Lying(data):  # type: ignore[misc]
        def annotations(self, shown: tuple[bool, ...]) -> dict[str, Any]:
            true: dict[str, Any] = super().annotations(shown)
            return true | {"cues": {CUE: tuple(not present for present in shown)}}

    return Lying
