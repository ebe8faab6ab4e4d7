"""What is averaged or left out, and the trials that show it to the model."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from cuescope_quag.answers import measure
from cuescope_sdk import Audit, Edit, Feature, Output, Sample, Trial, UserError
from cuescope_sdk.fusion import AverageAttention, AverageTokens, FusionShape, FusionSize

if TYPE_CHECKING:
    from cuescope_quag import QUAG

Kind = Literal["modality", "short-circuit", "quag-attention"]
Quadrant = Literal["VV", "VT", "TV", "TT"]
QUADRANTS: tuple[Quadrant, ...] = ("VV", "VT", "TV", "TT")
VERDICT = "verdict"
WITHOUT_VIDEO, WITHOUT_QUESTION = "without video", "without question"

# Section 2.3: quadrants XY have queries of X and keys of Y.
SHORT_CIRCUITS: dict[str, tuple[str, str]] = {
    "unimodal": ("VV+TT", "unimodal attention"),
    "crossmodal": ("VT+TV", "crossmodal attention"),
    "video": ("VV+TV", "attention to video"),
    "text": ("TT+VT", "attention to text"),
}
TOKENS = {
    "video": "video tokens", "text": "text tokens", "video-text": "video and text tokens",
}  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """One thing that is averaged or left out; `key` names it in the tables.

    `name` says it in words, with the key.
    """

    key: str
    name: str
    kind: Kind
    edit: Edit | None = None

    def shown(self, sample: Sample) -> Sample:
        """What the model is shown in the sample's place."""
        if self.key == WITHOUT_VIDEO:
            return sample.with_frames((), WITHOUT_VIDEO)
        if self.key == WITHOUT_QUESTION:
            key = f"{sample.key}/{WITHOUT_QUESTION}"
            return sample.model_copy(update={"question": None, "key": key})
        return sample


def quadrants_of(words: str) -> frozenset[Quadrant]:
    """The quadrants of "VV+TV"; raises ValueError for anything else.

    >>> sorted(quadrants_of("tv+VV"))
    ['TV', 'VV']
    """
    named = [word.strip().upper() for word in words.split("+")]
    found = frozenset(quadrant for quadrant in QUADRANTS if quadrant in named)
    if not found or len(found) < len(named):
        raise ValueError("different quadrants joined by '+', of VV, VT, TV and TT")
    return found


def layers_of(words: str) -> tuple[int, ...] | None:
    """The layers of "0-3" or "4,5"; None for "all"; raises ValueError for anything else.

    >>> layers_of("0-2,5"), layers_of("all")
    ((0, 1, 2, 5), None)
    """
    if words.strip() == "all":
        return None
    found: set[int] = set()
    for part in words.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first:
            raise ValueError("all, a range as 0-3, or numbers as 4,5")
        found |= set(range(first, last + 1))
    return tuple(sorted(found))


# --------------------------------------------------------------------------- of one audit


def asked(audit: Audit) -> list[Sample]:
    """The samples with question and label by key; raises UserError where none is.

    Raises UserError where the model cannot give such answers, too.
    """
    questions = [sample for sample in audit.samples if sample.question is not None]
    if not questions:
        raise UserError(
            f"quag: no sample{_of_data(audit)} has a question",
            remedy="Take data with questions, such as moving-shapes:none -D questions=both",
        )
    samples = sorted((s for s in questions if s.label is not None), key=lambda s: s.key)
    if not samples:
        raise UserError("quag", expected="samples with a label, the right answer", got="none")
    has = audit.capabilities.outputs
    for sample in samples:
        if missing := outputs_for(sample) - has:
            kind = "choices" if sample.choices else "no choices"
            raise UserError(
                f"quag: sample '{sample.key}' has {kind}",
                expected=f"a model with output '{next(iter(missing))}'",
                got=", ".join(sorted(has)) or "none",
            )
    return samples


