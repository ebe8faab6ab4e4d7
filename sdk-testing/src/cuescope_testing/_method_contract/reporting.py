"""Checks that a method's report can be read, ranked and stored."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain, pairwise
from typing import Any

from cuescope_sdk import Feature, Score
from cuescope_testing._contract import NotApplicable, expect, lies_within
from cuescope_testing._fake_data import points_at
from cuescope_testing._method_contract.setting import (
    NOTHING_TO_FIND,
    MethodSetting,
    found_features,
    on_cue,
    on_decoy,
)
from cuescope_testing._running import temporary_cache

# without noise the model reads the green patch alone
ALWAYS_RIGHT = {"lean": 0, "noise": 0}
BLIND = {"lean": 0, "noise": 0, "signal": 0}
# a cue that helps one label and hurts the others, one in 5% of the samples, and 5% wrong labels
PLANTS: Mapping[str, Mapping[str, Any]] = {
    "trade": {"cue": "trades", "samples": 600},
    "rare": {"cue": "rare", "samples": 600},
    "wrong labels": {"wrong_labels": 0.05, "samples": 300},
}
RULE = (
    "the red corner (the 3 x 3 cells at the top left of 8 x 8) as the first finding: 80% of its "
    "occurrences cover half of the corner, or, without a region, are frames that show it"
)
PLANTED_TRUTH = {
    "errors": "The fake model takes the red corner for 'top', so hiding it mends wrong answers",
    "reliance": "The fake model knows 'top' by the red corner, so hiding it spoils right answers",
}


class MethodFinds(MethodSetting):
    """Planted truth, null data, degenerate data."""

    def is_planted(self, feature: Feature) -> bool:
        """True if a feature is the planted cue: whether it lies on the red corner.

        With a `model` and `data` that plant a cue which no frame shows, a contract says so by the
        feature's own key or name.
        """
        return on_cue(feature, self.samples)

    def test_finds_the_planted_cue(self) -> None:
        """The fake model takes a red corner for "top": the first finding says so."""
        if not self.finds_planted_cue:
            raise NotApplicable("needs a method that looks for things seen in frames")
        features = found_features(self.base.report)
        hits = list(map(self.is_planted, features))
        got = "no finding"
        if features:
            share = points_at(features[0], self.samples) or 0.0
            got = f"'{features[0].key}', with {share:.0%} of its occurrences on the cue"
        other = {"errors": "reliance", "reliance": "errors"}[self.paradigm]
        expect(
            hits[:1] == [True],
            f"{RULE}. {PLANTED_TRUTH[self.paradigm]}. A method of the other kind sets paradigm = "
            f"'{other}' (`--paradigm {other}`), one that looks for cues of another sort "
            "finds_planted_cue = False (`--other-cues`)",
            got=got,
        )

    def test_finds_further_plants(self) -> None:
        """Compare each label with itself: where a cue draws an answer, it helps that label.

        A method that misses a plant says so: missed_plants = {'rare': 'why'}.
        """
        if not self.finds_planted_cue or self.paradigm == "reliance":
            raise NotApplicable("needs a method of cues in frames that mislead")
        for plant, data in PLANTS.items():
            if plant in self.missed_plants:
                continue
            with temporary_cache() as cache:
                session = self.setup(data).session(cache)
                features = found_features(session.run())
            samples = {sample.key: sample for sample in session.audit.samples}
            found = any(on_cue(feature, samples) for feature in features)
            expect(found, f"the red corner among the findings of '{plant}'", got="none")
        if self.missed_plants:
            raise NotApplicable(f"misses {dict(self.missed_plants)}; finds the others")

    def test_does_not_find_the_decoy(self) -> None:
        """The blue corner is as frequent, and the model does not care for it."""
        features = found_features(self.base.report)
        wrong = [f.key for f in features if on_decoy(f, self.samples)]
        expect(not wrong, "no finding on the blue corner", got=wrong)

    def test_finds_nothing_where_there_is_nothing(self) -> None:
        """A model that answers for no reason: test findings, and correct for all that was tried."""
        # the cue is still shown: a method that finds what is frequent finds it
        options = NOTHING_TO_FIND[self.paradigm]
        wrong = 0
        # another draw of the data each, or all audits would be one
        for seed in range(1, self.null_audits + 1):
            wrong += bool(self.setup({"seed": seed}, options).report().findings)
            left = self.null_audits - seed
            # the audits that are left cannot change the verdict
            if wrong > self.null_allowed or wrong + left <= self.null_allowed:
                break
        most = f"at most {self.null_allowed} of {self.null_audits}"
        expect(wrong <= self.null_allowed, f"findings in {most} audits", got=wrong)

    def test_takes_data_without_anything_to_compare(self) -> None:
        """Too little is no finding, or said in a UserError; images are clips of one frame."""
        # a right model relies on things, and one that sees nothing errs all the same
        sure = {"errors": ALWAYS_RIGHT, "reliance": BLIND}[self.paradigm]
        nothing = {
            "a model with nothing to find": self.setup(model=sure),
            "a data set of one class": self.setup({"labels": 1}),
            "a single sample": self.setup({"samples": 1}),
        }
        for about, setup in nothing.items():
            report = self.report_or_refusal(setup, about)
            findings = report.findings if report else ()
            expect(not findings, f"no finding in {about}", got=len(findings))
        self.report_or_refusal(self.setup({"frames": 1}), "clips of one frame")
        identical = self.setup({"identical": True})
        self.report_or_refusal(identical, "frames that are all the same")


class MethodReports(MethodSetting):
    """One audit of the fake data: features, scores, findings."""

    def test_places_features_in_the_data(self) -> None:
        """A key each; occurrences by falling strength, in audited samples, regions in pixels."""
        features = self.base.report.features
        count = Counter(feature.key for feature in features)
        expect(max(count.values(), default=0) == 1, "features, one a key", got=count)
        for feature in features:
            strengths = [occurrence.strength for occurrence in feature.occurrences]
            falls = strengths == sorted(strengths, reverse=True)
            expect(falls, "the strongest occurrence first", got=feature.key)
            for occurrence in feature.occurrences:
                sample = self.samples.get(occurrence.sample)
                frames = sample.frames if sample else ()
                # None stands for the whole sample, of which any frame will do
                frame = occurrence.frame or 0
                shown = 0 <= frame < len(frames)
                expect(shown, "occurrences in the audited samples", got=occurrence)
                if occurrence.region is not None:
                    size = frames[frame].load().size
                    fits = lies_within(occurrence.region, size)
                    expect(fits, f"regions within {size} pixels", got=occurrence)

    def test_shows_samples_of_the_data(self) -> None:
        """The samples of a contrast are the data's, or derived: report.contrast takes outcomes."""
        sides = [s for contrast in self.base.report.contrasts for s in contrast.sides]
        for exhibit in chain.from_iterable(side.exhibits for side in sides):
            key = exhibit.occurrence.sample
            # a changed sample bears its source's key before the slash
            known = {key, key.split("/")[0]} & self.samples.keys()
            expect(known, "samples that the audit was given", got=key)

    def test_scores_what_it_declares(self) -> None:
        """A score is of a known feature, label and metric, once, with figures in order."""
        report = self.base.report
        expect(report.scores, "scores", got="none")
        cells = set()
        for score in report.scores:
            cell = (score.feature, score.label, score.metric)
            expect(cell not in cells, "one score a feature, label and metric", got=cell)
            cells.add(cell)
            known = (
                score.feature in {feature.key for feature in report.features}
                and score.label in (None, *report.provenance.labels)
                and score.metric in {metric.name for metric in report.metrics}
            )
            expect(known, "features, labels and metrics of the report", got=cell)
            in_order = "low <= value <= high, 0 <= p <= q <= 1, n >= 0"
            expect(_in_order(score), in_order, got=score.model_dump(exclude_none=True))

    def test_states_findings(self) -> None:
        """Rows of the first metric, strongest first, in words, with interval and q_value."""
        report = self.base.report
        headline = report.metrics[0].name
        rows: dict[tuple[str, str | None], list[Score]] = {}
        for score in report.scores:
            rows.setdefault((score.feature, score.label), []).append(score)
        for finding in (score for score in report.scores if score.finding):
            expect(
                finding.metric == headline, "findings of the first metric", got=finding
            )
            worded = "{feature}" in (finding.statement or "")
            expect(worded, "a statement with {feature} in it", got=finding.statement)
            scores = rows[finding.feature, finding.label]
            # in any row: the headline may be a figure that has none
            bounded = any(None not in (s.low, s.high) for s in scores)
            expect(bounded, "an interval", got=f"none: {finding.feature}")
            tested = any(s.q_value is not None for s in scores)
            expect(tested, "a q_value", got=f"none: {finding.feature}")
        found = [score.finding for score in report.scores if score.metric == headline]
        ranked = found == sorted(found, reverse=True)
        expect(ranked, "findings before the other headline rows", got="others first")


def _in_order(score: Score) -> bool:
    interval = _rises(score.low, score.value, score.high)
    chance = _rises(0, score.p_value, score.q_value, 1)
    return interval and chance and _rises(0, score.n)


def _rises(*figures: float | None) -> bool:
    """True if no figure is below the one before it, but for rounding; None stands for no figure."""
    # a score need not have all of them
    known = [figure for figure in figures if figure is not None]
    return all(low <= high + 1e-9 for low, high in pairwise(known))
