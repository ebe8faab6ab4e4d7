"""Claims of actions held against a network that recognises them."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy.special import softmax

from cuescope_sdk import Context, LazyWeights, Options, Plugin, Sample, digest
from cuescope_sdk.grounding import Case, Claim, Judgement, Look, best_judgement, judge_claim
from cuescope_sdk.language import normalise_words
from cuescope_verifiers.clips import Clip, clips, fits, forms, verdict
from cuescope_verifiers.sentences import opposites, sentence

_OTHERS = (
    "Nothing happens.", "A person walks.", "A person sits down.", "A person stands up.",
    "A person lies down.", "A person picks up something.", "A person puts down something.",
    "A person holds something.", "A person throws something.", "A person opens something.",
    "A person closes something.", "A person washes something.", "A person cuts something.",
    "A person pours something.", "A person eats something.", "A person drinks something.",
    "A person reads something.", "A person watches something.", "A person turns on something.",
    "A person turns off something.", "A person talks.", "A person dresses.",
)  # fmt: skip


class ActionOptions(Options):
    """Options of `actions`."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(
        "microsoft/xclip-base-patch32",
        description="X-CLIP or VideoMAE: a folder that save_pretrained wrote, or a hub id",
    )
    revision: str | None = Field(
        None, description="branch, tag or commit of a hub id; default: main"
    )
    alternatives: tuple[str, ...] = Field(
        _OTHERS, min_length=1,
        description="X-CLIP: sentences that a claim competes with; those of its verb are left out",
    )  # fmt: skip


class Actions(Plugin, LazyWeights):
    """Actions by X-CLIP, as a sentence among others, or by VideoMAE, as one of its classes.

    A claim is supported where it is the most likely of all candidates in a clip of the moments that
    it means, and unsupported where it is less likely than chance in each.
    """

    Options: ClassVar[type[Options]] = ActionOptions
    options: ActionOptions

    def __init__(self, options: ActionOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_verifiers.recognition import recogniser

        self._network = recogniser(options.model, options.revision, context)
        others = None if self._network.classes else options.alternatives
        self.fingerprint = digest("actions", 1, self._network.fingerprint, others)
        self.facts = {**self._network.files.facts, "evidence": f"actions by {options.model}"}

    def open_weights(self) -> None:
        """Open the weights now."""
        self._network.open_weights()

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """A judgement a claim, for each sample with its claims."""
        found = []
        with self.context.progress("recognising actions", len(cases)) as advance:
            for sample, claims in cases:
                look = self._looking(sample, claims)
                found.append([judge_claim(claim, len(sample.frames), look) for claim in claims])
                advance(1)
        return found

    def _looking(self, sample: Sample, claims: Sequence[Claim]) -> Look:
        """Shows each clip of a sample once, beside all sentences about it."""
        texts = list(dict.fromkeys(said for claim in _all(claims) for said in self._texts(claim)))
        seen: dict[Clip, np.ndarray] = {}

        def look(claim: Claim, meant: Sequence[int]) -> Judgement:
            candidates, ours = self._candidates(claim, texts)
            if not ours:
                return Judgement.open("out of vocabulary")
            found = []
            for clip in clips(meant, len(sample.frames), self._network.length):
                if clip not in seen:
                    images = [sample.frames[index].load() for index in clip]
                    seen[clip] = self._network.logits(images, texts)
                said = verdict(softmax(seen[clip][candidates]), ours)
                found.append(said.model_copy(update={"frame": clip[len(clip) // 2]}))
            return best_judgement(found)

        return look

    def _candidates(self, claim: Claim, texts: Sequence[str]) -> tuple[list[int], list[int]]:
        """Places of the candidates among the logits, and of the claim's own among those."""
        if claim.kind != "action":
            return [], []
        if self._network.classes is None:
            return [texts.index(said) for said in self._texts(claim)], [0]
        names = self._network.classes
        ours = [place for place, name in enumerate(names) if fits(claim, name)]
        return list(range(len(names))), ours

    def _texts(self, claim: Claim) -> list[str]:
        """The claim in words, first, and what it competes with."""
        said = sentence(claim) if claim.kind == "action" else None
        if said is None or self._network.classes is not None:
            return []
        ours = forms(normalise_words(claim.predicate or "").partition(" ")[0])
        others = (text for text in self.options.alternatives if ours.isdisjoint(text.split()))
        return list(dict.fromkeys((said, *opposites(claim), *others)))


def _all(claims: Sequence[Claim]) -> list[Claim]:
    """The claims with the parts of those in order."""
    return [one for claim in claims for one in (claim, *_all(claim.parts))]
