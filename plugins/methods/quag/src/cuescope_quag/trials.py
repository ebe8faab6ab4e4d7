"""What is averaged or left out, the trials that show it to the model, and what it answered."""

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Float, Int, Int8

from cuescope_quag.options import Layers, QUAGOptions, parse_layers
from cuescope_sdk import (
    Audit,
    Edit,
    Feature,
    HasBenchmark,
    Outcome,
    Output,
    Readout,
    Sample,
    Trial,
    UserError,
    digest,
)
from cuescope_sdk.fusion import (
    OTHER,
    TEXT,
    VIDEO,
    AverageAttention,
    AverageTokens,
    FusionShape,
    HasFusion,
)
from cuescope_sdk.statistics import Groups

# far more than any model has: a size is read from a cache, and each layer is asked for
MOST_LAYERS = 10_000
Codes = Int[np.ndarray, " sample"]
RightPerSample = Bool[np.ndarray, " sample"]
Samples = Sequence[Sample]
Outcomes = Sequence[Outcome]
Readouts = list[np.ndarray]
Kind = Literal["modality", "short-circuit", "quag-attention"]
VERDICT = "verdict"
WITHOUT_VIDEO = "without video"
WITHOUT_QUESTION = "without question"
LEFT_OUT = {
    WITHOUT_VIDEO: "without the video",
    WITHOUT_QUESTION: "without the question",
}
CROSSMODAL = "SC: crossmodal"

# Section 2.3: quadrants XY have queries of X and keys of Y.
# Text is all of the language side: a token left out of both would carry the video past every
# short-circuit.
SHORT_CIRCUITS: dict[str, tuple[frozenset[Literal["VV", "VT", "TV", "TT"]], str]] = {
    "unimodal": (frozenset({"VV", "TT"}), "attention within video and within text"),
    "crossmodal": (frozenset({"VT", "TV"}), "attention between video and text"),
    "video": (frozenset({"VV", "TV"}), "attention to the video"),
    "text": (frozenset({"TT", "VT"}), "attention to the text"),
}
TOKENS = {
    "video": "the video's tokens averaged into one",
    "text": "the text's tokens averaged into one",
    "video-text": "the video's tokens averaged into one, and the text's",
}

ARTICLES = {"a", "an", "the"}
YES_NO = {"yes", "no"}
_COUNTS = "zero one two three four five six seven eight nine ten"
# the evaluation of VQA takes "none" for 0, too
DIGITS = {"none": "0"} | {
    word: str(number) for number, word in enumerate(_COUNTS.split())
}


@dataclass(frozen=True)
class Condition:
    """One thing that is averaged or left out; `key` names it in the tables, `name` in words."""

    key: str
    name: str
    kind: Kind
    edit: Edit | None = None

    def apply(self, sample: Sample) -> Sample:
        """What the model is shown in the sample's place."""
        if self.key == WITHOUT_VIDEO:
            return sample.with_frames((), WITHOUT_VIDEO)
        if self.key == WITHOUT_QUESTION:
            key = f"{sample.key}/{WITHOUT_QUESTION}"
            return replace(sample, question=None, key=key)
        return sample


# --------------------------------------------------------------------------- what is asked


def questions(audit: Audit) -> list[Sample]:
    """The samples with question and label by key.

    Raises UserError where there is none, or where the model cannot give such answers.
    """
    samples = [sample for sample in audit.samples if sample.question is not None]
    if not samples:
        raise UserError(
            "quag: no sample has a question",
            remedy="Take data with questions, such as moving-shapes:none -O data.questions=both",
        )
    # without a right answer nothing can be lost; the head of the report counts these
    labelled = [sample for sample in samples if sample.label is not None]
    if not labelled:
        raise UserError(
            "quag",
            expected="samples with a label, the right answer",
            got="none",
        )
    # no draw and no example may hang on the order of the data
    labelled.sort(key=lambda sample: sample.key)
    outputs = audit.capabilities.outputs
    # all of them, before the first one is asked
    for sample in labelled:
        (needed,) = outputs_for(sample)
        if needed not in outputs:
            kind = "choices" if sample.choices else "no choices"
            raise UserError(
                f"quag: sample '{sample.key}' has {kind}",
                expected=f"a model with output '{needed}'",
                got=", ".join(sorted(outputs)) or "none",
            )
    return labelled


