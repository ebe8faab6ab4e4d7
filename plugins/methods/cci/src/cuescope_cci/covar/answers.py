"""What one model answers to every image, and what its wrong answers lean on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from cuescope_cci.covar.images import KNOWN, Images
from cuescope_cci.error_source import BESIDE, AnswerSource, source_answers
from cuescope_cci.options import CCIOptions, Rule
from cuescope_sdk import Audit, Sample, Trial

AT_ONCE = 256  # wrong answers looked into together: their pixels are in memory
UNKNOWN, OBJECT, BACKGROUND = -1, 0, 1
RULES: tuple[Rule, ...] = BESIDE  # each region hidden whole, and the paper's


@dataclass(frozen=True, eq=False)
class Answers:
    """One model's answers: `predicted` are codes of labels; the others tell of wrong answers alone.

    `leans` is by rule: on the background (1), on an object (0), -1 where it was not looked into or
    nothing can be said. `alike` says whether label and answer look alike.
    """

    name: str
    predicted: Int[np.ndarray, " image"]
    right: Bool[np.ndarray, " image"]
    leans: dict[Rule, Int[np.ndarray, " image"]]
    alike: Bool[np.ndarray, " image"]

    def known(self, rule: Rule) -> Bool[np.ndarray, " image"]:
        """Wrong answers of which it is known what they lean on."""
        return np.asarray(~self.right & (self.leans[rule] != UNKNOWN))

    def on_background(self, rule: Rule) -> Bool[np.ndarray, " image"]:
        """Background errors (the paper's BG-Er)."""
        return np.asarray(self.known(rule) & (self.leans[rule] == BACKGROUND))

    def fine(self, rule: Rule) -> Bool[np.ndarray, " image"]:
        """Wrong answers on an object that name its look-alike (the paper's Fine-Er)."""
        return np.asarray(self.known(rule) & (self.leans[rule] == OBJECT) & self.alike)


def ask(audit: Audit, options: CCIOptions, images: Images, name: str, most: int | None) -> Answers:
    """Ask about every image, then look into the wrong answers: at most so many of each subset."""
    outcomes = audit.respond(Trial(sample=sample) for sample in images.samples)
    code = {label: i for i, label in enumerate(images.labels)}
    predicted = np.array([code[str(outcome.prediction)] for outcome in outcomes], int)
    right = predicted == images.label
    leans = {rule: np.full(len(right), UNKNOWN) for rule in RULES}
    alike = np.zeros(len(right), dtype=bool)
    # where nobody knows the object's place (a viewpoint that was drawn), nothing can be said
    placed = "segmenter" in audit.tools or np.array(
        [sample.annotations.get("foreground") is not None for sample in images.samples]
    )
    wrong = draw_wrong(images, ~right & placed, most, audit.rng("covar", "wrong answers"))
    for index, source in zip(
        wrong.tolist(), _look_into(audit, options, images, wrong), strict=True
    ):
        alike[index] = source.alike is True
        for rule in RULES:
            region = source.by_rule.get(rule)
            if region is not None:
                leans[rule][index] = BACKGROUND if region == "background" else OBJECT
    return Answers(name, predicted, right, leans, alike)


def _look_into(
    audit: Audit, options: CCIOptions, images: Images, wrong: Int[np.ndarray, " wrong"]
) -> Iterator[AnswerSource]:
    for start in range(0, len(wrong), AT_ONCE):
        part: Sequence[Sample] = [images.samples[i] for i in wrong[start : start + AT_ONCE]]
        yield from source_answers(audit, options, part)


def draw_wrong(
    images: Images, wrong: Bool[np.ndarray, " image"], most: int | None, rng: np.random.Generator
) -> Int[np.ndarray, " drawn"]:
    """Indices of wrong answers, at most so many of each subset, drawn at random."""
    order = rng.permutation(len(wrong))  # one order for all models: they are compared
    chosen = [
        order[(wrong & (images.subset == number))[order]][:most] for number in range(len(KNOWN))
    ]
    return np.sort(np.concatenate(chosen)).astype(int)
