"""FiftyOne: samples with labels, answers and cues, as `Dataset.from_json` reads them."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from cuescope_sdk import Options, StoredRun, UserError
from cuescope_sdk.exporting import Exporter, plain_answers


class FiftyOne(Exporter):
    """samples.json and, where frames have no file of their own, pictures beside it."""

    title = "FiftyOne dataset"
    Options = Options

    def export(self, run: StoredRun, folder: Path) -> list[Path]:
        """Write the pictures and the samples."""
        report = run.report
        cues: dict[str, list[str]] = defaultdict(list)
        # only cues that were found: a tag for each feature would drown them
        found = {score.feature for score in report.findings}
        for feature in report.features:
            if feature.key in found:
                for occurrence in feature.occurrences:
                    cues[occurrence.sample].append(report.names[feature.key])
        pictures = folder / "pictures"
        pictures.mkdir(exist_ok=True)
        samples: list[dict[str, Any]] = []
        for number, answer in enumerate(plain_answers(run)):
            # a sample of text alone has nothing that FiftyOne could show
            if answer.shown is None or not answer.shown.frames:
                continue
            # by number: keys come from strangers and may be paths
            picture = pictures / f"{number:06d}.png"
            # as RGB: masks and palettes would be drawn otherwise by each viewer
            answer.shown.frames[0].load().convert("RGB").save(picture)
            samples.append(
                {
                    "_cls": "Sample",
                    # relative, so that the folder can be mailed
                    "filepath": f"pictures/{picture.name}",
                    "tags": [],
                    "key": answer.key,
                    "ground_truth": _classification(answer.label),
                    "prediction": _classification(answer.text, answer.probability),
                    "correct": answer.correct,
                    "cues": _classifications(cues[answer.key]),
                }
            )
        # an empty file would load as an empty data set, and seem a fault of FiftyOne
        if not samples:
            # it says why, where the data cannot be opened
            _ = run.samples
            raise UserError(
                f"{run.path} has no pictures to show",
                expected="samples with frames",
            )
        file = folder / "samples.json"
        file.write_text(json.dumps({"samples": samples}, indent=1), encoding="utf-8")
        return [file, pictures]


def _classification(
    label: str | None, confidence: float | None = None
) -> dict[str, Any] | None:
    if label is None:
        return None
    content: dict[str, Any] = {"_cls": "Classification", "label": label, "tags": []}
    if confidence is not None:
        content["confidence"] = confidence
    return content


def _classifications(names: list[str]) -> dict[str, Any]:
    # two findings may share a name, and a tag that stands twice is no news
    listed = [_classification(name) for name in dict.fromkeys(names)]
    return {"_cls": "Classifications", "classifications": listed}
