"""Checks that a report is the same where it must be, and of how the model is asked."""

from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from cuescope_core.amounts import count_of
from cuescope_sdk import Report, Sample, Trial, digest
from cuescope_testing._contract import PerClass, expect
from cuescope_testing._fake_data import CUE
from cuescope_testing._method_contract.setting import (
    MethodSetting,
    found_features,
    on_cue,
    recording_model,
)
from cuescope_testing._running import temporary_cache

TOLERANCE = 1e-5
# of 150: enough for a method to run, far from all
LIMIT = 60


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

    def exercise(self) -> None:
        """The audits that the checks below compare: none is made for this alone."""
        type(self).again.renew(type(self))

    def test_reports_the_same_twice(self) -> None:
        """Same seed, same hash."""
        cold, _ = self.again
        expect(
            cold.hash == self.base.report.hash,
            "the same report hash",
            got="another",
            remedy="Draw from audit.rng(name), and iterate over no set",
        )

    def test_reports_the_same_from_a_warm_cache(self) -> None:
        """Replayed responses are the responses, and nothing is asked again."""
        cold, warm = self.again
        kept = "the same" if warm.hash == cold.hash else "another"
        calls = warm.cost.model_calls
        expect(
            warm.hash == cold.hash and calls == 0,
            "the same hash and no model call",
            got=f"{kept} hash and {count_of(calls, 'calls')}",
            remedy="Ask for the same trials each time: derive frames from content, draw by name",
        )

    def test_finds_the_same_in_any_batch_size(self) -> None:
        """Batch size is how fast, never what."""
        base = self.base.report
        # 7 divides no round number, so the last batch is short
        report = self.setup().report(batch_size=7)
        expect(
            _findings(base) == _findings(report) and _gap(base, report) <= TOLERANCE,
            f"the same findings and figures within {TOLERANCE:g}",
            got="others in batches of 7",
            remedy="Do not look at context.batch_size",
        )

    def test_finds_the_same_in_any_order(self) -> None:
        """The order of samples says nothing about the model."""
        setup = self.setup()
        report = replace(setup, data=_reverse(setup.data)).report()
        # the first alone: weaker findings may change places within their error
        features = found_features(self.base.report)[:1]
        others = found_features(report)[:1]
        is_on_cue = partial(on_cue, samples=self.samples)
        expect(
            list(map(is_on_cue, features)) == list(map(is_on_cue, others)),
            "the same first finding from the last sample to the first",
            got="another",
            remedy="Do not split or truncate by position",
        )

    def test_reads_no_cues(self) -> None:
        """The answer sheet is for `verify`; before it, wrong cues must change nothing."""
        setup = self.setup()
        base = self.base.report
        # wrong, not gone: a method that reads them is led astray
        report = replace(setup, data=_lying(setup.data)).report()
        expect(
            report.features == base.features and report.scores == base.scores,
            "the same features and scores whatever the 'cues' annotation",
            got="others",
            remedy="Read audit.samples, never the data set",
        )

    def test_asks_through_respond(self) -> None:
        """Only `respond` caches, counts, batches and resumes."""
        calls = self.base.report.cost.model_calls
        expect(
            len(self.base.model_trials) == calls,
            f"{count_of(calls, 'trials')} at the model, as many as reported",
            got=len(self.base.model_trials),
            remedy="Use audit.respond(trials), and build no model",
        )

    def test_plans_without_asking(self) -> None:
        """`--plan` runs the method up to its first question, and asks the model nothing."""
        trials: list[Trial] = []
        setup = self.setup()
        # a plan may build the model, but not ask it
        plan = replace(setup, model=recording_model(setup.model, trials)).plan()
        expect(
            not trials,
            "no trial at the model",
            got=len(trials),
            remedy="Let what `respond` raises pass (it is no Exception)",
        )
        asked = self.base.report.cost.trials
        expect(
            # None: it cannot tell how many more
            plan.more is None or asked <= plan.trials + plan.more,
            f"at most {plan.trials} trials and the {plan.more} more that a plan is told of",
            got=asked,
            remedy="Count generously in audit.expect_more(trials)",
        )

    def test_shows_the_data(self) -> None:
        """Every sample shown comes from one of the data set, and its key says from which."""
        known = self.samples.keys()
        sources = map(_source, self.base.model_trials)
        strange = [key for key in sources if key not in known]
        expect(
            not strange,
            "keys 'SAMPLE' or 'SAMPLE/what was changed'",
            got=strange[:1],
            remedy="Change samples with sample.with_frames(frames, suffix) or sample.static(i)",
        )

    def test_shows_one_sample_under_a_key(self) -> None:
        """Two samples of one key cannot be told apart in a report."""
        frames: dict[str, tuple[str, ...]] = {}
        for trial in self.base.model_trials:
            sample = trial.sample
            keys = tuple(frame.key for frame in sample.frames)
            expect(
                frames.setdefault(sample.key, keys) == keys,
                "one sample a key",
                got=f"several of {sample.key}",
                remedy="Put the change into the suffix",
            )

    def test_shows_equal_pixels_under_equal_keys(self) -> None:
        """Frames of one key are answered once, so another picture must have another key."""
        frames = chain.from_iterable(trial.sample.frames for trial in self.base.trials)
        pixels: dict[str, str] = {}
        # each object once: trials share frames, and loading takes long
        for frame in {id(frame): frame for frame in frames}.values():
            content = digest(np.asarray(frame.load()))
            expect(
                pixels.setdefault(frame.key, content) == content,
                "one picture a frame key",
                got=f"several of {frame.key}",
                remedy="Name the operation of frame.derive with all its parameters",
            )

    def test_stays_within_the_limit(self) -> None:
        """`--limit` draws the samples; a method must not reach around `audit.samples`."""
        run = self.run(limit=LIMIT)
        used = set(map(_source, run.model_trials))
        for feature in run.report.features:
            # what was not asked may still be shown
            used.update(occurrence.sample for occurrence in feature.occurrences)
        beyond = sorted(used - {sample.key for sample in run.samples})
        expect(
            not beyond,
            f"only the {LIMIT} samples of the limit",
            got=beyond[:1],
            remedy="Take samples from audit.samples",
        )


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
