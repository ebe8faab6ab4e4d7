"""The cue's words are taken out of the question, a sentence names it, or another is asked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from cuescope_sdk import Options, Trial, Words, digest
from cuescope_sdk.interventions import Case, Intervention


class NameOptions(Options):
    """What stands in place of the words."""

    neutral: Annotated[str, Words()] = Field(
        "something", description="word in place of the cue's words"
    )


class Name(Intervention):
    """The cue's words in the question give way to a neutral one."""

    title = "its words are taken out of the question"
    needs = "words"
    placebo = "other words"
    Options = NameOptions
    options: NameOptions

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The samples with another question."""
        return [self._without(case) for case in cases]

    def _without(self, case: Case) -> Trial:
        words = case.sample.question or ""
        for start, end in sorted(case.place.spans, reverse=True):
            words = words[:start] + self.options.neutral + words[end:]
        return _asked(case, re.sub(r"\s+", " ", words), "name")


class MentionOptions(Options):
    """The sentence."""

    sentence: Annotated[str, Words()] = Field(
        "There is a {cue}.", description="what is put before the question; {cue} is the cue's name"
    )


class Mention(Intervention):
    """A sentence before the question names the cue, where it is not shown."""

    title = "a sentence before the question names it"
    needs = "name"
    effect = "inserts"
    placebo = "other words"
    Options = MentionOptions
    options: MentionOptions

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The samples with another question."""
        return [
            _asked(
                case,
                f"{self.options.sentence.replace('{cue}', case.word or 'thing')} "
                f"{case.sample.question or ''}".strip(),
                "mention",
            )
            for case in cases
        ]


class SwapQuestion(Intervention):
    """Another sample's question stands in place of the sample's own.

    Where the model answers as if nothing had happened, it does not read the question.
    """

    title = "another sample's question is asked"
    needs = "question"
    placebo = "other donor"

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The samples with their donors' questions."""
        return [
            _asked(case, (case.donor and case.donor.question) or "", "swap-question")
            for case in cases
        ]


def _asked(case: Case, question: str, operation: str) -> Trial:
    key = f"{case.sample.key}/{operation}-{digest(question)[:10]}"
    return Trial(sample=replace(case.sample, question=question, key=key))
