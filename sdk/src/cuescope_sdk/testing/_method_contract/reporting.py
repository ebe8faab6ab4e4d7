"""What a method's report must hold to be read, ranked and stored."""

from collections import Counter
from collections.abc import Callable

from cuescope_sdk import Score
from cuescope_sdk.testing._method_contract.setting import MethodSetting
from cuescope_sdk.testing._violation import expect


class MethodReports(MethodSetting):
    """One audit of the fake data: features, scores, findings."""

    def test_runs_end_to_end(self) -> None:
        """The four hooks together give features and scores."""
        report = self.base.report
        expect(
            bool(report.features) and bool(report.scores),
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
            for place in feature.occurrences:
                sample = samples.get(place.sample)
                frames = len(sample.frames) if sample else 0
                expect(
                    sample is not None and 0 <= (place.frame or 0) < frames,
                    "occurrences in the audited samples",
                    got=f"{place.sample}, frame {place.frame}",
                    remedy="Use sample.key of audit.samples and an index into its frames",
                )
                if sample is None or place.region is None:
                    continue
                width, height = sample.frames[place.frame or 0].load().size
                x0, y0, x1, y1 = place.region
                expect(
                    0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height,
                    f"regions (x0, y0, x1, y1) within {width} x {height} pixels",
                    got=place.region,
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

    def test_scores_known_features(self) -> None:
        """A score is of a feature that was proposed."""
        known = {feature.key for feature in self.base.report.features}
        self.all_scores(lambda score: score.feature in known, "features that were proposed")

    def test_scores_known_labels(self) -> None:
        """A score is for a label of the data set, or for all (None)."""
        known = {None, *self.base.report.provenance.labels}
        self.all_scores(lambda score: score.label in known, "labels of the data set, or None")

    def test_scores_declared_metrics(self) -> None:
        """A score without a declared metric has no column."""
        known = {metric.name for metric in self.base.report.metrics}
        self.all_scores(lambda score: score.metric in known, "metrics that the class declares")

    def test_scores_each_pair_once(self) -> None:
        """A cell of the table has one figure."""
        count = Counter((s.feature, s.label, s.metric) for s in self.base.report.scores)
        expect(
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
        found = [s.finding for s in report.scores if s.metric == report.metrics[0].name]
        expect(
            found == sorted(found, reverse=True),
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
        for found in self.base.report.findings:
            own = rows[found.feature, found.label]
            expect(
                any(s.low is not None and s.high is not None for s in own)
                and any(s.q_value is not None for s in own),
                "an interval and a q_value among the rows of each finding",
                got=f"none for {found.feature}",
                remedy="See bootstrap_mean_interval and benjamini_hochberg of cuescope_sdk.maths",
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
    inside = score.value is None or (
        (score.low is None or score.low <= score.value + 1e-9)
        and (score.high is None or score.value <= score.high + 1e-9)
    )
    p_value, q_value = score.p_value, score.q_value
    probable = all(p is None or 0 <= p <= 1 for p in (p_value, q_value))
    corrected = p_value is None or q_value is None or q_value >= p_value - 1e-9
    return inside and probable and corrected and (score.n is None or score.n >= 0)
