"""What is asked about each sample for a finding, and what the cue does in the run's own samples."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import softmax

from cuescope_confirm.study import MODALITIES, Cue, Samples, Study, pick, shuffle
from cuescope_sdk import Capabilities, Model, Outcome, Sample, Trial

QUESTION = "Is there a {} in the image?"
MOST_ANSWERS = 100  # among which the one is sought that a cue brings
MOST_SEEN = 2000  # of the run's samples that tell what the cue does there
_MARKED = re.compile(r"answer(?:\s+is|\s*:)\s*([^\n]+)", re.IGNORECASE)
PerSample = Float[np.ndarray, " sample"]
BoolPerSample = Bool[np.ndarray, " sample"]
Toward = Literal["the right answer", "the label", "its own answer"]
# a difference of means, and how many standard errors it is
Gap = tuple[float | None, float]


@dataclass(frozen=True)
class Direction:
    """What the cue does in the run's own samples, told before others are looked at.

    It moves the probability of the right answer in samples of its label, that of the label as an
    answer in all others, or, where every sample shows it, that of whatever is answered. `harms`
    says that it makes answers wrong. `sign` is 1 where taking the cue out should raise that
    probability, and `gap` the difference with the cue in the run; None where none is known.
    """

    toward: Toward = "the right answer"
    sign: int = 1
    gap: float | None = None

    @property
    def harms(self) -> bool:
        """Whether it makes right answers rarer."""
        return self.sign > 0 or self.toward == "the label"


def view_of(cue: Cue, sample: Sample) -> Sample | None:
    """The sample as it is asked for a finding; None where the finding is not about it.

    A finding about a label is not about a question that this label is no answer to.
    """
    if not cue.labels or not set(cue.labels).isdisjoint(sample.choices):
        return sample
    if not cue.is_object:
        return sample if cue.foreign or not sample.choices else None
    if sample.question is not None:
        about = sample.annotations.get("question_type")
        return sample if about == cue.label else None
    objects = sample.annotations.get("objects") or (sample.label,)
    is_there = cue.label in objects
    # a hallucination is of what is not there, every other figure of what is
    if is_there == (cue.kind == "hallucination"):
        return None
    return replace(
        sample,
        question=QUESTION.format(cue.label),
        choices=("yes", "no"),
        label="yes" if is_there else "no",
    )


def is_of_label(cue: Cue, sample: Sample) -> bool:
    """Whether a finding's label is that of the sample; true of findings about no label.

    Of an object's name every sample is that asks for it.
    """
    is_asked = cue.is_object and cue.label not in sample.choices
    if cue.label is not None and (is_asked or cue.foreign):
        return True
    return not cue.labels or sample.label in cue.labels


def views_of(samples: Samples, cue: Cue) -> Samples:
    """The samples as they are asked, with a right answer."""
    views = {}
    for key, sample in samples.items():
        view = view_of(cue, sample)
        if view is not None and view.label:
            views[key] = view
    return views


def trial_of(study: Study, trial: Trial) -> Trial:
    """A trial with the output that this model answers such a sample by."""
    return with_outputs(study.audit.capabilities, trial)


def with_outputs(capabilities: Capabilities, trial: Trial) -> Trial:
    """The same of any model."""
    # a model has logits for choices alone
    logits = "logits" in capabilities.outputs and trial.sample.choices
    return replace(trial, outputs=frozenset({"logits" if logits else "text"}))


def probability(outcome: Outcome, answer: str | None) -> float:
    """How probable the model finds an answer; of a text, 1 or 0: whether it is the answer."""
    logits = outcome.response.logits
    if logits is None:
        return float(says(outcome.response.text, answer))
    choice = outcome.trial.sample.choices.index(str(answer))
    # in float64, whatever dtype the model answers in: probabilities may be small
    return float(softmax(logits.astype(np.float64))[choice])


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
    if not text or not answer:
        return False
    if text == answer:
        return True
    marked = _MARKED.findall(text.strip())
    [last] = marked[-1:] or [text]
    words = last.strip().lower().rstrip(".")
    # escaped: an answer may hold signs, as "C++"
    target = re.escape(answer.strip().lower())
    # a whole word: "Northern" is not "north"
    return target != "" and re.match(rf"{target}(\W|$)", words) is not None


@dataclass(frozen=True, eq=False)
class RunAnswers:
    """The run's samples as they are asked for a finding: which show its cue, which are right.

    `of_label` are those of its label; `probability` is that of the right answer.
    """

    outcomes: Sequence[Outcome]
    present: BoolPerSample
    of_label: BoolPerSample
    right: PerSample
    probability: PerSample
    labels: Any

    def gap(self, among: BoolPerSample, values: PerSample | None = None) -> Gap:
        """The gap of `values` with and without the cue; without any, of right answers."""
        values = self.right if values is None else values
        return stratified_gap(values, self.present, self.labels, among)

    def pull(self, cue: Cue) -> Gap:
        """By how much likelier the cue's label is in samples of other labels where it is."""
        return self.gap(~self.of_label, self.probability_of(cue.label))

    def probability_of(self, answer: str | None) -> PerSample:
        """How likely an answer is for each sample, whatever its label."""
        taken = [probability(outcome, answer) for outcome in self.outcomes]
        return np.array(taken)

    def with_more(
        self,
        outcomes: Sequence[Outcome],
        present: Sequence[bool],
        cue: Cue,
    ) -> "RunAnswers":
        """With other samples behind the run's."""
        both = [*self.outcomes, *outcomes]
        return answers_of(cue, both, [*self.present.tolist(), *present])


