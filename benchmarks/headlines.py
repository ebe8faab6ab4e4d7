"""Every printed figure with an interval beside its answer sheet: does the interval hold the truth?

    python benchmarks/headlines.py --store FILE.jsonl [--tags FILE.npz] [--seeds 10]

Answers are asked once, and TRoVe runs again on some of them; its figures are those that it prints,
before what checks say of them. Worlds: the three cues
of moving-shapes, and none, with the toy; a price tag in photos (price_tags.py) with heads
on CLIP's features that lean on it much, little or not at all. The truth is that of the population:
of 12,000 fresh clips, or of all pairs with and without the tag that the head was not trained on.
Beside stand the paper's way, and the same model of effects where it is told who shows the cue.
A result is kept as soon as it is there, so a killed run goes on.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from price_tags import LABELS, TAUGHT, Pairs, draw_pairs
from recorded import Recorded, record, run
from rich.console import Console
from rich.table import Table

from cuescope.application import Runner
from cuescope_sdk import Context, Frame, Request, Sample
from cuescope_sdk.statistics import Groups, LabelEffects
from cuescope_sdk.stills import Answers
from cuescope_trove import TRoVe
from cuescope_trove.options import TRoVeOptions

SIZES = {"toy": (150, 400, 800, 2000, 4000), "tag": (150, 400, 800)}
CUES = ("background", "object", "attribute", "none")
# of the fruit that a head is trained on, the share with a tag
HEADS = {"strong": 0.9, "weak": 0.4, "honest": 0.05}
CACHE = Path(".cache/headlines")
SOUTH = 1  # what the cue of moving-shapes draws
FRESH = 12_000
CLIPS = 4_000  # of a draw, from which audits take some
TRAINED = 500  # pairs that a head learns from
TAGGED = 0.2  # of audited pictures
SHOWS_IT = 0.5  # of a finding's samples: else it is another thing
LARGE = 0.3  # effects from here on have to be found
ENOUGH = 8  # where so many samples of the label show the cue
SMALL = 0.05
QUICK: dict[str, Any] = {"hide": False, "null_shuffles": 0}
Way = dict[str, Any]
Rows = Int[np.ndarray, " chosen"]
WAYS: dict[str, Way] = {"default": {}, "paper": {"paper": True}}


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


def toy_request(cue: str, seed: int, count: int) -> dict[str, Any]:
    """Data of a seed, and one toy for all: it was trained on the first."""
    return {
        "model": "toy",
        "model_options": {
            "seed": 0,
            "data": f"moving-shapes:{cue}",
            "data_options": {"seed": 0},
        },
        "data": f"moving-shapes:{cue}",
        "data_options": {"seed": seed, "val": count},
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

    @property
    def changes(self) -> Float[np.ndarray, " label"]:
        """Accuracy of each label with the cue less that without; NaN where one side is missing."""
        result = np.full(len(self.labels), np.nan)
        for code in range(len(self.labels)):
            shown = self.correct[(self.label == code) & self.shows]
            others = self.correct[(self.label == code) & ~self.shows]
            if len(shown) and len(others):
                result[code] = shown.mean() - others.mean()
        return result

    def audit(self, chosen: Rows, way: Way, seed: int) -> Recorded:
        """TRoVe's figures for some of the samples."""
        options = TRoVeOptions(**QUICK, **way)
        recorded = record(
            [self.samples[number] for number in chosen],
            self.labels,
            options,
            logits=self.logits[chosen],
            static_logits=np.concatenate(self.static_logits[chosen]),
            embedding=np.concatenate(self.embedding[chosen]),
            seed=seed,
        )
        return run(TRoVe(options, None), recorded, checks=False)

    def sheet(self, chosen: Rows, truth: np.ndarray, answer: int) -> Sheet:
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
    shows = [
        any(any(flags) for flags in sample.annotations.get("cues", {}).values())
        for sample in samples
    ]
    return Asked(
        samples,
        audit.labels,
        Answers.stack_logits(answers.outcomes, audit.labels),
        answers.static_logits.reshape(shape),
        answers.embedding.reshape(shape),
        np.array(shows),
        np.array([audit.labels.index(str(sample.label)) for sample in samples]),
    )


def audit_toy(cue: str, n: int, seed: int, way: Way) -> tuple[Recorded, Sheet]:
    """An audit of some clips of a draw of their own, and their sheet."""
    truth = toy_answers(cue, 100, FRESH).changes
    asked = toy_answers(cue, 1 + seed, CLIPS)
    chosen = np.random.default_rng([5, n, seed]).permutation(CLIPS)[:n]
    return asked.audit(chosen, way, seed), asked.sheet(chosen, truth, SOUTH)


# ---------------------------------------------------------------------------- tags in photos


@cache
def pictures(count: int) -> tuple[list[Any], list[Any]]:
    """Pictures without the tag and with it."""
    pairs = draw_pairs()
    _, plain, tagged = zip(*(next(pairs) for _ in range(count)), strict=True)
    return list(plain), list(tagged)


