"""Claims that a language model writes down, a step at a time; a parser reads what it spoils.

A line of its answer is a claim as JSON. Of an answer with any line that is none nothing is taken:
the parser reads that step, or where none is installed it claims nothing. The report counts such
steps.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, filterfalse, islice

from pydantic import BaseModel, ConfigDict, ValidationError

from cuescope_sdk import TextGenerator
from cuescope_sdk.grounding import Claim, ClaimKind, KindName
from cuescope_step_grounding.claims.english.spacy_parser import Parser
from cuescope_step_grounding.claims.english.words import WORDS
from cuescope_step_grounding.claims.resources import read_toml
from cuescope_step_grounding.claims.steps import Claims, add_what_is_counted, read_steps
from cuescope_step_grounding.claims.times import Clock, Frames, frames_meant

_PROMPTS = read_toml("claims/prompt.toml")
_BEFORE = 3  # steps that are shown for what pronouns mean
_ARTICLE = re.compile(r"^(?:a|an|the|his|her|its|their|my|our|your|some)\s+")
_FENCE = re.compile(r"^```\w*$")

Trace = tuple[Sequence[str], Clock]  # its steps, and the video's frames


class _Line(BaseModel):
    """A line of an answer; `first` and `second` are the numbers of lines, of a temporal claim."""

    # a misspelt "negated" must not be overlooked: the claim would say the opposite
    model_config = ConfigDict(extra="forbid", strict=True)

    kind: KindName
    subject: str = ""
    predicate: str | None = None
    object: str | None = None
    negated: bool = False
    first: int | None = None
    second: int | None = None


@dataclass
class ParserReader:
    """Reads claims with a parser."""

    parser: Parser

    @property
    def title(self) -> str:
        return self.parser.title

    def read(self, traces: Sequence[Trace]) -> list[list[Claims]]:
        """The claims of each step of each trace."""
        return [read_steps(self.parser, steps, clock) for steps, clock in traces]


@dataclass
class WrittenReader:
    """Has a text generator write the claims down.

    `steps` counts what was read, `unreadable` the answers in whose place the parser read; without a
    parser those steps claim nothing.
    """

    generator: TextGenerator
    name: str
    parser: Parser | None = None
    steps: int = 0
    unreadable: int = 0

    @property
    def title(self) -> str:
        """What a report says of it."""
        told = f"text generator {self.name}, of unknown precision"
        if not self.unreadable:
            return told
        instead = (
            f"by {self.parser.title}"
            if self.parser
            else "unreadable: they claim nothing"
        )
        return f"{told}; {self.unreadable:,} of {self.steps:,} steps {instead}"

    def read(self, traces: Sequence[Trace]) -> list[list[Claims]]:
        """The claims of each step of each trace, asked for in one call."""
        prompts = list(chain.from_iterable(_prompts(steps) for steps, _ in traces))
        answers = iter(self.generator.generate(prompts) if prompts else ())
        read = []
        for steps, clock in traces:
            read.append(
                self._read(
                    steps,
                    clock,
                    list(islice(answers, len(steps))),
                )
            )
        return read

    def _read(
        self,
        steps: Sequence[str],
        clock: Clock,
        answers: list[str],
    ) -> list[Claims]:
        parsed: list[Claims] = [()] * len(steps)
        if self.parser is not None:
            parsed = read_steps(self.parser, steps, clock)
        read = []
        for step, answer, by_parser in zip(steps, answers, parsed, strict=True):
            claims = claims_in(answer, step, frames_meant(step, clock))
            self.steps += 1
            self.unreadable += claims is None
            read.append(by_parser if claims is None else claims)
        return read


def claims_in(
    answer: str,
    step: str,
    frames: Frames | None,
) -> tuple[Claim, ...] | None:
    """The claims that an answer holds, line by line; None where any line is none.

    >>> [claim.subject for claim in claims_in('{"kind": "entity", "subject": "the cup"}', "", None)]
    ['cup']
    """
    rows = list(filter(None, map(str.strip, answer.splitlines())))
    # models put JSON into a fence of code
    rows = list(filterfalse(_FENCE.match, rows))
    if rows == ["none"]:
        return ()
    claims: list[Claim] = []
    try:
        for row in rows:
            claims.append(
                _claim(
                    _Line.model_validate(json.loads(row)),
                    claims,
                    step,
                    frames,
                )
            )
    # RecursionError: what json raises of brackets within brackets within brackets
    except (ValueError, ValidationError, IndexError, RecursionError):
        return None
    # an empty answer is none: that a step claims nothing has to be said
    return tuple(dict.fromkeys(add_what_is_counted(claims))) if rows else None


def _prompts(steps: Sequence[str]) -> Iterator[str]:
    # Those made of other claims come last: they name lines before them.
    kinds = sorted(ClaimKind.declared.values(), key=lambda kind: kind.composed)
    examples = []
    rules = []
    for kind in kinds:
        examples.append(json.dumps({"kind": kind.name, **kind.example}))
        if kind.rule:
            rules.append(f"- {kind.rule}")
    for index, step in enumerate(steps):
        before = " ".join(steps[max(index - _BEFORE, 0) : index]) or "(nothing)"
        yield _PROMPTS["claims"].format(
            examples="\n".join(examples),
            rules="\n".join(rules),
            before=before,
            step=step,
        )


def _claim(
    line: _Line,
    earlier: Sequence[Claim],
    step: str,
    frames: Frames | None,
) -> Claim:
    """Raises ValueError or IndexError of a line that says no claim of its kind."""
    kind = ClaimKind.declared[line.kind]
    if kind.composed:
        # lines count from 1, and 0 would mean the last one
        ordered = line.predicate in {"before", "after", "while"}
        if not (ordered and line.first and line.second):
            raise ValueError("no order")
        return Claim(
            kind=line.kind,
            text=step,
            predicate=line.predicate,
            parts=(earlier[line.first - 1], earlier[line.second - 1]),
        )
    phrases = {
        "subject": _phrase(line.subject),
        "predicate": _phrase(line.predicate or ""),
        "object": _phrase(line.object or ""),
    }
    if not all(map(phrases.get, kind.needs)):
        raise ValueError("a part is missing")
    if "predicate" in kind.needs and not kind.accepts(phrases["predicate"]):
        raise ValueError("a predicate without a meaning")
    return Claim(
        kind=line.kind,
        text=step,
        subject=phrases["subject"],
        predicate=phrases["predicate"] or None,
        object=phrases["object"] or None,
        negated=line.negated,
        frames=frames,
    )


def _phrase(words: str) -> str:
    """Lower case, single spaces, no article; who holds the camera is the agent."""
    phrase = _ARTICLE.sub("", " ".join(words.lower().split()))
    return "agent" if phrase in WORDS.agents else phrase
