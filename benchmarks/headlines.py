"""Every printed figure with an interval beside its answer sheet: does the interval hold the truth?

    python benchmarks/headlines.py --store FILE.jsonl [--tags FILE.npz] [--seeds 10] [--only NAME]

*Clips* and *tags*: TRoVe and its rivals run on answers that were asked once, of the three cues of
moving-shapes, and none, with the toy, and with `--tags` of a price tag in photos (price_tags.py)
with heads on CLIP's features that lean on it much, little or not at all. The truth of a label's
change is that of the population: of fresh clips, or of all pairs with and without the tag that
the head was not trained on. Beside stand the same model of effects where it is told who shows the
cue, and the plain difference of means by what a method lists.
Other methods (`STUDIES`) are asked about drawn data whose figures mean the same in every draw, so
that a large draw tells the truth of small ones.
A result is kept as soon as it is there, so a killed run goes on.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from price_tags import LABELS, TAUGHT, Pairs, draw_pairs
from recorded import Recorded, record, run
from rich.console import Console
from rich.table import Table

from cuescope.application import Runner
from cuescope_sdk import Context, Frame, Report, Request, Sample
from cuescope_sdk.statistics import Groups, LabelEffects, gap_intervals
from cuescope_sdk.stills import Answers, typical_occurrences
from cuescope_slices import DistillingFailures, Domino, George
from cuescope_trove import TRoVe
from cuescope_trove.analysis import analyse
from cuescope_trove.cues import SHOWN, Cue

SIZES = (150, 400, 800, 2000, 4000)
TAGS = 800  # of these most
CUES = ("background", "object", "attribute", "none")
# of the fruit that a head is trained on, the share with a tag
HEADS = {"strong": 0.9, "weak": 0.4, "honest": 0.05}
CACHE = Path(".cache/headlines")
SOUTH = 1  # what the cue of moving-shapes draws
FRESH = 8_000
FRESH_CLIPS = 3_000  # by which other findings are graded
UNRELATED = 0.05  # association of cue and label in these
PLAIN: frozenset[Any] = frozenset({"logits"})
TRAINED = 500  # pairs that a head learns from
TAGGED = 0.2  # of audited pictures
SHOWS_IT = 0.5  # of a finding's samples: else it is another thing
LARGE = 0.3  # effects from here on have to be found
ENOUGH = 8  # where so many samples of the label show the cue
SMALL = 0.05
# the first metric of a method, and that of the accuracy that a label loses
HEADLINES = {
    "trove_score": ("trove_score", "error_contribution"),
    "slice_value": ("slice_value", "accuracy_lost"),
}
Rows = list[dict[str, Any]]
Numbers = Int[np.ndarray, " chosen"]
# of data that are audited: the method and its options
WAYS: dict[str, tuple[Any, dict[str, Any]]] = {
    "trove": (TRoVe, {"null_shuffles": 0}),
    "trove, paper": (TRoVe, {"paper": True, "null_shuffles": 0}),
    "domino": (Domino, {}),
    "george": (George, {}),
    "distilling-failures": (DistillingFailures, {}),
}


@dataclass(frozen=True)
class Study:
    """An audit of drawn data, a draw each seed; `population` samples tell the truth.

    `per` has options of the method that grow with the data, as shares of the samples.
    """

    request: dict[str, Any]
    sizes: Sequence[int]
    population: int
    options: dict[str, Any] = field(default_factory=dict)
    per: dict[str, float] = field(default_factory=dict)

    def ask(self, n: int, seed: int) -> Report:
        """The report about so many samples of a draw of their own."""
        data = {**self.request.get("data_options", {}), "val": n, "seed": seed}
        options = self.options | {
            name: int(share * n) for name, share in self.per.items()
        }
        request = self.request | {"data_options": data, "method_options": options}
        context = Context(cache=CACHE, device="cpu")
        return Runner(context, CACHE).session(Request(**request)).run()


# models were trained on a draw of their own: those that the toys ship, where they do
SCENES = {
    "model": "toy-clip",
    "model_options": {"data": "scenes:0.98"},
    "data": "scenes",
    "device": "cpu",
}
STUDIES = {
    "answers": Study({"method": "answers", **SCENES}, (150, 400, 800), 2_000),
    "blind": Study(
        {
            "method": "blind",
            "model": "none",
            "data": "shape-world",
        },
        (150, 400),
        2_000,
        {"redraws": 0},
    ),
    "cci": Study(
        {"method": "cci", **SCENES},
        (96, 150, 400),
        2_000,
        {"starts": 1},
    ),
    "saliency": Study({"method": "saliency", **SCENES}, (96, 150), 600),
    "quag": Study(
        {
            "method": "quag",
            "model": "toy-fusion",
            "model_options": {
                "data": "moving-shapes:none",
                "data_options": {"questions": "text", "seed": 0},
            },
            "data": "moving-shapes:none",
            "data_options": {"questions": "text"},
        },
        (120, 150, 400),
        2_000,
    ),
    "spurlens": Study(
        {
            "method": "spurlens",
            "model": "toy-fusion:object-scenes:presence",
            "model_options": {"patches": 4, "epochs": 10},
            "data": "object-scenes",
            "tools": {"proposer": "co-occurrence", "detector": "annotations"},
        },
        (300, 800),
        2_000,
        per={"k": 0.1},
    ),
    "step-grounding": Study(
        {
            "method": "step-grounding",
            "model": "scripted",
            "model_options": {"grounding": 0.7},
            "data": "shape-world",
        },
        (40, 150),
        400,
        {"perturbations": (), "things": 0, "shown": 0},
    ),
}


@dataclass(frozen=True, eq=False)
class Sheet:
    """Who shows the cue, labels, answers, the true change of each label, and the cue's answer."""

    keys: Sequence[str]
    shows: Bool[np.ndarray, " sample"]
    label: Int[np.ndarray, " sample"]
    correct: Bool[np.ndarray, " sample"]
    truth: Float[np.ndarray, " label"]
    answer: int
    labels: Sequence[str]


