"""The network behind onnxruntime: images fitted into a square, and what comes out as boxes."""

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime
from jaxtyping import Float
from PIL import Image

from cuescope_onnx_detector.options import OWNER, OnnxOptions
from cuescope_sdk import Context, UserError
from cuescope_sdk.data import TextFile

GREY = 114  # of the border around an image, default of ultralytics' letterbox
SIDE = 640  # default of ultralytics' imgsz
LARGEST_SIDE = 4096  # pixels: no network is shown larger pictures
FATAL = 4  # onnxruntime would write names of a stranger's nodes to the terminal
TYPES: dict[str, type[np.floating[Any]]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
}
Layout = Literal["classes", "objectness", "shares", "suppressed"]
ScoredBoxes = tuple[Float[np.ndarray, "box name"], Float[np.ndarray, "box 4"]]


class OnnxNetwork:
    """An opened .onnx file; `names` are its classes in order.

    Raises UserError for a file that is no YOLO, or that holds no names.
    """

    def __init__(self, options: OnnxOptions, context: Context) -> None:
        self._file = options.model.expanduser()
        self._session = _open(self._file, context.device)
        image = self._find_input()
        self._input = image.name
        self._type = TYPES[image.type]
        batch, _, height, width = image.shape
        # a name in place of a number stands for any length
        if isinstance(batch, int) and batch != 1:
            raise UserError(
                f"{OWNER}: {self._file.name} takes batches of {batch}",
                expected="pictures one by one, or any number of them",
                remedy="Export it with dynamic=True",
            )
        metadata = self._session.get_modelmeta().custom_metadata_map
        self.size = self._find_size([height, width], metadata)
        self.names = self._find_names(options.names, metadata)

    def _find_input(self) -> Any:
        """The one input, for images."""
        inputs = self._session.get_inputs()
        if len(inputs) == 1:
            [image] = inputs
            # a name in place of a number stands for any
            is_colour = len(image.shape) == 4 and image.shape[1] in (3, *_names(image))
            if is_colour and image.type in TYPES:
                return image
        shown = [f"{entry.name} {entry.shape} {entry.type}" for entry in inputs]
        raise UserError(
            f"{OWNER}: {self._file.name} takes no image",
            expected="one input (batch, 3, height, width) of floats",
            got=", ".join(shown) or "no input",
        )

    def detect(self, image: Image.Image) -> ScoredBoxes:
        """Scores of an image's boxes for each class, and the boxes in its pixels."""
        pixels, scale, corner = fit(image, self.size)
        scores, boxes = self._read(self._answer(pixels[None].astype(self._type)))
        # from the square's pixels back to the image's
        return scores, (boxes - np.tile(corner, 2)) / scale

    def _answer(self, pixels: Float[np.ndarray, "image 3 row col"]) -> np.ndarray:
        """A table of finite numbers for one image; raises UserError for anything else."""
        try:
            [table] = np.asarray(
                self._session.run(None, {self._input: pixels})[0], dtype=np.float32
            )
        # what a stranger's network does fails in any way it likes
        except Exception as error:
            raise UserError(
                f"{OWNER}: {self._file.name} cannot look at an image",
                expected="a network that gives a table of boxes for each image",
                got=" ".join(str(error).split())[:200],
            ) from None
        if not np.isfinite(table).all():
            raise UserError(
                f"{OWNER}: {self._file.name} gives boxes that are no numbers",
                expected="finite numbers",
            )
        return np.asarray(table)

    def _read(self, output: Float[np.ndarray, "row col"]) -> ScoredBoxes:
        """Scores and corners, in pixels of the square, of one image's output."""
        layout = self._find_layout(output.shape)
        if layout == "suppressed":
            return self._read_suppressed(output)
        table = output.T if layout == "classes" else output
        centres = table[:, :2]
        halves = table[:, 2:4] / 2
        boxes = np.hstack([centres - halves, centres + halves])
        # a class's score is given that there is an object at all
        if layout == "objectness":
            objectness = table[:, 4:5]
            return table[:, 5:] * objectness, boxes
        # corners as shares of the square
        if layout == "shares":
            height, width = self.size
            boxes = boxes * np.array([width, height, width, height])
        return table[:, 4:], boxes

    def _read_suppressed(self, output: Float[np.ndarray, "box 6"]) -> ScoredBoxes:
        """Where suppression is built in: x0, y0, x1, y1, score and class."""
        count = len(self.names)
        numbers = output[:, 5].round().astype(int)
        chosen = numbers.clip(0, count - 1)
        boxes = np.arange(len(output))
        scores = np.zeros((len(output), count), np.float32)
        scores[boxes, chosen] = output[:, 4]
        return scores, output[:, :4]

    def _find_layout(self, shape: tuple[int, ...]) -> Layout:
        count = len(self.names)
        if len(shape) == 2:
            rows, cols = shape
            if rows == 4 + count:
                return "classes"
            if cols == 5 + count:
                return "objectness"
            if cols == 4 + count:
                return "shares"
            if cols == 6:
                return "suppressed"
        raise UserError(
            f"{OWNER}: {self._file.name} gives no boxes that are known here",
            expected=f"({4 + count}, boxes), (boxes, {5 + count}), (boxes, {4 + count}) or "
            f"(boxes, 6), for its {count} classes",
            got=str(shape),
            remedy="-O tool.detector.names=FILE names the classes where the file holds wrong ones",
        )

    def _find_size(self, shape: list[Any], metadata: dict[str, str]) -> tuple[int, int]:
        """Height and width of what it is shown."""
        # where the shape is open, an export may have written its size beside it
        if not all(isinstance(side, int) for side in shape):
            shape = _literal(metadata.get("imgsz")) or [SIDE, SIDE]
        if not is_size(shape):
            raise UserError(
                f"{OWNER}: {self._file.name} names a size of its pictures",
                expected=f"height and width in pixels, from 1 to {LARGEST_SIDE}",
                got=f"{shape!r:.60}",
            )
        height, width = shape
        return height, width

    def _find_names(self, path: Path | None, metadata: dict[str, str]) -> list[str]:
        """Those of the person's file, else those in the .onnx file."""
        if path is not None:
            file = TextFile(path.expanduser(), OWNER)
            return [line for _, line in file.lines()]
        exported = _literal(metadata.get("names"))
        if isinstance(exported, dict):
            exported = _by_number(exported)
        if not isinstance(exported, list) or not exported:
            raise UserError(
                f"{OWNER}: {self._file.name} holds no names of classes",
                remedy="-O tool.detector.names=FILE gives them, one a line in the order "
                "of training",
            )
        return list(map(str, exported))


