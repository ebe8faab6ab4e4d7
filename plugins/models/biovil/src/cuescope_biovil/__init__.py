"""BioViL-T (Bannur et al., 2023): a chest X-ray and the one before it, compared with texts."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from cuescope_sdk import Capabilities, Context, Names
from cuescope_sdk.models import RepositoryName, ZeroShotModel, ZeroShotOptions

if TYPE_CHECKING:
    from cuescope_sdk.torch import ImageTower


class BioViLTOptions(ZeroShotOptions):
    """Options of `biovil-t`; the part after `biovil-t:` is `model`."""

    argument = "model"

    model: RepositoryName = Field(
        "microsoft/BiomedVLP-BioViL-T",
        description="a folder with the files of the authors' repository, or a hub id",
    )
    # a tag: files of the main branch may change under a stored result
    revision: RepositoryName = Field(
        "v1.0", description="branch, tag or commit of a hub id; default: the authors'"
    )
    templates: Annotated[str, Names.file(or_words=True)] = Field(
        "raw",
        description="prompts, as of every zero-shot model: pneumonia-progression ...",
    )


class BioViLT(ZeroShotModel):
    """A sample of two frames is the earlier image and the current one; of one, that image alone.

    Logits are cosines, for the release says no temperature. Its images go through a convolutional
    network, so it has no tokens to hide.
    """

    Options = BioViLTOptions
    options: BioViLTOptions
    answers_version = 1
    owner = "biovil-t"
    capabilities = Capabilities(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"choices"}),
        max_frames=2,
    )

    def __init__(self, options: BioViLTOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_biovil.loading import find_model

        model = find_model(options.model, options.revision, context)
        self._model = model
        head = self.choose_head(
            model.name, str(model.device), model.text_tower(), model.shape.dim
        )
        self.fingerprint = model.fingerprint(head.fingerprint)
        self.facts = {
            "architecture": "BioViL-T",
            "weights": model.title,
            **head.facts,
            "sequence": "the earlier image and the current one together",
        }

    def open_image_tower(self) -> "ImageTower":
        return self._model.image_tower()


__all__ = ["BioViLT", "BioViLTOptions"]
