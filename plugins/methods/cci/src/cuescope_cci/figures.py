"""Images beside their clusters, importance and mask; answers that the background decides."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_cci.backgrounds.measure import Backgrounds, PullRow
from cuescope_cci.error_source import (
    BACKGROUND,
    AnswerSource,
    Sources,
    clearest_first,
    factor_words,
    groups,
)
from cuescope_sdk import Accuracy, Audit, Contrast, Occurrence, Outcome, Picture, Score
from cuescope_sdk.report import PanelRow, contrast, draw_beside, image_panels

ON_BACKGROUND = "Wrong answers that rely on the background"
LOOK_ALIKE = "Wrong answers that rely on an object and name its look-alike"
OTHER = "Other wrong answers"
RIGHT = "Right answers"
UNLABELLED = "Images without a label"
RULE = (
    "On the left, {left}, spread evenly from the least to the most typical. "
    "On the right, samples of the same labels{where}. The drawing: clusters of patches, then what "
    "each counts (red for the class that the map is about, blue against it)."
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
    scores: Sequence[Score],
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
        for shown in contrasts(known, scores):
            audit.attach(shown)


def contrasts(known: Backgrounds, scores: Sequence[Score]) -> Iterator[Contrast]:
    """One for each finding: the answers that the background decides, beside others.

    They are of the images that the figures are of.
    """
    rows = known.rows_by_pair
    members = groups(known.sources)
    for score in scores:
        # the shares of errors are figures, and never findings
        if not score.finding or score.metric != "pull":
            continue
        if score.label is None:
            shown = overall_contrast(known.sources)
        else:
            row = rows[score.feature, score.label]
            shown = pull_contrast(row, members[row.feature], known.sources)
        if shown is not None:
            yield shown


def pull_contrast(row: PullRow, members: Sources, sources: Sources) -> Contrast | None:
    """Images of a kind of background answered as the class, beside others of the same labels."""
    answered = []
    turned = []
    for source in members:
        if source.prediction == row.label:
            answered.append(source)
            # what the background turned shows more than what would have been answered so without it
            if source.object_answer != row.label:
                turned.append(source)
    keys = {source.key for source in members}
    others = [source for source in sources if source.key not in keys]
    left = "images answered so"
    if turned:
        left += " only while the background is there"
    return _contrast(
        row.feature,
        row.label,
        f"with {factor_words(row.feature)}: {row.answered} of {row.images} answered '{row.label}'",
        f"the same labels, other backgrounds: {row.pull.elsewhere:.0%} answered '{row.label}'",
        # where nothing was turned, what was answered so is all that can be shown
        turned or answered,
        others,
        RULE.format(left=left, where=" before other backgrounds"),
    )


def overall_contrast(sources: Sources) -> Contrast | None:
    """Answers that the background decides, beside others."""
    overruled = [source for source in sources if source.overruled]
    others = [source for source in sources if not source.overruled]
    return _contrast(
        BACKGROUND,
        None,
        f"the background decides: {len(overruled)} of {len(sources)} answers",
        f"it does not: {len(others)} of {len(sources)} answers",
        overruled,
        others,
        RULE.format(
            left="answers that are those to the background alone, and not to the objects alone",
            where=" where it is not so",
        ),
    )


def _contrast(
    feature: str,
    label: str | None,
    left: str,
    right: str,
    misled: Sources,
    others: Sources,
    rule: str,
) -> Contrast | None:
    by_key = {}
    where = {}
    for source in (*misled, *others):
        key = source.sample.key
        by_key[key] = source
        where[key] = Occurrence(sample=source.key, frame=0)
    return contrast(
        feature,
        {left: _wholes(misled), right: _wholes(others)},
        label=label,
        where=where,
        words=lambda outcome: _apart_words(by_key[outcome.trial.sample.key]),
        drawing=lambda outcome: draw(by_key[outcome.trial.sample.key]),
        rule=rule,
        matched=True,
        counted=False,
    )


def _wholes(sources: Sources) -> list[Outcome]:
    """The answers to the images as they are."""
    return [source.outcomes[0] for source in sources]


def _apart_words(source: AnswerSource) -> str:
    background = f"background alone: '{source.background_answer}'"
    return f"{background}; objects alone: '{source.object_answer}'"


def draw(source: AnswerSource) -> bytes:
    """The clusters of an image and their importance, over the image."""
    return draw_beside(_panel(source).overlays())
