"""YOLO's layouts on tiny networks that the test writes, and on a real YOLO11n where it is there.

The tiny network takes the mean colour of each quarter of the image for the probability of a red, a
green and a blue thing there; its boxes are the quarters.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from cuescope_onnx_detector import OnnxDetector
from cuescope_onnx_detector.network import fit, is_size
from cuescope_sdk import Context, Frame, UserError
from cuescope_testing import FakeDataset, ToolContract

ASSETS = Path(
    os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
).expanduser()
YOLO = ASSETS / "yolo11n" / "yolo11n.onnx"
NAMES = ("Red ball", "green_ball", "blue ball")
SIDE, HALF = 64, 32
LAYOUTS = ("classes", "objectness", "shares", "suppressed")


def write_yolo(
    path: Path, layout: str = "classes", names: Any = None, batch: Any = "batch"
) -> Path:
    """A network whose output has this layout."""
    centres = [(16, 16), (48, 16), (16, 48), (48, 48)]
    boxes = np.array([[x, y, HALF, HALF] for x, y in centres], np.float32).T[None]
    corners = np.array(
        [[x - 16, y - 16, x + 16, y + 16] for x, y in centres], np.float32
    ).T[None]
    constants = {
        "boxes": corners
        if layout == "suppressed"
        else boxes / (SIDE if layout == "shares" else 1),
        "sure": np.ones((1, 1, 4), np.float32),
        "shape": np.array([0, 3, 4], np.int64),
        "times": np.array([1, 1, 1], np.int64),
    }
    node = helper.make_node
    nodes = [
        node(
            "AveragePool",
            ["images"],
            ["cells"],
            kernel_shape=[HALF] * 2,
            strides=[HALF] * 2,
        ),
        node("Reshape", ["cells", "shape"], ["scores"]),
        # the boxes once for each image of the batch
        node("ReduceMean", ["scores"], ["mean"], axes=[1], keepdims=1),
        node("Sub", ["mean", "mean"], ["zero"]),
        node("Add", ["boxes", "zero"], ["where"]),
        node("Add", ["sure", "zero"], ["object"]),
    ]
    if layout == "suppressed":
        nodes += [
            node("ReduceMax", ["scores"], ["best"], axes=[1], keepdims=1),
            node("ArgMax", ["scores"], ["index"], axis=1, keepdims=1),
            node("Cast", ["index"], ["class"], to=TensorProto.FLOAT),
            node("Concat", ["where", "best", "class"], ["table"], axis=1),
        ]
    else:
        parts = ["where", *(["object"] if layout == "objectness" else []), "scores"]
        nodes.append(node("Concat", parts, ["table"], axis=1))
    turned = layout != "classes"
    nodes.append(
        node(
            "Transpose" if turned else "Identity",
            ["table"],
            ["output"],
            **({"perm": [0, 2, 1]} if turned else {}),
        )
    )
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(
                "images", TensorProto.FLOAT, [batch, 3, SIDE, SIDE]
            )
        ],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8
    )
    named = repr(dict(enumerate(NAMES))) if names is None else names
    helper.set_model_props(model, {"names": named} if named else {"author": "a test"})
    onnx.save(model, path)
    return path


def write_constant(
    path: Path,
    table: np.ndarray | TensorProto,
    shape: tuple[Any, ...] = ("batch", 3, SIDE, SIDE),
    names: str = "['a', 'b', 'c']",
) -> Path:
    """A network that says the same of whatever it is shown."""
    if isinstance(table, np.ndarray):
        table = numpy_helper.from_array(table, "table")
    graph = helper.make_graph(
        [helper.make_node("Identity", ["table"], ["output"])],
        "constant",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, None)],
        [table],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8
    )
    helper.set_model_props(model, {"names": names})
    path.write_bytes(model.SerializeToString())
    return path


def detector(path: Path, **options: Any) -> OnnxDetector:
    return OnnxDetector(
        OnnxDetector.Options(model=path, **options), Context(device="cpu")
    )


def photo() -> Frame:
    """128 x 64 pixels, black, with a red right half."""
    pixels = np.zeros((64, 128, 3), np.uint8)
    pixels[:, 64:, 0] = 255
    return Frame.from_array(pixels)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("batch", ["batch", 1])
def test_boxes_come_back_in_pixels_of_the_image(
    tmp_path: Path, layout: str, batch: Any
) -> None:
    """Fitted into a square, the photo is 64 x 32 between two grey bands of 16."""
    tool = detector(
        write_yolo(tmp_path / "tiny.onnx", layout, batch=batch), threshold=0.3
    )
    dark = Frame.from_array(np.zeros((64, 128, 3), np.uint8))
    answers = tool.detect([photo(), dark, photo()], ["red  Ball", "cat"])
    assert answers[0] == answers[2]
    assert answers[1] == ()
    upper, lower = sorted(answers[0], key=lambda found: found.box[1])
    assert {upper.name, lower.name} == {"red  Ball"}
    # The quarters on the right, half of each grey: 0.5 * 1 + 0.5 * 114 / 255 of red.
    wanted = pytest.approx(0.5 + 0.5 * 114 / 255, abs=0.01)
    assert (upper.score, lower.score) == (wanted, wanted)
    assert upper.box == pytest.approx((64, 0, 128, 32), abs=0.5)
    assert lower.box == pytest.approx((64, 32, 128, 64), abs=0.5)
    assert tool.names == {"red ball", "green_ball", "blue ball"}


def test_what_is_no_class_needs_no_pass(tmp_path: Path) -> None:
    tool = detector(write_yolo(tmp_path / "tiny.onnx"))
    unreadable = Frame("gone", lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    assert tool.detect([unreadable], ["cat"]) == [()]


def test_an_image_is_fitted_whole() -> None:
    pixels, scale, corner = fit(Image.new("RGB", (30, 60), "white"), (SIDE, SIDE))
    assert (scale, corner) == (pytest.approx(64 / 60), (16, 0))
    assert pixels[:, :, 16:48].min() > 0.99
    assert pixels[:, :, :16] == pytest.approx(114 / 255)


@pytest.mark.parametrize(
    ("names", "line"),
    [
        ("", "holds no names"),
        ("__import__('os')", "holds no names"),
        ("['a', 'b']", "no boxes"),
    ],
)
def test_a_file_with_other_names_is_refused(
    tmp_path: Path, names: str, line: str
) -> None:
    path = write_yolo(tmp_path / "tiny.onnx", names=names)
    with pytest.raises(UserError, match=line):
        detector(path).detect([photo()], ["a"])
    (tmp_path / "names.txt").write_text("\n".join(NAMES))
    own = detector(path, names=tmp_path / "names.txt", threshold=0.3)
    assert own.detect([photo()], ["red ball"])[0]


def test_other_files_are_one_line(tmp_path: Path) -> None:
    write_yolo(tmp_path / "tiny.onnx")
    with pytest.raises(UserError, match=r"Did you mean .tiny\.onnx"):
        detector(tmp_path / "tinny.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"no network")
    bad = detector(tmp_path / "bad.onnx")
    with pytest.raises(UserError, match="expected an ONNX file"):
        bad.open_weights()


@pytest.mark.parametrize(
    ("size", "holds"),
    [
        ([640, 640], True),
        ([480, 4096], True),
        ([0, 640], False),
        ([640, -5], False),
        ([640, 4097], False),
        ([640], False),
        (["a", 640], False),
        ([None, 640], False),
        ([1e999, 3], False),
        ([True, 640], False),
        ({640: 640}, False),
    ],
)
def test_a_size_is_two_whole_numbers(size: Any, holds: bool) -> None:
    assert is_size(size) is holds


BOXES = np.ones((1, 7, 4), np.float32)
FORGED: dict[str, tuple[str, dict[str, Any]]] = {
    "a side without an end": ("size", {"shape": ("b", 3, 60_000, 60_000)}),
    "a side beyond all numbers": ("size", {"shape": ("b", 3, 2**40, 2**40)}),
    "no side": ("size", {"shape": ("b", 3, 0, 0)}),
    "a batch without an end": ("batches of", {"shape": (10**8, 3, SIDE, SIDE)}),
    "an empty batch": ("batches of", {"shape": (0, 3, SIDE, SIDE)}),
    "a million colours": ("takes no image", {"shape": ("b", 10**6, SIDE, SIDE)}),
    "no number": ("no numbers", {"table": BOXES * np.nan}),
    "infinity": ("no numbers", {"table": BOXES * np.inf}),
    "two tables": ("cannot look", {"table": np.ones((2, 7, 4), np.float32)}),
    "no table": ("cannot look", {"table": np.ones((0, 7, 4), np.float32)}),
    "a number": ("cannot look", {"table": np.ones((), np.float32)}),
    "names that are no list": ("no names", {"names": "{[1]: 'a'}"}),
    "numbers that are none": ("no names", {"names": "{0: 'a', 'x': 'b', None: 'c'}"}),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_network_of_a_stranger_is_one_line(tmp_path: Path, case: str) -> None:
    said, parts = FORGED[case]
    path = write_constant(tmp_path / "odd.onnx", **({"table": BOXES} | parts))
    with pytest.raises(UserError, match=said):
        detector(path).detect([photo()], ["a"])


@pytest.mark.parametrize("link", [False, True])
def test_a_network_reads_no_file_outside_of_its_folder(
    tmp_path: Path, link: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret").write_bytes(BOXES.tobytes())
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "link").symlink_to(tmp_path / "secret")
    table = TensorProto(
        name="table", data_type=TensorProto.FLOAT, dims=BOXES.shape, data_location=1
    )
    entry = table.external_data.add()
    entry.key = "location"
    entry.value = "link" if link else "../secret"
    path = write_constant(tmp_path / "model" / "odd.onnx", table)
    with pytest.raises(UserError, match=r"cannot open odd\.onnx"):
        detector(path).open_weights()
    # what onnxruntime says of a stranger's file is no line of ours
    assert capfd.readouterr() == ("", "")


class TestContract(ToolContract):
    plugin = OnnxDetector
    device = "cpu"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        folder = tmp_path_factory.mktemp("yolo")
        path = write_yolo(
            folder / "tiny.onnx", names=repr([FakeDataset.cue, "green", "blue"])
        )
        cls.options = {"model": str(path)}


@pytest.mark.real
@pytest.mark.skipif(
    not (YOLO.exists() and (ASSETS / "stamps").exists()),
    reason="needs yolo11n.onnx and photos: python tests/real_assets.py all",
)
def test_yolo11n_finds_what_is_in_real_photos() -> None:
    """A cut-out horse and a car on a meadow, and neither on the bare meadow."""
    meadow = Image.open(next((ASSETS / "backgrounds").rglob("GreenMeadow*"))).convert(
        "RGB"
    )
    meadow = meadow.resize((640, 480))
    tool = detector(YOLO, threshold=0.3)
    assert len(tool.names) == 80
    for name, stamp in {"horse": "horse", "car": "sedan"}.items():
        cut = Image.open(next((ASSETS / "stamps").rglob(f"{stamp}*.png"))).convert(
            "RGBA"
        )
        cut.thumbnail((300, 300))
        shown = meadow.copy()
        shown.paste(cut, (200, 120), cut)
        found, bare = tool.detect(
            [Frame.from_array(np.asarray(each)) for each in (shown, meadow)], [name]
        )
        assert bare == ()
        assert found[0].score > 0.4
        x0, y0, x1, y1 = found[0].box
        true = (200, 120, 200 + cut.width, 120 + cut.height)
        assert np.allclose((x0, y0, x1, y1), true, atol=35)
