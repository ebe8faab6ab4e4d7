"""Checks that a method's report can be read, ranked and stored."""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import chain, pairwise
from typing import Any

from cuescope_sdk import Feature, Score
from cuescope_testing._contract import NotApplicable, expect, lies_within
from cuescope_testing._fake_data import where_it_points
from cuescope_testing._method_contract.setting import (
    NOTHING_TO_FIND,
    MethodSetting,
    found_features,
    on_cue,
    on_decoy,
)
from cuescope_testing._running import Setup, temporary_cache

# without noise the model reads the green patch alone
ALWAYS_RIGHT = {"lean": 0, "noise": 0}
BLIND = {"lean": 0, "noise": 0, "signal": 0}
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
        samples = self.samples
        features = found_features(self.base.report)
        hits = list(map(self.is_planted, features))
        got = where_it_points(features[0], samples) if features else "no finding"
        # a cue that is found second tells whoever writes a method how far it is off
        if True in hits:
            got += f"; the cue is finding {hits.index(True) + 1}"
        other = {"errors": "reliance", "reliance": "errors"}[self.paradigm]
        expect(
            hits[:1] == [True],
            RULE,
            got=got,
            remedy=f"{PLANTED_TRUTH[self.paradigm]}. A method of the other kind sets paradigm = "
            f"'{other}' (`--paradigm {other}`), one that looks for cues of another sort "
            "finds_planted_cue = False (`--other-cues`)",
        )

    def test_finds_a_cue_that_helps_one_label_and_hurts_others(self) -> None:
        """Over all labels together the model is as often right with it as without."""
        self.finds_plant("trade", {"cue": "trades", "samples": 600})

    def test_finds_a_rare_cue(self) -> None:
        """It is in one sample of twenty."""
        self.finds_plant("rare", {"cue": "rare", "samples": 600})

    def test_finds_the_cue_beside_wrong_labels(self) -> None:
        """One label in twenty is another's."""
        self.finds_plant("wrong labels", {"wrong_labels": 0.05, "samples": 300})

    def finds_plant(self, plant: str, data: Mapping[str, Any]) -> None:
        """Raise ContractViolation where no finding is the red corner."""
        if not self.finds_planted_cue or self.paradigm == "reliance":
            raise NotApplicable(
                "needs a method that looks for cues of errors in frames"
            )
        if plant in self.missed_plants:
            raise NotApplicable(f"missed: {self.missed_plants[plant]}")
        with temporary_cache() as cache:
            session = self.setup(data).session(cache)
            report = session.run()
        samples = {sample.key: sample for sample in session.samples}
        features = found_features(report)
        expect(
            any(on_cue(feature, samples) for feature in features),
            RULE.replace("as the first finding", "among the findings"),
            got=where_it_points(features[0], samples) if features else "no finding",
            remedy="Compare each label with itself, and all labels at once: where a cue draws an "
            "answer, it helps the label of that answer. A method that misses such a cue says so "
            f"(missed_plants = {{'{plant}': 'why'}})",
        )

    def test_does_not_find_the_decoy(self) -> None:
        """The blue corner is as frequent, and the model does not care for it."""
        samples = self.samples
        wrong = [
            f.key for f in found_features(self.base.report) if on_decoy(f, samples)
        ]
        expect(
            not wrong,
            "no finding on the blue corner",
            got=", ".join(wrong),
            remedy="Measure reliance: that something is there is not that it is used",
        )

    def test_finds_nothing_where_there_is_nothing(self) -> None:
        """A model that answers for no reason: false findings come at the promised rate."""
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
        expect(
            wrong <= self.null_allowed,
            f"findings in at most {self.null_allowed} of {self.null_audits} audits without a cue",
            got=f"{wrong} or more",
            remedy="Test each finding, and correct for how many were tried",
        )

    def test_finds_nothing_where_all_is_right(self) -> None:
        """A model that never errs is answered with words, and no finding."""
        if self.paradigm == "reliance":
            raise NotApplicable(
                "asks about errors; a model that is always right leans on things"
            )
        self.finds_nothing(self.setup(model=ALWAYS_RIGHT), "a model without errors")

    def test_finds_nothing_where_nothing_is_seen(self) -> None:
        """A model that answers the same whatever it is shown leans on nothing."""
        if self.paradigm == "errors":
            raise NotApplicable(
                "asks about reliance; a model that sees nothing errs all the same"
            )
        self.finds_nothing(self.setup(model=BLIND), "a model that sees nothing")

    def test_finds_nothing_in_one_class(self) -> None:
        """With one choice there is nothing to get wrong."""
        self.finds_nothing(self.setup({"labels": 1}), "a data set of one class")

    def test_takes_a_single_sample(self) -> None:
        """Too little to compare is said, or shows as no finding."""
        self.finds_nothing(self.setup({"samples": 1}), "a single sample")

    def test_takes_single_frames(self) -> None:
        """Images are clips of one frame."""
        self.report_or_refusal(self.setup({"frames": 1}), "clips of one frame")

    def test_takes_identical_frames(self) -> None:
        """Nothing to tell apart is no reason to crash."""
        self.report_or_refusal(
            self.setup({"identical": True}), "frames that are all the same"
        )

    def finds_nothing(self, setup: Setup, about: str) -> None:
        """Raise ContractViolation for a finding where there can be none, or for a crash."""
        report = self.report_or_refusal(setup, about)
        expect(
            report is None or not report.findings,
            f"no finding in {about}",
            got=len(report.findings) if report else 0,
            remedy="Yield scores with finding=False, or raise UserError",
        )


