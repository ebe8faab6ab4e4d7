"""A model that answers by chance and reads nothing: for audits of data alone."""

from collections.abc import Mapping, Sequence

import numpy as np

from cuescope_sdk import (
    Capabilities,
    Context,
    Options,
    Plugin,
    Response,
    Trial,
    digest,
    generator,
)
from cuescope_sdk.models import refuse_unanswerable


class NoModelOptions(Options):
    """It has none."""


class NoModel(Plugin):
    """Gives every choice a logit drawn by chance, always the same one for the same sample."""

    Options = NoModelOptions
    # no frame: question files often come without their videos
    capabilities = Capabilities(outputs=frozenset({"logits"}), min_frames=0)
    # another draw needs another number: answers are cached by it (docs/adr/0003)
    fingerprint: str = digest("none", 1)
    facts: Mapping[str, str] = {"model": "none: it reads nothing and answers by chance"}
    is_control = True  # nobody is advised to audit it

    def __init__(self, options: NoModelOptions, context: Context) -> None:
        super().__init__(options, context)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits drawn by chance; raises UserError for a sample without choices."""
        refuse_unanswerable("none", self.capabilities, trials)
        responses = []
        for trial in trials:
            sample = trial.sample
            # the content only names the draw, so that a question has one answer in every audit
            frames = [frame.key for frame in sample.frames]
            logits = []
            for choice in sample.choices:
                # by the choice's text: it has the same logit at another place
                rng = generator(0, "none", digest(frames, sample.question, choice))
                logits.append(rng.standard_normal())
            # the cache stores float32, and a replayed answer equals the first one (docs/adr/0003)
            responses.append(Response(logits=np.array(logits, dtype=np.float32)))
        return responses


__all__ = ["NoModel", "NoModelOptions"]
