"""Preferences and slices: which candidates there are, what each is worth, which are found."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_answers.scores import accuracy_gap, preference
from cuescope_answers.trials import Answered, answers_of
from cuescope_sdk import Audit, Detection, Sample
from cuescope_sdk.statistics import (
    GroupedFeatures,
    change_interval,
    change_p_value,
    gap_intervals,
    holm,
)

PLACES = 8  # places of options that are looked at
MOST_LABELS = 20  # of a closed set: more answers are no prior that a person could read
MOST_VALUES = 30  # of an annotation: more are names
QUANTILES = (("low", 0.25), ("high", 0.75))
YES_NO = {"yes", "no"}
# what other methods write for themselves, and what names single samples
PASSED_OVER = {
    "cues",
    "masks",
    "scene",
    "poses",
    "times",
    "path",
    "video_id",
    "captions",
    "caption",
}


@dataclass(frozen=True, eq=False)
class Candidate:
    """Something that may go with answers: which samples it is in, and how strongly."""

    key: str
    name: str
    kind: str
    shows: Bool[np.ndarray, " sample"]
    strength: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Result:
    """What a candidate is worth in points, between `low` and `high`; `q_value` is for all tried.

    `with_it` and `without` are what the sentence compares: how often it is chosen and would be, or
    the accuracy with it and without. With a `label` it is how often this answer is given where
    another one is right.
    """

    candidate: Candidate
    n: int
    points: float
    low: float
    high: float
    with_it: float
    without: float
    p_value: float
    q_value: float | None = None
    label: str | None = None


@dataclass(frozen=True, eq=False)
class Slip:
    """What answers may go wrong by, 1 or 0 a sample, among the samples where it could.

    An error, or a `label` that is given where another one is right.
    """

    label: str | None
    values: Float[np.ndarray, " sample"]
    among: Bool[np.ndarray, " sample"]


@dataclass(frozen=True, eq=False)
class Study:
    """All results, the preferences first, each kind by its points."""

    answers: Answered
    results: tuple[Result, ...]


def study(audit: Audit) -> Study:
    """All that is measured; for `audit.once`."""
    answers = audit.once(answers_of, audit)
    results = [*preferences(answers, audit.labels, audit.options)]
    results += slices(audit, answers)
    return Study(answers, tuple(results))


def is_finding(result: Result, options: Any) -> bool:
    """Whether it is worth more than `min_points`, and more than chance explains."""
    is_clear = result.low > 0 and (result.q_value or 0.0) <= options.fdr
    return bool(
        is_clear and result.q_value is not None and result.points > options.min_points
    )


# ---------------------------------------------------------------------------------- preferences


def preferences(
    answers: Answered,
    labels: tuple[str, ...],
    options: Any,
) -> list[Result]:
    """How much each place, length or word is preferred, among questions that offer it."""
    results = []
    for key, name, option in kinds_of_options(answers, labels):
        part = (option >= 0) & (answers.label >= 0) & (answers.counts > 1)
        groups = answers.groups.take(part)
        # questions of one group are one draw
        if part.sum() < options.min_samples or groups.count < options.min_samples:
            continue
        choice = answers.choice[part]
        chosen = preference(
            choice, answers.label[part], option[part], answers.counts[part]
        )
        low, high = change_interval(chosen, groups, confidence=options.confidence)
        share = float((choice == option[part]).mean())
        candidate = Candidate(
            key, name, "preference", part & (answers.choice == option)
        )
        points = float(chosen.mean())
        results.append(
            Result(
                candidate,
                int(part.sum()),
                points,
                # without an interval it is no finding, which needs a low end above 0
                low or 0.0,
                high or 0.0,
                share,
                share - points,
                change_p_value(chosen, groups),
            )
        )
    q_values = holm([result.p_value for result in results])
    corrected = []
    for result, q_value in zip(results, q_values, strict=True):
        corrected.append(replace(result, q_value=q_value))
    return sorted(corrected, key=lambda result: -result.points)


def kinds_of_options(
    answers: Answered,
    labels: tuple[str, ...],
) -> Iterator[tuple[str, str, Int[np.ndarray, " sample"]]]:
    """Key, name, and the number of such an option in each question, -1 where it has none."""
    samples = [outcome.trial.sample for outcome in answers.outcomes]
    counts = answers.counts
    if not len(samples):
        return
    closed = {
        choice.strip().casefold() for sample in samples for choice in sample.choices
    }
    is_closed = closed == YES_NO or 2 <= len(labels) <= MOST_LABELS
    in_one_order = len({sample.choices for sample in samples}) == 1
    # of a closed set in one order a place is a word, and the word says more
    if not (is_closed and in_one_order):
        for index in range(min(PLACES, int(counts.max()))):
            option = np.where(counts > index, index, -1)
            yield f"place-{index + 1}", f"option {index + 1}", option
    if is_closed:
        for word in sorted(closed):
            option = np.array([_place_of(word, sample.choices) for sample in samples])
            yield f"answer-{word}", f"the answer '{word}'", option
        return  # the longest of closed answers is always the same word
    lengths = [[len(choice) for choice in sample.choices] for sample in samples]
    for name, pick in (("longest", max), ("shortest", min)):
        option = np.array([_only(row, pick) for row in lengths])
        yield f"{name}-option", f"the {name} option", option


def _place_of(word: str, choices: Sequence[str]) -> int:
    plain = [choice.strip().casefold() for choice in choices]
    return plain.index(word) if word in plain else -1


def _only(lengths: Sequence[int], pick: Any) -> int:
    """The place of the one longest or shortest option; -1 where several are."""
    if not lengths:
        return -1
    end = pick(lengths)
    return lengths.index(end) if lengths.count(end) == 1 else -1


# --------------------------------------------------------------------------------------- slices


def slices(audit: Audit, answers: Answered) -> list[Result]:
    """What goes with errors, tested together: whole groups change places, within each label."""
    options = audit.options
    samples = [outcome.trial.sample for outcome in answers.outcomes]
    # errors that are everywhere or nowhere go with nothing
    if not samples or answers.right.all() or not answers.right.any():
        return []
    candidates = list(candidates_of(audit, answers, samples))
    if not candidates:
        return []
    present = np.stack([candidate.shows for candidate in candidates], axis=1)
    codes = np.zeros(len(samples), dtype=int)
    if audit.labels:
        # a label that is hard says nothing of what its samples show
        codes = np.array([audit.labels.index(str(sample.label)) for sample in samples])
    features = GroupedFeatures(present, answers.groups.strata(codes), answers.groups)
    slips = slips_of(answers, audit.labels)
    columns = np.stack([slip.values for slip in slips], axis=1)
    tests = features.tests(columns, audit.rng("slices"))
    results = []
    for column, slip in enumerate(slips):
        lows, highs = gap_intervals(
            1 - slip.values[slip.among],
            present[slip.among],
            answers.groups.take(slip.among),
            confidence=options.confidence,
        )
        for number, candidate in enumerate(candidates):
            q_value = float(tests.q_value[number, column])
            if np.isnan(q_value) or np.isnan(lows[number]):
                continue
            shows = candidate.shows[slip.among]
            inside, outside = accuracy_gap(1 - slip.values[slip.among], shows)
            results.append(
                Result(
                    candidate,
                    int(shows.sum()),
                    outside - inside,
                    float(lows[number]),
                    float(highs[number]),
                    inside,
                    outside,
                    float(tests.p_value[number, column]),
                    q_value,
                    slip.label,
                )
            )
    return sorted(results, key=lambda result: (result.q_value, -result.points))


def slips_of(answers: Answered, labels: Sequence[str]) -> list[Slip]:
    """Errors; and in a closed set of answers each of them where it is not the right one."""
    everyone = np.ones(len(answers.right), dtype=bool)
    slips = [Slip(None, 1 - answers.right, everyone)]
    if not 2 <= len(labels) <= MOST_LABELS:
        return slips
    given = np.array([str(outcome.prediction) for outcome in answers.outcomes])
    right = np.array([str(outcome.trial.sample.label) for outcome in answers.outcomes])
    for label in labels:
        wrongly = (given == label) & (right != label)
        slips.append(Slip(label, wrongly.astype(float), right != label))
    return slips


def candidates_of(
    audit: Audit,
    answers: Answered,
    samples: Sequence[Sample],
) -> Iterator[Candidate]:
    """Words, values of annotations, things that were detected, and clusters; each set once."""
    seen: set[bytes] = set()
    for candidate in (
        *values(samples),
        *things(samples),
        *words(samples, audit.options.words, audit.options.min_samples),
        *clusters(audit, answers),
    ):
        count = int(candidate.shows.sum())
        fewest = min(count, len(samples) - count)
        key = np.packbits(candidate.shows).tobytes()
        # the same samples under two names are one candidate, and the first name is the shorter
        if fewest >= audit.options.min_samples and key not in seen:
            seen.add(key)
            yield candidate


def words(samples: Sequence[Sample], most: int, fewest: int) -> Iterator[Candidate]:
    """The commonest words and pairs of words of the questions."""
    from sklearn.feature_extraction.text import CountVectorizer

    # log data put a key in brackets behind questions that are alike: it is no word of them
    texts = [re.sub(r"\[[^\]]*\]$", "", sample.question or "") for sample in samples]
    if not most or len(set(texts)) < 2:
        return
    reader = CountVectorizer(
        binary=True,
        ngram_range=(1, 2),
        # scikit-learn refuses a least count above the number of texts
        min_df=min(fewest, len(texts)),
        max_features=most,
        # scikit-learn's own pattern drops words of one letter
        token_pattern=r"(?u)\b\w+\b",
    )
    try:
        table = reader.fit_transform(texts).tocsc()
    except ValueError:  # no word is common enough
        return
    names = enumerate(reader.get_feature_names_out())
    # single words first: a pair that says no more than one of them is that word
    for number, word in sorted(names, key=lambda named: " " in named[1]):
        shows = np.zeros(len(texts), dtype=bool)
        shows[table.indices[table.indptr[number] : table.indptr[number + 1]]] = True
        yield Candidate(f"word: {word}", f"'{word}' in the question", "word", shows)


def values(samples: Sequence[Sample]) -> Iterator[Candidate]:
    """Values of annotations: each word of few, and the ends of numbers."""
    names: dict[str, None] = {}
    facts = [{**s.annotations, **s.annotations.get("factors", {})} for s in samples]
    for of_sample in facts:
        names |= dict.fromkeys(of_sample)
    for name in names:
        column = [of_sample.get(name) for of_sample in facts]
        if name in PASSED_OVER:
            continue
        numbers = [
            v for v in column if isinstance(v, float | int) and not isinstance(v, bool)
        ]
        distinct = {v for v in column if isinstance(v, str | bool | int)}
        if len(numbers) == len(column) and len(set(numbers)) > MOST_VALUES:
            yield from _ends(name, np.array(column, dtype=float))
        elif 2 <= len(distinct) <= MOST_VALUES:
            for value in sorted(distinct, key=str):
                shows = np.array([entry == value for entry in column])
                yield Candidate(f"{name}: {value}", f"{name} '{value}'", "value", shows)


def _ends(name: str, column: np.ndarray) -> Iterator[Candidate]:
    # by rank: a quarter of a skewed column's range may be empty
    ranks = column.argsort(kind="stable").argsort(kind="stable") / max(
        len(column) - 1, 1
    )
    for end, share in QUANTILES:
        shows = ranks <= share if end == "low" else ranks >= share
        strength = 1 - ranks if end == "low" else ranks
        yield Candidate(f"{name}: {end}", f"a {end} {name}", "value", shows, strength)


def things(samples: Sequence[Sample]) -> Iterator[Candidate]:
    """Things that were detected or annotated in the pictures: present or not."""
    names: list[set[str]] = []
    for sample in samples:
        boxes = sample.annotations.get("boxes", ())
        detected = {box.name for box in boxes if isinstance(box, Detection)}
        annotated = set(map(str, sample.annotations.get("objects", ())))
        # the label's own thing is what is asked for
        names.append((detected | annotated) - {str(sample.label)})
    for name in sorted(set().union(*names)):
        shows = np.array([name in shown for shown in names])
        yield Candidate(
            f"thing: {name}", f"'{name}' in the picture", "thing shown", shows
        )


def clusters(audit: Audit, answers: Answered) -> Iterator[Candidate]:
    """Samples that look alike to whatever gave the embeddings, in many groups and in few.

    A cue that is seen from far away (a red background) is cut into pieces by many groups, and one
    that is seen from near is lost in few.
    """
    # smaller clusters could not be tested
    count = min(audit.options.clusters, len(answers.right) // audit.options.min_samples)
    if answers.embedding.shape[1] == 0:
        return
    from cuescope_sdk.maths import normalise, spherical_kmeans

    points = normalise(answers.embedding)
    seed = audit.derive_seed("clusters")
    while count >= 2:
        centres, labels, strength = spherical_kmeans(points, count, seed)
        for number in range(len(centres)):
            yield Candidate(
                f"cluster-{count}-{number:02d}",
                f"similar pictures {number + 1} of {count}",
                "cluster",
                labels == number,
                strength,
            )
        count //= 2