def _of_data(audit: Audit) -> str:
    """The data set's name for a message, by the module of its plugin; "" for one without."""
    package = type(audit.context.dataset).__module__.partition(".")[0]
    name = package.removeprefix("cuescope_").replace("_", "-")
    return f" of {name}" if name != package else ""


def outputs_for(sample: Sample) -> frozenset[Output]:
    """Logits over its choices, or the text of an open answer."""
    return frozenset({"logits"}) if sample.choices else frozenset({"text"})


def chosen_layers(audit: Audit, options: "QUAG.Options") -> tuple[int, ...] | None:
    """The option's layers; raises UserError for one that a model with readings does not have."""
    layers = layers_of(options.layers)
    if layers is not None and "fusion" in audit.capabilities.exposes:
        count = fusion_shape(audit).layers
        if layers[-1] >= count:
            raise UserError(
                "quag: option 'layers'",
                expected=f"layers from 0 to {count - 1}: the model has {count} fusion layers",
                got=options.layers,
            )
    return layers


def fusion_shape(audit: Audit) -> FusionShape:
    """Sizes of the fusion layers of a model that exposes them."""
    (outcome,) = audit.respond([FusionSize().of(asked(audit)[0])])
    return FusionSize.shape(np.asarray(outcome.response.readout))


def conditions(audit: Audit, options: "QUAG.Options") -> list[Condition]:
    """All that this model and these samples allow, in the order of the paper's table 1."""
    layers = chosen_layers(audit, options)
    found = [*modalities(audit), *short_circuits(options, layers)]
    if "average-tokens" in audit.capabilities.edits:
        found += quag_attention(options, layers)
    return found


def modalities(audit: Audit) -> Iterator[Condition]:
    """Each modality left out: the video, where the model takes a question alone."""
    if audit.capabilities.min_frames == 0:
        yield Condition(WITHOUT_VIDEO, WITHOUT_VIDEO, "modality")
    yield Condition(WITHOUT_QUESTION, WITHOUT_QUESTION, "modality")


def short_circuits(options: "QUAG.Options", layers: tuple[int, ...] | None) -> Iterator[Condition]:
    """The named sets of quadrants, then those of the user's own."""
    named = {name: SHORT_CIRCUITS[name] for name in options.short_circuits}
    own = {words: (words, f"attention {words}") for words in options.quadrants}
    for key, (quadrants, name) in (named | own).items():
        edit = AverageAttention(quadrants=quadrants_of(quadrants), layers=layers)
        yield Condition(f"SC: {key}", f"{name} (SC: {key})", "short-circuit", edit)


def quag_attention(options: "QUAG.Options", layers: tuple[int, ...] | None) -> Iterator[Condition]:
    """The modalities whose tokens become one."""
    for words in dict.fromkeys(options.quag_attention):
        edit = AverageTokens(
            modalities=frozenset(name for name in ("video", "text") if name in words.split("-")),
            layers=layers,
            size_term=options.size_term,
        )
        key = merged(words)
        yield Condition(key, f"{TOKENS[words]} as one ({key})", "quag-attention", edit)


def merged(words: str) -> str:
    """The row of QUAG-attention for `video`, `text` or `video-text`."""
    return f"merged {'both' if '-' in words else words}"


def features(audit: Audit, options: "QUAG.Options") -> Iterator[Feature]:
    """The verdict; then a feature a condition."""
    measure(asked(audit), options.measure)  # an impossible one is told before the model is asked
    yield Feature(key=VERDICT, kind=VERDICT, name="Verdict on video and text")
    for condition in conditions(audit, options):
        yield Feature(key=condition.key, kind=condition.kind, name=condition.name)


def trials(audit: Audit, options: "QUAG.Options") -> Iterator[Trial]:
    """All samples as they are, then all under each condition."""
    samples = asked(audit)
    yield from (Trial(sample=sample, outputs=outputs_for(sample)) for sample in samples)
    for condition in conditions(audit, options):
        for sample in samples:
            yield Trial(
                sample=condition.shown(sample),
                edit=condition.edit,
                feature=condition.key,
                condition=condition.key,
                outputs=outputs_for(sample),
            )
