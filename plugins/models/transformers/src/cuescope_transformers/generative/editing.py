"""What a batch is to the fusion layers, and which edits they cannot carry out."""

from cuescope_sdk import HideTokens, Trial, UserError
from cuescope_sdk.fusion import FusionShape
from cuescope_sdk.torch import Fusion, Watch, require_layers
from cuescope_transformers.generative.hiding import require_hiding
from cuescope_transformers.generative.loading import Loaded
from cuescope_transformers.generative.showing import Batch
from cuescope_transformers.generative.tokens import placeholders


def require_editable(loaded: Loaded, trial: Trial) -> None:
    """Raises UserError where the layers are closed, or the edit names one that is not there.

    The same where tokens are to be hidden that cannot be.
    """
    if isinstance(trial.edit, HideTokens):
        require_hiding(loaded, trial, trial.edit)
    elif trial.edit is not None:
        require_layers(loaded.title, trial.edit, shape_of(loaded).layers)


def shape_of(loaded: Loaded) -> FusionShape:
    """The sizes of the fusion layers; raises UserError where they are closed."""
    opened = loaded.opened
    if opened.fusion is None:
        raise UserError(
            f"{loaded.title} cannot be edited or looked into",
            got=f"{opened.closed}",
            remedy="Ask it for plain answers.",
        )
    return opened.fusion


def fusion_of(
    loaded: Loaded, batch: Batch, trial: Trial, watch: Watch | None = None
) -> Fusion | None:
    """What happens in the fusion layers while a batch of the trial's kind is shown; None: nothing.

    Raises UserError where the model does not say which of its tokens are visual.
    """
    edit = None if isinstance(trial.edit, HideTokens) else trial.edit  # hidden tokens are gone
    plain = edit is None and watch is None
    if not plain or placeholders(loaded.model.config, loaded.processor):
        require_told(loaded, batch, trial)
    if plain:
        return None
    return Fusion(batch.modality, edit, batch.cross, watch)


def require_told(loaded: Loaded, batch: Batch, trial: Trial) -> None:
    """Raises UserError where frames are shown and no token is known to be visual.

    Where tokens are hidden those that are visual were known, and there may be none left.
    """
    hides = isinstance(trial.edit, HideTokens)
    if trial.sample.frames and not hides and not batch.shows_video:
        raise UserError(
            f"{loaded.title} does not say which of its tokens are visual",
            expected="a placeholder in the prompt, image_token_id or video_token_id in config.json",
            got=f"the architecture '{loaded.kind}'",
            remedy="Mend config.json, or ask a model with placeholders.",
        )
