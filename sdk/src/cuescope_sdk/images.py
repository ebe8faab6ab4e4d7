"""Small pictures for reports."""

from collections.abc import Sequence

from PIL import Image

BACKGROUND = (255, 255, 255)


def thumbnail(image: Image.Image, size: int) -> Image.Image:
    """The whole image, centred on a square of `size` pixels a side; small images are enlarged."""
    if size < 1:
        raise ValueError(f"expected a size of 1 pixel or more, got {size}")
    scale = size / max(image.size)
    width, height = (max(1, round(side * scale)) for side in image.size)
    # Pixel art (moving shapes) stays crisp when enlarged; photos are smoothed when reduced.
    how = Image.Resampling.NEAREST if scale > 1 else Image.Resampling.LANCZOS
    square = Image.new("RGB", (size, size), BACKGROUND)
    square.paste(
        image.convert("RGB").resize((width, height), how),
        ((size - width) // 2, (size - height) // 2),
    )
    return square


def contact_sheet(
    images: Sequence[Image.Image], columns: int, size: int, gap: int = 2
) -> Image.Image:
    """The images row by row, each a square of `size` pixels, `gap` pixels apart."""
    if not images or columns < 1:
        raise ValueError(
            f"expected images and 1 column or more, got {len(images)} images, {columns} columns"
        )
    columns = min(columns, len(images))
    rows = -(-len(images) // columns)
    step = size + gap
    sheet = Image.new("RGB", (columns * step - gap, rows * step - gap), BACKGROUND)
    for index, image in enumerate(images):
        row, col = divmod(index, columns)
        sheet.paste(thumbnail(image, size), (col * step, row * step))
    return sheet
