"""One configuration: auditors run on half of its data, `confirm` on the other; both are graded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np

from cuescope.application import Runner
from cuescope_cuebench.findings import read_findings
from cuescope_cuebench.matching import Sheet, is_planted
from cuescope_cuebench.sheet_methods import SHEET, STATED, shelf
from cuescope_cuebench.zoo import Configuration
from cuescope_sdk import (
    Context,
    LazyWeights,
    Report,
    Request,
    Sample,
    Score,
    Trial,
    UserError,
    digest,
)

TOP = 10  # ranks that are graded
# of an auditor's findings each by itself, as it is graded, and of each one's samples
CONFIRM = {"top": 3, "samples": 80, "merge": False}
SEEN = 64  # samples of which methods that explain single pictures see half
DEAR = ("cci", "saliency")
Graded = dict[str, Any]  # plain JSON: it is kept in a file


@dataclass(frozen=True)
class Settings:
    """What all configurations share."""

    seed: int
    device: str
    cache: Path
    folder: Path

    def runner(self, folder: Path) -> Runner:
        """Answers are kept in memory, for the auditors of one configuration together."""
        context = Context(registry=shelf(), seed=self.seed, device=self.device, cache=self.cache)
        return Runner(context, folder, cache_responses=False)


def train(settings: Settings, configuration: Configuration) -> bool:
    """Train the model of a configuration, unless it is kept."""
    context = Context(seed=settings.seed, device=settings.device, cache=settings.cache)
    data = context.build("dataset", *configuration.data)
    model = context.for_dataset(data).build("model", *configuration.model)
    if isinstance(model, LazyWeights):
        model.open_weights()
    return True


def grade(
    settings: Settings, configuration: Configuration, auditors: Sequence[str], file: Path | None
) -> Graded:
    """The grades of these auditors, and of `confirm` on their findings, by auditor.

    Of a file the findings that it states.
    """
    parts = (configuration.name, *auditors, (file and file.stem) or "")
    folder = settings.folder / "runs" / digest(*parts)
    rmtree(folder, ignore_errors=True)  # of a run that was killed
    try:
        bench = _Bench(settings, configuration, settings.runner(folder))
        return bench.grades(auditors, file)
    finally:
        rmtree(folder, ignore_errors=True)


def grade_sheet(settings: Settings, configuration: Configuration) -> Graded:
    """What the answer sheet knows: use of the cue, accuracy, and what `confirm` says of the cue."""
    folder = settings.folder / "runs" / digest(configuration.name)
    rmtree(folder, ignore_errors=True)
    try:
        bench = _Bench(settings, configuration, settings.runner(folder))
        used, accuracy = bench.use()
        auditors = bench.grades((SHEET,), None) if configuration.victim else {}
    finally:
        rmtree(folder, ignore_errors=True)
    return {"use": used, "accuracy": accuracy, "auditors": auditors}


@dataclass(frozen=True, eq=False)
class _Bench:
    settings: Settings
    configuration: Configuration
    runner: Runner

    def grades(self, auditors: Sequence[str], file: Path | None) -> Graded:
        """All of them."""
        data = self.runner.context.build("dataset", *self.configuration.data)
        sheet = Sheet.of(data)
        requests = self._requests(auditors, file)
        return {name: self._audit(request, sheet) for name, request in requests}

    def _requests(
        self, auditors: Sequence[str], file: Path | None = None
    ) -> Iterator[tuple[str, Request]]:
        configuration = self.configuration
        for spec in auditors:
            method, options = parse_auditor(spec)
            given = self._sheet_options() if method == SHEET else options
            yield spec, self._request(method, given)
        if file is not None:
            options = {"file": str(file), "configuration": configuration.name}
            yield read_findings(file).auditor, self._request(STATED, options)

    def _sheet_options(self) -> dict[str, str]:
        return {"cue": self.configuration.asked, "label": self.configuration.victim}

    def _request(self, method: str, options: Mapping[str, Any], part: str = "1/2") -> Request:
        model, data = self.configuration.model, self.configuration.data
        return Request(
            method=method,
            method_options=options,
            model=model[0],
            model_options=model[1],
            data=data[0],
            data_options=data[1],
            tools=self.configuration.tools if method != SHEET else {},
            seed=self.settings.seed,
            device=self.settings.device,
            part=part,
            limit=SEEN // 2 if method in DEAR else None,
        )

    def _audit(self, request: Request, sheet: Sheet) -> Graded:
        try:
            report = self.runner.run(request)
        except UserError as error:
            return {"refused": str(error)}
        planted = self._planted_of(report, sheet)
        own = self._graded(report, report.headlines, planted)
        if request.method == STATED:
            stated = read_findings(Path(request.method_options["file"]))
            own["calls"] = stated.configurations[self.configuration.name].model_calls
        return own | {"confirm": self._confirm(request, report, sheet)}

    def _planted_of(self, report: Report, sheet: Sheet) -> dict[str, bool]:
        """Which features of a report are planted cues."""
        return {
            feature.key: any(is_planted(feature, cue, sheet) for cue in self.configuration.plants)
            for feature in report.features
        }

    def _confirm(self, request: Request, report: Report, sheet: Sheet) -> Graded:
        """Nothing to confirm is nothing called a cause, and costs nothing."""
        nothing: Graded = {"hits": [], "alarm": False, "detected": False, "best": None, "calls": 0}
        if not report.findings:
            return nothing
        options = {"run": str(self.runner.folder(request).path), **CONFIRM}
        tested = self._request("confirm", options, "2/2")
        roles = {"detector"} & set(tested.tools)
        tested = tested.model_copy(update={"tools": {r: tested.tools[r] for r in roles}})
        try:
            confirmed = self.runner.run(tested)
        except UserError as error:
            return nothing | {"why": str(error)}
        # as they were found: that, and not where `confirm` sees them, is what is graded
        planted = self._planted_of(confirmed, sheet) | self._planted_of(report, sheet)
        sure = [score for score in confirmed.scores if score.metric == "excess"]
        graded = self._graded(confirmed, confirmed.findings, planted, sure)
        verdicts = [[verdict_of(confirmed, s), planted[s.feature]] for s in confirmed.headlines]
        enough = confirmed.notes.get("power", "").endswith("enough")
        return graded | {"verdicts": verdicts, "enough": enough}

    def _graded(
        self,
        report: Report,
        listed: Sequence[Score],
        planted: Mapping[str, bool],
        scored: Sequence[Score] | None = None,
    ) -> Graded:
        """Hits of the first ranks; whether anything is found, and the plant; its score; calls.

        `listed` is ranked; the highest score of the plant is looked for in `scored`.
        """
        order = list(dict.fromkeys(score.feature for score in listed))
        values = [
            score.value
            for score in (listed if scored is None else scored)
            if planted[score.feature] and score.value is not None
        ]
        return {
            "hits": [planted[key] for key in order[:TOP]],
            "alarm": bool(report.findings),
            "detected": any(planted[score.feature] for score in report.findings),
            "best": max(values, default=None),
            "calls": report.cost.trials,
        }

    def use(self) -> tuple[float | None, float | None]:
        """By how much the cue lowers the probability of the right answer on the victim's label.

        By the same samples without the cue: what every intervention would have to tell. None where
        the world cannot draw them. With the accuracy on the data as it is.
        """
        configuration = self.configuration
        if configuration.clean is None or not configuration.victim:
            return None, None
        request = self._request(SHEET, self._sheet_options()).model_copy(update={"part": None})
        audit = self.runner.session(request).audit
        data: Any = audit.context.dataset
        samples = [data[index] for index in range(len(data))]
        right = probabilities(audit, samples)
        accuracy = float(np.mean([value[1] for value in right.values()]))
        clean: Any = self.runner.context.build("dataset", *configuration.clean)
        shown = [
            index
            for index, sample in enumerate(samples)
            if sample.label == configuration.victim and is_shown(sample, configuration.asked)
        ]
        without = probabilities(audit, [clean[index] for index in shown])
        change = [without[samples[n].key][0] - right[samples[n].key][0] for n in shown]
        return (float(np.mean(change)) if change else None), accuracy


def is_shown(sample: Sample, cue: str) -> bool:
    """Whether a sample shows a cue, by the answer sheet."""
    return any(sample.annotations["cues"][cue])


def probabilities(audit: Any, samples: Sequence[Sample]) -> dict[str, tuple[float, bool]]:
    """Probability of the right answer, and whether it is given, by sample."""
    outcomes = audit.respond([Trial(sample=sample) for sample in samples])
    values = {}
    for outcome in outcomes:
        sample, logits = outcome.trial.sample, outcome.response.logits
        weights = np.exp(logits.astype(np.float64) - logits.max())
        share = float(weights[sample.choices.index(sample.label)] / weights.sum())
        values[sample.key] = share, bool(outcome.correct())
    return values


def verdict_of(report: Report, score: Score) -> str:
    """From the dossier's table."""
    table = next(each for each in report.tables if each.title.startswith("Cues by harm"))
    rows = [row for row in table.rows if row["label"] == (score.label or "any")]
    return str(next(r["verdict"] for r in rows if r["cue"] == report.names[score.feature]))


def parse_auditor(text: str) -> tuple[str, dict[str, str]]:
    """METHOD[:option=value,...]; raises UserError where it is written otherwise."""
    method, _, rest = text.partition(":")
    options = {}
    for part in rest.split(",") if rest else ():
        key, equals, value = part.partition("=")
        if not key or not equals:
            raise UserError(
                f"bench auditors: '{text}'", expected="METHOD or METHOD:option=value,option=value"
            )
        options[key] = value
    return method, options
