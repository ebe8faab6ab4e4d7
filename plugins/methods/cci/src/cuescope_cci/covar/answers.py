"""What one model answers to every image, and what its wrong answers rely on."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from cuescope_cci.covar.images import KNOWN, Codes, Images, Mask
from cuescope_cci.error_source import RULES, source_answers
from cuescope_cci.options import CCIOptions, Rule
from cuescope_sdk import Audit, Trial

AT_ONCE = 256  # wrong answers looked into together: their pixels are in memory
UNKNOWN = -1
OBJECT = 0
BACKGROUND = 1
CODES = {None: UNKNOWN, "foreground": OBJECT, "background": BACKGROUND}


@dataclass(frozen=True, eq=False)
class Answers:
    """One model's answers: `predicted` are codes of labels; the others tell of wrong answers alone.

    `leans` is by rule: on the background (1), on an object (0), -1 where it was not looked into or
    nothing can be said. `alike` says whether label and answer look alike.
    """

    name: str
    predicted: Codes
    right: Mask
    leans: dict[Rule, Codes]
    alike: Mask

    def with_cause(self, rule: Rule) -> Mask:
        """Wrong answers of which it is known what they rely on."""
        return np.asarray(~self.right & (self.leans[rule] != UNKNOWN))

    def on_background(self, rule: Rule) -> Mask:
        """Background errors (the paper's BG-Er)."""
        return np.asarray(~self.right & (self.leans[rule] == BACKGROUND))

    def fine(self, rule: Rule) -> Mask:
        """Wrong answers on an object that name its look-alike (the paper's Fine-Er)."""
        return np.asarray(~self.right & (self.leans[rule] == OBJECT) & self.alike)


def ask(
    audit: Audit,
    options: CCIOptions,
    images: Images,
    name: str,
    most: int | None,
) -> Answers:
    """Ask about every image, then look into the wrong answers: at most so many of each subset."""
    outcomes = audit.respond(Trial(sample=sample) for sample in images.samples)
    predictions = [images.labels.index(str(outcome.prediction)) for outcome in outcomes]
    predicted = np.array(predictions)
    right = predicted == images.label
    # unknown until looked into, so that a limit on errors leaves no false figure
    leans = {rule: np.full(len(right), UNKNOWN) for rule in RULES}
    alike = np.zeros(len(right), dtype=bool)
    # right answers are not looked into: each costs about ten forward passes
    wrong = ~right
    if "segmenter" not in audit.tools:
        # where nobody knows the object's place (a viewpoint that was drawn), nothing can be said
        wrong &= [
            sample.annotations.get("foreground") is not None
            for sample in images.samples
        ]
    drawn = draw_wrong(images, wrong, most, audit.rng("covar", "wrong answers"))
    for start in range(0, len(drawn), AT_ONCE):
        part = drawn[start : start + AT_ONCE].tolist()
        sources = source_answers(
            audit, options, [images.samples[index] for index in part]
        )
        for index, source in zip(part, sources, strict=True):
            # None is unknown, and no look-alike
            alike[index] = source.alike is True
            for rule in RULES:
                region = source.by_rule.get(rule)
                leans[rule][index] = CODES[region]
    return Answers(name, predicted, right, leans, alike)


def draw_wrong(
    images: Images,
    wrong: Mask,
    most: int | None,
    rng: np.random.Generator,
) -> Int[np.ndarray, " drawn"]:
    """Indices of wrong answers, at most so many of each subset, drawn at random."""
    order = rng.permutation(len(wrong))  # one order for all models: they are compared
    drawn = []
    for subset in KNOWN:
        member = (wrong & images.of(subset))[order]
        drawn.append(order[member][:most])
    return np.sort(np.concatenate(drawn))
