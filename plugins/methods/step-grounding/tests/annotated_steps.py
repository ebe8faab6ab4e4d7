"""Steps with the claims that a person reads in them, and how well a parser finds these.

`steps.jsonl` holds one step a line, written in the style of video questions about households
("star"), indoor navigation ("r2r") and tasks in a kitchen ("teach"): `step`, the steps `before` it
where it looks back, `claims`, and the `frames` that it means of `CLOCK` where it tells a time. A
claim is a list: its kind, with "not " where it is denied, then what it has of subject, predicate
and object; of a temporal one, the two claims with the order between them.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from cuescope_sdk.grounding import Claim
from cuescope_step_grounding.claims.parser import Parser
from cuescope_step_grounding.claims.steps import claims_of_steps
from cuescope_step_grounding.claims.times import Clock

CLOCK = Clock(10, tuple(float(second) for second in range(10)))

Key = tuple[Any, ...]  # what two claims must share to be the same


@dataclass(frozen=True, slots=True)
class Annotated:
    """A step, those before it, its claims and the frames that it means (None: no time is told)."""

    task: Literal["star", "r2r", "teach"]
    step: str
    before: tuple[str, ...]
    claims: frozenset[Key]
    frames: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Claims found, claims annotated, and those that are both."""

    both: int
    found: int
    annotated: int

    @property
    def precision(self) -> float:
        """The share of found claims that are annotated."""
        return self.both / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of annotated claims that are found."""
        return self.both / self.annotated if self.annotated else 0.0


def annotated() -> list[Annotated]:
    """The annotated steps, in the order of the file."""
    lines = (files(__package__) / "steps.jsonl").read_text("utf-8").splitlines()
    return [
        Annotated(
            task=row["task"],
            step=row["step"],
            before=tuple(row.get("before", ())),
            claims=frozenset(map(_key, row["claims"])),
            frames=tuple(row["frames"]) if "frames" in row else None,
        )
        for row in map(json.loads, lines)
    ]


def key_of(claim: Claim) -> Key:
    """What tells a claim from others, whenever it is said to hold."""
    kind = f"not {claim.kind}" if claim.negated else claim.kind
    if claim.kind == "temporal":
        one, other = claim.parts
        return (kind, key_of(one), claim.predicate, key_of(other))
    return (kind, claim.subject, claim.predicate, claim.object)


def found_in(parser: Parser, step: Annotated) -> frozenset[Key]:
    """What a parser finds in a step."""
    claims = claims_of_steps(parser, [*step.before, step.step], CLOCK)[-1]
    return frozenset(map(key_of, claims))


def agreement(parser: Parser, steps: Iterable[Annotated]) -> Agreement:
    """How well a parser's claims agree with the annotated ones, over all steps."""
    pairs = [(found_in(parser, step), step.claims) for step in steps]
    return Agreement(
        sum(len(found & right) for found, right in pairs),
        sum(len(found) for found, _ in pairs),
        sum(len(right) for _, right in pairs),
    )


def _key(row: list[Any]) -> Key:
    kind, *said = row
    if kind.endswith("temporal"):
        one, word, other = said
        return (kind, _key(one), word, _key(other))
    if kind.endswith("ego-motion"):
        said = ["", *said]
    return (kind, *said, *[None] * (3 - len(said)))
