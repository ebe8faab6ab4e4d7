"""The cue's words are taken out of the question, a sentence names it, or another is asked."""

import re
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from cuescope_interventions.case_by_case import CaseByCase
from cuescope_sdk import Options, Trial, Words, digest
from cuescope_sdk.interventions import Case


class NameOptions(Options):
    """What stands in place of the words."""

    neutral: Annotated[str, Words()] = Field(
        "something", description="word in place of the cue's words"
    )


class Name(CaseByCase):
    """The cue's words in the question give way to a neutral one."""

    title = "its words are taken out of the question"
    needs = "words"
    placebo = "other words"
    Options = NameOptions
    options: NameOptions

    def change(self, case: Case) -> Trial:
        """The sample with another question."""
        words = case.sample.question or ""
        # from the last one on: the places of the others stay as they are
        for start, end in sorted(case.place.spans, reverse=True):
            words = words[:start] + self.options.neutral + words[end:]
        # an empty neutral word would leave two spaces
        question = re.sub(r"\s+", " ", words)
        return _ask(case, question, "name")


class MentionOptions(Options):
    """The sentence."""

    sentence: Annotated[str, Words()] = Field(
        "There is a {cue}.",
        description="what is put before the question; {cue} is the cue's name",
    )


class Mention(CaseByCase):
    """A sentence before the question names the cue, where it is not shown."""

    title = "a sentence before the question names it"
    needs = "name"
    effect = "inserts"
    placebo = "other words"
    Options = MentionOptions
    options: MentionOptions

    def change(self, case: Case) -> Trial:
        """The sample with another question."""
        # no str.format: a sentence may have braces of its own
        sentence = self.options.sentence.replace("{cue}", case.word or "thing")
        question = f"{sentence} {case.sample.question or ''}"
        return _ask(case, question.strip(), "mention")


class SwapQuestion(CaseByCase):
    """Another sample's question stands in place of the sample's own.

    Where the model answers as if nothing had happened, it does not read the question.
    """

    title = "another sample's question is asked"
    needs = "question"
    placebo = "other donor"

    def change(self, case: Case) -> Trial:
        """The sample with its donor's question."""
        question = None
        if case.donor:
            question = case.donor.question
        return _ask(case, question or "", "swap-question")


def _ask(case: Case, question: str, operation: str) -> Trial:
    # a digest: intervention and placebo change one sample, and need two keys
    key = f"{case.sample.key}/{operation}-{digest(question)[:10]}"
    sample = replace(case.sample, question=question, key=key)
    return Trial(sample=sample)
