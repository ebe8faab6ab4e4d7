"""Cues that a language model names."""

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from cuescope_proposers.llm import LLMOptions, LLMProposer
from cuescope_sdk import Context, Options, Plugin, UserError
from cuescope_testing import FakeDetector, PluginShelf


class WriterOptions(Options):
    """What it writes."""

    argument = "voice"

    voice: str = "lists"


class Writer(Plugin):
    """Answers the four prompts with four lists, or with prose."""

    Options = WriterOptions
    asked: ClassVar[list[str]] = []

    def __init__(self, options: WriterOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = f"writer {options.voice}"
        self.facts = {"voice": options.voice}

    def generate(self, prompts: Sequence[str]) -> list[str]:
        self.asked.extend(prompts)
        if self.options.voice == "prose":
            return [
                "A toaster is a machine that makes bread brown, as you will know."
            ] * 4
        return [
            "1. Bread\n2. Butter\n3. Jam",
            "counter, wall, toaster",
            "- Bread\n- Plate",
            "",
        ][: len(prompts)]


def tool(generator: str, **options: Any) -> LLMProposer:
    shelf = PluginShelf({("tool", "writer"): Writer, ("tool", "eye"): FakeDetector})
    context = Context(registry=shelf)
    return LLMProposer(LLMOptions(generator=generator, **options), context)


def test_the_first_of_each_reply_come_first() -> None:
    Writer.asked.clear()
    assert tool("writer", each=5).propose("Toaster") == [
        "bread",
        "counter",
        "butter",
        "wall",
        "plate",
        "jam",
    ]
    assert len(set(Writer.asked)) == 4
    assert all(
        '"Toaster"' in prompt and " 5 names" in prompt for prompt in Writer.asked
    )


def test_prose_names_nothing() -> None:
    assert tool("writer:prose").propose("toaster") == []


def test_a_tool_that_writes_nothing_is_refused() -> None:
    with pytest.raises(
        UserError, match=r"llm: tool eye writes no text: expected one with gen"
    ):
        tool("eye")
    with pytest.raises(UserError, match=r"Did you mean 'writer'\?"):
        tool("writr")


def test_fingerprint_and_facts_are_those_of_the_writer() -> None:
    found = {
        tool("writer").fingerprint,
        tool("writer:prose").fingerprint,
        tool("writer", generator_options={"voice": "other"}).fingerprint,
        tool("writer", each=3).fingerprint,
    }
    assert len(found) == 4
    assert tool("writer:prose").facts == {
        "voice": "prose",
        "cues are named by": "writer:prose",
    }


def test_results_bring_other_names() -> None:
    Writer.asked.clear()
    told = {"butter": 0.2, "counter": 4.1}
    names = tool("writer", each=5).propose_more("toaster", told)
    assert names == ["bread", "jam"]
    [prompt] = Writer.asked
    # the strongest first, with its strength
    assert "counter (+4.1), butter (+0.2)" in prompt
    assert 'pictures of "toaster"' in prompt
    assert "Give 5 names" in prompt
