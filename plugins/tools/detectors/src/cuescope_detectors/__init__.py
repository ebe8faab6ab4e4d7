"""Open-vocabulary detectors by transformers' stock classes."""

from typing import ClassVar, Literal

from pydantic import Field, field_validator

from cuescope_detectors.open_vocabulary import MODEL, OpenVocabularyDetector, OpenVocabularyOptions
from cuescope_sdk import Context, Options


class OwlOptions(OpenVocabularyOptions):
    """Options of `owl`; the default is SpurLens's detector."""

    model: str = Field("google/owlv2-base-patch16-ensemble", description=MODEL)
    prompt: str = Field("{name}", description="what is searched for, as in 'a photo of a {name}'")

    @field_validator("prompt")
    @classmethod
    def _names(cls, prompt: str) -> str:
        if "{name}" not in prompt:
            raise ValueError("expected {name} in it")
        return prompt


class Owl(OpenVocabularyDetector):
    """OWLv2 (Minderer et al., 2023) and OWL-ViT (2022).

    An image is encoded once for all names, a name once for all images, and each name is scored on
    each box by itself. The library's own post-processing leaves a box to its best name alone.
    """

    Options: ClassVar[type[Options]] = OwlOptions
    options: OwlOptions
    owner: ClassVar[str] = "owl"

    def __init__(self, options: OwlOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_detectors.owl import OwlNetwork

        self.use(OwlNetwork(self.files(OwlNetwork.builders), options.prompt))


class GroundingDinoOptions(OpenVocabularyOptions):
    """Options of `grounding-dino`."""

    model: str = Field("IDEA-Research/grounding-dino-base", description=MODEL)
    one_by_one: bool = Field(
        False, description="a pass a name: slower, and no name changes the answer for another"
    )
    tokens: Literal["max", "mean"] = Field(
        "max",
        description="score of a name of several tokens: its best token's, as published, or the "
        "mean of all, with which a 'cat' is less of a 'cat bed'",
    )


class GroundingDino(OpenVocabularyDetector):
    """Grounding DINO (Liu et al., 2023) and MM Grounding DINO.

    All names stand in one caption, or in as few as its length allows. Image and caption attend to
    each other, so that a name's boxes depend on the names beside it, unless `one_by_one` is set.
    """

    Options: ClassVar[type[Options]] = GroundingDinoOptions
    options: GroundingDinoOptions
    owner: ClassVar[str] = "grounding-dino"

    def __init__(self, options: GroundingDinoOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_detectors.grounding_dino import GroundingDinoNetwork

        loaded = self.files(GroundingDinoNetwork.builders)
        self.use(GroundingDinoNetwork(loaded, options.one_by_one, options.tokens))

    @property
    def joint(self) -> bool:
        """Whether the answer for a name depends on the names beside it."""
        return not self.options.one_by_one


__all__ = ["GroundingDino", "GroundingDinoOptions", "Owl", "OwlOptions"]
