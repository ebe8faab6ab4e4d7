"""Explainers that draw: RISE, and the map that knows nothing."""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import interpolate, normalize

from cuescope_saliency.explainers.tracing import Case, repeat, similarity
from cuescope_saliency.options import Settings
from cuescope_sdk import UserError, derive, digest

GRID = 8  # cells a side of a mask; half of them are shown (Petsiuk et al., 2018)
CHUNK = 32  # masked images in one forward pass; it does not change what is drawn


def rise(case: Case) -> Tensor:
    """RISE (Petsiuk et al., 2018): mean score of the masked images that show a pixel.

    The normalised image is multiplied by the mask, as the paper has it: what is hidden has the
    mean colour. As published the score is the probability of the text among the choices, and each
    pixel's sum is divided by the share that the masks should show. For a lone text, or where `form`
    is "stock", the score is the cosine, and the sum is divided by how much the masks really showed:
    cosines differ little from image to image, and their common part would draw the unevenness of
    the masks. The masks are the same for all images.
    """
    tower = case.tower
    texts = case.texts
    settings = case.settings
    name, image = _pixels(case)
    image = image.to(tower.device)
    # a lone text has probability 1 under every mask: the map would be flat
    by_probability = settings.form == "published" and len(texts.choices) > 1
    rows, cols = image.shape[-2:]
    total = torch.zeros(rows, cols, device=tower.device)
    shown = torch.zeros_like(total)
    # no gradient is ever asked for, and thousands of graphs would fill the memory
    with torch.inference_mode():
        for masks in _masks(settings, rows, cols):
            batch = masks.to(tower.device)
            masked = image * batch[:, None].to(image.dtype)
            stacked = repeat(case.inputs, len(masked)) | {name: masked}
            embeddings = tower.encode(stacked)
            scores = similarity(embeddings, texts.row)
            if by_probability:
                cosines = normalize(embeddings.float(), dim=-1) @ texts.choices.T
                probabilities = (texts.scale * cosines).softmax(dim=-1)
                scores = probabilities[:, texts.index]
            total += torch.einsum("m,mrc->rc", scores, batch)
            shown += batch.sum(dim=0)
    if by_probability:
        return (total / (settings.rise_masks / 2)).clone()
    # A pixel that no mask shows has total 0, and 0 / tiny is 0 where 0 / 0 would be NaN. The clone
    # leaves inference mode.
    tiny = torch.finfo(shown.dtype).tiny
    return (total / shown.clamp_min(tiny)).clone()


def random(case: Case) -> Tensor:
    """Uniform noise on the patches, another for each image: what any explainer must beat."""
    generator = generator_for(case, "random")
    return torch.rand(case.tower.grid(case.inputs), generator=generator)


def generator_for(case: Case, name: str) -> torch.Generator:
    """A generator of its own for each image, on the CPU; it depends on nothing but pixels."""
    # Of pixels, not of a sample's place in the data: --limit must not change a map.
    # sorted: the order of inputs must not matter; float32: numpy has no bfloat16
    values = [case.inputs[key].float().cpu().numpy() for key in sorted(case.inputs)]
    # the name keeps the noise of m2ib apart from the random map of the same image
    seed = derive(case.settings.seed, name, digest(*values))
    return torch.Generator().manual_seed(seed)


def _masks(
    settings: Settings,
    rows: int,
    cols: int,
) -> Iterator[Float[Tensor, "mask row col"]]:
    """Smooth masks in [0, 1]: a grid of 0 and 1, enlarged bilinearly and cropped at random."""
    generator = torch.Generator().manual_seed(derive(settings.seed, "rise"))
    count = settings.rise_masks
    # all at once, before any chunk: the draw must not depend on CHUNK
    grids = torch.rand((count, 1, GRID, GRID), generator=generator) < 0.5
    height = math.ceil(rows / GRID)
    width = math.ceil(cols / GRID)
    # Enlarged to a cell more than the image, so that a shift by less than a cell stays inside.
    up = torch.randint(height, (count,), generator=generator).tolist()
    left = torch.randint(width, (count,), generator=generator).tolist()
    size = ((GRID + 1) * height, (GRID + 1) * width)
    for start in range(0, count, CHUNK):
        chunk = grids[start : start + CHUNK].float()
        masks = []
        for number, [large] in enumerate(
            interpolate(chunk, size=size, mode="bilinear"), start
        ):
            # cropped by another shift each: else all masks would have their edges in one grid
            from_top = large[up[number] :, left[number] :]
            masks.append(from_top[:rows, :cols])
        yield torch.stack(masks)


def _pixels(case: Case) -> tuple[str, Tensor]:
    """The one input that is an image, (1, channel, row, col)."""
    images = {name: tensor for name, tensor in case.inputs.items() if tensor.ndim == 4}
    # a tower that takes patches already has no pixels to cover
    if len(images) != 1:
        shapes = [
            f"{name} {tuple(tensor.shape)}" for name, tensor in case.inputs.items()
        ]
        raise UserError(
            f"saliency: rise masks pixels, but {case.tower.name} has no input of pixels",
            expected="an input (image, channel, row, col)",
            got=", ".join(shapes),
            remedy="Take another explainer.",
        )
    return images.popitem()
