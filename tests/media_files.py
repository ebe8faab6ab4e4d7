"""Image files that are out of the ordinary, each with the pixels that a person sees in it.

    @pytest.mark.parametrize("odd", OddImage.every(), ids=lambda odd: odd.name)
    def test_odd_images_are_answered(model, odd, tmp_path):
        odd.check_answer(model, Frame.from_file(odd.write(tmp_path)))

A data set is asked whether `odd.is_seen_in(pixels)` of its frame.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from cuescope_sdk import Frame, Output, Sample, Trial, generator
from cuescope_testing._contract import expect

RATE = 10


class MediaFile:
    """Small images and videos whose pixels tell which they are."""

    STEP = 20  # grey levels from frame to frame

    @staticmethod
    def image(path: Path, size: tuple[int, int] = (16, 12)) -> Path:
        """An image of noise (width, height), another one for each path's last two parts."""
        path.parent.mkdir(parents=True, exist_ok=True)
        width, height = size
        # by path, as the temporary folder above it has another name each time
        rng = generator(0, "image", *path.parts[-2:])
        pixels = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path)
        return path

    @staticmethod
    def video(path: Path, frames: int, codec: str = "mpeg4", **options: str) -> Path:
        """A video of `RATE` frames a second whose frame i is plain grey of level i * STEP.

        `options` are those of the container. With no frames at all, it is a file whose video stream
        is empty.
        """
        # here: whoever writes no videos need not have it
        import av

        path.parent.mkdir(parents=True, exist_ok=True)
        with av.open(str(path), "w", options=options) as container:
            stream = cast(Any, container.add_stream(codec, rate=RATE))
            stream.width = 48
            stream.height = 32
            stream.pix_fmt = "yuv420p"
            # the header is written even where no frame follows
            container.start_encoding()
            for index in range(frames):
                # plain grey survives lossy codecs, so a frame can be told by its mean
                pixels = np.full((32, 48, 3), index * MediaFile.STEP % 256, np.uint8)
                frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
                container.mux(stream.encode(frame))
            # the encoder holds frames back until it is flushed
            container.mux(stream.encode(None))
        return path

    @staticmethod
    def grey_levels(images: Any) -> list[int]:
        """Which frame of `video` each frame shows, by its pixels."""
        return [
            round(float(np.asarray(image.load()).mean()) / MediaFile.STEP)
            for image in images
        ]


# -------------------------------------------------------------------------------------- odd images


RED = (250, 20, 40)
ROUNDING = 1
JPEG_ROUNDING = 4
RESIZING = 2
EMBEDDING: frozenset[Output] = frozenset({"embedding"})


@dataclass(frozen=True, eq=False)
class OddImage:
    """A file's name and bytes; `pixels` as seen on white paper, within `tolerance` of 255."""

    name: str
    content: bytes
    pixels: UInt8[np.ndarray, "row col 3"]
    tolerance: int = ROUNDING

    def write(self, folder: Path) -> Path:
        """The file, in a folder."""
        path = folder / self.name
        path.write_bytes(self.content)
        return path

    def is_seen_in(self, pixels: np.ndarray) -> bool:
        """True if these are its pixels."""
        return pixels.shape == self.pixels.shape and _within(
            pixels, self.pixels, self.tolerance
        )

    @classmethod
    def every(cls) -> "tuple[OddImage, ...]":
        """All that we know of."""
        return tuple(_odd_images())

    def check_answer(self, model: Any, frame: Frame) -> None:
        """Raises ContractViolation unless a model with patches sees it in a frame, and answers."""
        canvas = model.canvas([frame])
        expected = model.canvas([Frame.from_array(self.pixels)])
        one_colour = bool((self.pixels == self.pixels[0, 0]).all())
        # the canvas is resized, which rounds once more
        tolerance = self.tolerance + RESIZING
        is_as_seen = _within(canvas[0], expected[0], tolerance)
        if one_colour:  # it stays so, whatever it is resized and cropped to
            is_as_seen = is_as_seen and _within(canvas[0], self.pixels[0, 0], tolerance)
        expect(
            is_as_seen,
            f"{self.name} on the canvas",
            got="other pixels",
        )
        trial = Trial(sample=Sample(key="odd", frames=(frame,)), outputs=EMBEDDING)
        [answer] = model.respond([trial])
        expect(
            answer.embedding is not None,
            "an embedding",
            got="none",
        )


