"""The rows of the report, its sentences, notes and tables."""

from collections.abc import Iterator

import numpy as np

from cuescope_blind.looking.analysis import BLIND_WAYS, Sight, WayResult, sight
from cuescope_blind.looking.scores import kinds_of_sight
from cuescope_blind.looking.trials import QUESTION_ALONE, TURNED, WRONG_VIDEO
from cuescope_sdk import (
    Audit,
    Cell,
    Feature,
    Finding,
    Impact,
    Occurrence,
    Row,
    Score,
    Table,
)
from cuescope_sdk.report import count_of, shares_row
from cuescope_sdk.statistics import Estimate

NEXT_STEP = (
    "The command `blind` says what in the texts gives answers away. Where the video is lost "
    "inside the model: the method `quag`; whether it tells a video from its opposite:"
    " data `clavi`."
)
MARGIN = 0.1  # of the accuracy above chance, as `quag`'s verdict (Rawal et al., 2024)
LEAST = 0.02


def features(audit: Audit) -> Iterator[Feature]:
    """A feature a way to ask; a finding has the questions that it is about.

    Those are right without a look, or are answered otherwise when their options are turned.
    """
    seen = audit.once(sight, audit)
    for result in (*seen.results, seen.turned):
        occurrences = tuple(Occurrence(sample=s.key) for s in seen.found(result))
        yield Feature(
            key=result.key,
            kind="way to ask",
            name=result.name,
            occurrences=occurrences,
        )


def findings(audit: Audit) -> Iterator[Finding]:
    """What is answered without looking, and what hangs on the order of the options."""
    seen = audit.once(sight, audit)
    as_it_is = float(seen.as_it_is.mean())
    found = [
        result
        for result in seen.results
        if result.finding and result.key in (QUESTION_ALONE, WRONG_VIDEO)
    ]
    if found:
        first = found[0]
        rows = [shares_row("unchanged", as_it_is, None, None, n=len(seen.samples))]
        rows += map(_row_of, seen.results)
        chance = first.right.mean() - first.gain.value
        rows.append(shares_row("chance level", float(chance), None, None))
        both = int((seen.as_it_is & first.right).sum())
        correct = int(seen.as_it_is.sum())
        # as the verdict of `quag`: what costs less is no use of the video
        margin = max(MARGIN * (as_it_is - chance), LEAST)
        is_used = first.lost.high is None or first.lost.high > margin
        claim = f"{both / correct:.0%} OF THE CORRECT ANSWERS need no video"
        if not is_used:
            claim = "THE VIDEO is not used; the model answers from the question alone"
        yield Finding(
            feature=first.key,
            claim=claim,
            measure="the model gets",
            columns=("correct", ""),
            rows=tuple(rows),
            impact=Impact(
                count=both,
                total=correct,
                of="correct answers",
                detail="given without the video too",
            ),
            status="partly used" if is_used else "not used",
        )
    turned = seen.turned
    if turned.finding:
        row = shares_row(
            "answers that change", turned.gain.value, None, None, n=len(turned.right)
        ).model_copy(update={"feature": TURNED})
        yield Finding(
            feature=TURNED,
            claim="THE ORDER OF THE OPTIONS changes the answer",
            measure="",
            columns=("share", ""),
            rows=(row,),
            impact=Impact(
                count=int(turned.right.sum()), total=len(turned.right), of="answers"
            ),
            status="cause",
        )


def _row_of(result: WayResult) -> Row:
    lost = result.lost
    change = None
    if lost.low is not None and lost.high is not None:
        change = Estimate(-lost.value, -lost.high, -lost.low)
    row = shares_row(
        result.name, float(result.right.mean()), None, change, n=len(result.right)
    )
    return row.model_copy(update={"feature": result.key})