# -------------------------------------------------------------------------------------- the toy


def toy_request(cue: str, seed: int, count: int, **data: Any) -> dict[str, Any]:
    """Data of a seed, and one toy for all: it was trained on the first."""
    return {
        "model": "toy",
        "model_options": {
            "seed": 0,
            "data": f"moving-shapes:{cue}",
            "data_options": {"seed": 0},
        },
        "data": f"moving-shapes:{cue}",
        "data_options": {"seed": seed, "val": count, **data},
    }


@dataclass(frozen=True, eq=False)
class Asked:
    """All samples of a draw with what the model answers, and who shows the cue."""

    samples: Sequence[Sample]
    labels: Sequence[str]
    logits: Float[np.ndarray, "sample class"]
    static_logits: Float[np.ndarray, "sample frame class"]
    embedding: Float[np.ndarray, "sample frame dim"]
    shows: Bool[np.ndarray, " sample"]
    label: Int[np.ndarray, " sample"]

    @property
    def correct(self) -> Bool[np.ndarray, " sample"]:
        """Which samples are answered with their label."""
        return np.asarray(self.logits.argmax(axis=1) == self.label)

    def audit(self, chosen: Numbers, way: str, seed: int) -> Recorded:
        """The figures of a method for some of the samples."""
        method, given = WAYS[way]
        options = method.Options(**given)
        recorded = self.recorded(chosen, options, seed)
        return run(method(options, None), recorded, checks=False)

    def recorded(self, chosen: Numbers, options: Any, seed: int) -> Recorded:
        """An audit of some of the samples, whose answers are known."""
        return record(
            [self.samples[number] for number in chosen],
            self.labels,
            options,
            logits=self.logits[chosen],
            static_logits=np.concatenate(self.static_logits[chosen]),
            embedding=np.concatenate(self.embedding[chosen]),
            seed=seed,
        )

    def sheet(self, chosen: Numbers, truth: np.ndarray, answer: int) -> Sheet:
        """The answer sheet of some of the samples."""
        return Sheet(
            [self.samples[number].key for number in chosen],
            self.shows[chosen],
            self.label[chosen],
            self.correct[chosen],
            truth,
            answer,
            self.labels,
        )


