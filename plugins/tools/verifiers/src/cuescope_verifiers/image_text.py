"""Claims held against the likeness of pictures and sentences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from cuescope_sdk import (
    Context,
    Frame,
    LazyWeights,
    Plugin,
    Sample,
    Trial,
    UserError,
    digest,
)
from cuescope_sdk.grounding import Case, Claim, Judgement, judge_claims
from cuescope_sdk.models import FrameMemory, unit
from cuescope_verifiers.options import ImageTextOptions
from cuescope_verifiers.phrases import atoms, opposites, sentence

EMBEDDING: frozenset[Literal["embedding"]] = frozenset({"embedding"})
Row = Float[np.ndarray, " dim"]
REMEMBERED = 2**28  # bytes


class ImageText(Plugin, LazyWeights):
    """A claim as a sentence against its opposites: relation inverted, attribute swapped, denied.

    Any contrastive model that embeds texts beside images will do. A frame is embedded once.
    """

    Options = ImageTextOptions
    options: ImageTextOptions

    def __init__(self, options: ImageTextOptions, context: Context) -> None:
        super().__init__(options, context)
        model: Any = context.build("model", options.model, options.model_options)
        embeds_texts = hasattr(model, "embed_texts")
        if not (embeds_texts and model.capabilities.outputs >= EMBEDDING):
            raise UserError(
                f"image-text: model {options.model} does not embed both images and texts",
                expected="a contrastive model with its text tower, as open-clip:ViT-B-16/openai",
            )
        self._model = model
        # for these the fingerprint of the model stands
        self.fingerprint = digest(
            "image-text",
            2,
            model.fingerprint,
            options.model_dump(exclude={"model", "model_options"}),
        )
        self.facts = {
            **model.facts,
            "evidence": f"likeness by {options.model}, margin {options.margin:g}",
        }
        self._memory = FrameMemory(self._look_at, context.batch_size, REMEMBERED)
        self._frames: dict[str, Row] = {}
        self._texts: dict[str, Row] = {}

    def open_weights(self) -> None:
        if isinstance(self._model, LazyWeights):
            self._model.open_weights()

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        frames: dict[str, Frame] = {}
        texts: dict[str, None] = {}
        for sample, claims in cases:
            for claim in atoms(claims):
                sentences = self._sentences(claim)
                if not sentences:
                    continue
                texts |= dict.fromkeys(sentences)
                for index in claim.frames_meant(len(sample.frames)):
                    frame = sample.frames[index]
                    frames[frame.key] = frame
        self._embed_frames(frames)
        self._embed_texts(texts)
        return [self._judge(sample, claims) for sample, claims in cases]

    def _embed_frames(self, frames: Mapping[str, Frame]) -> None:
        title = "comparing frames with sentences"
        with self.context.progress(title, len(frames)) as advance:
            rows = self._memory.rows(list(frames.values()), advance)
        # of this call alone: all others are in the memory, within its bytes
        self._frames = dict(zip(frames, rows, strict=True))

    def _embed_texts(self, texts: Iterable[str]) -> None:
        new = [text for text in texts if text not in self._texts]
        if new:
            # of length 1, so that the product of two rows is their cosine
            rows = unit(self._model.embed_texts(new))
            self._texts |= zip(new, rows, strict=True)

    def _judge(self, sample: Sample, claims: Sequence[Claim]) -> list[Judgement]:
        def at(claim: Claim, index: int) -> Judgement:
            sentences = self._sentences(claim)
            if not sentences:
                return Judgement.open("out of vocabulary")
            texts = np.stack([self._texts[text] for text in sentences])
            frame = self._frames[sample.frames[index].key]
            likeness = texts @ frame
            # the claim against the opposite that fits the frame best
            best_opposite = likeness[1:].max()
            lead = float(likeness[0] - best_opposite)
            # cosines of a claim and its opposite are close: a small lead is noise of the wording
            if abs(lead) <= self.options.margin:
                return Judgement.open("no evidence").replace(score=lead)
            return Judgement.of(lead > 0, score=lead, frame=index)

        return judge_claims(claims, len(sample.frames), at)

    def _sentences(self, claim: Claim) -> list[str]:
        """The claim in words, and its opposites; [] where it has no words."""
        claimed = sentence(claim)
        return [claimed, *opposites(claim)] if claimed else []

    def _look_at(self, frames: Sequence[Frame]) -> np.ndarray:
        """A row a frame, each shown as often as the model needs frames."""
        count = max(self._model.capabilities.min_frames, 1)
        trials = []
        for frame in frames:
            # a still clip for a model of videos
            sample = Sample(key=frame.key, frames=(frame,) * count)
            trials.append(Trial(sample=sample, outputs=EMBEDDING))
        answers = self._model.respond(trials)
        return unit(np.stack([response.embedding for response in answers]))