# --------------------------------------------------------------------------------------- reporting


class MethodReports(MethodSetting):
    """One audit of the fake data: features, scores, findings."""

    def test_runs_end_to_end(self) -> None:
        """The four hooks together give features and scores."""
        report = self.base.report
        expect(
            report.features and report.scores,
            "features and scores",
            got=f"{len(report.features)} features, {len(report.scores)} scores",
            remedy="Yield from propose_features and compute_scores on any data with errors",
        )

    def test_names_each_feature_once(self) -> None:
        """Scores and evidence refer to features by key."""
        count = Counter(feature.key for feature in self.base.report.features)
        twice = [key for key, times in count.items() if times > 1]
        expect(
            not twice,
            "one feature a key",
            got=f"several of {', '.join(twice)}",
            remedy="Number the features, or digest what they are",
        )

    def test_places_features_in_the_data(self) -> None:
        """An occurrence is a sample, frame and region that a report can show."""
        samples = self.samples
        for feature in self.base.report.features:
            for occurrence in feature.occurrences:
                # None stands for the whole sample, of which any frame will do
                frame = occurrence.frame or 0
                region = occurrence.region
                sample = samples.get(occurrence.sample)
                frames = sample.frames if sample else ()
                expect(
                    0 <= frame < len(frames),
                    "occurrences in the audited samples",
                    got=f"{occurrence.sample}, frame {occurrence.frame}",
                    remedy="Use sample.key of audit.samples and an index into its frames",
                )
                if region is not None:
                    size = frames[frame].load().size
                    expect(
                        lies_within(region, size),
                        f"regions (x0, y0, x1, y1) within {size} pixels",
                        got=region,
                        remedy="Scale fractions by the size of the frame",
                    )

    def test_places_the_strongest_occurrence_first(self) -> None:
        """The first occurrence stands for the feature."""
        for feature in self.base.report.features:
            strengths = [occurrence.strength for occurrence in feature.occurrences]
            expect(
                strengths == sorted(strengths, reverse=True),
                "occurrences by falling strength",
                got=f"another order in {feature.key}",
                remedy="Sort them before making the Feature",
            )

    def test_shows_samples_of_the_data(self) -> None:
        """The samples of a contrast are of the data set, or derived from its samples."""
        if not (contrasts := self.base.report.contrasts):
            raise NotApplicable("asks about contrasts, and none is attached")
        strangers = []
        for side in chain.from_iterable(contrast.sides for contrast in contrasts):
            for exhibit in side.exhibits:
                key = exhibit.occurrence.sample
                # a changed sample bears its source's key before the slash
                if not {key, key.split("/")[0]} & self.samples.keys():
                    strangers.append(key)
        expect(
            not strangers,
            "samples that the audit was given",
            got=", ".join(strangers[:3]),
            remedy="cuescope_sdk.report.contrast takes them from outcomes",
        )

    def test_scores_known_features(self) -> None:
        """A score is of a feature that was proposed."""
        known = {feature.key for feature in self.base.report.features}
        self.all_scores(
            lambda score: score.feature in known, "features that were proposed"
        )

    def test_scores_known_labels(self) -> None:
        """A score is for a label of the data set, or for all (None)."""
        known = {None, *self.base.report.provenance.labels}
        self.all_scores(
            lambda score: score.label in known, "labels of the data set, or None"
        )

    def test_scores_declared_metrics(self) -> None:
        """A score without a declared metric has no column."""
        known = {metric.name for metric in self.base.report.metrics}
        self.all_scores(
            lambda score: score.metric in known, "metrics that the class declares"
        )

    def test_scores_each_pair_once(self) -> None:
        """A cell of the table has one figure."""
        count = Counter((s.feature, s.label, s.metric) for s in self.base.report.scores)
        expect(
            # a report without scores is another check's
            max(count.values(), default=1) == 1,
            "one score a feature, label and metric",
            got=f"several of {count.most_common(1)}",
            remedy="Reduce before yielding",
        )

    def test_keeps_figures_in_order(self) -> None:
        """low <= value <= high; probabilities within 0 and 1; a corrected p is no smaller."""
        self.all_scores(_in_order, "low <= value <= high, 0 <= p <= q <= 1, n >= 0")

    def test_finds_in_the_headline(self) -> None:
        """The row of the first metric carries `finding`."""
        headline = self.base.report.metrics[0].name
        self.all_scores(
            lambda score: not score.finding or score.metric == headline,
            f"findings on rows of the first metric, '{headline}'",
        )

    def test_ranks_findings_first(self) -> None:
        """A report opens with the finding."""
        report = self.base.report
        headline = [
            s.finding for s in report.scores if s.metric == report.metrics[0].name
        ]
        expect(
            headline == sorted(headline, reverse=True),
            "findings before the other headline rows",
            got="a finding below them",
            remedy="Yield the strongest first",
        )

    def test_states_findings_in_words(self) -> None:
        """A finding is a sentence with the feature's name in it."""
        self.all_scores(
            lambda score: not score.finding or "{feature}" in (score.statement or ""),
            "a statement with {feature} in it for each finding",
        )

    def test_backs_findings_with_statistics(self) -> None:
        """Every finding has an interval, a null, and a correction for how much was tried."""
        rows: dict[tuple[str, str | None], list[Score]] = {}
        for score in self.base.report.scores:
            rows.setdefault((score.feature, score.label), []).append(score)
        for finding in self.base.report.findings:
            scores = rows[finding.feature, finding.label]
            # in any row: the headline may be a figure that has none
            has_interval = any(None not in (score.low, score.high) for score in scores)
            expect(
                has_interval and any(score.q_value is not None for score in scores),
                "an interval and a q_value among the rows of each finding",
                got=f"none for {finding.feature}",
                remedy="See paired_flips and benjamini_hochberg of cuescope_sdk.statistics",
            )

    def all_scores(self, holds: Callable[[Score], bool], expected: str) -> None:
        """Raise ContractViolation for the first score for which it does not hold."""
        for score in self.base.report.scores:
            expect(
                holds(score),
                expected,
                got=score.model_dump(exclude_none=True),
                remedy="Mend compute_scores",
            )


def _in_order(score: Score) -> bool:
    interval = _rises(score.low, score.value, score.high)
    return (
        interval and _rises(0, score.p_value, score.q_value, 1) and _rises(0, score.n)
    )


def _rises(*figures: float | None) -> bool:
    """True if no figure is below the one before it, but for rounding; None stands for no figure."""
    # a score need not have all of them
    known = [figure for figure in figures if figure is not None]
    return all(low <= high + 1e-9 for low, high in pairwise(known))
