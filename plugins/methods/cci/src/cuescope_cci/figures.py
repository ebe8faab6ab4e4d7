"""Images beside their clusters, importance and mask; answers that the background decides."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from cuescope_cci.backgrounds import Backgrounds
from cuescope_cci.error_source import (
    BACKGROUND,
    AnswerSource,
    Sources,
    clearest_first,
    factor_words,
    groups,
)
from cuescope_sdk import Accuracy, Audit, Contrast, Occurrence, Picture
from cuescope_sdk.report import PanelRow, contrast, count_of, draw_beside, image_panels

ON_BACKGROUND = "Wrong answers that rely on the background"
LOOK_ALIKE = "Wrong answers that rely on an object and name its look-alike"
OTHER = "Other wrong answers"
RIGHT = "Right answers"
UNLABELLED = "Images without a label"
RULE = (
    "On the left, images answered so only while the background is there, spread evenly from the "
    "least to the most typical. On the right, samples of the same labels. The drawing: clusters of "
    "patches, then what each counts (red for the class that the map is about, blue against it)."
)


def attach_examples(audit: Audit, sources: Sources, most: int = 3) -> None:
    """Pictures of background errors, fine-grained errors and right answers."""
    by_kind: dict[str, list[AnswerSource]] = defaultdict(list)
    for source in sources:
        by_kind[_kind(source)].append(source)
    # the clearest: a few pictures must show what is meant
    by_kind[ON_BACKGROUND] = clearest_first(by_kind[ON_BACKGROUND])
    for title in (ON_BACKGROUND, LOOK_ALIKE, OTHER, RIGHT, UNLABELLED):
        examples = by_kind[title][:most]
        if examples:
            panels = list(map(_panel, examples))
            captions = "; ".join(map(caption, examples))
            audit.attach(
                Picture(
                    title=title,
                    caption=f"{captions}.",
                    image=image_panels(panels),
                )
            )


def _kind(source: AnswerSource) -> str:
    if source.label is None:
        return UNLABELLED
    if source.correct:
        return RIGHT
    if source.on_background:
        return ON_BACKGROUND
    return LOOK_ALIKE if source.fine_grained else OTHER


def _panel(source: AnswerSource) -> PanelRow:
    return PanelRow(
        caption=caption(source),
        image=np.asarray(source.sample.frames[0].load()),
        clusters=source.cluster,
        heat=source.importance,
        mask=source.foreground,
    )


def caption(source: AnswerSource) -> str:
    """What happened to an image, in a few words."""
    where = ""
    if source.on_object:
        where = ", relies on an object"
    elif source.on_background:
        where = ", relies on the background"
    if source.label is None:
        return f"predicted as '{source.prediction}'{where}"
    if source.correct:
        return f"'{source.label}', right{where}"
    return f"'{source.label}' predicted as '{source.prediction}'{where}"


# --------------------------------------------------------------------------------------- contrasts


def attach_evidence(
    audit: Audit,
    sources: Sources,
    known: Backgrounds | None,
    level: float,
) -> None:
    """How often the model is right, and the contrasts.

    Images are asked as the network sees them, so the engine does not count them as the samples.
    """
    correct = 0
    guesses = []
    for source in sources:
        if source.label is not None:
            correct += source.correct
            # images may have different numbers of choices
            guesses.append(1 / len(source.sample.choices))
    if guesses:
        audit.attach(
            Accuracy(
                correct=correct,
                answered=len(guesses),
                chance=float(np.mean(guesses)) if known is None else known.chance,
                p_value=known and known.chance_p,
            )
        )
    if known is not None:
        for shown in contrasts(known, level):
            audit.attach(shown)


def contrasts(known: Backgrounds, level: float) -> Iterator[Contrast]:
    """Answers that a background draws, beside others: of the cue that is found."""
    found = known.found(level)
    members = groups(known.sources)
    if len({row.feature for row in found}) > 1:
        pairs = {(row.feature, row.label) for row in found}
        drawn = {
            source.key
            for feature, label in pairs
            for source in members[feature]
            if source.prediction == label != source.object_answer
        }
        yield from _contrast(BACKGROUND, None, known.sources, drawn)
        return
    for row in found:
        drawn = {
            source.key
            for source in members[row.feature]
            if source.prediction == row.label != source.object_answer
        }
        present = {source.key for source in members[row.feature]}
        shown = [s for s in known.sources if s.key in drawn or s.key not in present]
        yield from _contrast(row.feature, row.label, shown, drawn)


def _contrast(
    feature: str, label: str | None, sources: Sources, drawn: set[str]
) -> Iterator[Contrast]:
    where = factor_words(feature) or "the background"
    with_it = [source for source in sources if source.key in drawn]
    others = [source for source in sources if source.key not in drawn]
    by_key = {source.sample.key: source for source in sources}
    answer = f" '{label}'" if label else ""
    shown = contrast(
        feature,
        {
            f"{where} draws the answer{answer}: {count_of(len(with_it), 'images')}": [
                source.outcomes[0] for source in with_it
            ],
            f"others: {count_of(len(others), 'images')}": [
                source.outcomes[0] for source in others
            ],
        },
        label=label,
        where={
            key: Occurrence(sample=source.key, frame=0)
            for key, source in by_key.items()
        },
        words=lambda outcome: _apart_words(by_key[outcome.trial.sample.key]),
        drawing=lambda outcome: draw(by_key[outcome.trial.sample.key]),
        rule=RULE,
        matched=True,
        counted=False,
    )
    if shown is not None:
        yield shown


def _apart_words(source: AnswerSource) -> str:
    background = f"background alone: '{source.background_answer}'"
    return f"{background}; objects alone: '{source.object_answer}'"


def draw(source: AnswerSource) -> bytes:
    """The clusters of an image and their importance, over the image."""
    return draw_beside(_panel(source).overlays())
