"""One configuration: auditors run on half of its data, `confirm` on the other; both are graded."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

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
        context = Context(
            registry=shelf(),
            seed=self.seed,
            device=self.device,
            cache=self.cache,
        )
        # stored answers would stay in the user's own cache, beside those of real audits
        return Runner(context, folder, cache_responses=False)


def train(settings: Settings, configuration: Configuration) -> bool:
    """Train the model of a configuration, unless it is kept."""
    context = Context(seed=settings.seed, device=settings.device, cache=settings.cache)
    data = context.build("dataset", *configuration.data)
    model = context.for_dataset(data).build("model", *configuration.model)
    # a toy is trained when its weights are opened for the first time
    if isinstance(model, LazyWeights):
        model.open_weights()
    return True


def grade(
    settings: Settings,
    configuration: Configuration,
    auditors: Sequence[str],
    file: Path | None,
) -> Graded:
    """The grades of these auditors, and of `confirm` on their findings, by auditor.

    Of a file the findings that it states.
    """
    # a folder for each job: those of one configuration may run at once
    parts = (configuration.name, *auditors, (file and file.stem) or "")
    with _bench(settings, configuration, *parts) as bench:
        return bench.grades(auditors, file)


def grade_sheet(settings: Settings, configuration: Configuration) -> Graded:
    """What the answer sheet knows: use of the cue, accuracy, and what `confirm` says of the cue."""
    with _bench(settings, configuration, configuration.name) as bench:
        use, accuracy = bench.use()
        auditors = bench.grades((SHEET,), None) if configuration.victim else {}
    return {"use": use, "accuracy": accuracy, "auditors": auditors}


@contextmanager
def _bench(
    settings: Settings,
    configuration: Configuration,
    *parts: str,
) -> "Iterator[_Bench]":
    """In a folder of its own, which is gone afterwards."""
    folder = settings.folder / "runs" / digest(*parts)
    rmtree(folder, ignore_errors=True)  # of a run that was killed
    try:
        yield _Bench(settings, configuration, settings.runner(folder))
    finally:
        rmtree(folder, ignore_errors=True)


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
        self,
        auditors: Sequence[str],
        file: Path | None = None,
    ) -> Iterator[tuple[str, Request]]:
        configuration = self.configuration
        for spec in auditors:
            method, options = parse_auditor(spec)
            if method == SHEET:
                options = self._sheet_options()
            yield spec, self._request(method, options)
        if file is not None:
            options = {"file": str(file), "configuration": configuration.name}
            yield read_findings(file).auditor, self._request(STATED, options)

    def _sheet_options(self) -> dict[str, str]:
        return {"cue": self.configuration.asked, "label": self.configuration.victim}

    def _request(
        self,
        method: str,
        options: Mapping[str, Any],
        part: str = "1/2",
    ) -> Request:
        model, model_options = self.configuration.model
        data, data_options = self.configuration.data
        return Request(
            method=method,
            method_options=options,
            model=model,
            model_options=model_options,
            data=data,
            data_options=data_options,
            tools=self.configuration.tools if method != SHEET else {},
            seed=self.settings.seed,
            device=self.settings.device,
            part=part,
            # hundreds of calls a picture (docs/cuebench.md)
            limit=SEEN // 2 if method in DEAR else None,
        )

    def _audit(self, request: Request, sheet: Sheet) -> Graded:
        try:
            report = self.runner.run(request)
        except UserError as error:
            # what does not fit is left out of the tables; the others go on
            return {"refused": str(error)}
        planted = self._planted_by_feature(report, sheet)
        grades = self._grade(report, report.headlines, report.headlines, planted)
        # those of the auditor itself: reading its findings has cost calls of its own
        if request.method == STATED:
            stated = read_findings(Path(request.method_options["file"]))
            grades["calls"] = stated.configurations[self.configuration.name].model_calls
        return grades | {"confirm": self._confirm(request, report, sheet)}

    def _planted_by_feature(self, report: Report, sheet: Sheet) -> dict[str, bool]:
        """Which features of a report are planted cues."""
        plants = self.configuration.plants
        planted = {}
        for feature in report.features:
            # any planted cue is a hit, not the asked one alone
            hits = [is_planted(feature, cue, sheet) for cue in plants]
            planted[feature.key] = any(hits)
        return planted

    def _confirm(self, request: Request, report: Report, sheet: Sheet) -> Graded:
        """Nothing to confirm is nothing called a cause, and costs nothing."""
        nothing: Graded = {
            "hits": [],
            "alarm": False,
            "detected": False,
            "best": None,
            "calls": 0,
        }
        if not report.findings:
            return nothing
        options = {"run": str(self.runner.folder(request).path), **CONFIRM}
        tested = self._request("confirm", options, "2/2")
        tools = dict(tested.tools)
        # `confirm` asks no proposer
        tools.pop("proposer", None)
        try:
            confirmed = self.runner.run(tested.model_copy(update={"tools": tools}))
        except UserError as error:
            return nothing | {"why": str(error)}
        # As they were found: that, and not where `confirm` sees them, is what is graded.
        planted = self._planted_by_feature(confirmed, sheet)
        planted |= self._planted_by_feature(report, sheet)
        # the effect beyond all controls, which has to tell causes from decoys
        sure = [score for score in confirmed.scores if score.metric == "excess"]
        grades = self._grade(confirmed, confirmed.findings, sure, planted)
        grades["verdicts"] = [
            [verdict_of(confirmed, score), planted[score.feature]]
            for score in confirmed.headlines
        ]
        # `confirm` notes its plan in words, the last of which judges it
        grades["enough"] = confirmed.notes.get("power", "").endswith("enough")
        return grades

    def _grade(
        self,
        report: Report,
        listed: Sequence[Score],
        scored: Sequence[Score],
        planted: Mapping[str, bool],
    ) -> Graded:
        """Hits of the first ranks; whether anything is found, and the plant; its score; calls.

        `listed` is ranked; the highest score of the plant is looked for in `scored`.
        """
        # a feature that is listed for several labels has one rank
        hits = {score.feature: planted[score.feature] for score in listed}
        plants = [score for score in scored if planted[score.feature]]
        values = [score.value for score in plants if score.value is not None]
        return {
            "hits": list(hits.values())[:TOP],
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
        # on all samples: nothing is found here that another half would test
        request = self._request(SHEET, self._sheet_options()).model_copy(
            update={"part": None}
        )
        audit = self.runner.session(request).audit
        data: Any = audit.context.dataset
        clean: Any = self.runner.context.build("dataset", *configuration.clean)
        samples = list(map(data.__getitem__, range(len(data))))
        right, answered = probabilities(audit, samples)
        shows = [
            any(sample.annotations["cues"][configuration.asked]) for sample in samples
        ]
        on_victim = [sample.label == configuration.victim for sample in samples]
        shown = np.flatnonzero(np.logical_and(shows, on_victim))
        change = None
        if len(shown):
            without, _ = probabilities(
                audit, [clean[index] for index in shown.tolist()]
            )
            change = float((without - right[shown]).mean())
        return change, float(answered.mean())


def probabilities(
    audit: Any, samples: Sequence[Sample]
) -> tuple[Float[np.ndarray, " sample"], Bool[np.ndarray, " sample"]]:
    """Probability of the right answer, and whether it is given, of each sample."""
    shares = []
    right = []
    for outcome in audit.respond([Trial(sample=sample) for sample in samples]):
        sample = outcome.trial.sample
        logits = outcome.response.logits
        # less the largest, so that no exponential overflows
        weights = np.exp(logits.astype(np.float64) - logits.max())
        shares.append(weights[sample.choices.index(sample.label)] / weights.sum())
        right.append(outcome.correct())
    return np.array(shares, dtype=float), np.array(right, dtype=bool)


def verdict_of(report: Report, score: Score) -> str:
    """From the dossier's table."""
    table = next(
        table for table in report.tables if table.title.startswith("Cues by harm")
    )
    named = {"label": score.label or "any", "cue": report.names[score.feature]}
    return str(
        next(row["verdict"] for row in table.rows if named.items() <= row.items())
    )


def parse_auditor(text: str) -> tuple[str, dict[str, str]]:
    """METHOD[:option=value,...]; raises UserError where it is written otherwise."""
    # what is behind the first colon may hold colons of its own
    method, _, rest = text.partition(":")
    options = {}
    for part in rest.split(",") if rest else ():
        key, equals, value = part.partition("=")
        # a value may hold more "=": the first one parts them
        if not key or not equals:
            raise UserError(
                f"bench auditors: '{text}'",
                expected="METHOD or METHOD:option=value,option=value",
            )
        options[key] = value
    return method, options
