"""The sdk's contract suite, on a fake that is asked whether it sees each of its classes."""

from dataclasses import replace

from cuescope_sdk import Response, Trial
from cuescope_spurlens import SpurLens
from cuescope_testing import FakeDataset, FakeModel, MethodContract


class Asked(FakeModel):
    """Says yes to the class that the fake would choose, and no to the others."""

    def answer(self, trial: Trial) -> Response:
        words = (trial.sample.question or "").split()
        labels = FakeDataset.all_labels
        asked = next(label for label in labels if label in words)
        chosen = replace(trial, sample=replace(trial.sample, choices=labels))
        choice = super().answer(chosen).text
        return Response(text="Yes." if choice == asked else "No.")


class TestContract(MethodContract):
    plugin = SpurLens
    model = Asked
    data_options = {"samples": 100}
