"""One configuration: auditors run on half of its data, `confirm` on the other; both are graded."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np

from cuescope.application import Runner
from cuescope_planted_cues.auditors import ERRORS, SHEET, shelf
from cuescope_planted_cues.matching import Answer, Match, Sheet, is_planted, match_of
from cuescope_planted_cues.worlds import BASELINES, Configuration
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
from cuescope_sdk.maths import softmax

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
    confirms: bool = True

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
    context = settings.runner(settings.folder).context
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
) -> Graded:
    """The grades of these auditors, and of `confirm` on their findings, by auditor."""
    # a folder for each job: those of one configuration may run at once
    with _bench(settings, configuration, configuration.name, *auditors) as bench:
        return bench.grades(auditors)


def grade_sheet(settings: Settings, configuration: Configuration) -> Graded:
    """What the answer sheet knows: use of the cue, accuracy, and what `confirm` says of the cue."""
    with _bench(settings, configuration, configuration.name) as bench:
        auditors = bench.grades((SHEET,)) if configuration.victim else {}
        return {**bench.use(), "auditors": auditors}


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

    def grades(self, auditors: Sequence[str]) -> Graded:
        """All of them."""
        graded = {}
        for spec in auditors:
            method, options = parse_auditor(spec)
            if method == SHEET:
                options = self._sheet_options()
            graded[spec] = self._audit(self._request(method, options))
        return graded

    @cached_property
    def _sheet(self) -> Sheet:
        """With what the model says of each sample as it is."""
        data = self.runner.context.build("dataset", *self.configuration.data)
        return replace(Sheet.of(data), answers=self._answers)

    @cached_property
    def _answers(self) -> dict[str, Answer]:
        # some methods take some models alone; this one takes all
        request = self._request(ERRORS, {}).model_copy(update={"part": None})
        audit = self.runner.session(request).audit
        return answers_of(audit, audit.samples)

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
            seed=self.settings.seed,
            device=self.settings.device,
            part=part,
            # hundreds of calls a picture (README)
            limit=SEEN // 2 if method in DEAR else None,
        )

    def _audit(self, request: Request) -> Graded:
        try:
            report = self.runner.run(request)
        except UserError as error:
            # what does not fit is left out of the tables; the others go on
            return {"refused": str(error)}
        samples = self.runner.session(request).audit.samples
        sheet = replace(self._sheet, audited={sample.key for sample in samples})
        planted = self._planted_by_feature(report, sheet)
        grades = self._grade(report, report.headlines, report.headlines, planted)
        match = self._match_of_plant(report, planted, sheet)
        grades |= {"purity": match and match.purity, "recall": match and match.recall}
        # what baselines list is not tested: it would cost as much as all else
        if request.method in BASELINES or not self.settings.confirms:
            return grades
        return grades | {"confirm": self._confirm(request, report, sheet)}

    def _match_of_plant(
        self,
        report: Report,
        planted: Mapping[str, bool],
        sheet: Sheet,
    ) -> Match | None:
        """How far the first finding that is the plant is pure and complete; None of named ones."""
        features = {feature.key: feature for feature in report.features}
        for score in report.findings:
            feature = features[score.feature]
            if planted[feature.key] and feature.kind == "cluster":
                matches = [
                    match_of(feature, cue, sheet) for cue in self.configuration.plants
                ]
                return max(matches)
        return None

    def _planted_by_feature(self, report: Report, sheet: Sheet) -> dict[str, bool]:
        """Which features of a report are planted cues; those of the answer sheet all are.

        A model that a cue decides gives all samples with it one answer, so that chance shows the
        cue as often, and no rule would know it.
        """
        if report.provenance.method.spec == SHEET:
            return {feature.key: True for feature in report.features}
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
        try:
            confirmed = self.runner.run(tested)
        except UserError as error:
            return nothing | {"why": str(error)}
        # As they were found: that, and not where `confirm` sees them, is what is graded.
        planted = self._planted_by_feature(confirmed, sheet)
        planted |= self._planted_by_feature(report, sheet)
        # it has to tell causes from decoys
        sure = [score for score in confirmed.scores if score.metric == "probability"]
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

    def use(self) -> Graded:
        """By how much the cue lowers the probability of the right answer on the victim's label.

        By the same samples without the cue: what every intervention would have to tell. None where
        the world cannot draw them. With the accuracy on the data as it is.
        """
        configuration = self.configuration
        if configuration.clean is None or not configuration.victim:
            return {"use": None, "accuracy": None}
        # on all samples: nothing is found here that another half would test
        request = self._request(ERRORS, {}).model_copy(update={"part": None})
        audit = self.runner.session(request).audit
        clean: Any = self.runner.context.build("dataset", *configuration.clean)
        sheet = self._sheet
        shown = []
        for index, sample in enumerate(audit.samples):
            shows = any(sheet.shown[sample.key][configuration.asked])
            if shows and sample.label == configuration.victim:
                shown.append(index)
        without = answers_of(audit, [clean[index] for index in shown])
        changes = []
        for key, answer in without.items():
            changes.append(answer.probability - sheet.answer(key).probability)
        right = []
        for key, answer in sheet.answers.items():
            right.append(answer.said == sheet.label[key])
        return {
            "use": float(np.mean(changes)) if changes else None,
            "accuracy": float(np.mean(right)),
        }


def answers_of(audit: Any, samples: Sequence[Sample]) -> dict[str, Answer]:
    """What the model says of each sample, and how probable it finds the right answer."""
    answers = {}
    for outcome in audit.respond([Trial(sample=sample) for sample in samples]):
        sample = outcome.trial.sample
        chances = softmax(outcome.logits[None])[0]
        probability = float(chances[sample.choices.index(sample.label)])
        answers[sample.key] = Answer(outcome.prediction, probability)
    return answers


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