def outputs_for(sample: Sample) -> frozenset[Output]:
    """Logits over its choices, or the text of an open answer."""
    return frozenset({"logits"}) if sample.choices else frozenset({"text"})


def edited_layers(audit: Audit, options: QUAGOptions) -> Layers:
    """The option's layers, None for all; raises UserError for one that the model does not have."""
    layers = parse_layers(options.layers)
    if layers is not None and "fusion" in audit.capabilities.exposes:
        count = audit.once(fusion_shape, audit).layers
        # they are sorted: the last is the largest
        if layers[-1] >= count:
            raise UserError(
                "quag: option 'layers'",
                expected=f"layers from 0 to {count - 1}: the model has {count} fusion layers",
                got=options.layers,
            )
    return layers


def benchmark_of(audit: Audit) -> str | None:
    """The benchmark that the audited data set says it is."""
    data = audit.context.dataset
    return data.benchmark if isinstance(data, HasBenchmark) else None


class FusionSize(Readout):
    """The fields of the model's `FusionShape`, in their order."""

    name: ClassVar[str] = "fusion-size"
    gives: ClassVar[Any] = Int[np.ndarray, " size"]

    def read(self, model: HasFusion, trials: Sequence[Trial]) -> Readouts:
        """Equal for every trial."""
        return [np.array(list(model.fusion.model_dump().values()))] * len(trials)

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """Sizes that a model can have: each layer is asked for by itself."""
        is_row = super().accepts(array, trial)
        if not is_row or len(array) != len(FusionShape.model_fields):
            return False
        layers = array[list(FusionShape.model_fields).index("layers")]
        return bool((array > 0).all() and layers <= MOST_LAYERS)


class TokenModalities(Readout):
    """Which tokens of a layer are video, which text: `HasFusion.modalities`."""

    name: ClassVar[str] = "token-modalities"
    gives: ClassVar[Any] = Int8[np.ndarray, " token"]
    layer: int = 0

    def read(self, model: HasFusion, trials: Sequence[Trial]) -> Readouts:
        """int8 (query then key) a trial."""
        return list(model.modalities(trials, self.layer))

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A known modality for each token."""
        is_row = super().accepts(array, trial)
        return is_row and bool(np.isin(array, (OTHER, VIDEO, TEXT)).all())


class AttentionWeights(Readout):
    """The attention matrices of a layer: `HasFusion.attention`."""

    name: ClassVar[str] = "attention-weights"
    gives: ClassVar[Any] = Float[np.ndarray, "head query key"]
    layer: int = 0

    def read(self, model: HasFusion, trials: Sequence[Trial]) -> Readouts:
        """float32 (head, query, key) a trial."""
        return list(model.attention(trials, self.layer))

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A matrix for each head."""
        return super().accepts(array, trial) and array.size > 0


def read(audit: Audit, trials: Iterable[Trial]) -> Readouts:
    """What the model shows of itself: the readout of each trial."""
    outcomes = audit.respond(trials)
    return [np.asarray(outcome.response.readout) for outcome in outcomes]


def fusion_shape(audit: Audit) -> FusionShape:
    """Sizes of the fusion layers of a model that exposes them."""
    # of any sample, for the sizes are the model's
    sample = audit.once(questions, audit)[0]
    [sizes] = read(audit, [FusionSize().of(sample)])
    fields = zip(FusionShape.model_fields, sizes.tolist(), strict=True)
    return FusionShape(**dict(fields))