def audit_tags(
    pairs: Pairs, head: str, n: int, seed: int, way: Way
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


def graded(audit: Recorded, sheet: Sheet) -> dict[str, Any]:
    """What is printed of the cue and of other things, beside the sheet."""
    number = {key: index for index, key in enumerate(sheet.keys)}
    listed = {
        feature.key: np.array(
            sorted({number[seen.sample] for seen in feature.occurrences})
        )
        for feature in audit.features
    }
    purity = {
        key: float(sheet.shows[samples].mean()) for key, samples in listed.items()
    }
    n_with = np.bincount(sheet.label[sheet.shows], minlength=len(sheet.labels))
    headlines = [score for score in audit.scores if score.metric == "trove_score"]
    found = {score.feature for score in headlines if score.finding}
    rows, told = [], set()
    for score in audit.scores:
        if score.metric != "error_contribution" or score.feature not in found:
            continue
        code = sheet.labels.index(str(score.label))
        is_cue = purity[score.feature] >= SHOWS_IT
        if not is_cue or np.isnan(sheet.truth[code]) or not n_with[code]:
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
                "value": -(score.value or 0),
                "low": -(score.high or 0),
                "high": -(score.low or 0),
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
        "small told": sum(row["told"] and row["truth"] > -SMALL for row in rows),
        "purity": [purity[key] for key in found if key not in others],
        "oracle": _oracle(sheet),
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


def results(store: Path, asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All results, new ones as soon as they are known."""
    known = {}
    if store.exists():
        for line in store.read_text("utf-8").splitlines():
            result = json.loads(line)
            known[result["key"]] = result
    for key, work in jobs(asked):
        if key not in known and not asked.print:
            known[key] = {"key": key, **graded(*work())}
            with store.open("a", encoding="utf-8") as file:
                file.write(json.dumps(known[key], default=float) + "\n")
        if key in known:
            yield known[key]


def jobs(
    asked: argparse.Namespace,
) -> Iterator[tuple[str, Callable[[], tuple[Recorded, Sheet]]]]:
    """Keys of audits with the work, all worlds by turns so that a part says something of each."""
    pairs = Pairs.read(asked.tags) if asked.tags else None
    for seed in range(asked.seeds):
        for name, way in WAYS.items():
            for n in SIZES["toy"]:
                for cue in CUES:
                    key = f"toy|{cue}|{n}|{name}|{seed}"
                    yield key, lambda c=cue, n=n, s=seed, w=way: audit_toy(c, n, s, w)
            for n in SIZES["tag"] if pairs is not None else ():
                for head in HEADS:
                    key = f"tag|{head}|{n}|{name}|{seed}"
                    yield (
                        key,
                        lambda h=head, n=n, s=seed, w=way: audit_tags(
                            pairs, h, n, s, w
                        ),
                    )


def interval_score(rows: Sequence[dict[str, Any]]) -> float:
    """Mean width plus 40 times what lies outside (Gneiting and Raftery, 2007), in points."""
    scores = [
        row["high"]
        - row["low"]
        + 40 * max(row["low"] - row["truth"], row["truth"] - row["high"], 0.0)
        for row in rows
    ]
    return 100 * float(np.mean(scores))


def table_of(all_results: Sequence[dict[str, Any]]) -> Table:
    """A row for each kind of world, size and way."""
    table = Table(title="Printed figures about the planted cue, beside the truth")
    for column in (
        "world",
        "n",
        "way",
        "audits",
        "rows",
        "hold",
        "error",
        "width",
        "score",
        "told it: width",
        "score",
        "large",
        "told",
        "purity",
        "small told",
        "other things",
    ):
        table.add_column(column, justify="right")
    cells: dict[tuple[str, int, str], list[dict[str, Any]]] = defaultdict(list)
    for result in all_results:
        world, case, n, way, _ = result["key"].split("|")
        planted = case not in ("none", "honest")
        name = world if planted else f"{world}, no cue"
        cells[name, int(n), way].append(result)
    for (world, n, way), results in sorted(cells.items()):
        rows = [row for result in results for row in result["rows"]]
        oracle = [row for result in results for row in result["oracle"]]
        held = sum(row["low"] <= row["truth"] <= row["high"] for row in rows)
        purities = [one for result in results for one in result["purity"]]
        errors = [abs(row["value"] - row["truth"]) for row in rows]
        table.add_row(
            world,
            f"{n:,}",
            way,
            str(len(results)),
            str(len(rows)),
            f"{held} ({held / len(rows):.0%})" if rows else "-",
            f"{100 * np.mean(errors):.1f}" if rows else "-",
            f"{_width(rows):.0f}" if rows else "-",
            f"{interval_score(rows):.0f}" if rows else "-",
            f"{_width(oracle):.0f}" if oracle else "-",
            f"{interval_score(oracle):.0f}" if oracle else "-",
            str(sum(result["large"] for result in results)),
            str(sum(result["large told"] for result in results)),
            f"{np.mean(purities):.2f}" if purities else "-",
            str(sum(result["small told"] > 0 for result in results)),
            str(sum(result["others"] > 0 for result in results)),
        )
    return table


def _width(rows: Sequence[dict[str, Any]]) -> float:
    return 100 * float(np.median([row["high"] - row["low"] for row in rows]))


def main() -> None:
    """Audit what is not in the store, and print all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path(".cache/headlines.jsonl"))
    parser.add_argument("--tags", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--print", action="store_true", help="print what is in the store"
    )
    asked = parser.parse_args()
    asked.store.parent.mkdir(parents=True, exist_ok=True)
    Console(width=200).print(table_of(list(results(asked.store, asked))))


if __name__ == "__main__":
    main()
