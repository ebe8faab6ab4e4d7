"""Open-ended answers: is a class named in a description of the image (appendices C, D and R)?

After CHAIR (Rohrbach et al., 2018): of descriptions of images without an object, the share that
names it; and of images with it, the share that does. Only the class and its own words are looked
for: a description that calls a cup "mug" names no cup, unless the data set lists it as a synonym.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from cuescope_sdk import Audit, Sample, Table, Trial
from cuescope_sdk.language import Question, singular, strip_thinking
from cuescope_sdk.statistics import Groups
from cuescope_spurlens.analysis import Results
from cuescope_spurlens.questions import frames_key
from cuescope_spurlens.scores import spurious_gap_interval
from cuescope_spurlens.spuriosity.shapes import PerUnit
from cuescope_spurlens.spuriosity.units import unit_means
from cuescope_spurlens.tables import Rows, write_ends

DESCRIBE = Question.for_description()
COLUMNS = (
    "class",
    "cue",
    "images",
    "named with it",
    "named without",
    "gap",
    "95%",
    "asked gap",
)
# an apostrophe or a hyphen within keeps a word whole: "t-shirt"
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")


def names_class(description: str, names: Sequence[str]) -> bool:
    """Whether a text has any of the names, as whole words, in singular or plural.

    >>> names_class("Two cups on a table.", ["cup"]), names_class("A cupboard.", ["cup"])
    (True, False)
    """
    # what a model thinks aloud first is no description
    text = _singular_words(strip_thinking(description))
    # A name without a word (two spaces) would be in every text.
    return any(_singular_words(name) in text for name in names if _WORD.search(name))


def _singular_words(text: str) -> str:
    """In lower case, a space before and behind each."""
    # the spaces keep " cup " out of " cupboard "
    return f" {' '.join(map(singular, _WORD.findall(text.lower())))} "


def describe_images(audit: Audit, samples: Iterable[Sample]) -> dict[str, str]:
    """What the model says of each image, by `frames_key`; an image is asked about once."""
    # By the frames: an image that is in the top of one class may be in the bottom of another.
    by_frames = {frames_key(sample): sample for sample in samples}
    trials = []
    for sample in by_frames.values():
        asked = Sample(
            # not the key of the yes/no questions about this image
            key=f"{sample.key}/described",
            frames=sample.frames,
            question=DESCRIBE,
            group=sample.group,
        )
        trials.append(
            Trial(sample=asked, condition="description", outputs=frozenset({"text"}))
        )
    texts = (outcome.response.text or "" for outcome in audit.respond(trials))
    return dict(zip(by_frames, texts, strict=True))


def attach_descriptions(audit: Audit, results: Results) -> None:
    """A table of the strongest cues: how often the class is named with the cue and without."""
    if (
        "text" not in audit.capabilities.outputs
        or "closed-answers" in audit.capabilities.exposes
    ):
        audit.note("descriptions", "none: the model does not write freely")
        return
    sides = [result.case.sides_of(result.strongest) for result in results.plain_cases]
    texts = describe_images(audit, chain.from_iterable(chain.from_iterable(sides)))
    synonyms = _synonyms(audit)
    rows: Rows = []
    for result, (top, bottom) in zip(results.plain_cases, sides, strict=True):
        label = result.case.label
        names = (label, *synonyms.get(label, ()))
        with_cue = _naming_rates(top, texts, names)
        without = _naming_rates(bottom, texts, names)
        ends = spurious_gap_interval(with_cue, without)
        rate = 100 * float(with_cue.mean())
        rate_without = 100 * float(without.mean())
        rows.append(
            (
                result.case.name,
                result.cue,
                len(with_cue) + len(without),
                rate,
                rate_without,
                rate - rate_without,
                write_ends(*ends),
                100 * result.strongest_gap,
            )
        )
    audit.attach(
        Table.of(
            "Open-ended: is the class named in a description?",
            COLUMNS,
            rows,
            f'The model was asked: "{DESCRIBE}" In percent of the images (groups count once) '
            "that show the strongest cue most and least: those whose description has the "
            "class's name, as a whole word, or a synonym that the data set lists. Of images "
            "without the object (hallucination) that is CHAIR's share. Asked gap: that of the "
            "yes/no questions, for which the cue was chosen in these very images.",
        )
    )


def _naming_rates(
    samples: Sequence[Sample],
    texts: Mapping[str, str],
    names: Sequence[str],
) -> PerUnit:
    """Of each unit the share of its images whose description names the class."""
    named = [names_class(texts[frames_key(sample)], names) for sample in samples]
    return unit_means(np.array(named, dtype=float), Groups.of(samples))


def _synonyms(audit: Audit) -> dict[str, tuple[str, ...]]:
    """Other names of the classes, where the data set lists them (ImageNet)."""
    return {
        sample.label: tuple(sample.annotations["synonyms"])
        for sample in audit.samples
        if sample.label is not None and "synonyms" in sample.annotations
    }
