"""One configuration: its model is trained and asked, the rankings are graded (section 4.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from jaxtyping import Bool

from cuescope.application import Runner
from cuescope_sdk import Audit, Context, Request
from cuescope_sdk.stills import Answers, FrameId
from cuescope_trove.analysis import analyse, observe
from cuescope_trove.candidates.frames import by_candidate, ranked_frames
from cuescope_trove.candidates.groups import Candidates
from cuescope_trove.checks.annotated_cues import KS, rank_annotated_frames
from cuescope_trove.maths.ranking import precision_at_k, r_precision
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations, compare, partition, static_bias
from cuescope_trove.suite.configurations import Configuration
from cuescope_trove.trials import choose_clusters

# 20 points of accuracy: the quality filter of appendix A
MIN_GAP = 0.2
# one random order alone would make its row a matter of luck
RANDOM_DRAWS = 20
UNITS = ("sequence", "frame")
OURS = ("Static bias alone", "TRoVe, paper=true", "TRoVe")
RIVALS = {
    "domino": "Domino",
    "george": "George",
    "distilling-failures": "Distilling failures",
}
Grades = tuple[float | None, ...]


@dataclass(frozen=True)
class Settings:
    """What all configurations share; `rivals` are the methods that are installed."""

    model: str
    data: str
    model_options: Mapping[str, Any]
    seed: int
    device: str
    cache: Path
    rivals: tuple[str, ...] = ()

    def request(
        self,
        cue: str,
        data_options: Mapping[str, Any],
        model_options: Mapping[str, Any] | None = None,
    ) -> Request:
        """An audit of the model on data with this cue."""
        return Request(
            method="trove",
            method_options={"paper": True},
            model=self.model,
            data=f"{self.data}:{cue}",
            data_options=data_options,
            model_options={**self.model_options, **(model_options or {})},
            seed=self.seed,
            device=self.device,
        )

    @property
    def runner(self) -> Runner:
        """Answers are not kept: the grades of a configuration are, and its model's weights."""
        context = Context(seed=self.seed, device=self.device, cache=self.cache)
        return Runner(context, self.cache / "bench" / "trove", cache_responses=False)


@dataclass(frozen=True)
class Gaps:
    """Accuracy on a label without the cue minus with it: of still frames, and of sequences."""

    label: str
    image: float
    sequence: float


@dataclass(frozen=True)
class Graded:
    """The gaps of the biased model on the label that suffers most, and each ranking's grades.

    `gaps` is None where no label's gaps are large enough (appendix A).
    """

    gaps: Gaps | None = None
    grades: Mapping[str, Grades] = field(default_factory=dict)


def unbiased_accuracies(settings: Settings, length: int) -> tuple[float, float]:
    """Accuracy on data without a cue, with all frames and with one alone (Buch et al., 2022)."""
    accuracies = []
    for model_options in ({}, {"frames": "middle"}):
        request = settings.request("none", {"length": length}, model_options)
        audit = settings.runner.session(request).audit
        outcomes = audit.respond(Answers.trials(audit.samples_by_key()))
        accuracy = mean(outcome.correct() for outcome in outcomes)
        accuracies.append(accuracy)
    return accuracies[0], accuracies[1]


def grade(settings: Settings, configuration: Configuration) -> Graded:
    """Train, ask, cluster, rank; the annotation is seen only where rankings are graded."""
    data_options = {
        "length": configuration.length,
        "cramers_v": configuration.cramers_v,
        "cue_frames": configuration.cue_frames,
    }
    session = settings.runner.session(settings.request(configuration.cue, data_options))
    audit = session.audit
    answers = audit.once(Answers.ask, audit)
    observations, _ = observe(audit, 1, "temperature")
    candidates = choose_clusters(audit, audit.options, answers.embedding).candidates
    observations = replace(observations, member=candidates.member)
    annotated = {sample.key: sample.annotations["cues"] for sample in session.samples}
    shows: dict[FrameId, bool] = {}
    for sample, frame in answers.row:
        cues = annotated[sample].values()
        shows[sample, frame] = any(flags[frame] for flags in cues)
    shows_cue = np.array(list(shows.values()))
    worst = worst_gaps(observations, shows_cue, audit.labels)
    if worst is None:
        return Graded()
    label = audit.labels.index(worst.label)
    rng = audit.rng("random")
    orders = own_rankings(observations, candidates, label, rng)
    # what an audit does unless the paper's way is asked for, on the same sequences
    ranked = ranked_frames(audit, analyse(audit, TRoVeOptions()), worst.label)
    orders["TRoVe"] = [np.array([answers.row[frame] for frame in ranked])]
    grades = {}
    for name, of_ranking in orders.items():
        grades[name] = _mean_grade(shows_cue, of_ranking)
    rivals = rival_grades(audit, settings.rivals, worst.label, shows)
    last = {name: grades.pop(name) for name in OURS}
    return Graded(worst, {**grades, **rivals, **last})


