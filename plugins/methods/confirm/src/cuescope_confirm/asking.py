"""What is asked about each sample for a finding, and what the cue does in the run's own samples."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float

from cuescope_confirm.study import Cue, Study, root
from cuescope_sdk import Audit, Outcome, Sample, Trial

QUESTION = "Is there a {} in the image?"
ABOUT_OBJECTS = ("recognition", "hallucination", "drop", "mask")  # kinds of an object's name
BACKGROUNDS = ("image-region", "regions")
MODALITIES = ("verdict", "short-circuit", "quag-attention", "modality", "mean")
SHOWN = 1.64  # standard errors of a gap in the run's samples: 5%, one-sided
NOWHERE = ("reasoning", "answers", "claims", "steps", "reliance")  # figures of whole runs
MOST_SEEN = 2000  # of the run's samples that tell what the cue does there
Toward = Literal["the right answer", "the label", "its own answer"]


@dataclass(frozen=True)
class Direction:
    """What the cue does in the run's own samples, told before others are looked at.

    It moves the probability of the right answer in samples of its label, that of the label as an
    answer in all others, or, where every sample shows it, that of whatever is answered. `harms`
    says that it makes answers wrong. `sign` is 1 where taking the cue out should raise that
    probability. `shown` is False where the run's answers are as right with the cue as without it,
    within chance: then no direction is known, and there is no difference to be caused. `gap` is
    that difference there, and `z` how many standard errors it is.
    """

    toward: Toward = "the right answer"
    sign: int = 1
    gap: float | None = None
    shown: bool = True
    z: float | None = None

    @property
    def sure_gap(self) -> float:
        """The size of the gap, less what may be chance (one-sided, 5%); 0 where none is known."""
        if self.gap is None or self.z is None:
            return 0.0
        return max(0.0, abs(self.gap) * (1 - SHOWN / max(abs(self.z), 1e-9)))

    @property
    def harms(self) -> bool:
        """Whether it makes right answers rarer."""
        return self.sign > 0 or self.toward == "the label"


def asked(cue: Cue, sample: Sample) -> Sample | None:
    """The sample as it is asked for a finding; None where the finding is not about it.

    A finding about a label is not about a question that this label is no answer to.
    """
    labels = cue.labels or ((cue.label,) if cue.label is not None else ())
    if not labels or set(labels) & set(sample.choices):
        return sample
    if cue.feature.kind not in ABOUT_OBJECTS:
        return sample if cue.foreign or not sample.choices else None
    if sample.question is not None:
        about = sample.annotations.get("question_type")
        return sample if about == cue.label else None
    named = sample.annotations.get("objects") or (sample.label,)
    there = cue.label in named
    if there == (cue.feature.kind == "hallucination"):
        return None
    return replace(
        sample,
        question=QUESTION.format(cue.label),
        choices=("yes", "no"),
        label="yes" if there else "no",
    )


def is_of_label(cue: Cue, sample: Sample) -> bool:
    """Whether a finding's label is that of the sample; true of findings about no label.

    Of an object's name every sample is that asks for it.
    """
    if cue.labels:
        return sample.label in cue.labels
    if cue.feature.kind in ABOUT_OBJECTS and cue.label not in sample.choices:
        return True
    return cue.label is None or cue.foreign or sample.label == cue.label


def answerable(audit: Audit, samples: Mapping[str, Sample], cue: Cue) -> dict[str, Sample]:
    """The samples as they are asked, with a right answer."""
    views = {key: asked(cue, sample) for key, sample in samples.items()}
    return {key: view for key, view in views.items() if view is not None and view.label}


def trial_of(audit: Audit, sample: Sample, trial: Trial | None = None) -> Trial:
    """A trial with the output that this model answers such a sample by."""
    logits = "logits" in audit.capabilities.outputs and sample.choices
    return replace(
        trial or Trial(sample=sample), outputs=frozenset({"logits" if logits else "text"})
    )


def probability(outcome: Outcome, answer: str | None) -> float:
    """How probable the model finds an answer; of a text, 1 or 0: whether it is the answer."""
    logits, sample = outcome.response.logits, outcome.trial.sample
    if logits is None:
        return float(says(outcome.response.text, answer))
    weights = np.exp(logits.astype(np.float64) - logits.max())
    return float(weights[sample.choices.index(str(answer))] / weights.sum())


def gives(outcome: Outcome, answer: str | None) -> bool:
    """Whether the model gives this answer."""
    if outcome.response.logits is None:
        return says(outcome.response.text, answer)
    return outcome.prediction == answer


def says(text: str | None, answer: str | None) -> bool:
    """Whether a text is the answer, begins with it, or ends in "Answer: ...".

    >>> says("Step 1: a red disc. Answer: north", "north"), says("Yes, a cup.", "yes")
    (True, True)
    """
    if text and text == answer:
        return True
    words = (text or "").strip()
    last = re.findall(r"answer(?:\s+is|\s*:)\s*([^\n]+)", words, re.IGNORECASE)
    words = (last[-1] if last else words).strip().lower().rstrip(".")
    target = (answer or "").strip().lower()
    return bool(target) and re.match(rf"{re.escape(target)}(\W|$)", words) is not None


@dataclass(frozen=True, eq=False)
class Seen:
    """The run's samples as they are asked for a finding: which show its cue, which are right."""

    samples: tuple[Sample, ...]
    present: Bool[np.ndarray, " sample"]
    own: Bool[np.ndarray, " sample"]
    right: Float[np.ndarray, " sample"]
    labels: Any


