"""The explainers by name, and the readout that runs them beside a model."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from cuescope_saliency.explainers.attention import game, raw_attention, rollout
from cuescope_saliency.explainers.bottleneck import m2ib
from cuescope_saliency.explainers.chance import random, rise
from cuescope_saliency.explainers.dense import clip_surgery, maskclip
from cuescope_saliency.explainers.gradients import grad_cam, grad_eclip
from cuescope_saliency.explainers.tracing import Case, Texts
from cuescope_saliency.options import (
    BLIND,
    COMPARING,
    Explainer,
    Settings,
    relevant_settings,
    require_explainer,
)
from cuescope_sdk import Frame, Readout, Sample, Trial, UserError
from cuescope_sdk.explain import Canvas
from cuescope_sdk.torch import ImageTower

FUNCTIONS: Mapping[Explainer, Callable[[Case], Tensor]] = {
    "raw-attention": raw_attention,
    "rollout": rollout,
    "grad-cam": grad_cam,
    "game": game,
    "maskclip": maskclip,
    "clip-surgery": clip_surgery,
    "m2ib": m2ib,
    "rise": rise,
    "grad-eclip": grad_eclip,
    "grad-eclip-no-lambda": partial(grad_eclip, loosened=False),
    "random": random,
}


@runtime_checkable
class HasImageTower(Protocol):
    """A model whose image encoder is open to edits and explainers ("image-tower")."""

    image_tower: ImageTower

    def embed_choices(self, choices: Sequence[str]) -> np.ndarray:
        """Unit rows (choice, dim) that image embeddings are compared with."""

    def logits(self, rows: np.ndarray, choices: Sequence[str]) -> np.ndarray:
        """Logits (choice) of an input from what the tower gave for it, (1, dim)."""


class Explanation(Readout):
    """The importance map of an image for a text: float32 (row, col), on patches or pixels."""

    name: ClassVar[str] = "saliency-2"
    gives: ClassVar[Any] = Float32[np.ndarray, "row col"]
    explainer: Explainer
    text: str
    choices: tuple[str, ...] = ()
    settings: Settings

    @classmethod
    def trial(
        cls,
        explainer: Explainer,
        sample: Sample,
        text: str,
        settings: Settings,
    ) -> Trial:
        """The trial; what the explainer does not look at has no part in it."""
        # one map for all texts: with the text in its key it would be made again for each
        if explainer in BLIND:
            text = ""
        relevant = relevant_settings(explainer, settings)
        # Only a text that is one of the choices is compared with them: a caption stands alone.
        compared = explainer in COMPARING and settings.form == "published"
        choices = sample.choices if compared and text in sample.choices else ()
        readout = cls(
            explainer=explainer,
            text=text,
            choices=choices,
            settings=relevant,
        )
        return readout.of(sample)

    def read(
        self,
        model: Any,
        trials: Sequence[Trial],
    ) -> list[Float[np.ndarray, "row col"]]:
        """One image at a time, so that a map does not depend on what is asked beside it."""
        asked = (self.text, self.explainer, self.settings, self.choices)
        return [explain(model, Canvas.frame(trial.sample), *asked) for trial in trials]

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A map."""
        return super().accepts(array, trial) and array.size > 0


def explain(
    model: HasImageTower,
    frame: Frame,
    text: str,
    explainer: Explainer = "grad-eclip",
    settings: Settings | None = None,
    choices: Sequence[str] = (),
) -> Float[np.ndarray, "row col"]:
    """How important each place of an image is for its similarity to a text.

    Of the model's own size in patches (rise: in pixels), origin top left; more is more important,
    on a scale of the explainer's own. `choices` are the labels that the text is one of, which
    clip-surgery and rise compare it with; without them it stands alone. Raises UserError where the
    explainer and the model do not fit.
    """
    require_explainer(explainer)
    tower = _image_tower(model)
    # Tensors of inference mode can never have a gradient; the explainers switch it on themselves.
    with torch.inference_mode(False), torch.no_grad():
        texts = _embed(model, text, choices, explainer, tower.device)
        inputs = tower.prepare([frame.load()])
        case = Case(tower, inputs, texts, settings or Settings())
        importance = FUNCTIONS[explainer](case)
    return np.asarray(importance.detach().float().cpu().numpy())


def _embed(
    model: HasImageTower,
    text: str,
    choices: Sequence[str],
    explainer: Explainer,
    device: torch.device,
) -> Texts:
    """The rows that the explainer reads: none, the text's own, or those of all choices."""

    def rows(texts: Sequence[str]) -> Tensor:
        return torch.tensor(
            model.embed_choices(texts),
            dtype=torch.float32,
            device=device,
        )

    if explainer in BLIND:
        # A model with a table of texts in place of a text tower has no row for the empty text.
        return Texts(torch.zeros(0), torch.zeros(1, 0))
    if explainer not in COMPARING or not choices:
        row = rows((text,))
        empty = None
        if explainer == "clip-surgery":
            # a table of texts may lack the empty one: the text then stands as it is
            with suppress(UserError):
                empty = rows(("",))[0]
        return Texts(row[0], row, empty=empty)
    if text not in choices:
        # compared with itself too: the softmax needs it among the choices
        choices = (*choices, text)
    index = list(choices).index(text)
    all_rows = rows(choices)
    return Texts(all_rows[index], all_rows, index, logit_scale(model, choices))


def logit_scale(model: HasImageTower, choices: Sequence[str]) -> float:
    """What the model multiplies cosines with: the range of its logits over that of its cosines."""
    choice = choices[:1]
    row = model.embed_choices(choice)
    highest = float(model.logits(row, choice)[0])
    # cosines 1 and -1: half of the range is the factor, whatever bias is added
    lowest = float(model.logits(-row, choice)[0])
    return (highest - lowest) / 2


def _image_tower(model: object) -> ImageTower:
    """The image tower; raises UserError where there is none to look into."""
    if not isinstance(model, HasImageTower):
        raise UserError(
            "saliency looks inside an image tower",
            expected="a model with `image_tower` (open-clip, transformers)",
            got=type(model).__name__,
        )
    tower = model.image_tower
    tower.require_tokens()
    # patches of several frames are no (row, col) map
    if tower.frames != 1:
        raise UserError(
            f"saliency explains images, but {tower.name} takes video",
            expected="1 frame an input",
            got=str(tower.frames),
        )
    return tower