def conditions(audit: Audit, options: QUAGOptions) -> list[Condition]:
    """All that this model and these samples allow, in the order of the paper's table 1."""
    layers = edited_layers(audit, options)
    allowed = [Condition(key, name, "modality") for key, name in LEFT_OUT.items()]
    if audit.capabilities.min_frames > 0:
        allowed.pop(0)  # the model takes no text alone
    allowed += _short_circuits(layers)
    if "average-tokens" in audit.capabilities.edits:
        allowed += _quag_attention(options, layers)
    return allowed


def _short_circuits(layers: Layers) -> Iterator[Condition]:
    """The sets of quadrants of section 2.3."""
    for name, (quadrants, words) in SHORT_CIRCUITS.items():
        edit = AverageAttention(quadrants=quadrants, layers=layers)
        yield Condition(f"SC: {name}", f"{words} (SC: {name})", "short-circuit", edit)


def _quag_attention(options: QUAGOptions, layers: Layers) -> Iterator[Condition]:
    """The modalities whose tokens become one."""
    # named twice, it would be asked and tested twice
    for words in dict.fromkeys(options.quag_attention):
        edit = AverageTokens(
            modalities=frozenset(words.split("-")),
            layers=layers,
            size_term=options.size_term,
        )
        key = f"merged {'both' if '-' in words else words}"
        yield Condition(key, f"{TOKENS[words]} ({key})", "quag-attention", edit)


def features(audit: Audit, options: QUAGOptions) -> Iterator[Feature]:
    """The verdict; then a feature a condition."""
    yield Feature(key=VERDICT, kind=VERDICT, name="Verdict on video and text")
    for condition in audit.once(conditions, audit, options):
        yield Feature(key=condition.key, kind=condition.kind, name=condition.name)


def plain_trials(samples: Iterable[Sample]) -> Iterator[Trial]:
    """The samples as they are."""
    return (Trial(sample=sample, outputs=outputs_for(sample)) for sample in samples)


def trials(audit: Audit, options: QUAGOptions) -> Iterator[Trial]:
    """All samples as they are, then all under each condition."""
    samples = audit.once(questions, audit)
    yield from plain_trials(samples)
    for condition in audit.once(conditions, audit, options):
        for sample in samples:
            yield Trial(
                sample=condition.apply(sample),
                edit=condition.edit,
                feature=condition.key,
                condition=condition.key,
                outputs=outputs_for(sample),
            )


# ----------------------------------------------------------------------- what is answered


@dataclass(frozen=True, eq=False)
class Answers:
    """Right or wrong: each sample as it is (`before`) and under each condition (`after`).

    `plain` are the outcomes of the samples as they are, `changed` those by condition; `groups`
    are the videos that questions are about: what was drawn, of which all intervals and tests are.
    """

    samples: list[Sample]
    conditions: list[Condition]
    plain: Outcomes
    changed: Sequence[Outcomes]
    before: RightPerSample
    after: Bool[np.ndarray, "sample condition"]
    groups: Groups

    @property
    def keys(self) -> list[str]:
        """The conditions by their keys, in order."""
        return [condition.key for condition in self.conditions]

    @property
    def columns(self) -> dict[str, RightPerSample]:
        """What is right by row of the tables, "baseline" first."""
        changed = dict(zip(self.keys, self.after.T, strict=True))
        return {"baseline": self.before, **changed}

    @cached_property
    def answer_codes(self) -> Codes | None:
        """The answers to the samples as they are, numbered among those that all questions share."""
        choices = shared_choices(self.samples)
        if not choices:
            return None
        return number_answers([outcome.prediction for outcome in self.plain], choices)

    @property
    def none_accepted(self) -> bool:
        """Whether all questions are open, and no answer equals an accepted one."""
        return not self.before.any() and not any(
            sample.choices for sample in self.samples
        )


