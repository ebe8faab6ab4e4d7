"""What a method must find, what it must not, and data that has nothing in it."""

from cuescope_sdk.testing._method_contract.setting import (
    MethodSetting,
    found_features,
    on_cue,
    on_decoy,
)
from cuescope_sdk.testing._violation import NotApplicable, expect

ALWAYS_RIGHT = {"lean": 0, "noise": 0}


class MethodFinds(MethodSetting):
    """Planted truth, null data, degenerate data."""

    def test_finds_the_planted_cue(self) -> None:
        """The fake model takes a red corner for "top": the first finding says so."""
        if not self.finds_planted_cue:
            raise NotApplicable("needs a method that looks for things seen in frames")
        samples = self.samples
        found = [on_cue(feature, samples) for feature in found_features(self.base.report)]
        expect(
            found[:1] == [True],
            "the red corner as the first finding",
            got=f"it at place {found.index(True) + 1}"
            if True in found
            else f"{len(found)} findings without it",
            remedy="See cuescope_sdk.testing.fake_data for what is planted. A method that looks "
            "for cues of another kind sets finds_planted_cue = False (`--other-cues`)",
        )

    def test_does_not_find_the_decoy(self) -> None:
        """The blue corner is as frequent, and the model does not care for it."""
        samples = self.samples
        wrong = [f.key for f in found_features(self.base.report) if on_decoy(f, samples)]
        expect(
            not wrong,
            "no finding on the blue corner",
            got=", ".join(wrong),
            remedy="Measure reliance: that something is there is not that it is used",
        )

    def test_finds_nothing_where_there_is_nothing(self) -> None:
        """A model that errs for no reason: false findings come at the promised rate."""
        audits = range(1, self.null_audits + 1)
        reports = [self.setup({"seed": seed}, {"lean": 0}).report() for seed in audits]
        wrong = sum(bool(report.findings) for report in reports)
        expect(
            wrong <= self.null_allowed,
            f"findings in at most {self.null_allowed} of {self.null_audits} audits without a cue",
            got=wrong,
            remedy="Test each finding, and correct for how many were tried",
        )

    def test_finds_nothing_where_all_is_right(self) -> None:
        """A model that never errs is answered with words, and no finding."""
        report = self.report_or_refusal(self.setup(model=ALWAYS_RIGHT), "a model without errors")
        self.finds_nothing("model without errors", report.findings if report else ())

    def test_finds_nothing_in_one_class(self) -> None:
        """With one choice there is nothing to get wrong."""
        report = self.report_or_refusal(self.setup({"labels": 1}), "a data set of one class")
        self.finds_nothing("data set of one class", report.findings if report else ())

    def test_takes_a_single_sample(self) -> None:
        """Too little to compare is said, or shows as no finding."""
        report = self.report_or_refusal(self.setup({"samples": 1}), "a single sample")
        self.finds_nothing("single sample", report.findings if report else ())

    def test_takes_single_frames(self) -> None:
        """Images are clips of one frame."""
        self.report_or_refusal(self.setup({"frames": 1}), "clips of one frame")

    def test_takes_identical_frames(self) -> None:
        """Nothing to tell apart is no reason to crash."""
        self.report_or_refusal(self.setup({"identical": True}), "frames that are all the same")

    def finds_nothing(self, what: str, findings: tuple[object, ...]) -> None:
        """Raise ContractViolation for a finding where there can be none."""
        expect(
            not findings,
            f"no finding in a {what}",
            got=len(findings),
            remedy="Yield scores with finding=False, or raise UserError",
        )
