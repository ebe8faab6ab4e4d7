"""TRoVe's Table 1: Precision@K of the ranked frames, on models trained with a planted bias."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import islice, product
from math import ceil
from statistics import mean
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from pydantic import Field, PositiveInt

from cuescope_sdk import Options, Plugin, Report, Request, Runner, Table
from cuescope_sdk.maths import precision_at_k, r_precision
from cuescope_trove.checks.annotated_cues import KS, rank_annotated_frames
from cuescope_trove.report import observe
from cuescope_trove.scores import Observations, compare
from cuescope_trove.trials import FrameId, baseline_trials, samples_by_key

CUES = ("background", "object", "attribute")
LENGTHS = (2, 3, 5, 10)
CRAMERS_V = (0.95, 0.9, 0.8, 0.7)
SHARES = (0.6, 1.0, 0.3)
MIN_GAP = 0.2
MEASURES = (*(f"P@{k}" for k in KS), "R-Prec")
RANDOM_DRAWS = 20
PAPER = tomllib.loads(files(__package__).joinpath("paper.toml").read_text("utf-8"))
Grades = tuple[float | None, ...]


class TRoVeBenchOptions(Options):
    """`cuescope bench trove --configs 12`."""

    configs: PositiveInt = Field(
        default=12,
        le=len(SHARES) * len(CRAMERS_V) * len(LENGTHS) * len(CUES),
        description="how many configurations; 12 have every cue type and length once",
    )
    model: str = Field(default="toy", description="SPEC of the model that is trained")
    data: str = Field(default="moving-shapes", description="data set with the planted cues")


@dataclass(frozen=True)
class Configuration:
    """One planted bias: its cue, the sequence length, the association, the frames that show it."""

    cue: str
    length: int
    cramers_v: float
    cue_frames: int

    @property
    def name(self) -> str:
        """For a row of the table."""
        return f"{self.cue} {self.cue_frames}/{self.length} V={self.cramers_v}"


@dataclass(frozen=True)
class Gaps:
    """Accuracy on a label without the cue minus with it: of still frames, and of sequences."""

    label: str
    image: float
    sequence: float


@dataclass(frozen=True)
class Graded:
    """A configuration with its quality (appendix A) and the grades of each ranking.

    `temporal` and `single_frame` are accuracies on unbiased data, `gaps` those of the biased
    model on the label that suffers most, None where no label's gaps are large enough.
    """

    configuration: Configuration
    temporal: float
    single_frame: float
    gaps: Gaps | None
    grades: Mapping[str, Grades]

    @property
    def passes(self) -> bool:
        """Whether the configuration passes the paper's quality filter."""
        return self.gaps is not None and self.temporal - self.single_frame >= MIN_GAP


class TRoVeBench(Plugin):
    """Trains a model a configuration, audits it, grades the ranked frames."""

    Options = TRoVeBenchOptions

    def run(self) -> Iterator[Table]:
        """The configurations with their quality, then Table 1; goes on where it was stopped."""
        self._runner = Runner(self.context, self.context.cache / "bench" / "trove")
        chosen = list(islice(configurations(), self.options.configs))
        graded = []
        with self.context.progress("configurations", len(chosen)) as advance:
            for configuration in chosen:
                graded.append(self._grade(configuration))
                advance(1)
        yield quality_table(graded)
        passing = [result for result in graded if result.passes]
        for cue in CUES:
            yield precision_table(cue, [g for g in passing if g.configuration.cue == cue])
        yield precision_table("all cues", passing)

    def _grade(self, configuration: Configuration) -> Graded:
        data_options = {
            "length": configuration.length,
            "cramers_v": configuration.cramers_v,
            "cue_frames": configuration.cue_frames,
        }
        request = self._request(configuration.cue, data_options)
        report = self._runner.run(request, resume=self.context.resume)
        # The answers are in the cache by now. `session.samples` keep the annotation of the cue,
        # which an audit hides until it has its findings.
        session = self._runner.session(request)
        observations, _ = observe(session.audit, report.features, 1, "temperature")
        annotated = {sample.key: sample.annotations["cues"] for sample in session.samples}
        cues = {key: np.any(list(flags.values()), axis=0) for key, flags in annotated.items()}
        frames = [(o.sample, o.frame or 0) for f in report.features for o in f.occurrences]
        shows_cue = np.array([cues[sample][frame] for sample, frame in frames])
        gaps = gaps_by_label(observations, shows_cue, session.audit.labels)
        passing = [gap for gap in gaps if min(gap.image, gap.sequence) > MIN_GAP]
        worst = max(passing, key=lambda gap: gap.sequence, default=None)
        shows = dict(zip(frames, shows_cue.tolist(), strict=True))
        confidence = observations.frame_static.max(axis=1)
        rng = session.audit.rng("random")
        return Graded(
            configuration,
            temporal=self._unbiased_accuracy(configuration.length, {}),
            single_frame=self._unbiased_accuracy(configuration.length, {"frames": "middle"}),
            gaps=worst,
            grades=grades(report, shows, confidence, worst.label, rng) if worst else {},
        )

    def _request(
        self,
        cue: str,
        data_options: Mapping[str, Any],
        model_options: Mapping[str, Any] | None = None,
    ) -> Request:
        return Request(
            method="trove",
            method_options={"discover": 0},  # the paper ranks and grades on the same sequences
            model=self.options.model,
            data=f"{self.options.data}:{cue}",
            data_options=data_options,
            model_options=model_options or {},
            seed=self.context.seed,
            device=self.context.device,
        )

    def _unbiased_accuracy(self, length: int, model_options: Mapping[str, Any]) -> float:
        """Accuracy of a model trained and asked on data without a cue (Buch et al., 2022)."""
        request = self._request("none", {"length": length}, model_options)
        audit = self._runner.session(request).audit
        outcomes = audit.respond(baseline_trials(samples_by_key(audit)))
        return mean(outcome.correct() for outcome in outcomes)