def collect_answers(
    audit: Audit,
    options: QUAGOptions,
    outcomes: Outcomes,
) -> Answers:
    """From the outcomes of `trials`."""
    samples = audit.once(questions, audit)
    count = len(samples)
    right = np.array(list(map(is_correct, outcomes)), dtype=bool)
    by_run = right.reshape(-1, count)
    # `trials` goes through all samples condition by condition: equal runs, the plain ones first.
    runs = [outcomes[start : start + count] for start in range(0, len(outcomes), count)]
    return Answers(
        samples=samples,
        conditions=audit.once(conditions, audit, options),
        plain=runs[0],
        changed=runs[1:],
        before=by_run[0],
        after=by_run[1:].T,
        groups=videos_of(samples),
    )


def videos_of(samples: Samples) -> Groups:
    """Each sample's video: its group, its `annotations["video_id"]`, or the frames."""
    names = list(map(video_name, samples))
    videos, codes = np.unique(names, return_inverse=True)
    return Groups(codes, len(videos), declared=True)


def video_name(sample: Sample) -> str:
    """Equal for samples of the same video."""
    if sample.group is not None:
        return f"group {sample.group}"
    # Frames as a set: a complement that shows the same frames in another order is no new video.
    frames = {frame.key for frame in sample.frames}
    return str(sample.annotations.get("video_id") or digest(frames))


def shared_choices(samples: Samples) -> list[str]:
    """The answers to choose from that all questions share, in alphabetical order; [] for none."""
    # as sets, for the same answers may come in another order
    sets = {frozenset(sample.choices) for sample in samples}
    return sorted(sets.pop()) if len(sets) == 1 else []


def number_answers(answers: Sequence[str | None], choices: Sequence[str]) -> Codes:
    """Each answer's index among the choices."""
    return np.array([choices.index(str(answer)) for answer in answers], dtype=int)


def is_correct(outcome: Outcome) -> bool:
    """Whether the best choice is the label, or the open answer one of those accepted."""
    sample = outcome.trial.sample
    if sample.choices:
        return outcome.correct()
    return matches(outcome.response.text or "", accepted_answers(sample))


def accepted_answers(sample: Sample) -> tuple[str, ...]:
    """The label, then the others that `annotations["answers"]` names."""
    others = map(str, sample.annotations.get("answers", ()))
    return tuple(dict.fromkeys((str(sample.label), *others)))


def matches(answer: str, accepted: Iterable[str]) -> bool:
    """Whether an answer, or its first sentence, equals an accepted one once both are normalised.

    Where only yes or no is accepted, the first word answers: "Yes, it is." is yes.
    """
    # a label of marks alone would accept an answer of nothing
    right = set(map(normalise, accepted)) - {""}
    first = re.split(r"(?<=[.!?])\s+|\n", answer.strip(), maxsplit=1)[0]
    candidates = {normalise(answer), normalise(first)}
    if right <= YES_NO:
        candidates = {candidate.partition(" ")[0] for candidate in candidates}
    return bool(candidates & right)


def normalise(answer: str) -> str:
    """As open answers are compared, after the evaluation of VQA (Antol et al., 2015).

    Lower case, number words as digits, no articles and no punctuation but a decimal point. An
    apostrophe and a full stop join what they stand between, other marks part it. Deviates: an
    answer of articles alone stays, so that "A" may be a letter to choose.

    >>> normalise(" It's the  LEFT one, of 1,000 T-shirts. ")
    'its left 1 of 1000 t shirts'
    """
    # The comma of "1,000" and the full stop of "U.S." go before other marks become spaces.
    text = re.sub(r"(?<=\d),(?=\d)|['\u2019]|(?<!\d)\.|\.(?!\d)", "", answer.lower())
    text = "".join(map(_without_mark, text))
    words = [DIGITS.get(word, word) for word in text.split()]
    return " ".join([word for word in words if word not in ARTICLES] or words)


def _without_mark(letter: str) -> str:
    """A space for punctuation, but for the points that are left in numbers."""
    # string.punctuation adds the ASCII symbols ("+", "$"), which Unicode does not class as P.
    listed = letter in string.punctuation or unicodedata.category(letter).startswith(
        "P"
    )
    return " " if listed and letter != "." else letter