@cache
def toy_truth(cue: str) -> Float[np.ndarray, " label"]:
    """The change of each label's accuracy in fresh clips, in all labels alike with the cue."""
    request = Request(
        method="trove", **toy_request(cue, 100, FRESH, cramers_v=UNRELATED)
    )
    session = Runner(Context(cache=CACHE), CACHE).session(request)
    audit = session.audit
    outcomes = audit.respond(list(Answers.trials(audit.samples, PLAIN)))
    # those of the audit do not say what was planted
    planted = {sample.key: shows_cue(sample) for sample in session.samples}
    shows = np.array([planted[outcome.trial.sample.key] for outcome in outcomes])
    label = np.array([str(outcome.trial.sample.label) for outcome in outcomes])
    correct = np.array([float(outcome.correct()) for outcome in outcomes])
    return np.array(
        [
            _mean(correct[(label == name) & shows])
            - _mean(correct[(label == name) & ~shows])
            for name in audit.labels
        ]
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def shows_cue(sample: Sample) -> bool:
    """True if any frame shows a planted cue."""
    return any(any(flags) for flags in sample.annotations.get("cues", {}).values())


@cache
def toy_answers(cue: str, seed: int, count: int) -> Asked:
    """What the toy answers to all clips of a draw, and to each frame held still."""
    request = Request(method="trove", **toy_request(cue, seed, count))
    context = Context(cache=CACHE)
    session = Runner(context, CACHE, cache_responses=False).session(request)
    audit = session.audit
    by_key = {sample.key: sample for sample in session.samples}
    answers = Answers.ask(audit)
    samples = [by_key[outcome.trial.sample.key] for outcome in answers.outcomes]
    shape = len(samples), len(samples[0].frames), -1
    shows = list(map(shows_cue, samples))
    return Asked(
        samples,
        audit.labels,
        Answers.stack_logits(answers.outcomes, audit.labels),
        answers.static_logits.reshape(shape),
        answers.embedding.reshape(shape),
        np.array(shows),
        np.array([audit.labels.index(str(sample.label)) for sample in samples]),
    )


def audit_toy(cue: str, n: int, seed: int, way: str) -> tuple[Recorded, Sheet]:
    """An audit of some clips of a draw of their own, and their sheet."""
    # a draw of their own for each size: those of one draw would share their luck
    asked = toy_answers(cue, 1 + seed, n)
    all_of_them = np.arange(n)
    sheet = asked.sheet(all_of_them, toy_truth(cue), SOUTH)
    return asked.audit(all_of_them, way, seed), sheet


# ---------------------------------------------------------------------------- tags in photos


@cache
def pictures(count: int) -> tuple[list[Any], list[Any]]:
    """Pictures without the tag and with it."""
    pairs = draw_pairs()
    _, plain, tagged = zip(*(next(pairs) for _ in range(count)), strict=True)
    return list(plain), list(tagged)


def audit_tags(
    pairs: Pairs, head: str, n: int, seed: int, way: str
) -> tuple[Recorded, Sheet]:
    """An audit of photos, a fifth of which have a tag."""
    rng = np.random.default_rng([7, seed])
    order = rng.permutation(len(pairs.label))
    learned, rest = order[:TRAINED], order[TRAINED:]
    model = pairs.head(learned, HEADS[head], rng)
    chosen = rest[:n]
    shows = rng.random(n) < TAGGED
    plain, tagged = pictures(len(pairs.label))
    label = pairs.label[chosen]
    samples = [
        Sample(
            key=f"photo-{number:04d}",
            frames=(Frame.from_array(np.asarray((tagged if has else plain)[row])),),
            choices=LABELS,
            label=LABELS[pairs.label[row]],
        )
        for number, (row, has) in enumerate(zip(chosen, shows, strict=True))
    ]
    rows = np.where(shows[:, None], pairs.tagged[chosen], pairs.plain[chosen])
    logits = model.predict_log_proba(rows)
    asked = Asked(samples, LABELS, logits, logits[:, None], rows[:, None], shows, label)
    right_with, right_without = (
        model.predict(features[rest]) == pairs.label[rest]
        for features in (pairs.tagged, pairs.plain)
    )
    truth = np.array(
        [
            right_with[mine].mean() - right_without[mine].mean()
            for mine in (pairs.label[rest] == code for code in range(len(LABELS)))
        ]
    )
    all_of_them = np.arange(n)
    return asked.audit(all_of_them, way, seed), asked.sheet(all_of_them, truth, TAUGHT)


# ----------------------------------------------------------------------------------- the rows


def graded(audit: Recorded, sheet: Sheet, fresh: Asked | None = None) -> dict[str, Any]:
    """What is printed of the cue and of other things, beside the sheet.

    Other findings of TRoVe are held against `fresh` samples, where its recognisers say who shows
    the thing.
    """
    number = {key: index for index, key in enumerate(sheet.keys)}
    listed = {
        feature.key: np.array(
            sorted(
                {
                    number[seen.sample]
                    for seen in typical_occurrences(feature, len(audit.answers.row))
                }
            )
        )
        for feature in audit.features
    }
    purity = {
        key: float(sheet.shows[samples].mean()) for key, samples in listed.items()
    }
    n_with = np.bincount(sheet.label[sheet.shows], minlength=len(sheet.labels))
    headline, cost = (
        HEADLINES.get(audit.scores[0].metric, ("", "")) if audit.scores else ("", "")
    )
    headlines = [score for score in audit.scores if score.metric == headline]
    found = {score.feature for score in headlines if score.finding}
    rows, told = [], set()
    for score in audit.scores:
        if score.metric != cost or score.feature not in found:
            continue
        code = sheet.labels.index(str(score.label))
        is_cue = purity[score.feature] >= SHOWS_IT
        if not is_cue or np.isnan(sheet.truth[code]) or not n_with[code]:
            continue
        if score.value is None or score.low is None or score.high is None:
            continue
        is_told = any(
            other.finding
            for other in headlines
            if (other.feature, other.label) == (score.feature, score.label)
        )
        if is_told:
            told.add(code)
        rows.append(
            {
                "label": code,
                "value": -score.value,
                "low": -score.high,
                "high": -score.low,
                "plain": _plain(sheet, listed[score.feature], code),
                "truth": sheet.truth[code],
                "n": int(n_with[code]),
                "told": is_told,
            }
        )
    large = [
        code
        for code in range(len(sheet.labels))
        if sheet.truth[code] < -LARGE and n_with[code] >= ENOUGH
    ]
    others = [key for key in found if purity[key] < SHOWS_IT]
    return {
        "rows": rows,
        "large": len(large),
        "large told": len(told & set(large)),
        "others": len(others),
        "other rows": [] if fresh is None else list(_others(audit, sheet, fresh)),
        "small told": sum(row["told"] and row["truth"] > -SMALL for row in rows),
        "purity": [purity[key] for key in found if key not in others],
        "oracle": _oracle(sheet),
    }


def _others(audit: Recorded, sheet: Sheet, fresh: Asked) -> Iterator[dict[str, Any]]:
    """Findings that are not the planted cue, beside what they change in fresh samples."""
    analysis = audit.once(analyse, audit, audit.options)
    table, pairs = analysis.table, analysis.table.pairs
    answers = fresh.recorded(np.arange(len(fresh.label)), audit.options, 0).answers
    for number, cue in enumerate(analysis.cues):
        found = np.flatnonzero(table.finding & (pairs.cluster == number))
        if not len(found) or sheet.shows[cue.probability > SHOWN].mean() >= SHOWS_IT:
            continue
        shows = _shows(cue, answers, fresh)
        for pair in found:
            mine = fresh.label == pairs.label[pair]
            share, right = shows[mine], fresh.correct[mine].astype(float)
            with_it = share @ right / share.sum()
            without = (1 - share) @ right / (1 - share).sum()
            yield {
                "label": int(pairs.label[pair]),
                "value": -float(table.gap[pair]),
                "low": -float(table.gap_high[pair]),
                "high": -float(table.gap_low[pair]),
                "truth": float(with_it - without),
            }


def _shows(cue: Cue, answers: Answers, fresh: Asked) -> Float[np.ndarray, " sample"]:
    """Probability of fresh samples to show a cue, by the mean of the recognisers of all folds."""
    count, length = fresh.static_logits.shape[:2]
    frames = np.arange(count * length).reshape(count, length)
    if len(cue.view.frames) < len(cue.odds):
        frames = frames[:, [length // 2]]
    rows = cue.view.read(answers, frames.ravel())
    rows = rows.reshape(*frames.shape, -1).mean(axis=1)
    scores = [
        cue.recognised.scores_of(rows, fresh.label, np.full(count, fold))
        for fold in range(len(cue.recognised.directions))
    ]
    assert cue.groups is not None
    return cue.groups.probability(np.mean(scores, axis=0), fresh.label)


def _plain(sheet: Sheet, listed: Numbers, code: int) -> dict[str, float] | None:
    """The difference of means by the samples that a method lists, with its interval."""
    mine = sheet.label == code
    shown = np.isin(np.arange(len(mine)), listed)[mine]
    if shown.all() or not shown.any():
        return None
    right = sheet.correct[mine].astype(float)
    [low], [high] = gap_intervals(right, shown[:, None], Groups.single(len(right)))
    return {
        "value": float(right[shown].mean() - right[~shown].mean()),
        "low": -float(high),
        "high": -float(low),
        "truth": float(sheet.truth[code]),
    }


def _oracle(sheet: Sheet) -> list[dict[str, Any]]:
    """The same model of effects, told who shows the cue."""
    labels = len(sheet.labels)
    sign = np.where(np.arange(labels) == sheet.answer, 1.0, -1.0)
    shows, label = sheet.shows.astype(float), sheet.label
    if not shows.any():
        return []
    effects = LabelEffects.of(
        shows,
        sheet.correct.astype(float),
        label,
        sign,
        Groups.single(len(label)),
        np.random.default_rng(0),
    )
    low, high = effects.interval(0.95)
    return [
        {
            "label": code,
            "value": float(effects.value[code]),
            "low": float(low[code]),
            "high": float(high[code]),
            "truth": float(sheet.truth[code]),
        }
        for code in range(labels)
        if shows[label == code].any() and np.isfinite(sheet.truth[code])
    ]


# ----------------------------------------------------------------------------- other methods


def study(name: str, n: int, seed: int) -> dict[str, Any]:
    """Each figure with an interval of a draw, beside that of the population."""
    truth = population(name)
    report = STUDIES[name].ask(n, seed)
    rows = []
    figures = figures_of(report)
    for what, (value, low, high, told) in figures.items():
        if what in truth:
            row = {"what": what, "value": value, "low": low, "high": high}
            rows.append({**row, "truth": truth[what], "told": told})
    return {"rows": rows, "untold": len(figures) - len(rows)}


@cache
def population(name: str) -> dict[str, float]:
    """The figures of a large draw, kept beside the answers."""
    file = CACHE / f"{name}.json"
    if not file.exists():
        report = STUDIES[name].ask(STUDIES[name].population, 1000)
        truth = {what: value for what, (value, *_) in figures_of(report).items()}
        file.write_text(json.dumps(truth), encoding="utf-8")
    return dict(json.loads(file.read_text("utf-8")))


def figures_of(report: Report) -> dict[str, tuple[float, float, float, bool]]:
    """Value and ends of each score that has an interval, by what it is about."""
    kinds = {feature.key: feature.kind for feature in report.features}
    names = report.names
    unit = {each.name: 100 if each.unit == "points" else 1 for each in report.metrics}
    return {
        f"{names[score.feature]} | {score.label} | {score.metric}": (
            score.value / unit[score.metric],
            score.low / unit[score.metric],
            score.high / unit[score.metric],
            score.finding,
        )
        for score in report.scores
        if score.value is not None
        and score.low is not None
        and score.high is not None
        # a cluster has the name of another one in another draw
        and kinds.get(score.feature) != "cluster"
    }


def results(store: Path, asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All results, new ones as soon as they are known."""
    known = {}
    if store.exists():
        for line in store.read_text("utf-8").splitlines():
            result = json.loads(line)
            known[result["key"]] = result
    for key, work in jobs(asked):
        if key not in known and not asked.print and key.startswith(asked.only):
            known[key] = {"key": key, **work()}
            with store.open("a", encoding="utf-8") as file:
                file.write(json.dumps(known[key], default=float) + "\n")
        if key in known:
            yield known[key]


def jobs(asked: argparse.Namespace) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Keys of audits with the work, all worlds by turns so that a part says something of each."""
    pairs = Pairs.read(asked.tags) if asked.tags else None

    def clips(cue: str, n: int, seed: int, way: str) -> Any:
        # on other clips than the truth of the planted cue, which needs no frame held still
        fresh = toy_answers(cue, FRESH, FRESH_CLIPS) if way == "trove" else None
        return graded(*audit_toy(cue, n, seed, way), fresh)

    def tags(*words: Any) -> Any:
        return graded(*audit_tags(pairs, *words))

    for seed in range(asked.seeds):
        for n in asked.sizes:
            for way in WAYS:
                for cue in CUES:
                    key = f"clips|{cue}|{n}|{way}|{seed}"
                    yield key, partial(clips, cue, n, seed, way)
                for head in HEADS if pairs is not None and n <= TAGS else ():
                    key = f"tags|{head}|{n}|{way}|{seed}"
                    yield key, partial(tags, head, n, seed, way)
        for name, each in STUDIES.items():
            for n in (n for n in each.sizes if n <= max(asked.sizes)):
                yield f"{name}|drawn|{n}|{name}|{seed}", partial(study, name, n, seed)


def interval_score(rows: Rows) -> float:
    """Mean width plus 40 times what lies outside (Gneiting and Raftery, 2007), in points."""
    scores = [
        row["high"]
        - row["low"]
        + 40 * max(row["low"] - row["truth"], row["truth"] - row["high"], 0.0)
        for row in rows
    ]
    return 100 * float(np.mean(scores))


COLUMNS = (
    "world",
    "n",
    "way",
    "audits",
    "rows",
    "hold",
    "told: hold",
    "error",
    "width",
    "score",
    "given: hold",
    "width",
    "score",
    "plain: hold",
    "width",
    "score",
    "large",
    "told",
    "purity",
    "other things",
    "rows",
    "under 5",
)


def table_of(all_results: Sequence[dict[str, Any]]) -> Table:
    """A row for each kind of world, size and way."""
    table = Table(title="Printed figures, beside the truth")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    cells: dict[tuple[str, int, str], list[dict[str, Any]]] = defaultdict(list)
    for result in all_results:
        world, case, n, way, _ = result["key"].split("|")
        planted = case not in ("none", "honest")
        name = world if planted else f"{world}, no cue"
        cells[name, int(n), way].append(result)
    for (world, n, way), results in sorted(cells.items()):
        rows = [row for result in results for row in result["rows"]]
        oracle = [row for result in results for row in result.get("oracle", ())]
        plain = [row["plain"] for row in rows if row.get("plain")]
        purities = [one for result in results for one in result.get("purity", ())]
        errors = [abs(row["value"] - row["truth"]) for row in rows]
        table.add_row(
            world,
            f"{n:,}",
            way,
            str(len(results)),
            str(len(rows)),
            _held(rows),
            _held([row for row in rows if row["told"]]),
            f"{100 * np.mean(errors):.1f}" if rows else "-",
            *_width(rows),
            *(_held(oracle), *_width(oracle)),
            *(_held(plain), *_width(plain)),
            str(sum(result.get("large", 0) for result in results)),
            str(sum(result.get("large told", 0) for result in results)),
            f"{np.mean(purities):.2f}" if purities else "-",
            str(sum(result.get("others", 0) > 0 for result in results)),
            _held([row for result in results for row in result.get("other rows", ())]),
            str(sum(map(_tells_too_much, results))),
        )
    return table


def _tells_too_much(result: dict[str, Any]) -> bool:
    """True if a finding of another thing changes less than 5 points in fresh samples."""
    return any(row["truth"] > -SMALL for row in result.get("other rows", ()))


def holds(row: dict[str, Any]) -> bool:
    """True if the interval holds the truth."""
    return bool(row["low"] <= row["truth"] <= row["high"])


def _held(rows: Rows) -> str:
    held = sum(map(holds, rows))
    return f"{held} of {len(rows)}" if rows else "-"


def _width(rows: Rows) -> tuple[str, str]:
    """Median width, and the interval score."""
    if not rows:
        return "-", "-"
    width = 100 * float(np.median([row["high"] - row["low"] for row in rows]))
    return f"{width:.0f}", f"{interval_score(rows):.0f}"


def main() -> None:
    """Audit what is not in the store, and print all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path(".cache/headlines.jsonl"))
    parser.add_argument("--tags", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", default="", help="how keys of new results begin")
    parser.add_argument(
        "--print", action="store_true", help="print what is in the store"
    )
    asked = parser.parse_args()
    asked.store.parent.mkdir(parents=True, exist_ok=True)
    Console(width=220).print(table_of(list(results(asked.store, asked))))


if __name__ == "__main__":
    main()
