"""The rows of the report, its finding and its notes."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cuescope_blind.contamination.scores import Kept
from cuescope_blind.contamination.trials import (
    ANOTHER,
    CHANGED,
    ORIGINAL,
    Pair,
    ask,
    pairs_of,
)
from cuescope_blind.looking.analysis import named_option
from cuescope_blind.looking.scores import lost
from cuescope_sdk import Audit, Feature, Finding, Impact, Occurrence, Score
from cuescope_sdk.report import count_of, shares_row
from cuescope_sdk.statistics import Estimate, Groups

NAMES = {CHANGED: "the changed picture", ANOTHER: "the picture of another pair"}
NEXT_STEP = (
    "Look at the pairs: a change that failed, or words that have the old answer, keep it too. "
    "Ask a model that cannot know the originals the same:"
)
Answers = Mapping[str, list[str | None]]


def features(audit: Audit) -> Iterator[Feature]:
    """A feature a kind of picture; the first has the pairs that keep their old answer."""
    pairs = audit.once(pairs_of, audit)
    answers = audit.once(answers_of, audit)
    kept = [
        Occurrence(sample=pair.changed.key)
        for pair, answer in zip(pairs, answers[CHANGED], strict=True)
        if answer == pair.old_answer
    ]
    for key, name in NAMES.items():
        places = tuple(kept) if key == CHANGED else ()
        yield Feature(key=key, kind="picture", name=name, occurrences=places)


def answers_of(audit: Audit) -> Answers:
    """What was answered in each condition, in the order of pairs; for `audit.once`."""
    answers: dict[str, list[str | None]] = {}
    for outcome in audit.once(ask, audit):
        answers.setdefault(outcome.trial.condition, []).append(named_option(outcome))
    return answers


def scores(audit: Audit) -> Iterator[Score]:
    """The test is of changed pictures; those of other pairs say what the words alone do."""
    options = audit.options
    pairs = audit.once(pairs_of, audit)
    answers = audit.once(answers_of, audit)
    groups = Groups.of([pair.original for pair in pairs])
    kept = {key: _kept(pairs, answers[key], groups) for key in NAMES}
    tested = kept[CHANGED]
    passes = tested.p_value is not None and tested.p_value <= options.fdr
    least = tested.smallest(options.fdr, audit.rng("power"))
    audit.note(
        "power",
        "none: too few pairs"
        if least is None
        else f"80% for an old answer that is kept in {least:.0%} of the pairs more",
    )
    audit.note("next step", NEXT_STEP)
    rows = []
    for key, of_key in kept.items():
        low, high = of_key.interval(options.confidence)
        change = (
            None if low is None or high is None else Estimate(of_key.gap, low, high)
        )
        row = shares_row(
            NAMES[key], of_key.old.mean(), of_key.other.mean(), change, n=len(pairs)
        )
        rows.append(row.model_copy(update={"feature": key}))
        p_value = tested.p_value if key == CHANGED else None
        yield Score(
            feature=key,
            label=None,
            metric="kept",
            value=of_key.gap,
            low=low,
            high=high,
            n=len(pairs),
            p_value=p_value,
            q_value=p_value,
            finding=passes and key == CHANGED,
            statement=f"With {{feature}} the old answer is given in {of_key.old.mean():.0%} of "
            f"{count_of(len(pairs), 'pairs')}, each other wrong one in {of_key.other.mean():.0%}.",
        )
    yield _lost(audit, pairs, answers, groups)
    if passes:
        audit.attach(
            Finding(
                feature=CHANGED,
                claim="THE OLD ANSWER is kept where the picture was changed",
                measure="answered, of",
                columns=("old answer", "other wrong"),
                rows=tuple(rows),
                impact=Impact(
                    count=int(tested.old.sum()),
                    total=len(pairs),
                    of="pairs",
                    detail="the old answer is kept",
                ),
                status="partly used",
            )
        )


def _kept(pairs: Sequence[Pair], answers: Sequence[str | None], groups: Groups) -> Kept:
    """Of each pair 1 for the old answer, and the share of one of the other wrong options."""
    old, other = [], []
    for pair, answer in zip(pairs, answers, strict=True):
        is_wrong = answer is not None and answer != pair.changed.label
        is_old = answer == pair.old_answer
        old.append(float(is_old))
        other.append((is_wrong and not is_old) / (len(pair.changed.choices) - 2))
    return Kept(np.array(old), np.array(other), groups)


def _lost(
    audit: Audit, pairs: Sequence[Pair], answers: Answers, groups: Groups
) -> Score:
    """What the change costs in accuracy, the published criterion."""
    before = np.array(
        [
            answer == pair.old_answer
            for pair, answer in zip(pairs, answers[ORIGINAL], strict=True)
        ]
    )
    after = np.array(
        [
            answer == pair.changed.label
            for pair, answer in zip(pairs, answers[CHANGED], strict=True)
        ]
    )
    cost = lost(before, after, groups)
    audit.note(
        "correct",
        f"{before.mean():.1%} of the originals, {after.mean():.1%} of the changed pictures: "
        f"{cost.points} lost",
    )
    return Score(
        feature=CHANGED,
        label=None,
        metric="lost",
        value=cost.value,
        low=cost.low,
        high=cost.high,
        n=len(pairs),
        p_value=cost.p_value,
    )