# ------------------------------------------------- whether a cue is worth ranking for (appendix A)


def worst_gaps(
    observations: Observations,
    shows_cue: Bool[np.ndarray, " frame"],
    labels: Sequence[str],
) -> Gaps | None:
    """The gaps of the label that loses most; None where no label's gaps are large enough."""
    # The frames that show the cue are cluster 1; a still frame is a sequence of its own.
    shown = partition(shows_cue.astype(np.int64), clusters=2)
    sequences = replace(observations, member=shown)
    frame_label = observations.frame_label
    stills = replace(
        sequences,
        label=frame_label,
        correct=observations.frame_static.argmax(axis=1) == frame_label,
        frame_sample=np.arange(len(frame_label)),
    )
    image_gaps = _gaps_with_cue(stills)
    worst = None
    for label, gap in _gaps_with_cue(sequences).items():
        image_gap = image_gaps.get(label, 0.0)
        # appendix A asks for both gaps: still frames must err with the cue as well
        if min(image_gap, gap) > MIN_GAP and (worst is None or gap > worst.sequence):
            worst = Gaps(labels[label], image_gap, gap)
    return worst


def _gaps_with_cue(observations: Observations) -> dict[int, float]:
    pairs = compare(observations)
    pairs = pairs.take(pairs.cluster == 1)
    gaps = pairs.error_contribution.tolist()
    return dict(zip(pairs.label.tolist(), gaps, strict=True))


# ----------------------------------------------------- how well a ranking shows it (Tables 1 and 3)


def own_rankings(
    observations: Observations,
    candidates: Candidates,
    label: int,
    rng: np.random.Generator,
) -> dict[str, list[np.ndarray]]:
    """Orders of all frames for a label: by chance, confidence, static bias and the TRoVe score."""
    pairs = compare(observations)
    bias = static_bias(observations, pairs)

    def order(value: np.ndarray) -> np.ndarray:
        # without a wrong frame a pair has no score
        scored = np.where(bias.n_frames > 0, value, -np.inf)
        return by_candidate(candidates, pairs, scored, label)

    count = len(observations.frame_sample)
    confidence = observations.frame_static.max(axis=1)
    return {
        "Random": [rng.permutation(count) for _ in range(RANDOM_DRAWS)],
        "Confidence": [np.argsort(-confidence, kind="stable")],
        "Static bias alone": [order(bias.value)],
        "TRoVe, paper=true": [order(pairs.error_contribution + bias.value)],
    }


def rival_grades(
    audit: Audit,
    rivals: Sequence[str],
    label: str,
    shows: Mapping[FrameId, bool],
) -> dict[str, Grades]:
    """Grades of the rivals' rankings for a label, over the answers that this audit has."""
    graded = {}
    for unit in UNITS:
        for name in rivals:
            options = {"unit": unit}
            if name != "george":  # its slices do not look at errors
                options["discover"] = "0"
            method = audit.context.build("method", name, options)
            # by its hooks, as an audit calls them: a rival is graded as users meet it
            features = list(method.propose_features(audit=audit))
            scores = list(method.compute_scores(audit=audit, features=features))
            ranked = rank_annotated_frames(features, scores, label, "slice_value")
            relevant = np.array([shows[frame] for frame in ranked], dtype=bool)
            graded[f"{RIVALS[name]}, {unit}s"] = _grade(relevant, sum(shows.values()))
    return graded


def _grade(relevant: Bool[np.ndarray, " rank"], total: int) -> Grades:
    precisions = [precision_at_k(relevant, k) for k in KS]
    return (*precisions, r_precision(relevant, total))


def _mean_grade(
    shows_cue: Bool[np.ndarray, " frame"], orders: Sequence[np.ndarray]
) -> Grades:
    total = int(shows_cue.sum())
    grades = np.array(
        [_grade(shows_cue[order], total) for order in orders], dtype=float
    )
    return tuple(grades.mean(axis=0).tolist())
