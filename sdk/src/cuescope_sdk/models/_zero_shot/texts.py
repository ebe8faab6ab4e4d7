"""The text tower: sentences to unit embeddings, labels to prompt ensembles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from cuescope.errors import UserError, nearest

if TYPE_CHECKING:  # listing plugins must not pay for it
    from torch import Tensor
    from torch.nn import Module

SLOT = "{label}"


def templates_of(
    name: str, owner: str, more: Mapping[str, Sequence[str]] | None = None
) -> tuple[str, ...]:
    """The templates of a named set or of a file; each holds `{label}`.

    "plain" is "a photo of a {label}.", "raw" the text as it stands, "action28" TRoVe's appendix C,
    spelled as printed ("a example of"). `more` are sets that a library carries; `owner` is the
    plugin that speaks in errors.
    """
    named = {
        "plain": (f"a photo of a {SLOT}.",),
        "raw": (SLOT,),
        "action28": action_templates(),
        **(more or {}),
    }
    return tuple(named[name]) if name in named else _from_file(name, owner, tuple(named))


def action_templates() -> tuple[str, ...]:
    """The 28 templates for actions (TRoVe, appendix C): 4 media times 7 wordings."""
    media = ("a photo", "a video", "a example", "a demonstration")
    wordings = ("", *(f"a person {verb}" for verb in ("", "using ", "doing ", "during ")))
    wordings += ("a person performing ", "a person practicing ")  # as the paper orders them
    return tuple(f"{medium} of {wording}{SLOT}." for medium, wording in product(media, wordings))


def fill(template: str, label: str) -> str:
    """The prompt; braces other than `{label}` stay as they are."""
    return template.replace(SLOT, label)  # not str.format: labels and prompts may hold braces


def _from_file(name: str, owner: str, named: tuple[str, ...]) -> tuple[str, ...]:
    path = Path(name).expanduser()
    if not path.is_file():
        raise UserError(
            f"{owner}: no template set or file '{name}'",
            expected=f"{', '.join(named)}, or a file",
            remedy=nearest(name, named),
        )
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if line.strip() and SLOT not in line:
            raise UserError(
                f"{owner}: line {number} of {name} has no place for the label",
                expected=f"{SLOT} in every template",
                got=f"'{line.strip()}'",
            )
    templates = tuple(line.strip() for line in lines if line.strip())
    if not templates:
        raise UserError(f"{owner}: {name} holds no template", expected="one a line")
    return templates


# ------------------------------------------------------------------------------------------- texts


CHUNK = 128  # texts: 1000 classes in 80 templates would not fit at once


def unit_mean(rows: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, " dim"]:
    """Mean of unit rows, made unit: a sequence from its frames, a class from its prompts.

    TRoVe (section 5.1) says of frames only "the mean of its constituent image-level embeddings".
    Rows come normalised, so that none outweighs the others by its norm, which in CLIP follows
    the content; the mean is normalised again because logits are cosines. For prompts it is the
    ensemble of Radford et al. (2021).
    """
    # an ensemble of 80 near-equal rows loses digits in float32
    return unit(rows.mean(axis=0, dtype=np.float64))


def unit(vector: Float[np.ndarray, "*rows dim"]) -> Float[np.ndarray, "*rows dim"]:
    """Rows of length 1, float32; a row of zeros stays."""
    norms = np.linalg.norm(vector, axis=-1, keepdims=True)
    # norms in the rows' own precision, as CLIP's code has it, unlike maths.normalise
    return np.asarray(vector / np.maximum(norms, 1e-12), dtype=np.float32)


@dataclass(frozen=True)
class PromptTower:
    """A text tower whose word vectors can be learned (CoOp, Zhou et al., 2022).

    `tokenize` gives "input_ids" (text, token) and what else the tower takes; `embedding` is the
    module that takes ids to vectors (text, token, width), and `encode` takes all through it to
    unnormalised rows (text, dim), with gradients. Cosines times `scale` plus `bias` are the model's
    logits.
    """

    tokenize: Callable[[list[str]], Mapping[str, "Tensor"]]
    embedding: "Module"
    encode: Callable[[Mapping[str, "Tensor"]], "Tensor"]
    scale: float
    bias: float


@dataclass(frozen=True)
class TextTower:
    """A model's text encoder: `encode` takes a few texts to unnormalised rows (text, dim).

    Cosines times `scale` plus `bias` are the model's logits (bias is 0 but for SigLIP). `prompts`
    opens the tower for learning, where it can be learned through.
    """

    encode: Callable[[list[str]], Float[np.ndarray, "text dim"]]
    dim: int
    scale: float
    bias: float = 0.0
    prompts: Callable[[], PromptTower] | None = None

    def embed(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Unit float32 rows of the texts as they stand, without a template."""
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        chunks = [list(texts[start : start + CHUNK]) for start in range(0, len(texts), CHUNK)]
        return np.concatenate([unit(self.encode(chunk)) for chunk in chunks])

    def embed_label(self, label: str, templates: Sequence[str]) -> Float[np.ndarray, " dim"]:
        """Unit mean of the unit embeddings of a label's prompts (Radford et al., 2021)."""
        return unit_mean(self.embed([fill(template, label) for template in templates]))
