"""The claims of a run, kept with their verdicts, and put before people (section 3.2)."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError

from cuescope_sdk import Audit, LabelItem, StoredRun, UserError
from cuescope_sdk.grounding import ClaimKind
from cuescope_step_grounding.claims.contents import claim_words, moment_words
from cuescope_step_grounding.verification.agreement import VERDICTS
from cuescope_step_grounding.verification.judged import JudgedTraces

CLAIM = "claim/"  # a claim's feature in answers.parquet: claim/STEP/NUMBER
VERDICT = "claim supported"  # 1 or 0
MOST_FRAMES = 9  # of a claim that names no moment, or many
T = TypeVar("T")


class _Claim(BaseModel):
    """What is kept of a claim."""

    kind: str
    claim: str
    when: str | None
    frames: list[int] | None
    step: str


def record_claims(audit: Audit, judged: JudgedTraces) -> None:
    """Each claim that the verifier decides, once a trace: what it says, of which frames."""
    for trace in judged.baselines:
        reasoning = trace.reasoning
        seen = set()
        for step, claims in enumerate(reasoning.claims, 1):
            for number, claim in enumerate(claims, 1):
                verdict = judged.judgements.of(trace.sample, claim).verdict
                # of what the verifier leaves open people can tell no error
                if claim in seen or verdict == "unverifiable":
                    continue
                seen.add(claim)
                about = {
                    "kind": claim.kind,
                    "claim": claim_words(claim),
                    "when": moment_words(claim),
                    "frames": claim.frames,
                    "step": reasoning.trace.steps[step - 1],
                }
                audit.record(
                    trace.sample,
                    f"{CLAIM}{step}/{number}",
                    VERDICT,
                    float(verdict == "supported"),
                    json.dumps(about),
                )


def label_items(run: StoredRun, each: int) -> Iterator[LabelItem]:
    """At most `each` claims of each trace, spread evenly over it.

    They are not chosen by what the verifier says of them: of claims that are, its errors could not
    be told.
    """
    rows = [row for row in run.answers if row["condition"] == VERDICT]
    # the rows of a trace stand together, as `record_claims` wrote them
    for sample, of_trace in groupby(rows, lambda row: str(row["sample"])):
        shown = run.samples.get(sample)
        for row in spread(list(of_trace), each):
            about, step, number = _read_claim(row, run)
            when = f" ({about.when})" if about.when else ""
            frames: tuple[int, ...] = ()
            if shown:
                # of a stored run: its package may be gone
                kind = ClaimKind.declared.get(about.kind)
                around = kind is not None and kind.moves
                frames = frames_shown(about.frames, len(shown.frames), around)
            yield LabelItem(
                question="Do the frames show what is claimed?",
                text=f"Claim: {about.claim}{when}. The step: {about.step}",
                row={"sample": sample, "step": step, "claim": number},
                column="verdict",
                answers=VERDICTS,
                abstains="unverifiable",
                sample=sample,
                frames=frames,
                expected=VERDICTS[0] if row["figure"] else VERDICTS[1],
                kind=about.kind,
            )


def _read_claim(row: Mapping[str, Any], run: StoredRun) -> tuple[_Claim, str, str]:
    """What a claim says, with the numbers of its step and of it; raises UserError for a row
    that is none of ours.
    """
    place = re.fullmatch(rf"{CLAIM}([0-9]+)/([0-9]+)", row["feature"] or "")
    try:
        about = _Claim.model_validate_json(row["text"] or "")
    except ValidationError:
        about = None
    if about is None or place is None:
        raise UserError(
            f"label: a claim in the answers of {run.folder} cannot be read",
            expected="claims as an audit with step-grounding keeps them",
            got=f"{row['text']!r:.60}",
            remedy="Run the audit again",
        )
    return about, place[1], place[2]


def frames_shown(meant: list[int] | None, count: int, around: bool) -> tuple[int, ...]:
    """The frames that a claim is about, or of very many some of them, evenly; all for None.

    With `around` the frames before and after each are shown too.
    """
    # a movement shows only beside the frames around it
    near = (-1, 0, 1) if around else (0,)
    named = {index + step for index in meant or () for step in near}
    frames = sorted(named.intersection(range(count))) or range(count)
    return tuple(spread(frames, MOST_FRAMES))


def spread(items: Sequence[T], most: int) -> list[T]:
    """At most so many of the items, evenly over all."""
    places = np.linspace(0, len(items) - 1, min(most, len(items)))
    few = places.round().astype(int).tolist()
    return list(map(items.__getitem__, few))