def scores(audit: Audit) -> Iterator[Score]:
    """What each way is worth beside guessing, and what is lost by it."""
    seen = audit.once(sight, audit)
    _note(audit, seen)
    _record(audit, seen)
    audit.attach(_table(seen))
    for result in seen.results:
        yield from _way_scores(result)
    share = seen.turned.gain
    count = len(seen.turned.right)
    # turned options are compared with themselves, so they have no accuracy and no guessing
    yield _score(
        seen.turned,
        f"With {{feature}} the answer changes in {share.value:.1%} of "
        f"{count_of(count, 'questions')} ({share.points}).",
    )


def _score(result: WayResult, statement: str) -> Score:
    return Score(
        feature=result.key,
        label=None,
        metric="beyond_guessing",
        value=result.gain.value,
        low=result.gain.low,
        high=result.gain.high,
        n=len(result.right),
        p_value=result.gain.p_value,
        q_value=result.q_value,
        finding=result.finding,
        statement=statement,
    )


def _way_scores(result: WayResult) -> Iterator[Score]:
    n = len(result.right)
    yield _score(
        result,
        f"With {{feature}} the model is right in {result.right.mean():.1%} of {n:,} "
        f"questions; chance level {result.right.mean() - result.gain.value:.1%} "
        f"({result.gain.points}).",
    )
    yield Score(
        feature=result.key,
        label=None,
        metric="lost",
        value=result.lost.value,
        low=result.lost.low,
        high=result.lost.high,
        n=n,
        p_value=result.lost.p_value,
    )


def _note(audit: Audit, seen: Sight) -> None:
    total = len(seen.samples)
    audit.note(
        "unchanged", f"{seen.as_it_is.mean():.1%} of {total:,} questions are right"
    )
    # not asked without the video: nothing says what it is worth
    without = seen.right_in(QUESTION_ALONE)
    if without is not None:
        parts = kinds_of_sight(seen.as_it_is, without)
        needs = {name: int(part.sum()) for name, part in parts.items()}
        audit.note(
            "what each question is",
            f"{needs['needs']:,} need the video, {needs['answers blind']:,} are right without it "
            f"too, {needs['conflicts']:,} are right only without it, {needs['fails']:,} are wrong "
            "either way",
        )
    if seen.silent:
        counts = [f"{count:,} {key}" for key, count in seen.silent.items()]
        audit.note("name no option, and are wrong", ", ".join(counts))
    if audit.capabilities.min_frames > 0:
        audit.note(
            "without the video", "this model needs a picture: it is shown plain grey"
        )
    left_out = len(audit.samples) - total
    if left_out:
        audit.note(
            "left out",
            f"{count_of(left_out, 'samples')} without frames, label or options",
        )
    audit.note("next step", NEXT_STEP)


def _record(audit: Audit, seen: Sight) -> None:
    """Of every question whether it needs the video: rows of `answers.parquet`."""
    without = seen.right_in(QUESTION_ALONE)
    if without is None:
        return
    for name, part in kinds_of_sight(seen.as_it_is, without).items():
        for number in np.flatnonzero(part).tolist():
            sample = seen.samples[number]
            audit.record(sample, QUESTION_ALONE, "sight", 1.0, name)


def _table(seen: Sight) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            "unchanged",
            len(seen.samples),
            100 * seen.as_it_is.mean(),
            None,
            None,
            None,
            None,
        )
    ]
    for result in seen.results:
        guessing = 100 * (result.right.mean() - result.gain.value)
        less = result.lost
        rows.append(
            (
                result.name,
                len(result.right),
                100 * result.right.mean(),
                # with a part of the video the model still sees, and guessing is no yardstick
                guessing if result.key in BLIND_WAYS else None,
                100 * less.value,
                None if less.low is None else 100 * less.low,
                None if less.high is None else 100 * less.high,
            )
        )
    return Table.of(
        "The same questions, asked in other ways (percent)",
        ("shown", "questions", "right", "guessing", "lost", "low", "high"),
        rows,
        "Lost is of the same questions, beside what they are as it is, with its interval.",
    )