def seen_of(audit: Audit, study: Study, cue: Cue) -> Seen:
    """What the run's own samples tell of a cue; `own` are those of its label."""
    views = answerable(audit, _some(audit, study, cue), cue)
    shows, samples = _shows(cue, views), tuple(views.values())
    return Seen(
        samples,
        np.array([key in shows for key in views], bool),
        np.array([is_of_label(cue, sample) for sample in samples], bool),
        _answers(audit, samples, [sample.label for sample in samples]),
        np.array([str(sample.label) for sample in samples]),
    )


def direction_of(audit: Audit, study: Study, cue: Cue) -> Direction:
    """By the run's own samples: of its label, then those taken for it."""
    if cue.feature.kind in (*BACKGROUNDS, *MODALITIES) and not kind_of_background(cue):
        return Direction("its own answer", sign=-1)
    seen = seen_of(audit, study, cue)
    gap, z = stratified_gap(seen.right, seen.present, seen.labels, seen.own)
    shown = gap is None or abs(z) >= SHOWN
    if gap is not None and gap < 0 and z <= -1:
        return Direction(sign=1, gap=gap, shown=shown, z=z)
    if cue.label is not None and not seen.own.all():
        pulled, z_pulled = pull_of(audit, seen, cue)
        if pulled is not None and pulled > 0 and z_pulled >= 2:
            return Direction("the label", sign=-1, gap=pulled, z=z_pulled)
    sign = -1 if gap is not None and gap > 0 else 1
    return Direction(sign=sign, gap=gap, shown=shown, z=z)


def pull_of(audit: Audit, seen: Seen, cue: Cue) -> tuple[float | None, float]:
    """By how much samples of other labels are taken for the cue's more often where it is."""
    taken = _answers(audit, seen.samples, [cue.label] * len(seen.samples), ~seen.own)
    return stratified_gap(taken, seen.present, seen.labels, ~seen.own)


def stratified_gap(
    values: Float[np.ndarray, " sample"],
    present: Bool[np.ndarray, " sample"],
    labels: Any,
    among: Bool[np.ndarray, " sample"],
) -> tuple[float | None, float]:
    """Mean with the cue minus mean without it, label by label, and how many standard errors it is.

    Labels weigh as often as they show the cue; None where no label has both.
    """
    gaps, weights, variances = [], [], []
    for label in np.unique(labels[among]):
        sides = [values[among & (labels == label) & (present == side)] for side in (True, False)]
        if not all(len(side) for side in sides):
            continue
        gaps.append(sides[0].mean() - sides[1].mean())
        weights.append(len(sides[0]))
        variances.append(sum(side.var() / len(side) for side in sides))
    if not gaps:
        return None, 0.0
    share = np.array(weights) / sum(weights)
    gap = float(share @ np.array(gaps))
    error = float(np.sqrt(share**2 @ np.array(variances)))
    return gap, gap / max(error, 1e-9)


def _answers(
    audit: Audit,
    samples: Sequence[Sample],
    answers: Sequence[str | None],
    among: Bool[np.ndarray, " sample"] | None = None,
) -> Float[np.ndarray, " sample"]:
    """Whether each sample is answered so; 0 for those that are not `among` the asked ones."""
    rows = np.flatnonzero(np.ones(len(samples), bool) if among is None else among).tolist()
    outcomes = audit.respond([trial_of(audit, samples[row]) for row in rows])
    values = np.zeros(len(samples))
    values[rows] = [gives(o, answers[row]) for o, row in zip(outcomes, rows, strict=True)]
    return values


def _shows(cue: Cue, seen: Mapping[str, Sample]) -> set[str]:
    if (kind := kind_of_background(cue)) is not None:
        return {key for key, sample in seen.items() if has_kind(sample, kind)}
    return {name for o in cue.feature.occurrences if (name := root(o.sample, seen)) is not None}


def _some(audit: Audit, study: Study, cue: Cue) -> dict[str, Sample]:
    """The run's samples, or a draw of them, those that show the cue among them."""
    if len(study.seen) <= MOST_SEEN:
        return dict(study.seen)
    shows = _shows(cue, study.seen)
    rng = audit.rng("confirm", "seen")
    keys = [*rng.permutation(sorted(shows))[: MOST_SEEN // 2].tolist()]
    others = sorted(study.seen.keys() - shows)
    keys += rng.permutation(others)[: MOST_SEEN - len(keys)].tolist()
    return {key: study.seen[key] for key in sorted(keys)}


def kind_of_background(cue: Cue) -> tuple[str, str] | None:
    """Factor and value of "background|size=small"; None for the background as a whole."""
    factor, _, value = cue.feature.key.partition("|")[2].partition("=")
    return (factor, value) if cue.feature.kind in BACKGROUNDS and value else None


def has_kind(sample: Sample, kind: tuple[str, str]) -> bool:
    """Whether a sample's annotated factor has this value."""
    return str(sample.annotations.get("factors", {}).get(kind[0])) == kind[1]
