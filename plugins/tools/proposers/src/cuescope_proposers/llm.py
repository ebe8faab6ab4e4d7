"""Cues that a language model names."""

from collections.abc import Mapping
from itertools import chain, zip_longest
from typing import Annotated, Any

from pydantic import Field, PositiveInt

from cuescope_sdk import Context, Names, Options, Plugin, UserError, digest
from cuescope_sdk.language import parse_list, prompt_for_more, proposal_prompts
from cuescope_sdk.tools import normalise_name


class LLMOptions(Options):
    """Options of `llm`; the part after `llm:` is `generator`."""

    argument = "generator"

    generator: Annotated[str, Names.plugin()] = Field(
        description="SPEC of the language model: openai:gpt-4o-mini, transformers-llm:MODEL"
    )
    generator_options: Annotated[Mapping[str, Any], Names.plugin()] = Field(
        {}, description="options of that tool"
    )
    each: PositiveInt = Field(
        16, description="names asked for in each of the four ways"
    )


class LLMProposer(Plugin):
    """Asks for cues in four ways (SpurLens, section 4): in images, behind, beside, in mind.

    What was answered before is the language model's to remember.
    """

    Options = LLMOptions
    options: LLMOptions

    def __init__(self, options: LLMOptions, context: Context) -> None:
        super().__init__(options, context)
        self._generator = context.build(
            "tool", options.generator, options.generator_options
        )
        if not hasattr(self._generator, "generate"):
            raise UserError(
                f"llm: tool {options.generator} writes no text",
                expected="one with generate()",
            )
        # what a generator without a fingerprint says cannot be told from what another says
        generator = getattr(self._generator, "fingerprint", None)
        # other prompts bring other names
        prompts = proposal_prompts("", options.each)
        self.fingerprint = generator and digest("llm", 2, generator, prompts)

    @property
    def facts(self) -> Mapping[str, str]:
        generator = getattr(self._generator, "facts", {})
        return {**generator, "cues are named by": self.options.generator}

    def propose(self, label: str) -> list[str]:
        """The names in the four replies, the first of each reply first; [] where all is prose."""
        own = normalise_name(label)  # a model likes to repeat what it was asked
        replies = self._generator.generate(proposal_prompts(label, self.options.each))
        # the first name of each reply, then the second of each: a proposer's best come first.
        # Shorter replies are filled up with the label, which is no cue and drops out
        ranks = zip_longest(*map(parse_list, replies), fillvalue=own)
        return [
            name for name in dict.fromkeys(chain.from_iterable(ranks)) if name != own
        ]

    def propose_more(self, label: str, told: Mapping[str, float]) -> list[str]:
        """The names in the reply to what became of those before, without these."""
        prompt = prompt_for_more(label, told, self.options.each)
        [reply] = self._generator.generate([prompt])
        known = {normalise_name(name) for name in (*told, label)}
        return [name for name in parse_list(reply) if name not in known]
