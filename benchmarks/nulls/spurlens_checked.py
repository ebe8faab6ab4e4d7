"""SpurLens with all that takes a star, on data with a flaw: how often a star is left, or a `?`.

    python benchmarks/nulls/rows.py --method spurlens --audits 200

The kitchens of `flawed_data.py` are ranked, tested and checked by SpurLens's own functions, and the
engine's rule takes the stars. No detector and no model is asked: what they say is looked up by row.
Left out are pictures and the report, which decide nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from flawed_data import FLAWS, OBJECT, THINGS, TRUTH, FlawOptions, Host, Kitchens

from cuescope_core.conclusions import with_doubts
from cuescope_sdk import Audit, Context, Evidence, Outcome, Sample, Score
from cuescope_sdk.data import independent_samples, other_explanations
from cuescope_spurlens import analysis, verify
from cuescope_spurlens.analysis import CaseResult, Results
from cuescope_spurlens.options import SpurLensOptions
from cuescope_spurlens.questions import question_trial
from cuescope_spurlens.report import score_rows
from cuescope_spurlens.spuriosity.cases import rank_case
from cuescope_spurlens.spuriosity.detections import CueDetections, ImageSet, Task
from cuescope_spurlens.spuriosity.labels import doubtful_labels
from cuescope_spurlens.spuriosity.units import group_look_alikes
from cuescope_spurlens.trials import features

K, DRAWS = 50, 400
TASKS: tuple[Task, ...] = ("recognition", "hallucination")


@dataclass(frozen=True)
class Row:
    """What is audited: a flaw, and what a planted cue does to the rate of yes in each task."""

    says: str
    flaw: str
    misses: float = 0.0
    imagines: float = 0.0


# a second thing on screen is no matter for questions of yes and no
NULLS = [Row(flaw.says, name) for name, flaw in FLAWS.items() if name != "second"]
PLANTED = [
    Row(f"{task}, {100 * gap:.0f} points; {says}", flaw, **{does: gap})
    for task, does in (("recognition", "misses"), ("hallucination", "imagines"))
    for gap in (0.2, 0.3, 0.4)
    for flaw, says in (
        ("none", "a detector that sees 19 of 20 objects"),
        ("recall", "one that sees 7 of 10"),
        ("unknown", "no detector knows the class"),
    )
]


class Answered:
    """Stands in for the study: a row is asked about by its number."""

    def __init__(self, cases: Sequence[Any], yes: Mapping[Task, np.ndarray]) -> None:
        self.cases = cases
        self.yes = yes

    def questions(self, case: Any, rows: Iterable[int] | None = None) -> list[Any]:
        """The share of yes of each row, in place of its questions."""
        rows = case.asked_rows.tolist() if rows is None else rows
        return [[rate] for rate in self.yes[case.task][list(rows)].tolist()]


def image_set(data: Kitchens, task: Task) -> ImageSet:
    """The images of a task."""
    has_object = task == "recognition"
    samples = [
        sample
        for sample in data.samples
        if (OBJECT in sample.annotations["objects"]) == has_object
    ]
    return ImageSet(task, OBJECT, tuple(samples))


def detections(samples: Sequence[Sample], names: Sequence[str]) -> CueDetections:
    """What the detector says of names."""
    truths = [TRUTH[sample.frames[0].key] for sample in samples]
    scores = np.array([[truth.scores[name] for name in names] for truth in truths])
    boxes = np.zeros((*scores.shape, 4), np.float32)
    boxes[..., 2:] = np.array([truth.size for truth in truths])[:, None, None]
    return CueDetections(scores, np.zeros(scores.shape, int), boxes)


@dataclass(frozen=True)
class Seen:
    """Cues with a star, and with a star or `?`."""

    starred: set[str]
    shown: set[str]


def audit_once(row: Row, seed: int) -> Seen:
    """What an audit shows."""
    context = Context(seed=seed)
    options = FlawOptions(
        seed=seed, flaw=row.flaw, cue=row.misses, imagined=row.imagines
    )
    data = Kitchens(options, context)
    sets = [image_set(data, task) for task in TASKS]
    audit = Audit(
        labels=data.labels,
        options=SpurLensOptions(k=K, draws=DRAWS),
        respond=lambda trials: [],
        context=context,
        samples=tuple(data.samples),
    )
    objects = [detections(images.samples, [OBJECT]) for images in sets]
    doubts = doubtful_labels(*(found.scores[:, 0] for found in objects))
    look_alikes: Any = {}
    if FLAWS[row.flaw].copies > 1:
        sets, look_alikes = group_look_alikes(audit, sets)
    cases = []
    for images, of_class, doubted in zip(sets, objects, doubts, strict=True):
        of_cues = detections(images.samples, THINGS)
        case, _ = rank_case(audit, images, THINGS, of_cues, of_class, doubted, K)
        cases.append(case)
    yes = {images.task: shares_of_yes(images.samples, seed) for images in sets}
    study = Answered(cases, yes)
    # all that score and check ask for is the study
    vars(audit)["once"] = lambda function, *arguments: study
    results = analysis.score_study(audit)
    audit.scores = list(score_rows(results))
    if not results.findings:
        return Seen(set(), set())
    audit.features = list(features(results.study))
    audit.outcomes = list(outcomes(results.findings))
    checked = with_doubts(audit.scores, evidence(audit, results, look_alikes))
    return Seen(
        starred=cues_of(s for s in checked if s.finding and not s.doubt),
        shown=cues_of(s for s in checked if s.finding or s.doubt),
    )


def cues_of(scores: Iterable[Score]) -> set[str]:
    """The names of their cues."""
    return {score.feature.rpartition("/")[2] for score in scores}


def evidence(audit: Audit, results: Results, look_alikes: Any) -> Iterator[Evidence]:
    """The checks that take a star."""
    yield from independent_samples(audit, look_alikes)
    yield from verify.check_sizes(results)
    yield from other_explanations(audit, list(verify.image_comparisons(results)))
    yield from verify.check_labels(audit, results)


def shares_of_yes(samples: Sequence[Sample], seed: int) -> np.ndarray:
    """Of three wordings, each of which changes 3 of 100 answers."""
    said = np.array([TRUTH[sample.frames[0].key].logits[0] > 0 for sample in samples])
    slips = np.random.default_rng([seed, len(said)]).random((len(said), 3)) < 0.03
    return np.asarray((said[:, None] != slips).mean(axis=1))


def outcomes(findings: Sequence[CaseResult]) -> Iterator[Outcome]:
    """The answers to the images of the cases with a finding."""
    host = Host(Host.Options(), Context())
    question = f"Is there a {OBJECT}?"
    for result in findings:
        case = result.case
        for sample in case.samples_at(case.asked_rows.tolist()):
            trial = question_trial(sample, question, "text", condition=case.task)
            [response] = host.respond([trial])
            yield Outcome(trial, response)


def audit_row(row: Row, seed: int) -> tuple[bool, bool]:
    """True if a thing has a star or a mark of doubt, and if one has a star.

    Of a planted cue, whether it is found itself.
    """
    is_planted = row.misses + row.imagines > 0
    wanted = {THINGS[0]} if is_planted else set(THINGS)
    with looked_up():
        seen = audit_once(row, seed)
    return bool(seen.shown & wanted), bool(seen.starred & wanted)


@contextmanager
def looked_up() -> Iterator[None]:
    """Answers are looked up."""
    with ExitStack() as patches:
        # a row is asked about by its share of yes: both of these read it from there
        for module in (analysis, verify):
            patches.enter_context(patch.object(module, "yes_rates", rates_of))
        patches.enter_context(patch.object(analysis, "yes_probabilities", rates_of))
        patches.enter_context(patch.object(analysis, "ask_more", keep_answers))
        yield


def rates_of(rows: Sequence[Sequence[float]], _: object) -> np.ndarray:
    """The share of yes of each row."""
    return np.array([rate for [rate] in rows])


def keep_answers(audit: Audit, trials: Iterable[Any], answers: Any) -> Any:
    """All is known already."""
    return answers