def _within(pixels: np.ndarray, expected: np.ndarray, tolerance: int) -> bool:
    # uint8 would wrap round below 0
    return bool(np.abs(pixels.astype(int) - expected.astype(int)).max() <= tolerance)


def _odd(
    name: str,
    image: Image.Image,
    pixels: np.ndarray,
    tolerance: int = ROUNDING,
    kind: str = "PNG",
    **settings: Any,
) -> OddImage:
    """An image as a file, and how it is seen."""
    stream = BytesIO()
    image.save(stream, kind, **settings)
    return OddImage(name, stream.getvalue(), pixels, tolerance)


def _plain(width: int, height: int) -> OddImage:
    image = Image.new("RGB", (width, height), RED)
    return _odd(f"{width}x{height}.png", image, np.asarray(image))


def _odd_images() -> Iterator[OddImage]:
    yield from (_plain(1, 1), _plain(1, 2000), _plain(2000, 1), _plain(3, 3))

    grey = _noise()
    alpha = _noise("alpha")
    colour = _noise(3)
    layer = Image.fromarray(alpha)
    yield _odd("grey.png", Image.fromarray(grey), _rgb(grey))
    # of these `convert("RGB")` of Pillow alone shows other pixels
    see_through = Image.merge("LA", [Image.fromarray(grey), layer])
    yield _odd("grey-alpha.png", see_through, _on_white(_rgb(grey), alpha))
    see_through = Image.fromarray(np.dstack([colour, alpha]))
    yield _odd("transparent.png", see_through, _on_white(colour, alpha))

    # Stripes of red and of nothing; what is behind nothing is black in the file.
    stripes = np.tile(np.arange(2, dtype=np.uint8), (20, 15))
    palette = Image.fromarray(stripes)
    palette.putpalette([*RED, 0, 0, 0])
    visible = np.array([RED, (255, 255, 255)], np.uint8)[stripes]
    yield _odd("palette.png", palette, visible, transparency=1)

    # 16 bits a pixel, of which the high byte is what an 8-bit screen shows.
    deep = generator(0, "odd", "deep").integers(0, 2**16, (20, 30), dtype=np.uint16)
    for name, kind in (("deep.png", "PNG"), ("deep.tif", "TIFF"), ("deep.pgm", "PPM")):
        yield _odd(
            name,
            Image.fromarray(deep),
            _rgb((deep // 256).astype(np.uint8)),
            kind=kind,
        )

    # Red, then black: a still image of it is the first.
    first = Image.new("RGB", (30, 20), RED)
    second = Image.new("RGB", (30, 20), "black")
    animation = {"save_all": True, "append_images": [second], "duration": 100}
    yield _odd(
        "animated.gif",
        first,
        np.asarray(first),
        JPEG_ROUNDING,
        "GIF",
        **animation,
    )

    # Four inks: no cyan, all magenta and yellow, no black.
    inks = Image.new("CMYK", (32, 24), (0, 255, 255, 0))
    red = np.full((24, 32, 3), (255, 0, 0), np.uint8)
    yield _odd("four-inks.jpg", inks, red, JPEG_ROUNDING, "JPEG", quality=95)


def _noise(*names: str | int) -> np.ndarray:
    depth = tuple(name for name in names if isinstance(name, int))
    rng = generator(0, "odd", *map(str, names))
    return rng.integers(0, 256, (20, 30, *depth), dtype=np.uint8)


def _rgb(grey: np.ndarray) -> np.ndarray:
    return np.repeat(grey[..., None], 3, axis=2)


def _on_white(colour: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    share = alpha[..., None] / 255
    return np.rint(colour * share + 255 * (1 - share)).astype(np.uint8)