def run_answers(study: Study, cue: Cue) -> RunAnswers:
    """What the run's own samples tell of a cue."""
    views = views_of(_some(study, cue), cue)
    shown = cue.samples_with_cue(views)
    outcomes = plain_answers(study, list(views.values()))
    return answers_of(cue, outcomes, [key in shown for key in views])


def answers_of(
    cue: Cue,
    outcomes: Sequence[Outcome],
    present: Sequence[bool],
) -> RunAnswers:
    """What samples are answered, which of them show a cue, and which are of its label."""
    samples = [outcome.trial.sample for outcome in outcomes]
    labels = [str(sample.label) for sample in samples]
    of_label = [is_of_label(cue, sample) for sample in samples]
    right = map(gives, outcomes, labels)
    probabilities = map(probability, outcomes, labels)
    return RunAnswers(
        outcomes,
        present=np.array(present, bool),
        of_label=np.array(of_label, bool),
        right=np.array(list(right), float),
        probability=np.array(list(probabilities), float),
        labels=np.array(labels),
    )


def plain_answers(study: Study, samples: Sequence[Sample]) -> Sequence[Outcome]:
    """What the run's model says of its own samples: by the log, where the run is one."""
    plain = [Trial(sample=sample) for sample in samples]
    # an object's name is asked about in other questions, which no log has
    is_recorded = all(sample is study.seen.get(sample.key) for sample in samples)
    if study.log is None or not is_recorded:
        # in one call: batches are full, and a plan counts all of it
        return study.audit.respond([trial_of(study, trial) for trial in plain])
    return recall(study.log, plain)


def recall(log: Model, plain: Sequence[Trial]) -> list[Outcome]:
    """What a log says of samples as they are."""
    trials = [with_outputs(log.capabilities, trial) for trial in plain]
    answers = zip(trials, log.respond(trials), strict=True)
    return [Outcome(trial, response) for trial, response in answers]


def direction_of(study: Study, cue: Cue) -> Direction:
    """By the run's own samples: of its label, then those taken for it."""
    if cue.is_background or cue.kind in MODALITIES:
        return Direction("its own answer", sign=-1)
    answers = run_answers(study, cue)
    # on the scale of the tests; a label loses probability long before it loses answers
    gap, z = answers.gap(answers.of_label, answers.probability)
    # one standard error tells the side
    if gap is not None and gap < 0 and z <= -1:
        return Direction(gap=gap)
    if cue.label is not None and not answers.of_label.all():
        pull, z_of_pull = answers.pull(cue)
        # two standard errors: this is the second thing that is tried
        if pull is not None and pull > 0 and z_of_pull >= 2:
            return Direction("the label", sign=-1, gap=pull)
    helps = gap is not None and gap > 0
    return Direction(sign=-1 if helps else 1, gap=gap)


def stratified_gap(
    values: PerSample,
    present: BoolPerSample,
    labels: Any,
    among: BoolPerSample,
) -> Gap:
    """Mean with the cue minus mean without it, label by label, and how many standard errors it is.

    Labels weigh as often as they show the cue; None where no label has both.
    """
    by_label = []
    for label in np.unique(labels[among]):
        of_label = among & (labels == label)
        shown = values[of_label & present]
        others = values[of_label & ~present]
        if len(shown) and len(others):
            gap = shown.mean() - others.mean()
            variance = shown.var() / len(shown) + others.var() / len(others)
            by_label.append((len(shown), gap, variance))
    if not by_label:
        return None, 0.0
    weights, gaps, variances = np.array(by_label).T
    share = weights / weights.sum()
    gap = float(share @ gaps)
    error = float(np.sqrt(share**2 @ variances))
    # answers that are all alike have no error to divide by
    return gap, gap / max(error, 1e-9)


def _some(study: Study, cue: Cue) -> Samples:
    """The run's samples, or a draw of them, those that show the cue among them."""
    if len(study.seen) <= MOST_SEEN:
        return study.seen
    shown = cue.samples_with_cue(study.seen)
    others = study.seen.keys() - shown
    rng = study.rng("seen")
    # an even draw would hold too few samples of a rare cue
    keys = shuffle(sorted(shown), rng)[: MOST_SEEN // 2]
    keys += shuffle(sorted(others), rng)[: MOST_SEEN - len(keys)]
    return pick(study.seen, sorted(keys))
