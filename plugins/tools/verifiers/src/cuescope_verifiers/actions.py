"""Claims of actions held against a network that recognises them."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain

import numpy as np
from jaxtyping import Float
from scipy.special import softmax

from cuescope_sdk import Context, LazyWeights, Plugin, Sample, digest
from cuescope_sdk.grounding import Case, Claim, Judgement, judge_claims
from cuescope_verifiers.options import ActionOptions
from cuescope_verifiers.phrases import (
    atoms,
    opposites,
    plain_words,
    sentence,
    third_person,
)

Clip = tuple[int, ...]  # indices of frames
Look = Callable[[Claim, Sequence[int]], Judgement]


class Actions(Plugin, LazyWeights):
    """Actions by X-CLIP, as a sentence among others.

    Departs from step grounding (Rahman et al., section 4.3), which has SlowFast.

    A claim is supported where it is the most likely of all candidates in a clip of the moments that
    it means, and unsupported where it is less likely than chance in each.
    """

    Options = ActionOptions
    options: ActionOptions

    def __init__(self, options: ActionOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_verifiers.action_networks import XCLIP

        self._network = XCLIP(options.model, options.revision, context)
        self.fingerprint = digest(
            "actions", 1, self._network.fingerprint, options.alternatives
        )
        self.facts = {
            **self._network.files.facts,
            "evidence": f"actions by {options.model}",
            "departure": "the paper of step grounding has SlowFast",
        }

    def open_weights(self) -> None:
        _ = self._network.files.network

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        judgements = []
        with self.context.progress("recognising actions", len(cases)) as advance:
            for sample, claims in cases:
                look = self._look(sample, claims)
                judgements.append(judge_claims(claims, len(sample.frames), look=look))
                advance(1)
        return judgements

    def _look(self, sample: Sample, claims: Sequence[Claim]) -> Look:
        """Shows each clip of a sample once, beside all sentences about it."""
        sentences = map(self._texts, atoms(claims))
        texts = list(dict.fromkeys(chain.from_iterable(sentences)))

        # claims about one moment share their clip
        @cache
        def logits_of(clip: Clip) -> Float[np.ndarray, " candidate"]:
            images = [sample.frames[index].load() for index in clip]
            return self._network.logits(images, texts)

        def look(claim: Claim, meant: Sequence[int]) -> Judgement:
            candidates = list(map(texts.index, self._texts(claim)))
            if not candidates:
                return Judgement.open("out of vocabulary")
            judgements = []
            clips = choose_clips(meant, len(sample.frames), self._network.length)
            for clip in clips:
                # among its candidates alone: sentences of other claims do not compete with it
                probabilities = softmax(logits_of(clip)[candidates])
                judgement = verdict(probabilities)
                # a judgement names one frame
                middle = clip[len(clip) // 2]
                judgements.append(judgement.replace(frame=middle))
            return Judgement.best(judgements)

        return look

    def _texts(self, claim: Claim) -> list[str]:
        """The claim in words, first, and what it competes with."""
        claimed = sentence(claim) if claim.kind == "action" else None
        if claimed is None:
            return []
        # "A person opens something." would compete with "The person opens the door."
        _, predicate, _ = plain_words(claim)
        verb, _, _ = predicate.partition(" ")
        ours = forms(verb)
        alternatives = self.options.alternatives
        others = [text for text in alternatives if ours.isdisjoint(text.split())]
        texts = [claimed, *opposites(claim), *others]
        return list(dict.fromkeys(texts))


def choose_clips(meant: Sequence[int], frames: int, length: int) -> list[Clip]:
    """Clips of `length` frames for the moments meant: around them, or over the whole video.

    Those over the whole video overlap by half. What is too short repeats its frames.
    """
    # the last clip ends where the video ends
    latest = max(frames - length, 0)
    if len(meant) < frames:
        return [_clip_around(meant, frames, length, latest)]
    step = max(length // 2, 1)
    clips = []
    for start in (*range(0, latest, step), latest):
        end = min(start + length, frames)
        clips.append(_spread(start, end - 1, length))
    return clips


def _clip_around(meant: Sequence[int], frames: int, length: int, latest: int) -> Clip:
    """The moments stand in its middle, unless it would begin before the video or after `latest`."""
    span = meant[-1] - meant[0] + 1
    spare = max(length - span, 0)
    wanted = max(meant[0] - spare // 2, 0)
    first = min(wanted, latest)
    end = min(first + length, frames)
    # moments may be further apart than a clip is long: then all of them
    last = max(meant[-1], end - 1)
    return _spread(first, last, length)


def _spread(first: int, last: int, length: int) -> Clip:
    places = np.linspace(first, last, length)
    return tuple(places.round().astype(int).tolist())


def verdict(probabilities: Float[np.ndarray, " candidate"]) -> Judgement:
    """Supported where the claim, the first, is best, unsupported where it is less than chance."""
    # above chance but not the best is neither for the claim nor against it
    share = float(probabilities[0])
    if int(probabilities.argmax()) == 0:
        return Judgement.of(True, score=share)
    if share < 1 / len(probabilities):
        return Judgement.of(False, score=share)
    return Judgement(verdict="unverifiable", reason="no evidence", score=share)


def forms(verb: str) -> set[str]:
    """The forms in which a verb may stand: "put", "puts", "putting" ..."""
    stem = verb.removesuffix("e")
    double = f"{verb}{verb[-1:]}"  # "putting"
    return {
        verb,
        third_person(verb),
        # "take": "taking"
        f"{stem}ing",
        f"{verb}ing",
        f"{double}ing",
        f"{stem}ed",
        f"{double}ed",
    }