def configurations() -> Iterator[Configuration]:
    """All combinations of the paper's hyperparameters; each dozen has every cue and length."""
    for share, cramers_v, length, cue in product(SHARES, CRAMERS_V, LENGTHS, CUES):
        yield Configuration(cue, length, cramers_v, ceil(share * length))


# ------------------------------------------------- whether a cue is worth ranking for (appendix A)


def gaps_by_label(
    observations: Observations, shows_cue: Bool[np.ndarray, " frame"], labels: Sequence[str]
) -> list[Gaps]:
    """The gaps of each label that occurs with and without the cue (appendix A)."""
    # The frames that show the cue are cluster 1; a still frame is a sequence of its own.
    sequences = replace(observations, frame_cluster=shows_cue.astype(np.int64))
    frame_label = observations.label[observations.frame_sample]
    stills = replace(
        sequences,
        label=frame_label,
        correct=observations.frame_static.argmax(axis=1) == frame_label,
        frame_sample=np.arange(len(frame_label)),
    )
    image_gaps, sequence_gaps = _gaps_with_cue(stills), _gaps_with_cue(sequences)
    both = sorted(image_gaps.keys() & sequence_gaps.keys())
    return [Gaps(labels[label], image_gaps[label], sequence_gaps[label]) for label in both]


def _gaps_with_cue(observations: Observations) -> dict[int, float]:
    pairs = compare(observations, 2)
    gaps = zip(pairs.label.tolist(), pairs.error_contribution.tolist(), strict=True)
    return {label: gap for (label, gap), cue in zip(gaps, pairs.cluster, strict=True) if cue == 1}


# ----------------------------------------------------- how well a ranking shows it (Tables 1 and 3)


def grades(
    report: Report,
    shows: Mapping[FrameId, bool],
    confidence: Float[np.ndarray, " frame"],
    label: str,
    rng: np.random.Generator,
) -> dict[str, Grades]:
    """Precision at each K and R-Precision of four rankings for a label (Tables 1 and 3).

    `shows` says of each frame whether it shows the cue, and `confidence` is in the same order.
    """
    shows_cue = np.array(list(shows.values()))
    by_confidence = np.argsort(-confidence, kind="stable")
    shuffles = [rng.permutation(len(shows_cue)) for _ in range(RANDOM_DRAWS)]
    random = np.array([_grade(shows_cue[order]) for order in shuffles], dtype=float)

    def by_score(metric: str) -> Grades:
        ranked = rank_annotated_frames(report.features, report.scores, label, metric)
        return _grade(np.array([shows[frame] for frame in ranked], dtype=bool))

    return {
        "Random": tuple(random.mean(axis=0)),
        "Confidence": _grade(shows_cue[by_confidence]),
        "Static bias alone": by_score("static_bias"),
        "TRoVe": by_score("trove_score"),
    }


def _grade(relevant: Bool[np.ndarray, " rank"]) -> Grades:
    return (*(precision_at_k(relevant, k) for k in KS), r_precision(relevant))


# --------------------------------------------------------------------------------------- tables


def quality_table(graded: Sequence[Graded]) -> Table:
    """What each configuration is worth (appendix A), in percent and points."""
    rows = tuple(
        {
            "configuration": result.configuration.name,
            "temporal": 100 * result.temporal,
            "one frame": 100 * result.single_frame,
            "image gap": 100 * result.gaps.image if result.gaps else None,
            "sequence gap": 100 * result.gaps.sequence if result.gaps else None,
            "label": result.gaps.label if result.gaps else None,
            "kept": "yes" if result.passes else "no",
        }
        for result in graded
    )
    return Table(
        title="Configurations and the quality filter of appendix A",
        columns=tuple(rows[0]),
        rows=rows,
        notes=(
            f"{sum(result.passes for result in graded)} of {len(graded)} are kept: on data without "
            "a cue the temporal model beats one frame by 20 points, and the cue costs the label "
            "over 20 points of accuracy, image by image and sequence by sequence.",
        ),
    )


def precision_table(cue: str, graded: Sequence[Graded]) -> Table:
    """Mean grades of each ranking over these configurations, in percent."""
    rankings = dict.fromkeys(name for result in graded for name in result.grades)
    return Table(
        title=f"{cue}: {len(graded)} configurations (the paper's figures faint)",
        columns=("ranking", *MEASURES),
        rows=tuple(
            {"ranking": ranking, **_means([result.grades[ranking] for result in graded])}
            for ranking in rankings
        ),
        paper=tuple(
            {"ranking": ranking, **dict(zip(MEASURES, figures, strict=True))}
            for ranking, figures in PAPER[cue].items()
        ),
    )


def _means(graded: Sequence[Iterable[float | None]]) -> dict[str, float | None]:
    columns = zip(MEASURES, zip(*graded, strict=True), strict=True)
    known = {name: [value for value in values if value is not None] for name, values in columns}
    return {name: 100 * mean(values) if values else None for name, values in known.items()}