def _open(file: Path, device: str) -> Any:
    """The session; raises UserError for what is no ONNX file."""
    wanted = ["CPUExecutionProvider"]
    # without the GPU build of onnxruntime it runs on the CPU
    cuda = "CUDAExecutionProvider"
    if device.startswith("cuda") and cuda in onnxruntime.get_available_providers():
        wanted.insert(0, cuda)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = FATAL
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=wanted)
    except Exception as error:  # onnxruntime's own exceptions have no common class
        raise UserError(
            f"{OWNER}: cannot open {file.name}",
            expected="an ONNX file that onnxruntime runs",
            got=str(error).splitlines()[0][:200],
        ) from None


def is_size(value: Any) -> bool:
    """Whether it is a list of height and width that a network can be shown."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    return all(type(side) is int and 1 <= side <= LARGEST_SIDE for side in value)


def _literal(text: str | None) -> Any:
    """A list or dict that an export wrote as text; None for anything else."""
    try:
        return ast.literal_eval(text or "")  # literals alone: nothing in it can run
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _by_number(names: Mapping[Any, Any]) -> list[Any]:
    """Names by the numbers of their classes, however those were written; [] for other keys."""
    try:
        return [name for _, name in sorted((int(key), names[key]) for key in names)]
    except (ValueError, TypeError):
        return []


def _names(image: Any) -> tuple[str, ...]:
    """The lengths of an input that stand for any number."""
    return tuple(length for length in image.shape if not isinstance(length, int))


def fit(
    image: Image.Image, size: tuple[int, int]
) -> tuple[Float[np.ndarray, "3 row col"], float, tuple[int, int]]:
    """An image scaled into (height, width) with a grey border, colours from 0 to 1.

    Also the scale, and where its left top corner is in pixels.
    """
    height, width = size
    scale = min(width / image.width, height / image.height)
    inner_width = max(1, round(image.width * scale))
    inner_height = max(1, round(image.height * scale))
    inner_size = (inner_width, inner_height)
    inner = image.convert("RGB").resize(inner_size, Image.Resampling.BILINEAR)
    left = (width - inner_width) // 2
    top = (height - inner_height) // 2
    canvas = Image.new("RGB", (width, height), (GREY, GREY, GREY))
    canvas.paste(inner, (left, top))
    pixels = np.asarray(canvas, dtype=np.float32)
    colours = pixels.transpose(2, 0, 1) / 255
    return colours, scale, (left, top)
