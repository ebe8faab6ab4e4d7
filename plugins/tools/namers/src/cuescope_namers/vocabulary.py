"""Words by the audited model's own text tower: whichever the cluster is nearer to than the rest."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PositiveInt

from cuescope_namers.words import read_words
from cuescope_sdk import Context, Names, Options, Plugin, UserError, digest
from cuescope_sdk.language import parse_list, proposal_prompts
from cuescope_sdk.models import Templates
from cuescope_sdk.report import count_of
from cuescope_sdk.tools import FrameGroup, NameGuess


def guesses(
    groups: Sequence[FrameGroup],
    words: Sequence[str],
    templates: Templates,
) -> list[NameGuess | None]:
    """For each group the word whose similarity to it most exceeds that to the rest.

    A word is the mean of its prompts. All means are of unit rows, so that the figures are mean
    cosines over prompts and frames. Taking the rest away leaves what sets the group apart: words
    that are near to all frames, and the gap between a model's images and its texts, drop out.
    """
    if not groups or not words:
        return [None] * len(groups)
    prompts: list[str] = []
    ends = []
    for word in words:
        # by its templates a word may have several prompts
        prompts += templates.prompts(word)
        ends.append(len(prompts))
    # in float64: small differences of cosines decide
    embedded = groups[0].embed_texts(prompts).astype(np.float64)
    parts = np.split(embedded, ends[:-1])
    rows = np.stack([part.mean(axis=0) for part in parts])
    return [
        NameGuess.best(words, rows @ group.centre, rows @ group.elsewhere)
        for group in groups
    ]


class VocabularyOptions(Options):
    """Options of `vocabulary`; the part after `vocabulary:` is `words`."""

    argument = "words"

    words: Path = Field(description="a file with one word or short name a line")
    templates: Annotated[str, Names.file(or_words=True)] = Field(
        "plain",
        description="prompts around each word: plain, raw, or a file, as for models",
    )


class Vocabulary(Plugin):
    """Words from a file, compared with a cluster in the model's own embedding space."""

    Options = VocabularyOptions
    options: VocabularyOptions

    def __init__(self, options: VocabularyOptions, context: Context) -> None:
        super().__init__(options, context)
        self._words = read_words(options.words, "vocabulary")
        self._templates = Templates.find(options.templates, "vocabulary")
        # other templates put a word elsewhere
        self.fingerprint = digest("vocabulary", 1, self._words, self._templates.content)
        self.facts = {
            "names": f"from {count_of(len(self._words), 'words')} of {options.words.name}"
        }

    def name_groups(self, groups: Sequence[FrameGroup]) -> list[NameGuess | None]:
        """The word that each group is nearer to than the rest."""
        return guesses(groups, self._words, self._templates)


class WrittenOptions(Options):
    """Options of `llm-vocabulary`; the part after `llm-vocabulary:` is `generator`."""

    argument = "generator"

    generator: Annotated[str, Names.plugin()] = Field(
        description="SPEC of the language model: openai:gpt-4o-mini, transformers-llm:MODEL"
    )
    generator_options: Annotated[Mapping[str, Any], Names.plugin()] = Field(
        {}, description="options of that tool"
    )
    each: PositiveInt = Field(
        16, description="names asked for in each of four ways, a label"
    )
    templates: Annotated[str, Names.file(or_words=True)] = Field(
        "plain",
        description="prompts around each word: plain, raw, or a file, as for models",
    )


class WrittenVocabulary(Plugin):
    """A language model lists what may be seen with each label; the list is then a vocabulary.

    It is asked as for SpurLens's cues: in images, behind, beside, in mind.
    """

    Options = WrittenOptions
    options: WrittenOptions

    def __init__(self, options: WrittenOptions, context: Context) -> None:
        super().__init__(options, context)
        self._templates = Templates.find(options.templates, "llm-vocabulary")
        generator = self._generator
        if not hasattr(generator, "generate"):
            raise UserError(
                f"llm-vocabulary: tool {options.generator} writes no text",
                expected="one with generate()",
            )
        # the words are the generator's: without its fingerprint there is none
        fingerprint = getattr(generator, "fingerprint", None)
        # other templates put a word elsewhere
        self.fingerprint = fingerprint and digest(
            "llm-vocabulary", 2, fingerprint, options.each, self._templates.content
        )

    @cached_property
    def _generator(self) -> Any:
        return self.context.build(
            "tool", self.options.generator, self.options.generator_options
        )

    @property
    def facts(self) -> Mapping[str, str]:
        return {
            **getattr(self._generator, "facts", {}),
            "names": f"by {self.options.generator}",
        }

    def name_groups(self, groups: Sequence[FrameGroup]) -> list[NameGuess | None]:
        """The word that each group is nearer to than the rest."""
        # without a group the generator need not be asked
        if not groups:
            return []
        prompts: list[str] = []
        # the groups of a run share its labels
        for label in groups[0].labels:
            prompts += proposal_prompts(label, self.options.each)
        replies = self._generator.generate(prompts)
        # a word that was named for several labels is compared once
        words = dict.fromkeys(chain.from_iterable(map(parse_list, replies)))
        return guesses(groups, list(words), self._templates)
